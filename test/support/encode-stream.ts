/** Rows of plain cells through the encoders of whole results. */

import {
  createStreamEncoder,
  type StreamEncodeOptions,
  type StreamEncoder,
  type StreamFormat,
} from '../../src/api/format/row-encoder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import type { Column } from '../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { concatBytes } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import { aBlock } from './encode-rows.ts'

/** How a result reaches its encoder. */
export interface StreamStyle extends Partial<StreamEncodeOptions> {
  /** Draws into which blocks and runs rows are cut, and when the arena is emptied; null: one. */
  readonly prng?: Prng
  /** Called after every run of rows. */
  readonly onRows?: (encoder: StreamEncoder, out: ByteArena) => void
}

/** What an encoder of a whole result writes. */
export function streamed(
  format: StreamFormat,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | null)[])[],
  style: StreamStyle = {},
): Uint8Array {
  return streamedBlocks(format, columns, blocksOf(columns, rows, style.prng), style)
}

/** What an encoder of a whole result writes of these blocks. */
export function streamedBlocks(
  format: StreamFormat,
  columns: readonly Column[],
  blocks: readonly RowBlock[],
  { prng, onRows, ...options }: StreamStyle = {},
): Uint8Array {
  const encoder = createStreamEncoder(format, columns, {
    ...DEFAULT_VALUE_OPTIONS,
    nullText: '',
    hasDictionaries: false,
    ...options,
  })
  // What was there before must not show; sometimes there is room for all, sometimes it must grow.
  const out = new ByteArena(prng?.chance(0.5) ? 1000 : 256 * 1024)
  const parts: Uint8Array[] = []
  const drain = () => {
    parts.push(out.bytes.slice(0, out.length))
    out.bytes.fill(0xa5)
    out.truncate(0)
  }
  out.bytes.fill(0xa5)
  encoder.appendHeader(out)
  for (const block of blocks) {
    for (let start = 0; start < block.rowCount; ) {
      const end = prng === undefined ? block.rowCount : prng.between(start, block.rowCount)
      encoder.appendRows(block, start, end, out)
      start = end
      onRows?.(encoder, out)
      if (prng?.chance(0.3)) encoder.catchUp?.(out)
      if (prng?.chance(0.3)) drain()
    }
  }
  encoder.appendFooter(out)
  drain()
  return concatBytes(...parts)
}

function blocksOf(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | null)[])[],
  prng: Prng | undefined,
): RowBlock[] {
  if (prng === undefined) return [aBlock(columns, rows)]
  const blocks: RowBlock[] = []
  for (let start = 0; start < rows.length; ) {
    const end = Math.min(rows.length, start + prng.pick([1, 1, 2, 7, 64, 500]))
    blocks.push(aBlock(columns, rows.slice(start, end)))
    start = end
  }
  return blocks
}

import type { BlockWriter } from '../../src/cfile/block-id.ts'
import { DEFAULT_FILE_LAYOUT, type FileLayout } from '../../src/cfile/file-layout.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { hashKeys } from '../../src/common/hash-keys.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { BaseReader } from '../../src/tablet/disk/base-reader.ts'
import { type BaseMeta, BaseWriter } from '../../src/tablet/disk/base-writer.ts'
import type { KeyArena } from '../../src/util/arena.ts'
import type { Prng } from '../../src/util/prng.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import { randomVector } from './random-vector.ts'
import { keyArenaOf, randomSortedKeys } from './sorted-keys.ts'

/** Seed of the key hashes of all bases. */
export const BASE_HASH_SEED = 987_654_321

/** What a base was made of, and how to read it. */
export interface BaseSample {
  readonly blocks: MemoryBlocks
  readonly keys: readonly Uint8Array[]
  readonly arena: KeyArena
  readonly hashes: Uint32Array
  readonly columns: readonly Column[]
  readonly cells: readonly ColumnVector[]
  readonly meta: BaseMeta
}

/** A base of random keys and cells: the keys are not those of the key columns' cells. */
export function aBase(prng: Prng, schema: Schema, rowCount: number, file = 7): BaseSample {
  const blocks = new MemoryBlocks()
  const keys = randomSortedKeys(prng, rowCount, 16)
  const arena = keyArenaOf(keys)
  const hashes = new Uint32Array(rowCount)
  hashKeys(arena, 0, BASE_HASH_SEED, hashes)
  const { columns } = schema
  const cells = columns.map((column) => {
    return randomVector(prng, column, rowCount, column.isNullable ? 0.2 : 0)
  })
  const sample = { blocks, keys, arena, hashes, columns, cells }
  return { ...sample, meta: writeBase(sample, blocks.createFile(file), prng) }
}

/** Writes a base in stretches of any size. */
export function writeBase(
  { arena, hashes, columns, cells }: Omit<BaseSample, 'meta' | 'blocks' | 'keys'>,
  blocks: BlockWriter,
  prng: Prng,
  layout: FileLayout = DEFAULT_FILE_LAYOUT,
): BaseMeta {
  const writer = new BaseWriter({ columns, keyHashSeed: BASE_HASH_SEED, blocks, layout })
  inStretches(prng, arena.count, (start, end) => {
    if (prng.chance(0.5)) writer.appendKeys(arena, start, end)
    else writer.appendKeys(arena, start, end, hashes)
  })
  columns.forEach((_, index) => {
    const file = writer.column(index)
    inStretches(prng, arena.count, (start, end) => file.append(cells[index], start, end))
    file.finish()
  })
  return writer.finish()
}

/** A reader with a cache of its own. */
export function baseReader(
  { blocks, meta }: Pick<BaseSample, 'blocks' | 'meta'>,
  cache: PageCache = new PageCache(8 * 1024 * 1024),
): BaseReader {
  const { directory } = meta
  return new BaseReader({ blocks, cache, owner: 1, directory, where: 'rowset 5' })
}

function inStretches(prng: Prng, count: number, visit: (start: number, end: number) => void): void {
  let start = 0
  while (start < count) {
    const end = Math.min(count, start + prng.between(1, 5000))
    visit(start, end)
    start = end
  }
}

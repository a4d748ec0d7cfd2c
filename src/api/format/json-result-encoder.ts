/** A whole result as one JSON object: `{ "rows": [ … ], "snapshot_timestamp": … }`. */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { utf8Encode } from '../../util/bytes.ts'
import { JsonRowEncoder } from './json-row-encoder.ts'
import type { StreamEncoder } from './row-encoder.ts'
import { STEP_ROW_COUNT } from './step-row-count.ts'

/** Writes rows read at one snapshot; see StreamEncoder. */
export class JsonResultEncoder implements StreamEncoder {
  readonly holdsRows = false
  readonly stepRowCount = STEP_ROW_COUNT.text
  readonly #rows: JsonRowEncoder
  readonly #snapshot: Timestamp
  #hasRows = false

  constructor(columns: readonly Column[], options: ValueOptions, snapshot: Timestamp) {
    this.#rows = new JsonRowEncoder(columns, options, false)
    this.#snapshot = snapshot
  }

  appendHeader(out: ByteArena): void {
    appendText(out, '{"rows":[')
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    if (start === end) return
    if (this.#hasRows) appendText(out, ',')
    this.#hasRows = true
    this.#rows.appendRows(block, start, end, out)
  }

  appendFooter(out: ByteArena): void {
    appendText(out, `],"snapshot_timestamp":${this.#snapshot}}`)
  }
}

function appendText(out: ByteArena, text: string): void {
  const bytes = utf8Encode(text)
  out.append(bytes, 0, bytes.length)
}

/** The body of a request that writes generated rows: bytes, never a row as an object. */

import { ArrowRowEncoder } from '../../src/api/format/arrow-row-encoder.ts'
import { JsonRowEncoder } from '../../src/api/format/json-row-encoder.ts'
import { LANE_BYTES, PHYSICAL } from '../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import type { RowOperationName } from '../../src/common/row-operation.ts'
import type { Column } from '../../src/common/schema.ts'
import type { ValueOptions } from '../../src/common/value-options.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { ValueRules } from './load-plan.ts'
import type { LoadFormat } from './loadgen-flags.ts'
import { RowGenerator } from './row-generator.ts'

/** Years beyond 9999 are written in no other way that everybody reads. */
const VALUE_OPTIONS: ValueOptions = { int64: 'number', timestamps: 'micros' }
const CHUNK_BYTES = 64 * 1024
const CHUNK_ROWS_MAX = 1024
const COMMA = 0x2c
const TAIL = utf8Encode(']}')

const MEDIA_TYPES: Readonly<Record<LoadFormat, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
}

/** What rows are written: as many numbers belong to a row as its table has columns. */
export interface WrittenRows {
  readonly columns: readonly Column[]
  readonly columnCount: number
  readonly rules: ValueRules
}

/** A body under construction, used again and again. */
export class RowBody {
  readonly contentType: string
  rowCount = 0
  readonly #format: LoadFormat
  readonly #columns: readonly Column[]
  readonly #generator: RowGenerator
  readonly #builder: RowBlockBuilder
  readonly #json: JsonRowEncoder | null
  readonly #chunkRows: number
  readonly #bytes = new ByteArena(CHUNK_BYTES)

  constructor(format: LoadFormat, { columns, columnCount, rules }: WrittenRows) {
    this.contentType = MEDIA_TYPES[format]
    this.#format = format
    this.#columns = columns
    this.#generator = new RowGenerator(columns, columnCount, rules)
    this.#builder = new RowBlockBuilder(columns, false)
    const isLine = format === 'ndjson'
    this.#json = format === 'arrow' ? null : new JsonRowEncoder(columns, VALUE_OPTIONS, isLine)
    this.#chunkRows = chunkRowsOf(columns, rules)
  }

  /** The query by which a stream tells its operation. */
  queryFor(operation: RowOperationName): string {
    return this.#format === 'json' ? '' : `?operation=${operation}`
  }

  /**
   * Begins anew and generates rows, `firstCell` being the number of the first cell: until it has
   * `bytesMax` or somewhat more, or `rowsMax` rows. Cost: about 200 ns a row of three columns.
   */
  fill(firstCell: number, columnCount: number, bytesMax: number, rowsMax: number): void {
    this.#bytes.truncate(0)
    this.#builder.clear()
    this.rowCount = 0
    while (this.rowCount < rowsMax && this.#usedBytes < bytesMax) {
      const count = Math.min(this.#chunkRows, rowsMax - this.rowCount)
      this.#generator.append(this.#builder, firstCell + this.rowCount * columnCount, count)
      this.#endChunk(count)
    }
    if (this.#json === null) this.#encodeArrow()
  }

  /** The body as it is sent. Good until it is filled again. */
  parts(operation: RowOperationName): readonly Uint8Array[] {
    const rows = this.#bytes.bytes.subarray(0, this.#bytes.length)
    if (this.#format !== 'json') return [rows]
    return [utf8Encode(`{"operation":"${operation}","rows":[`), rows, TAIL]
  }

  get #usedBytes(): number {
    return this.#json === null ? this.#builder.usedBytes : this.#bytes.length
  }

  #endChunk(count: number): void {
    if (this.#json !== null) {
      const out = this.#bytes
      if (this.#format === 'json' && this.rowCount > 0) {
        out.reserve(1)
        out.bytes[out.length++] = COMMA
      }
      this.#json.appendRows(this.#builder.view(), 0, count, out)
      this.#builder.clear()
    }
    this.rowCount += count
  }

  #encodeArrow(): void {
    const encoder = new ArrowRowEncoder(this.#columns, false)
    const block = this.#builder.view()
    encoder.appendHeader(this.#bytes)
    for (let start = 0; start < block.rowCount; start += this.#chunkRows) {
      const end = Math.min(block.rowCount, start + this.#chunkRows)
      encoder.appendRows(block, start, end, this.#bytes)
    }
    encoder.appendFooter(this.#bytes)
  }
}

/** Rows that are generated at once: neither many bytes nor few rows. */
function chunkRowsOf(columns: readonly Column[], rules: ValueRules): number {
  const textBytes = Math.max(rules.stringLength, rules.stringFixed.length * 3)
  let rowBytes = 1
  for (const { name, physical } of columns) {
    rowBytes += name.length + (physical === PHYSICAL.binary ? textBytes : LANE_BYTES[physical])
  }
  return Math.max(1, Math.min(CHUNK_ROWS_MAX, Math.floor(CHUNK_BYTES / rowBytes)))
}

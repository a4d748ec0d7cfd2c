/** Bodies of rows through the decoders, and what came of them in plain values. */

import { ArrowStreamDecoder } from '../../src/api/format/arrow-in/arrow-stream-decoder.ts'
import { CsvDecoder } from '../../src/api/format/csv-decoder.ts'
import { DecodedRows } from '../../src/api/format/decoded-rows.ts'
import { JsonBodyDecoder } from '../../src/api/format/json-body-decoder.ts'
import { NdjsonDecoder } from '../../src/api/format/ndjson-decoder.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { decodeRowBlock, encodeRowBlock } from '../../src/common/row-block.ts'
import type { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { ROW_OPERATIONS } from '../../src/common/row-operation.ts'
import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../src/common/value-options.ts'
import { assert } from '../../src/util/assert.ts'
import { getBit } from '../../src/util/bitmap.ts'
import { concatBytes, toHex, utf8Encode } from '../../src/util/bytes.ts'

/** A row that was decoded: number, operation, names and cells in order, unset ones left out. */
export interface PlainDecodedRow {
  readonly index: number
  readonly operation: number
  readonly cells: readonly (readonly [string, Cell | null])[]
}

/** What a body gave. */
export interface Decoded {
  readonly rows: readonly PlainDecodedRow[]
  /** Number, column or member, and message of each row that was refused. */
  readonly problems: readonly (readonly [number, string | undefined, string])[]
  readonly failure: string | null
}

/** Rows, problems and failure of a batch. */
export function plainOf(schema: Schema, rows: DecodedRows, failure: StatusError | null): Decoded {
  checkBuilder(rows.builder)
  const block = decodeRowBlock(encodeRowBlock(rows.builder.view()))
  const plain = Array.from({ length: block.rowCount }, (_, row) => {
    const cells: [string, Cell | null][] = []
    schema.columns.forEach(({ name }, index) => {
      const vector = block.columns[index]
      if (vector.hasCell(row)) cells.push([name, vector.cell(row)])
    })
    const operation = block.operations?.[row] ?? 0
    return { index: rows.rowIndexes[row], operation, cells }
  })
  const problems = rows.problems.map(
    ({ rowIndex, column, message }) => [rowIndex, column, message] as const,
  )
  return { rows: plain, problems, failure: failure === null ? null : failure.message }
}

/** Checks what the builder of a batch promises of cells that are null, unset or to come. */
function checkBuilder(builder: RowBlockBuilder): void {
  for (const column of builder.columns) {
    assert(column.rowCount === builder.rowCount, 'columns have the rows of the block')
    const isPair = column.physical === PHYSICAL.int64
    const lanes = isPair ? 2 : column.physical === PHYSICAL.int128 ? 4 : 1
    let nullCount = 0
    let unsetCount = 0
    for (let row = 0; row < column.validity.length * 8; row++) {
      const isNull = !getBit(column.validity, row)
      if (row >= column.rowCount) assert(isNull && !getBit(column.isSet, row), 'no bit is ahead')
      else if (isNull) nullCount++
      if (row < column.rowCount && !getBit(column.isSet, row)) unsetCount++
      if (!isNull) continue
      if (column.physical !== PHYSICAL.binary) {
        const lane = column.lanes.subarray(row * lanes, (row + 1) * lanes)
        assert(
          lane.every((word) => word === 0),
          'the lane of no cell is zero',
        )
      } else if (row < column.rowCount) {
        assert(column.offsets[row] === column.offsets[row + 1], 'the text of no cell is empty')
      }
    }
    assert(nullCount === column.nullCount, 'nulls are counted')
    assert(unsetCount === column.unsetCount, 'unset cells are counted')
  }
}

/** How a body is decoded. */
export interface DecodeSetting {
  readonly values?: ValueOptions
  readonly nullText?: string
  /** Offsets at which the body is cut into chunks. */
  readonly cuts?: readonly number[]
}

/** Decodes a body of NDJSON. */
export function decodeNdjson(
  schema: Schema,
  body: string | Uint8Array,
  setting: DecodeSetting = {},
): Decoded {
  const rows = new DecodedRows(schema)
  const values = setting.values ?? DEFAULT_VALUE_OPTIONS
  return run(schema, new NdjsonDecoder(schema, values, ROW_OPERATIONS.INSERT, rows), body, setting)
}

/** Decodes a body of CSV. */
export function decodeCsv(
  schema: Schema,
  body: string | Uint8Array,
  setting: DecodeSetting = {},
): Decoded {
  const rows = new DecodedRows(schema)
  const options = { ...DEFAULT_VALUE_OPTIONS, ...setting.values, nullText: setting.nullText ?? '' }
  return run(schema, new CsvDecoder(schema, options, ROW_OPERATIONS.INSERT, rows), body, setting)
}

/** Decodes an Arrow stream. `hold` is told how many bytes are held. */
export function decodeArrow(
  schema: Schema,
  body: Uint8Array,
  setting: DecodeSetting = {},
  hold: (bytes: number) => void = () => undefined,
): Decoded {
  const rows = new DecodedRows(schema)
  const values = setting.values ?? DEFAULT_VALUE_OPTIONS
  const decoder = new ArrowStreamDecoder(schema, values, ROW_OPERATIONS.INSERT, rows, hold)
  return run(schema, decoder, body, setting)
}

function run(
  schema: Schema,
  decoder: NdjsonDecoder | CsvDecoder | ArrowStreamDecoder,
  body: string | Uint8Array,
  setting: DecodeSetting,
): Decoded {
  const bytes = typeof body === 'string' ? utf8Encode(body) : body
  const batches: Decoded[] = []
  const take = () => {
    batches.push(plainOf(schema, decoder.rows, decoder.failure))
    decoder.rows.clear()
  }
  let start = 0
  for (const cut of [...(setting.cuts ?? []), bytes.length]) {
    const chunk = bytes.slice(start, cut)
    for (let at = 0; at < chunk.length || isPending(decoder); ) {
      at = decoder.pushUntilFull(chunk, at)
      if (decoder.rows.isFull) take()
    }
    // What was pushed is overwritten, as the buffer of a body's reader is.
    chunk.fill(0x7b)
    start = cut
  }
  decoder.finish()
  take()
  return {
    rows: batches.flatMap(({ rows }) => rows),
    problems: batches.flatMap(({ problems }) => problems),
    failure: batches[batches.length - 1].failure,
  }
}

function isPending(decoder: object): boolean {
  return 'isPending' in decoder && decoder.isPending === true
}

/** Decodes a JSON body, all its batches. A failure of the whole is the message. */
export function decodeJson(
  schema: Schema,
  body: string | Uint8Array,
  values: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Decoded {
  const text = typeof body === 'string' ? utf8Encode(body) : body
  // Behind the sentinel stands what would go on with the body, to be left alone.
  const bytes = concatBytes(text, utf8Encode('\n"a":1}]}'))
  const decoder = new JsonBodyDecoder(schema, values, new DecodedRows(schema))
  const rows: PlainDecodedRow[] = []
  const problems: (readonly [number, string | undefined, string])[] = []
  try {
    decoder.start(bytes, text.length)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { rows: [], problems: [], failure: error.message }
  }
  do {
    const batch = plainOf(schema, decoder.rows, null)
    rows.push(...batch.rows)
    problems.push(...batch.problems)
    decoder.rows.clear()
  } while (decoder.next())
  return { rows, problems, failure: null }
}

/** A cell as a text that tells it from every other, and is cheap to compare. */
export function shownCell(cell: Cell | null): string {
  if (cell instanceof Uint8Array) return `x${toHex(cell)}`
  if (Object.is(cell, -0)) return '-0'
  return typeof cell === 'bigint' ? `${cell}n` : String(cell)
}

/** Named cells in a line. */
export function shownRow(cells: readonly (readonly [string, Cell | null])[]): string {
  return cells.map(([name, cell]) => `${name}=${shownCell(cell)}`).join(' ')
}

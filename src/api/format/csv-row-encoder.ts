/** Rows as CSV records (RFC 4180), ended by LF. Hot. */

import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import { appendTextCell } from '../../common/cell-writer.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import { ByteArena } from '../../util/arena.ts'
import { equalBytes, utf8Encode } from '../../util/bytes.ts'
import { encodeNullText } from './null-text.ts'
import { STEP_ROW_COUNT } from './step-row-count.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
/** First byte of a byte order mark. */
const MARK = 0xef

/** Writes a header of column names, and records; see RowEncoder. */
export class CsvRowEncoder {
  readonly holdsRows = false
  readonly stepRowCount = STEP_ROW_COUNT.text
  readonly #plans: readonly CellPlan[]
  readonly #header: Uint8Array
  readonly #nullText: Uint8Array

  /** Throws: INVALID_ARGUMENT for a null text that an unquoted field cannot hold. */
  constructor(columns: readonly Column[], options: ValueOptions, nullText: string) {
    this.#plans = columns.map((column) => planCell(column, options))
    this.#nullText = encodeNullText(nullText)
    this.#header = headerOf(columns, this.#nullText)
  }

  appendHeader(out: ByteArena): void {
    out.append(this.#header, 0, this.#header.length)
  }

  appendRow(block: RowBlock, row: number, out: ByteArena): void {
    const plans = this.#plans
    const { columns } = block
    for (let index = 0; index < plans.length; index++) {
      if (index > 0) appendByte(out, COMMA)
      const vector = columns[index]
      if (vector.isNull(row)) {
        out.append(this.#nullText, 0, this.#nullText.length)
      } else if (plans[index].kind === CELL_KINDS.string) {
        const start = vector.offsets[row]
        appendField(out, vector.bytes, start, vector.offsets[row + 1], this.#nullText)
      } else {
        const start = out.length
        appendTextCell(out, plans[index], vector, row)
        if (out.length - start === this.#nullText.length) this.#quoteIfNull(out, start)
      }
    }
    appendByte(out, NEWLINE)
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    for (let row = start; row < end; row++) this.appendRow(block, row, out)
  }

  appendFooter(): void {}

  /** Puts what was written from `start` on in quotes when it would be read as null. */
  #quoteIfNull(out: ByteArena, start: number): void {
    const nullText = this.#nullText
    if (!equalBytes(out.bytes, start, out.length, nullText, 0, nullText.length)) return
    out.truncate(start)
    appendQuoted(out, nullText, 0, nullText.length)
  }
}

function headerOf(columns: readonly Column[], nullText: Uint8Array): Uint8Array {
  const arena = new ByteArena(256)
  for (let index = 0; index < columns.length; index++) {
    if (index > 0) appendByte(arena, COMMA)
    const name = utf8Encode(columns[index].name)
    // A first name that begins like a byte order mark would be taken for one.
    if (index === 0 && name[0] === MARK) appendQuoted(arena, name, 0, name.length)
    else appendField(arena, name, 0, name.length, nullText)
  }
  appendByte(arena, NEWLINE)
  return arena.bytes.slice(0, arena.length)
}

/** Appends a field, in quotes where it would be read as something else without. */
function appendField(
  out: ByteArena,
  source: Uint8Array,
  start: number,
  end: number,
  nullText: Uint8Array,
): void {
  const length = end - start
  let isPlain =
    length > 0 &&
    (length !== nullText.length || !equalBytes(source, start, end, nullText, 0, nullText.length))
  for (let i = start; i < end && isPlain; i++) {
    const byte = source[i]
    isPlain = byte !== COMMA && byte !== QUOTE && byte !== NEWLINE && byte !== CARRIAGE_RETURN
  }
  if (isPlain) out.append(source, start, end)
  else appendQuoted(out, source, start, end)
}

/** Appends a field in quotes, the quotes in it doubled. */
function appendQuoted(out: ByteArena, source: Uint8Array, start: number, end: number): void {
  out.reserve((end - start) * 2 + 2)
  const { bytes } = out
  let offset = out.length
  bytes[offset++] = QUOTE
  for (let i = start; i < end; i++) {
    bytes[offset++] = source[i]
    if (source[i] === QUOTE) bytes[offset++] = QUOTE
  }
  bytes[offset++] = QUOTE
  out.length = offset
}

function appendByte(out: ByteArena, byte: number): void {
  out.reserve(1)
  out.bytes[out.length++] = byte
}

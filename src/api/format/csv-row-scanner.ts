/**
 * Finds the fields of CSV records (RFC 4180). Hot.
 *
 * A field in quotes may hold anything, its quotes doubled; one without holds no quote, comma or
 * line break. A record ends with LF or CRLF; a CR elsewhere is text.
 */

import { CELL_FORMS } from '../../common/cell-reader.ts'
import { equalBytes } from '../../util/bytes.ts'
import { utf8LengthOf, utf8SequenceBytes } from '../../util/utf8-sequence.ts'
import { countNewlines, hasQuoteOrHigh, plainBytes } from './ascii-words.ts'
import { RowTape, TAPE_FORMS } from './row-tape.ts'

/** Why there is no record. */
export const CSV_ERRORS = {
  /** The text ends before the record does. */
  incomplete: -1,
  /** A quote inside an unquoted field. */
  strayQuote: -2,
  /** Text behind the closing quote of a field. */
  textAfterQuote: -3,
  notUtf8: -4,
  /** The last record ends inside quotes. */
  notClosed: -5,
  tooLong: -6,
} as const

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const COMMAS = 0x2c2c_2c2c
const NO_BYTES = new Uint8Array(0)
const NO_VIEW = new DataView(NO_BYTES.buffer)

/** Scans records of one text onto a tape. */
export class CsvRowScanner {
  readonly tape = new RowTape()
  /** Fields of the record scanned last, and line breaks in it. */
  fieldCount = 0
  lineCount = 0

  /** The text, and where it ends. */
  bytes: Uint8Array = NO_BYTES
  view: DataView = NO_VIEW
  end = 0
  readonly #nullText: Uint8Array
  #isLast = false

  constructor(nullText: Uint8Array) {
    this.#nullText = nullText
  }

  /** Points the scanner at `bytes[0, end)`; `isLast` when nothing follows. */
  reset(bytes: Uint8Array, end: number, isLast: boolean): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    }
    this.end = end
    this.#isLast = isLast
  }

  /**
   * Scans the record at `start` as the tape's next row. One with more or fewer fields than the tape
   * is wide is counted in `fieldCount` and is no row of the tape; neither is a blank line, which
   * has no fields.
   *
   * Returns: the offset behind its line break; one of CSV_ERRORS when there is no record, and then
   * the tape is as it was. Requires: `start` lies before the end; room on the tape.
   */
  scanRecord(start: number, operation: number): number {
    const { tape, bytes } = this
    const { width } = tape
    const end = this.end
    const base = tape.rowCount * width
    let field = 0
    let position = start
    this.lineCount = 1
    if (this.#isBlank(start)) {
      this.fieldCount = 0
      return bytes[start] === NEWLINE ? start + 1 : start + 2
    }
    for (;;) {
      const entry = field < width ? base + field : -1
      const isQuoted = position < end && bytes[position] === QUOTE
      position = isQuoted ? this.#scanQuoted(position, entry) : this.#scanUnquoted(position, entry)
      if (position < 0) return position
      field++
      if (position === end || bytes[position] !== COMMA) break
      position++
    }
    this.fieldCount = field
    if (field === width) {
      tape.rowStarts[tape.rowCount] = start
      tape.operations[tape.rowCount++] = operation
    }
    // What ended the last field is a line break, or the end of it all.
    if (position === end) return end
    return bytes[position] === NEWLINE ? position + 1 : position + 2
  }

  #isBlank(start: number): boolean {
    const { bytes } = this
    if (bytes[start] === NEWLINE) return true
    const isBreak = bytes[start] === CARRIAGE_RETURN && bytes[start + 1] === NEWLINE
    return isBreak && start + 1 < this.end
  }

  /** Scans an unquoted field. Returns: the offset of what ended it, or one of CSV_ERRORS. */
  #scanUnquoted(start: number, entry: number): number {
    const { bytes, view } = this
    const end = this.end
    let position = start
    for (;;) {
      while (position <= end - 4) {
        const plain = plainBytes(view.getInt32(position, true), COMMAS)
        position += plain
        if (plain < 4) break
      }
      if (position === end) {
        if (!this.#isLast) return CSV_ERRORS.incomplete
        break
      }
      const byte = bytes[position]
      if (byte === COMMA || byte === NEWLINE) break
      if (byte === QUOTE) return CSV_ERRORS.strayQuote
      if (byte === CARRIAGE_RETURN && position + 1 < end && bytes[position + 1] === NEWLINE) break
      position = byte < 0x80 ? position + 1 : this.#passUtf8(position)
      if (position < 0) return position
    }
    if (entry >= 0) this.#putUnquoted(entry, start, position)
    return position
  }

  #putUnquoted(entry: number, start: number, end: number): void {
    const { tape, bytes } = this
    const nullText = this.#nullText
    const isNull =
      end - start === nullText.length && equalBytes(bytes, start, end, nullText, 0, nullText.length)
    tape.starts[entry] = start
    tape.ends[entry] = end
    tape.forms[entry] = isNull ? TAPE_FORMS.null : CELL_FORMS.text
  }

  /** Scans a field in quotes. Returns: the offset of what ended it, or one of CSV_ERRORS. */
  #scanQuoted(start: number, entry: number): number {
    const { bytes, view } = this
    const end = this.end
    let position = start + 1
    let doubledCount = 0
    for (;;) {
      while (position <= end - 4) {
        const word = view.getInt32(position, true)
        if (hasQuoteOrHigh(word)) break
        this.lineCount += countNewlines(word)
        position += 4
      }
      if (position === end) return this.#isLast ? CSV_ERRORS.notClosed : CSV_ERRORS.incomplete
      const byte = bytes[position]
      if (byte === QUOTE) {
        if (position + 1 === end && !this.#isLast) return CSV_ERRORS.incomplete
        if (position + 1 === end || bytes[position + 1] !== QUOTE) break
        doubledCount++
        position += 2
      } else {
        if (byte === NEWLINE) this.lineCount++
        position = byte < 0x80 ? position + 1 : this.#passUtf8(position)
        if (position < 0) return position
      }
    }
    if (entry >= 0) this.#putQuoted(entry, start + 1, position, doubledCount)
    return this.#endQuoted(position + 1)
  }

  /** What ends a field must stand at an offset. Returns: the offset, or one of CSV_ERRORS. */
  #endQuoted(offset: number): number {
    const { bytes } = this
    const end = this.end
    if (offset === end) return this.#isLast ? offset : CSV_ERRORS.incomplete
    const byte = bytes[offset]
    if (byte === COMMA || byte === NEWLINE) return offset
    if (byte !== CARRIAGE_RETURN) return CSV_ERRORS.textAfterQuote
    if (offset + 1 === end) return this.#isLast ? CSV_ERRORS.textAfterQuote : CSV_ERRORS.incomplete
    return bytes[offset + 1] === NEWLINE ? offset : CSV_ERRORS.textAfterQuote
  }

  #putQuoted(entry: number, start: number, end: number, doubledCount: number): void {
    const { tape } = this
    tape.starts[entry] = start
    tape.ends[entry] = end
    tape.forms[entry] = CELL_FORMS.text
    if (doubledCount > 0) this.#putUndoubled(entry, start, end)
  }

  /** Writes a field to the tape's scratch, one quote for every two. */
  #putUndoubled(entry: number, start: number, end: number): void {
    const { bytes } = this
    const { scratch, starts, ends, forms } = this.tape
    scratch.reserve(end - start)
    const target = scratch.bytes
    let { length } = scratch
    starts[entry] = length
    for (let i = start; i < end; i++) {
      target[length++] = bytes[i]
      if (bytes[i] === QUOTE) i++
    }
    scratch.length = length
    ends[entry] = length
    forms[entry] = CELL_FORMS.text | TAPE_FORMS.inScratch
  }

  /** Moves over a longer sequence of UTF-8. Returns: the offset behind it, or a CSV_ERRORS. */
  #passUtf8(position: number): number {
    const { bytes, end } = this
    const length = utf8SequenceBytes(bytes, position)
    if (length > 0 && position + length <= end) return position + length
    let cutEnd = position + 1
    while (cutEnd < end && (bytes[cutEnd] & 0xc0) === 0x80) cutEnd++
    const isCut = cutEnd === end && end - position < utf8LengthOf(bytes[position])
    return isCut && !this.#isLast ? CSV_ERRORS.incomplete : CSV_ERRORS.notUtf8
  }
}

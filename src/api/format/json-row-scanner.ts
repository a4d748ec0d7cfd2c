/**
 * Finds the cells of JSON objects that follow one another with the same members, without looking at
 * values more closely than it takes to find their ends. Hot.
 *
 * A row that is written in another way (members in another order, unknown or twice, values that are
 * objects or arrays, whatever is not JSON) is odd: JsonRowDecoder reads it and says what is wrong.
 */

import { CELL_FORMS } from '../../common/cell-reader.ts'
import type { Schema } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { utf8SequenceBytes } from '../../util/utf8-sequence.ts'
import { isFourDigits, plainBytes } from './ascii-words.ts'
import { JSON_BYTE, type JsonCursor, JsonSyntaxError } from './json-cursor.ts'
import { type MemberNames, memberNamesOf } from './member-names.ts'
import { RowTape, TAPE_FORMS } from './row-tape.ts'

const ODD = -1
/** How many members in a row that the last rows had may be missing. */
const SKIP_COUNT_MAX = 8

const BACKSLASHES = 0x5c5c_5c5c
// Words of `null`, `true` and of `alse`.
const NULL_WORD = 0x6c6c_756e
const TRUE_WORD = 0x6575_7274
const ALSE_WORD = 0x6573_6c61

// Bytes that a number may have.
const NUMBER_BYTES = new Uint8Array(256)
for (const character of '0123456789+-.eE') NUMBER_BYTES[character.charCodeAt(0)] = 1

/** Scans rows of one cursor's text onto a tape. */
export class JsonRowScanner {
  readonly tape = new RowTape()
  readonly #cursor: JsonCursor
  readonly #names: MemberNames
  readonly #isLine: boolean

  /** `isLine`: a row must not go over the end of a line. */
  constructor(schema: Schema, cursor: JsonCursor, isLine: boolean) {
    this.#cursor = cursor
    this.#names = memberNamesOf(schema)
    this.#isLine = isLine
    this.tape.setLayout(schema.columns.map((column) => column.index))
  }

  /**
   * Scans the object whose `{` may be at `start` as the tape's next row.
   *
   * Returns: the offset behind its `}`; −1 when it is odd, and then the tape is as it was.
   * Requires: room on the tape.
   */
  scanRow(start: number, operation: number): number {
    const { tape } = this
    const { bytes, view } = this.#cursor
    assert(tape.rowCount < tape.rowCountMax, 'there is room on the tape')
    if (bytes[start] !== JSON_BYTE.openObject) return ODD
    const { starts, ends, forms, width, layout } = tape
    const { lengths, words, starts: wordStarts } = this.#names
    const wordsEnd = bytes.length - 4
    const base = tape.rowCount * width
    let cell = 0
    let position = start + 1
    do {
      if (bytes[position] <= JSON_BYTE.space) position = this.skipSpace(position)
      if (cell === width) return ODD
      let word = wordStarts[layout[cell]]
      let last = position + lengths[layout[cell]] - 4
      if (last > wordsEnd) return ODD
      let at = position
      while (at < last && view.getInt32(at, true) === words[word]) {
        at += 4
        word++
      }
      if (at < last || view.getInt32(last, true) !== words[word]) {
        const found = this.#findCell(position, cell + 1)
        if (found < 0) return ODD
        while (cell < found) forms[base + cell++] = TAPE_FORMS.absent
        last = position + lengths[layout[cell]] - 4
      }
      position = last + 4
      if (bytes[position] <= JSON_BYTE.space) position = this.skipSpace(position)
      const entry = base + cell++
      if (bytes[position] === JSON_BYTE.quote) {
        const end = plainStringEnd(bytes, view, position + 1)
        starts[entry] = position + 1
        ends[entry] = end
        forms[entry] = CELL_FORMS.jsonString
        position = end < 0 ? this.#scanEscaped(entry, position) : end + 1
      } else {
        position = this.#scanWordOrNumber(entry, position)
      }
      if (position < 0) return ODD
      if (bytes[position] <= JSON_BYTE.space) position = this.skipSpace(position)
    } while (bytes[position++] === JSON_BYTE.comma)
    if (bytes[position - 1] !== JSON_BYTE.closeObject) return ODD
    while (cell < width) forms[base + cell++] = TAPE_FORMS.absent
    tape.rowStarts[tape.rowCount] = start
    tape.operations[tape.rowCount++] = operation
    return position
  }

  /** The first offset from `position` on that holds no white space, or the text's end. */
  skipSpace(position: number): number {
    const { bytes, end } = this.#cursor
    let at = position
    while (at < end) {
      const byte = bytes[at]
      const isSpace = byte === 0x20 || byte === 0x09 || byte === 0x0d
      if (!isSpace && (byte !== 0x0a || this.#isLine)) break
      at++
    }
    return at
  }

  /** Whether the name of a column, written without escapes, and its colon stand at an offset. */
  #isNameAt(offset: number, index: number): boolean {
    const { view, bytes } = this.#cursor
    const { words, starts, lengths } = this.#names
    const last = offset + lengths[index] - 4
    if (last + 4 > bytes.length) return false
    let word = starts[index]
    for (let at = offset; at < last; at += 4) {
      if (view.getInt32(at, true) !== words[word++]) return false
    }
    return view.getInt32(last, true) === words[word]
  }

  /** The first cell from `cell` on whose column's name stands at an offset; −1 when none does. */
  #findCell(offset: number, cell: number): number {
    const { layout, width } = this.tape
    const stop = cell + SKIP_COUNT_MAX < width ? cell + SKIP_COUNT_MAX : width
    for (let i = cell; i < stop; i++) {
      if (this.#isNameAt(offset, layout[i])) return i
    }
    return ODD
  }

  /** Scans a number, `true`, `false` or `null`. Returns: the offset behind it, or −1. */
  #scanWordOrNumber(entry: number, start: number): number {
    const { bytes, view } = this.#cursor
    const { starts, ends, forms } = this.tape
    const byte = bytes[start]
    starts[entry] = start
    let end = start
    if (byte === JSON_BYTE.n) {
      if (this.#cursor.wordAt(start) !== NULL_WORD) return ODD
      forms[entry] = TAPE_FORMS.null
      end += 4
    } else if (byte === JSON_BYTE.t) {
      if (this.#cursor.wordAt(start) !== TRUE_WORD) return ODD
      forms[entry] = CELL_FORMS.jsonTrue
      end += 4
    } else if (byte === JSON_BYTE.f) {
      if (this.#cursor.wordAt(start + 1) !== ALSE_WORD) return ODD
      forms[entry] = CELL_FORMS.jsonFalse
      end += 5
    } else {
      end = numberEnd(bytes, view, start)
      if (end === start) return ODD
      forms[entry] = CELL_FORMS.jsonNumber
    }
    ends[entry] = end
    return end
  }

  /** Scans a string that has escapes. Returns: the offset behind it, or −1. */
  #scanEscaped(entry: number, start: number): number {
    const cursor = this.#cursor
    const { scratch, starts, ends, forms } = this.tape
    cursor.position = start
    try {
      cursor.readString()
    } catch (error) {
      if (error instanceof JsonSyntaxError) return ODD
      throw error
    }
    if (cursor.hasLoneSurrogate) return ODD
    const { stringBytes, stringStart, stringEnd } = cursor
    starts[entry] = scratch.append(stringBytes, stringStart, stringEnd)
    ends[entry] = scratch.length
    forms[entry] = CELL_FORMS.jsonString | TAPE_FORMS.inScratch
    return cursor.position
  }
}

/**
 * The offset of the quote that ends the string whose first byte is at `start`; −1 when an escape,
 * or what no string has, comes before it.
 */
function plainStringEnd(bytes: Uint8Array, view: DataView, start: number): number {
  const wordsEnd = bytes.length - 4
  let position = start
  for (;;) {
    while (position <= wordsEnd) {
      const plain = plainBytes(view.getInt32(position, true), BACKSLASHES)
      position += plain
      if (plain < 4) break
    }
    const byte = bytes[position]
    if (byte === JSON_BYTE.quote) return position
    if (byte < 0x20 || byte === JSON_BYTE.backslash) return ODD
    const length = byte < 0x80 ? 1 : utf8SequenceBytes(bytes, position)
    if (length === 0) return ODD
    position += length
  }
}

/** The first offset from `start` on that holds no byte of a number. */
function numberEnd(bytes: Uint8Array, view: DataView, start: number): number {
  const wordsEnd = bytes.length - 4
  let end = start
  while (end <= wordsEnd && isFourDigits(view.getInt32(end, true))) end += 4
  while (NUMBER_BYTES[bytes[end]] === 1) end++
  return end
}

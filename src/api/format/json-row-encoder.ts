/** Rows as JSON objects. Hot. */

import { CELL_KINDS, type CellPlan, planCell } from '../../common/cell-plan.ts'
import { appendJsonCell, appendTextCell } from '../../common/cell-writer.ts'
import type { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import type { ValueOptions } from '../../common/value-options.ts'
import type { ByteArena } from '../../util/arena.ts'
import { concatBytes, EMPTY_BYTES } from '../../util/bytes.ts'
import { JSON_BYTE } from './json-cursor.ts'
import { openingOf } from './member-names.ts'

const NEWLINE = 0x0a
// The letters of `null` as a word.
const NULL_WORD = 0x6c6c_756e

/** Whether cells of a column are strings in JSON. */
const QUOTING = { never: 0, always: 1, byValue: 2 } as const

/** Writes objects whose members are all columns in their order; see RowEncoder. */
export class JsonRowEncoder {
  readonly #plans: readonly CellPlan[]
  readonly #quoting: Uint8Array
  /**
   * What precedes each cell, `{"first":` or `,"second":`, in words, the last one filled up; where
   * each one's words begin, and its bytes.
   */
  readonly #words: Int32Array
  readonly #starts: Int32Array
  readonly #lengths: Int32Array
  readonly #isLine: boolean
  /** The arena's bytes as they were last, as a view. */
  #viewed: Uint8Array = EMPTY_BYTES
  #view: DataView = new DataView(EMPTY_BYTES.buffer)

  constructor(columns: readonly Column[], options: ValueOptions, isLine: boolean) {
    this.#plans = columns.map((column) => planCell(column, options))
    this.#quoting = Uint8Array.from(this.#plans, quotingOf)
    this.#isLine = isLine
    const prefixes = columns.map(({ name }, index) => {
      const first = Uint8Array.of(index === 0 ? JSON_BYTE.openObject : JSON_BYTE.comma)
      return concatBytes(first, openingOf(name))
    })
    this.#lengths = Int32Array.from(prefixes, (prefix) => prefix.length)
    this.#starts = new Int32Array(columns.length + 1)
    const words: number[] = []
    for (let index = 0; index < prefixes.length; index++) {
      words.push(...filledWords(prefixes[index]))
      this.#starts[index + 1] = words.length
    }
    this.#words = Int32Array.from(words)
  }

  appendHeader(): void {}

  appendRow(block: RowBlock, row: number, out: ByteArena): void {
    const { columns } = block
    const count = this.#plans.length
    if (count === 0) {
      out.reserve(1)
      out.bytes[out.length++] = JSON_BYTE.openObject
    }
    for (let index = 0; index < count; index++) {
      this.#appendPrefix(index, out)
      const vector = columns[index]
      if (vector.isNull(row)) {
        this.#view.setInt32(out.length, NULL_WORD, true)
        out.length += 4
      } else if (this.#quoting[index] === QUOTING.never) {
        appendTextCell(out, this.#plans[index], vector, row)
      } else if (this.#quoting[index] === QUOTING.always) {
        out.bytes[out.length++] = JSON_BYTE.quote
        appendTextCell(out, this.#plans[index], vector, row)
        out.reserve(1)
        out.bytes[out.length++] = JSON_BYTE.quote
      } else {
        appendJsonCell(out, this.#plans[index], vector, row)
      }
    }
    out.reserve(2)
    out.bytes[out.length++] = JSON_BYTE.closeObject
    if (this.#isLine) out.bytes[out.length++] = NEWLINE
  }

  appendRows(block: RowBlock, start: number, end: number, out: ByteArena): void {
    for (let row = start; row < end; row++) {
      if (row > start && !this.#isLine) {
        out.reserve(1)
        out.bytes[out.length++] = JSON_BYTE.comma
      }
      this.appendRow(block, row, out)
    }
  }

  appendFooter(): void {}

  /** Appends what precedes a cell, and makes room for four bytes more. */
  #appendPrefix(index: number, out: ByteArena): void {
    const length = this.#lengths[index]
    out.reserve(length + 7)
    if (out.bytes !== this.#viewed) {
      this.#viewed = out.bytes
      this.#view = new DataView(out.bytes.buffer, out.bytes.byteOffset, out.bytes.length)
    }
    const view = this.#view
    const words = this.#words
    const end = this.#starts[index + 1]
    let offset = out.length
    for (let word = this.#starts[index]; word < end; word++, offset += 4) {
      view.setInt32(offset, words[word], true)
    }
    out.length += length
  }
}

function quotingOf(plan: CellPlan): number {
  switch (plan.kind) {
    case CELL_KINDS.bool:
    case CELL_KINDS.integer:
      return QUOTING.never
    case CELL_KINDS.int64:
      return plan.isInt64Quoted ? QUOTING.always : QUOTING.never
    case CELL_KINDS.timestamp:
      return plan.timestamps === 'rfc3339' ? QUOTING.always : QUOTING.never
    case CELL_KINDS.float:
    case CELL_KINDS.double:
    case CELL_KINDS.string:
      return QUOTING.byValue
    default:
      return QUOTING.always
  }
}

/** Bytes as words, the last one filled up with zeros. */
function filledWords(bytes: Uint8Array): Int32Array {
  const filled = new Uint8Array((bytes.length + 3) & ~3)
  filled.set(bytes)
  return new Int32Array(filled.buffer)
}

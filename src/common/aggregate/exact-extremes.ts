/**
 * Least or greatest integers of two or four words: INT64, INT128, and exact expressions. Hot.
 *
 * Numbers that a double holds exactly are kept apart, as doubles; what comes as words is compared
 * as words. A result is the better of the two.
 */

import { setBit } from '../../util/bitmap.ts'
import { ColumnVector } from '../column-vector.ts'
import { LANE_BYTES, PHYSICAL } from '../data-type.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'
import { FIRST_ROWS } from './first-rows.ts'
import { NumberExtremes } from './number-extremes.ts'
import { partialColumn } from './partial-column.ts'

const WORD = 2 ** 32

const scratchWords = new Uint32Array(4)

/** See the file's header. */
export class ExactExtremes implements AggregateState {
  readonly physical: typeof PHYSICAL.int64 | typeof PHYSICAL.int128
  /** Whether the greatest cell is kept, else the least. */
  readonly isMax: boolean
  readonly #wordCount: number
  #words = new Uint32Array(0)
  #hasWords = new Uint8Array(0)
  readonly #numbers: NumberExtremes

  constructor(physical: typeof PHYSICAL.int64 | typeof PHYSICAL.int128, isMax: boolean) {
    this.physical = physical
    this.isMax = isMax
    this.#wordCount = LANE_BYTES[physical] / 4
    this.#numbers = new NumberExtremes(PHYSICAL.float64, isMax)
  }

  get heldBytes(): number {
    return this.#words.byteLength + this.#hasWords.length + this.#numbers.heldBytes
  }

  reserve(groupCount: number): void {
    this.#numbers.reserve(groupCount)
    if (groupCount <= this.#hasWords.length) return
    const capacity = grownCapacity(this.#hasWords.length, groupCount)
    const words = new Uint32Array(capacity * this.#wordCount)
    words.set(this.#words)
    this.#words = words
    const hasWords = new Uint8Array(capacity)
    hasWords.set(this.#hasWords)
    this.#hasWords = hasWords
  }

  /** Adds the cell `rows[i]` to group `groups[i]`, for `count` rows; null cells are left out. */
  addCells(
    groups: Uint32Array | null,
    cells: ColumnVector,
    rows: Uint32Array,
    count: number,
  ): void {
    const { validity } = cells
    const lanes = cells.lanes as Uint32Array
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) continue
      this.#addWords(groups === null ? 0 : groups[i], lanes, row * this.#wordCount)
    }
  }

  /**
   * Adds the whole number `values[i]`, of at most 53 bits, to group `groups[i]` unless `isNull[i]`,
   * for `count` rows.
   */
  addNumbers(
    groups: Uint32Array | null,
    values: Float64Array,
    isNull: Uint8Array | null,
    count: number,
  ): void {
    this.#numbers.addNumbers(groups, values, isNull, count)
  }

  /** As `addNumbers`, of numbers of any size that the layout holds. */
  addIntegers(
    groups: Uint32Array | null,
    values: readonly bigint[],
    isNull: Uint8Array | null,
    count: number,
  ): void {
    for (let i = 0; i < count; i++) {
      if (isNull !== null && isNull[i] !== 0) continue
      this.addInteger(groups === null ? 0 : groups[i], values[i])
    }
  }

  /** Adds one integer to a group. */
  addInteger(group: number, value: bigint): void {
    writeInteger(value)
    this.#addWords(group, scratchWords, 0)
  }

  #addWords(group: number, source: Uint32Array, offset: number): void {
    const target = group * this.#wordCount
    if (this.#hasWords[group] !== 0) {
      const order = compareWords(source, offset, this.#words, target, this.#wordCount)
      if (order === 0 || order > 0 !== this.isMax) return
    }
    this.#hasWords[group] = 1
    for (let word = 0; word < this.#wordCount; word++) {
      this.#words[target + word] = source[offset + word]
    }
  }

  /** Extremes of groups `[0, groupCount)`, null where a group has no cell. */
  column(groupCount: number): ColumnVector {
    const wordCount = this.#wordCount
    const validity = new Uint8Array((groupCount + 7) >>> 3)
    let count = 0
    for (let group = 0; group < groupCount; group++) {
      if (this.#numbers.hasCell(group)) {
        writeNumber(this.#numbers.number(group))
        this.#addWords(group, scratchWords, 0)
      }
      if (this.#hasWords[group] === 0) continue
      setBit(validity, group)
      count++
    }
    const words = this.#words.slice(0, groupCount * wordCount)
    const bits = count === groupCount ? null : validity
    const bytes = new Uint8Array(words.buffer)
    return new ColumnVector(this.physical, groupCount, bytes, null, bits, null)
  }

  partial(groupCount: number): ColumnVector[] {
    return [this.column(groupCount)]
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    const cells = partialColumn(columns, 0, this.physical)
    this.addCells(groups, cells, FIRST_ROWS.upTo(count), count)
  }
}

/** Orders two integers of words, low word first, of which the last has the sign. */
function compareWords(
  a: Uint32Array,
  aStart: number,
  b: Uint32Array,
  bStart: number,
  wordCount: number,
): number {
  const last = wordCount - 1
  const difference = (a[aStart + last] | 0) - (b[bStart + last] | 0)
  if (difference !== 0) return difference
  for (let word = last - 1; word >= 0; word--) {
    if (a[aStart + word] !== b[bStart + word]) return a[aStart + word] - b[bStart + word]
  }
  return 0
}

function writeNumber(value: number): void {
  const high = Math.floor(value / WORD)
  scratchWords[0] = value - high * WORD
  scratchWords[1] = high
  scratchWords[2] = high < 0 ? -1 : 0
  scratchWords[3] = scratchWords[2]
}

function writeInteger(value: bigint): void {
  for (let word = 0; word < 4; word++) {
    scratchWords[word] = Number(BigInt.asUintN(32, value >> BigInt(word * 32)))
  }
}

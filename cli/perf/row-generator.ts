/**
 * Cells made of numbers, a column at a time. Hot.
 *
 *   BOOL                   the lowest bit
 *   INT8 … INT64           the lowest bits that fit, never negative
 *   UNIXTIME_MICROS        the same, since the epoch
 *   DATE                   days since the epoch, up to the last day there is, then from 0 again
 *   FLOAT DOUBLE           the number, rounded
 *   DECIMAL(p, s)          the number with its last s digits behind the point; its last p digits
 *   STRING VARCHAR BINARY  the number, a point, and x up to the length asked for, or cut to it
 *
 * Random numbers are numbers mixed up: the same number always gives the same, so that what was
 * written can be deleted, and no two give the same 64 bits.
 */

import type { ColumnBuilder } from '../../src/common/column-builder.ts'
import { LANE_BYTES, PHYSICAL } from '../../src/common/data-type.ts'
import type { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { ValueRules } from './load-plan.ts'

const WORD = 2 ** 32
const HIGH_SAFE = 2 ** 21 - 1
const DAY_COUNT = 2_932_897
const EXACT_DIGITS = 15
const DIGITS_MAX = 16
const ZERO = 0x30
const POINT = 0x2e
const FILLER = 0x78

/** The number last drawn: low word, high word. */
const scratchNumber = new Uint32Array(2)

/** See the file's header. */
export class RowGenerator {
  readonly #columns: readonly Column[]
  readonly #stride: number
  readonly #rules: ValueRules
  readonly #fixed: readonly (Uint8Array | null)[]

  /**
   * Of the first columns of a table that has `stride`: as many numbers belong to a row, whether
   * its cells are written or not.
   */
  constructor(columns: readonly Column[], stride: number, rules: ValueRules) {
    this.#columns = columns
    this.#stride = stride
    this.#rules = rules
    this.#fixed = columns.map((column) => fixedCell(column, rules.stringFixed))
  }

  /** Appends rows, of which the first cell has the number `firstCell`. Requires: no pending row. */
  append(builder: RowBlockBuilder, firstCell: number, rowCount: number): void {
    for (let index = 0; index < this.#columns.length; index++) {
      const column = this.#columns[index]
      const fixed = this.#fixed[index]
      const target = builder.columns[index]
      if (fixed !== null) target.appendRepeated(fixed, rowCount)
      else this.#appendColumn(column, target, firstCell + index, rowCount)
    }
    builder.endRows(NO_OPERATIONS, rowCount)
  }

  #appendColumn(column: Column, target: ColumnBuilder, first: number, count: number): void {
    const { isKeyRandom, isValueRandom, stringLength } = this.#rules
    const isRandom = column.isKey ? isKeyRandom : isValueRandom
    const cells = { first, step: this.#stride, count, isRandom }
    target.reserve(count)
    if (column.physical === PHYSICAL.binary) {
      const length = Math.min(stringLength, column.attributes.length ?? stringLength)
      appendTexts(target, cells, length)
    } else {
      appendNumbers(column, target, cells)
    }
  }
}

const NO_OPERATIONS = new Uint8Array(0)

interface CellNumbers {
  readonly first: number
  readonly step: number
  readonly count: number
  readonly isRandom: boolean
}

function appendNumbers(column: Column, target: ColumnBuilder, cells: CellNumbers): void {
  switch (column.type) {
    case 'DATE':
      appendModulo(target, cells, DAY_COUNT)
      break
    case 'DECIMAL': {
      const digits = Math.min(column.attributes.precision ?? 1, EXACT_DIGITS)
      const isWhole = (column.attributes.precision ?? 1) > EXACT_DIGITS
      appendModulo(target, cells, isWhole ? Number.MAX_SAFE_INTEGER + 1 : 10 ** digits)
      break
    }
    case 'INT64':
    case 'UNIXTIME_MICROS':
      appendInt64(target, cells)
      break
    case 'FLOAT':
    case 'DOUBLE':
      appendFloats(target, cells)
      break
    default: {
      const bits = column.type === 'BOOL' ? 1 : LANE_BYTES[column.physical] * 8 - 1
      appendLowBits(target, cells, 2 ** bits - 1)
    }
  }
}

function appendLowBits(target: ColumnBuilder, cells: CellNumbers, mask: number): void {
  const { first, step, count, isRandom } = cells
  const { lanes } = target
  for (let i = 0, number = first; i < count; i++, number += step) {
    drawNumber(number, isRandom)
    lanes[target.rowCount] = scratchNumber[0] & mask
    target.endCell()
  }
}

function appendInt64(target: ColumnBuilder, cells: CellNumbers): void {
  const { first, step, count, isRandom } = cells
  const { lanes } = target
  for (let i = 0, number = first; i < count; i++, number += step) {
    drawNumber(number, isRandom)
    const at = target.rowCount * 2
    lanes[at] = scratchNumber[0]
    lanes[at + 1] = scratchNumber[1] & 0x7fffffff
    target.endCell()
  }
}

function appendFloats(target: ColumnBuilder, cells: CellNumbers): void {
  const { first, step, count, isRandom } = cells
  const { lanes } = target
  for (let i = 0, number = first; i < count; i++, number += step) {
    drawNumber(number, isRandom)
    lanes[target.rowCount] = scratchNumber[1] * WORD + scratchNumber[0]
    target.endCell()
  }
}

/** Appends numbers modulo at most 2^53, to lanes of 32, 64 or 128 bits. */
function appendModulo(target: ColumnBuilder, cells: CellNumbers, modulus: number): void {
  const { first, step, count, isRandom } = cells
  const { lanes } = target
  const words = LANE_BYTES[target.physical] / 4
  for (let i = 0, number = first; i < count; i++, number += step) {
    const value = drawSafeNumber(number, isRandom) % modulus
    const at = target.rowCount * words
    lanes[at] = value
    if (words > 1) {
      lanes[at] = value >>> 0
      lanes[at + 1] = Math.floor(value / WORD)
    }
    target.endCell()
  }
}

function appendTexts(target: ColumnBuilder, cells: CellNumbers, length: number): void {
  const { first, step, count, isRandom } = cells
  const { values } = target
  values.reserve(count * length)
  const { bytes } = values
  for (let i = 0, number = first; i < count; i++, number += step) {
    writeText(bytes, values.length, length, drawSafeNumber(number, isRandom))
    values.length += length
    target.endCell()
  }
}

const scratchDigits = new Uint8Array(DIGITS_MAX + 1)

/** Writes `length` bytes: a number, a point, fillers; as much of it as there is room for. */
function writeText(bytes: Uint8Array, offset: number, length: number, number: number): void {
  let start = DIGITS_MAX
  scratchDigits[start] = POINT
  let rest = number
  // Small numbers are divided as integers of 32 bits.
  while (rest > 0x7fffffff) {
    const shorter = Math.floor(rest / 10)
    scratchDigits[--start] = ZERO + rest - shorter * 10
    rest = shorter
  }
  let small = rest | 0
  do {
    const shorter = (small / 10) | 0
    scratchDigits[--start] = ZERO + small - shorter * 10
    small = shorter
  } while (small > 0)
  const end = offset + length
  let at = offset
  for (; start <= DIGITS_MAX && at < end; start++, at++) bytes[at] = scratchDigits[start]
  if (end - at > 64) bytes.fill(FILLER, at, end)
  else for (; at < end; at++) bytes[at] = FILLER
}

/** Sets `scratchNumber` to a number, or to what it gives when it is mixed up. */
function drawNumber(number: number, isRandom: boolean): void {
  scratchNumber[0] = number >>> 0
  scratchNumber[1] = (number / WORD) >>> 0
  if (isRandom) mix()
}

/** The same, its lowest 53 bits. */
function drawSafeNumber(number: number, isRandom: boolean): number {
  if (!isRandom) return number
  drawNumber(number, true)
  return (scratchNumber[1] & HIGH_SAFE) * WORD + scratchNumber[0]
}

/**
 * Mixes the bits of `scratchNumber` up, reversibly: a Feistel network of which each round is the
 * last step of MurmurHash3.
 */
function mix(): void {
  let low = scratchNumber[0]
  let high = scratchNumber[1]
  high ^= finish(low ^ 0x9e3779b9)
  low ^= finish(high ^ 0x7f4a7c15)
  high ^= finish(low ^ 0xf39cc060)
  low ^= finish(high ^ 0x5cedc834)
  scratchNumber[0] = low
  scratchNumber[1] = high
}

function finish(word: number): number {
  let bits = word ^ (word >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

/** The same cell in every row; null where cells are made of numbers. */
function fixedCell(column: Column, text: string): Uint8Array | null {
  if (column.physical !== PHYSICAL.binary || text === '') return null
  const { length } = column.attributes
  return utf8Encode(length === undefined ? text : [...text].slice(0, length).join(''))
}

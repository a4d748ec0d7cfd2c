/**
 * Tests of lanes that are plain numbers: int8 to int32, float32, float64. Hot.
 *
 * Lanes are first copied to float64, which holds each of them exactly: one loop for each kind of
 * lane there, and one for each kind of test here. Comparisons are those of the language: NaN passes
 * none, −0 equals 0.
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { type CellTest, keepNotNull } from './cell-test.ts'
import { keepPackedInRange } from './keep-packed-in-range.ts'

let scratchNumbers = new Float64Array(2048)

/** Passes numbers equal to one. */
export class NumberEqualityTest implements CellTest {
  readonly #value: number

  constructor(value: number) {
    this.#value = value
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const { packed } = cells
    if (packed !== null) return keepPackedInRange(packed, this.#value, this.#value, rows, count)
    const rowCount = keepNotNull(cells, rows, count)
    const numbers = widen(cells, rows, rowCount)
    const value = this.#value
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      rows[kept] = rows[i]
      kept += numbers[i] === value ? 1 : 0
    }
    return kept
  }
}

/** Passes numbers in `[lower, upper)`; null is an open side, which lets infinity in. */
export class NumberRangeTest implements CellTest {
  readonly #lower: number
  readonly #upper: number
  readonly #hasUpper: boolean

  constructor(lower: number | null, upper: number | null) {
    this.#lower = lower ?? Number.NEGATIVE_INFINITY
    this.#upper = upper ?? Number.POSITIVE_INFINITY
    this.#hasUpper = upper !== null
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const { packed } = cells
    // Integers have whole ends.
    if (packed !== null) return keepPackedInRange(packed, this.#lower, this.#upper - 1, rows, count)
    const rowCount = keepNotNull(cells, rows, count)
    const numbers = widen(cells, rows, rowCount)
    const lower = this.#lower
    const upper = this.#upper
    let kept = 0
    if (!this.#hasUpper) {
      for (let i = 0; i < rowCount; i++) {
        rows[kept] = rows[i]
        kept += numbers[i] >= lower ? 1 : 0
      }
      return kept
    }
    for (let i = 0; i < rowCount; i++) {
      const number = numbers[i]
      rows[kept] = rows[i]
      kept += number >= lower && number < upper ? 1 : 0
    }
    return kept
  }
}

/** Passes numbers of a list. Requires: it ascends strictly. */
export class NumberListTest implements CellTest {
  readonly #values: Float64Array

  constructor(values: readonly number[]) {
    this.#values = Float64Array.from(values)
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const numbers = widen(cells, rows, rowCount)
    const values = this.#values
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const number = numbers[i]
      let low = 0
      let high = values.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (values[middle] < number) low = middle + 1
        else high = middle
      }
      rows[kept] = rows[i]
      kept += low < values.length && values[low] === number ? 1 : 0
    }
    return kept
  }
}

/** The lanes of `rows[0, count)` as float64. Scratch: good until the next call. */
function widen(cells: ColumnVector, rows: Uint32Array, count: number): Float64Array {
  if (scratchNumbers.length < count) scratchNumbers = new Float64Array(count)
  const out = scratchNumbers
  switch (cells.physical) {
    case PHYSICAL.int8:
      widenInt8(cells.lanes as Int8Array, rows, count, out)
      break
    case PHYSICAL.int16:
      widenInt16(cells.lanes as Int16Array, rows, count, out)
      break
    case PHYSICAL.int32:
      widenInt32(cells.lanes as Int32Array, rows, count, out)
      break
    case PHYSICAL.float32:
      widenFloat32(cells.lanes as Float32Array, rows, count, out)
      break
    default:
      widenFloat64(cells.lanes as Float64Array, rows, count, out)
  }
  return out
}

function widenInt8(lanes: Int8Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = lanes[rows[i]]
}

function widenInt16(lanes: Int16Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = lanes[rows[i]]
}

function widenInt32(lanes: Int32Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = lanes[rows[i]]
}

function widenFloat32(
  lanes: Float32Array,
  rows: Uint32Array,
  count: number,
  out: Float64Array,
): void {
  for (let i = 0; i < count; i++) out[i] = lanes[rows[i]]
}

function widenFloat64(
  lanes: Float64Array,
  rows: Uint32Array,
  count: number,
  out: Float64Array,
): void {
  for (let i = 0; i < count; i++) out[i] = lanes[rows[i]]
}

/** Tests of int64 lanes, as pairs of 32-bit words, low word first. Hot: no bigint. */

import type { ColumnVector } from '../../common/column-vector.ts'
import { type CellTest, keepNotNull } from './cell-test.ts'
import { keepPackedInRange } from './keep-packed-in-range.ts'

const MIN = -(2n ** 63n)

/** Low word of a 64-bit integer, unsigned. */
function lowWord(value: bigint): number {
  return Number(BigInt.asUintN(32, value))
}

/** High word of a 64-bit integer, signed: what orders integers first. */
function highWord(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n))
}

/** Passes integers equal to one. */
export class PairEqualityTest implements CellTest {
  readonly #low: number
  readonly #high: number
  /** The integer, or the double nearest to it, which then is no packed one. */
  readonly #value: number

  constructor(value: bigint) {
    this.#value = Number(value)
    this.#low = lowWord(value)
    this.#high = highWord(value) >>> 0
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const { packed } = cells
    if (packed !== null) return keepPackedInRange(packed, this.#value, this.#value, rows, count)
    const rowCount = keepNotNull(cells, rows, count)
    const lanes = cells.lanes as Uint32Array
    const low = this.#low
    const high = this.#high
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += lanes[row * 2] === low && lanes[row * 2 + 1] === high ? 1 : 0
    }
    return kept
  }
}

/** Passes integers in `[lower, upper)`; null is an open side. */
export class PairRangeTest implements CellTest {
  readonly #lowerLow: number
  readonly #lowerHigh: number
  readonly #lastLow: number
  readonly #lastHigh: number
  /** The ends, or the doubles nearest to them, which then are far from packed integers. */
  readonly #first: number
  readonly #last: number

  /** Requires: the range is not empty. */
  constructor(lower: bigint | null, upper: bigint | null) {
    const first = lower ?? MIN
    const last = upper === null ? -MIN - 1n : upper - 1n
    this.#lowerLow = lowWord(first)
    this.#lowerHigh = highWord(first)
    this.#lastLow = lowWord(last)
    this.#lastHigh = highWord(last)
    this.#first = Number(first)
    this.#last = Number(last)
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const { packed } = cells
    if (packed !== null) return keepPackedInRange(packed, this.#first, this.#last, rows, count)
    const rowCount = keepNotNull(cells, rows, count)
    const lanes = cells.lanes as Uint32Array
    const lowerLow = this.#lowerLow
    const lowerHigh = this.#lowerHigh
    const lastLow = this.#lastLow
    const lastHigh = this.#lastHigh
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      const low = lanes[row * 2]
      const high = lanes[row * 2 + 1] | 0
      const isAbove = high > lowerHigh || (high === lowerHigh && low >= lowerLow)
      const isBelow = high < lastHigh || (high === lastHigh && low <= lastLow)
      rows[kept] = row
      kept += isAbove && isBelow ? 1 : 0
    }
    return kept
  }
}

/** Passes integers of a list. Requires: it ascends strictly. */
export class PairListTest implements CellTest {
  readonly #lows: Uint32Array
  readonly #highs: Int32Array

  constructor(values: readonly bigint[]) {
    this.#lows = Uint32Array.from(values, lowWord)
    this.#highs = Int32Array.from(values, highWord)
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const lanes = cells.lanes as Uint32Array
    const lows = this.#lows
    const highs = this.#highs
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      const low = lanes[row * 2]
      const high = lanes[row * 2 + 1] | 0
      let from = 0
      let to = lows.length
      while (from < to) {
        const middle = (from + to) >>> 1
        const isLess = highs[middle] < high || (highs[middle] === high && lows[middle] < low)
        if (isLess) from = middle + 1
        else to = middle
      }
      rows[kept] = row
      kept += from < lows.length && lows[from] === low && highs[from] === high ? 1 : 0
    }
    return kept
  }
}

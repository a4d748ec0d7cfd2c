/** Tests of int128 lanes, as four 32-bit words, low word first. Hot: no bigint. */

import type { ColumnVector } from '../../common/column-vector.ts'
import { type CellTest, keepNotNull } from './cell-test.ts'

const WORDS = 4

/** Passes integers of a list. Requires: it ascends strictly. An equality is a list of one. */
export class QuadListTest implements CellTest {
  readonly #words: Uint32Array
  readonly #count: number

  constructor(values: readonly bigint[]) {
    this.#words = wordsOf(values)
    this.#count = values.length
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const lanes = cells.lanes as Uint32Array
    const words = this.#words
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      let low = 0
      let high = this.#count
      while (low < high) {
        const middle = (low + high) >>> 1
        if (compareQuads(words, middle, lanes, row) < 0) low = middle + 1
        else high = middle
      }
      rows[kept] = row
      kept += low < this.#count && compareQuads(words, low, lanes, row) === 0 ? 1 : 0
    }
    return kept
  }
}

/** Passes integers in `[lower, upper)`; null is an open side. */
export class QuadRangeTest implements CellTest {
  readonly #lower: Uint32Array | null
  readonly #upper: Uint32Array | null

  constructor(lower: bigint | null, upper: bigint | null) {
    this.#lower = lower === null ? null : wordsOf([lower])
    this.#upper = upper === null ? null : wordsOf([upper])
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const lanes = cells.lanes as Uint32Array
    const lower = this.#lower
    const upper = this.#upper
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      const isAbove = lower === null || compareQuads(lower, 0, lanes, row) <= 0
      const isBelow = upper === null || compareQuads(upper, 0, lanes, row) > 0
      rows[kept] = row
      kept += isAbove && isBelow ? 1 : 0
    }
    return kept
  }
}

function wordsOf(values: readonly bigint[]): Uint32Array {
  const words = new Uint32Array(values.length * WORDS)
  for (let i = 0; i < words.length; i++) {
    const shift = BigInt((i % WORDS) * 32)
    words[i] = Number(BigInt.asUintN(32, values[Math.floor(i / WORDS)] >> shift))
  }
  return words
}

/** Orders integer `aIndex` of `a` and integer `bIndex` of `b`: the highest word is signed. */
function compareQuads(a: Uint32Array, aIndex: number, b: Uint32Array, bIndex: number): number {
  const aStart = aIndex * WORDS
  const bStart = bIndex * WORDS
  const top = (a[aStart + 3] | 0) - (b[bStart + 3] | 0)
  if (top !== 0) return top
  for (let word = 2; word >= 0; word--) {
    const difference = a[aStart + word] - b[bStart + word]
    if (difference !== 0) return difference
  }
  return 0
}

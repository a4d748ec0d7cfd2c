/** Tests of strings and other bytes, compared as unsigned bytes. Hot. */

import type { ColumnVector } from '../../common/column-vector.ts'
import { compareBytes, equalBytes } from '../../util/bytes.ts'
import { type CellTest, keepNotNull } from './cell-test.ts'

/** Passes values equal to one. */
export class BinaryEqualityTest implements CellTest {
  readonly #value: Uint8Array

  constructor(value: Uint8Array) {
    this.#value = value
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const { bytes, offsets } = cells
    const value = this.#value
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      rows[kept] = row
      const isEqual = equalBytes(bytes, offsets[row], offsets[row + 1], value, 0, value.length)
      kept += isEqual ? 1 : 0
    }
    return kept
  }
}

/** Passes values in `[lower, upper)`; null is an open side. */
export class BinaryRangeTest implements CellTest {
  readonly #lower: Uint8Array | null
  readonly #upper: Uint8Array | null

  constructor(lower: Uint8Array | null, upper: Uint8Array | null) {
    this.#lower = lower
    this.#upper = upper
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const { bytes, offsets } = cells
    const lower = this.#lower
    const upper = this.#upper
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += isInRange(bytes, offsets[row], offsets[row + 1], lower, upper) ? 1 : 0
    }
    return kept
  }
}

function isInRange(
  bytes: Uint8Array,
  start: number,
  end: number,
  lower: Uint8Array | null,
  upper: Uint8Array | null,
): boolean {
  if (lower !== null && compareBytes(bytes, start, end, lower, 0, lower.length) < 0) return false
  return upper === null || compareBytes(bytes, start, end, upper, 0, upper.length) < 0
}

/** Passes values of a list. Requires: it ascends strictly. */
export class BinaryListTest implements CellTest {
  readonly #bytes: Uint8Array
  /** Value i is `#bytes[#offsets[i], #offsets[i + 1])`. */
  readonly #offsets: Uint32Array

  constructor(values: readonly Uint8Array[]) {
    this.#offsets = new Uint32Array(values.length + 1)
    for (let i = 0; i < values.length; i++)
      this.#offsets[i + 1] = this.#offsets[i] + values[i].length
    this.#bytes = new Uint8Array(this.#offsets[values.length])
    for (let i = 0; i < values.length; i++) this.#bytes.set(values[i], this.#offsets[i])
  }

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const rowCount = keepNotNull(cells, rows, count)
    const { bytes, offsets } = cells
    let kept = 0
    for (let i = 0; i < rowCount; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += this.#has(bytes, offsets[row], offsets[row + 1]) ? 1 : 0
    }
    return kept
  }

  #has(bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes
    const offsets = this.#offsets
    let low = 0
    let high = offsets.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = compareBytes(own, offsets[middle], offsets[middle + 1], bytes, start, end)
      if (order === 0) return true
      if (order < 0) low = middle + 1
      else high = middle
    }
    return false
  }
}

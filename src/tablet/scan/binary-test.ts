/**
 * Tests of strings and other bytes, compared as unsigned bytes. Hot.
 *
 * Of cells with a dictionary every different value is tested once, and rows are kept by their
 * codes.
 */

import type { ColumnDictionary, ColumnVector } from '../../common/column-vector.ts'
import { compareBytes, equalBytes } from '../../util/bytes.ts'
import { type CellTest, keepNotNull } from './cell-test.ts'

/** What all tests of binary values have in common. */
abstract class BinaryTest implements CellTest {
  /** The values that were tested last: 1 where one passes, and how many do. */
  #values: ColumnVector | null = null
  #passes = new Uint8Array(0)
  #passingCount = 0
  #passing = new Uint32Array(0)

  /** As `CellTest.keepPassing`, of values that are not null. */
  protected abstract keepValues(
    bytes: Uint8Array,
    offsets: Uint32Array,
    rows: Uint32Array,
    count: number,
  ): number

  keepPassing(cells: ColumnVector, rows: Uint32Array, count: number): number {
    const { dictionary } = cells
    if (dictionary === null) {
      const rowCount = keepNotNull(cells, rows, count)
      return this.keepValues(cells.bytes, cells.offsets, rows, rowCount)
    }
    this.#testValues(dictionary.values)
    if (this.#passingCount === 0) return 0
    const rowCount = keepNotNull(cells, rows, count)
    if (this.#passingCount === dictionary.values.rowCount) return rowCount
    return this.#keepCodes(dictionary, rows, rowCount)
  }

  #keepCodes({ codes }: ColumnDictionary, rows: Uint32Array, count: number): number {
    const passes = this.#passes
    let kept = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      rows[kept] = row
      kept += passes[codes[row]]
    }
    return kept
  }

  #testValues(values: ColumnVector): void {
    if (this.#values === values) return
    const { rowCount } = values
    if (this.#passes.length < rowCount) {
      this.#passes = new Uint8Array(rowCount)
      this.#passing = new Uint32Array(rowCount)
    }
    const passing = this.#passing
    for (let code = 0; code < rowCount; code++) passing[code] = code
    this.#passingCount = this.keepValues(values.bytes, values.offsets, passing, rowCount)
    this.#passes.fill(0, 0, rowCount)
    for (let i = 0; i < this.#passingCount; i++) this.#passes[passing[i]] = 1
    this.#values = values
  }
}

/** Passes values equal to one. */
export class BinaryEqualityTest extends BinaryTest {
  readonly #value: Uint8Array

  constructor(value: Uint8Array) {
    super()
    this.#value = value
  }

  protected override keepValues(
    bytes: Uint8Array,
    offsets: Uint32Array,
    rows: Uint32Array,
    count: number,
  ): number {
    const value = this.#value
    let kept = 0
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      rows[kept] = row
      const isEqual = equalBytes(bytes, offsets[row], offsets[row + 1], value, 0, value.length)
      kept += isEqual ? 1 : 0
    }
    return kept
  }
}

/** Passes values in `[lower, upper)`; null is an open side. */
export class BinaryRangeTest extends BinaryTest {
  readonly #lower: Uint8Array | null
  readonly #upper: Uint8Array | null

  constructor(lower: Uint8Array | null, upper: Uint8Array | null) {
    super()
    this.#lower = lower
    this.#upper = upper
  }

  protected override keepValues(
    bytes: Uint8Array,
    offsets: Uint32Array,
    rows: Uint32Array,
    count: number,
  ): number {
    const lower = this.#lower
    const upper = this.#upper
    let kept = 0
    for (let i = 0; i < count; i++) {
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
export class BinaryListTest extends BinaryTest {
  readonly #bytes: Uint8Array
  /** Value i is `#bytes[#offsets[i], #offsets[i + 1])`. */
  readonly #offsets: Uint32Array

  constructor(values: readonly Uint8Array[]) {
    super()
    this.#offsets = new Uint32Array(values.length + 1)
    for (let i = 0; i < values.length; i++)
      this.#offsets[i + 1] = this.#offsets[i] + values[i].length
    this.#bytes = new Uint8Array(this.#offsets[values.length])
    for (let i = 0; i < values.length; i++) this.#bytes.set(values[i], this.#offsets[i])
  }

  protected override keepValues(
    bytes: Uint8Array,
    offsets: Uint32Array,
    rows: Uint32Array,
    count: number,
  ): number {
    let kept = 0
    for (let i = 0; i < count; i++) {
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

/**
 * Numbers of some rows, to compute with. Hot.
 *
 *   plain   doubles that hold the numbers exactly, none further from 0 than a known bound below
 *           2^53; or the doubles themselves, of floats
 *   wide    integers of any size, where a column or a product of columns does not fit: rare
 *
 * Exact numbers are whole: a decimal is its digits, and who computes with it knows its scale.
 */

import { ratioToDouble } from '../../common/ratio-to-double.ts'

/** Whole numbers nearer to 0 are held exactly, and so is the sum or product that stays below. */
export const PLAIN_END = 2 ** 53
/** Powers of ten that doubles hold exactly. */
const EXACT_SCALE_MAX = 22

/** See the file's header. Scratch: what it holds is good until the next rows are loaded. */
export class NumberVector {
  isWide = false
  /** All rows have the number of row 0. */
  isConstant = false
  /** Plain numbers, 0 where there is null. */
  values = new Float64Array(1)
  /** No plain exact number is further from 0. */
  bound = 0
  /** Wide numbers, 0 where there is null. */
  wide: bigint[] = []
  /** 1 where there is null; null when there is none. */
  isNull: Uint8Array | null = null
  #isNullScratch = new Uint8Array(0)

  /** Makes room for plain numbers of `count` rows. */
  reserve(count: number): Float64Array {
    if (this.values.length < count) this.values = new Float64Array(Math.max(count, 4096))
    return this.values
  }

  /** Room for the marks of `count` rows, of any content, which are those from now on. */
  reserveNulls(count: number): Uint8Array {
    if (this.#isNullScratch.length < count) {
      this.#isNullScratch = new Uint8Array(Math.max(count, 4096))
    }
    this.isNull = this.#isNullScratch
    return this.#isNullScratch
  }

  /** Makes it one number for all rows. */
  setConstant(value: bigint): void {
    const magnitude = value < 0n ? -value : value
    this.isConstant = true
    this.isWide = magnitude >= BigInt(PLAIN_END)
    this.wide = [value]
    if (this.isWide) return
    this.values[0] = Number(value)
    this.bound = Number(magnitude)
  }

  /** The exact numbers of `count` rows as integers; of a constant that of row 0 only. */
  integers(count: number): readonly bigint[] {
    if (this.isWide || this.isConstant) return this.wide
    for (let i = 0; i < count; i++) this.wide[i] = BigInt(this.values[i])
    return this.wide
  }

  /** Marks the rows as null where one of two vectors is. */
  joinNulls(a: NumberVector, b: NumberVector, count: number): void {
    if (a.isNull === null || b.isNull === null) {
      this.isNull = a.isNull ?? b.isNull
      return
    }
    const first = a.isNull
    const second = b.isNull
    const marks = this.reserveNulls(count)
    for (let i = 0; i < count; i++) marks[i] = first[i] | second[i]
  }

  /** Writes 0 where there is null. */
  clearNulls(count: number): void {
    const { isNull, values, wide } = this
    if (isNull === null) return
    for (let i = 0; i < count; i++) {
      if (isNull[i] === 0) continue
      if (this.isWide) wide[i] = 0n
      else values[i] = 0
    }
  }
}

/**
 * Exact numbers as the doubles nearest to them, into `out`; of a constant that of row 0 only.
 */
export function writeDoubles(
  vector: NumberVector,
  scale: number,
  count: number,
  out: Float64Array,
): void {
  const end = vector.isConstant ? 1 : count
  if (!vector.isWide && scale <= EXACT_SCALE_MAX) {
    const { values } = vector
    const unit = 10 ** scale
    for (let i = 0; i < end; i++) out[i] = values[i] / unit
    return
  }
  const integers = vector.integers(count)
  const unit = 10n ** BigInt(scale)
  for (let i = 0; i < end; i++) out[i] = ratioToDouble(integers[i], unit)
}

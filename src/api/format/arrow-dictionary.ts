/**
 * A text or binary column of a stream as numbers of its different values. Hot.
 *
 * Before a record batch come the values that are new in it: the whole dictionary the first time,
 * then what is added to it, and one in its place when it became too large.
 */

import { ColumnVector } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import { bitmapBytes, getBit } from '../../util/bitmap.ts'
import { type ArrowColumnWriter, nullsOf, writeValidity } from './arrow-column.ts'
import { ByteDictionary } from './byte-dictionary.ts'
import type { RowSegment } from './held-rows.ts'

/** Values with which a dictionary is added to no more. */
const VALUE_COUNT_MAX = 131_072
/** Bytes of values with which a dictionary is added to no more. */
const VALUE_BYTES_MAX = 2 * 1024 * 1024

/** Values that readers must know before the record batch that was measured. */
export interface NewValues {
  readonly segment: RowSegment
  /** Whether they are added to those known, and not in their place. */
  readonly isDelta: boolean
}

/**
 * A column written as numbers of values.
 *
 *  I1  readers know the values below `#knownCount`.
 */
export class DictionaryArrowColumn implements ArrowColumnWriter {
  nullCount = 0
  readonly bufferBytes = [0, 0]
  readonly #column: Column
  readonly #index: number
  readonly #dictionary = new ByteDictionary()
  #knownCount = 0
  #codes = new Int32Array(0)
  #cellBytes = 0

  /** `index` is the position of the column in the blocks. */
  constructor(column: Column, index: number) {
    this.#column = column
    this.#index = index
  }

  /** Whether the segments last measured are shorter as numbers. */
  get pays(): boolean {
    const { count, values } = this.#dictionary
    const cellCount = this.bufferBytes[1] / 4 - this.nullCount
    return count > 0 && count * 2 <= cellCount && values.length + count * 4 <= this.#cellBytes
  }

  measure(segments: readonly RowSegment[], rowCount: number): void {
    const dictionary = this.#dictionary
    if (dictionary.count > VALUE_COUNT_MAX || dictionary.values.length > VALUE_BYTES_MAX) {
      dictionary.clear()
      this.#knownCount = 0
    }
    if (this.#codes.length < rowCount) this.#codes = new Int32Array(rowCount)
    this.nullCount = nullsOf(segments, this.#index)
    this.bufferBytes[0] = this.nullCount === 0 ? 0 : bitmapBytes(rowCount)
    this.bufferBytes[1] = rowCount * 4
    this.#cellBytes = 0
    let row = 0
    for (let i = 0; i < segments.length; i++) {
      const { block, start, end } = segments[i]
      this.#number(block.columns[this.#index], start, end, row)
      row += end - start
    }
  }

  /** The values that are new since this was asked last, or null when there are none. */
  takeNewValues(): NewValues | null {
    const { values, count } = this.#dictionary
    const first = this.#knownCount
    if (first === count) return null
    this.#knownCount = count
    const offsets = new Uint32Array(count - first + 1)
    offsets[0] = values.start(first)
    offsets.set(values.ends.subarray(first, count), 1)
    const newCount = count - first
    const vector = new ColumnVector(PHYSICAL.binary, newCount, values.bytes, offsets, null, null)
    const block = new RowBlock(newCount, [this.#column.id], [vector], null)
    return { segment: { block, start: 0, end: newCount }, isDelta: first > 0 }
  }

  write(segments: readonly RowSegment[], target: Uint8Array, offsets: readonly number[]): void {
    const [validity, codes] = this.bufferBytes
    if (this.nullCount > 0) {
      writeValidity(segments, this.#index, target.subarray(offsets[0], offsets[0] + validity))
    }
    const { buffer, byteOffset } = target
    const numbers = new Int32Array(buffer, byteOffset + offsets[1], codes / 4)
    numbers.set(this.#codes.subarray(0, codes / 4))
  }

  #number(vector: ColumnVector, start: number, end: number, firstRow: number): void {
    const { bytes, offsets, validity } = vector
    const dictionary = this.#dictionary
    const codes = this.#codes
    this.#cellBytes += offsets[end] - offsets[start]
    for (let row = start, at = firstRow; row < end; row++, at++) {
      const isNull = validity !== null && !getBit(validity, row)
      codes[at] = isNull ? 0 : dictionary.codeOf(bytes, offsets[row], offsets[row + 1])
    }
  }
}

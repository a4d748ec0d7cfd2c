/**
 * One column that grows by appending: the store behind write blocks, scan results and MemRowSets.
 * Hot.
 */

import { ByteArena, copyBytes } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { bitmapBytes, copyBits, getBit, setBit, setBits } from '../util/bitmap.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { type ColumnDictionary, ColumnVector, type Lanes, lanesOf } from './column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from './data-type.ts'
import { gatherLanes } from './gather-lanes.ts'
import { codesAt, codesIn, joinedBytes, joinValues } from './join-codes.ts'

const CAPACITY_ROWS_DEFAULT = 16
// Shared and never written to: a builder that is made for one row makes few arrays.
const NO_LANES = new Int8Array(0)
const NO_OFFSETS = new Uint32Array(1)

/**
 * Appends cells and hands out a ColumnVector of them. All four arrays grow by doubling.
 *
 *  I1  rows `[0, rowCount)` are complete: lane or offsets, validity bit, set bit;
 *  I2  bits at and above `rowCount` are zero, as are the lanes there;
 *  I3  `nullCount` and `unsetCount` count the zero bits below `rowCount`.
 */
export class ColumnBuilder {
  readonly physical: Physical
  rowCount = 0
  nullCount = 0
  unsetCount = 0
  /** Typed view of all lanes, used and spare. Replaced on growth. */
  lanes: Lanes = NO_LANES
  /** Binary: offsets of rows, `[0, rowCount]` meaningful. Replaced on growth. */
  offsets: Uint32Array = NO_OFFSETS
  /** Binary: all values joined. */
  readonly values: ByteArena
  validity: Uint8Array = EMPTY_BYTES
  isSet: Uint8Array = EMPTY_BYTES
  #laneBytes: Uint8Array = EMPTY_BYTES
  #capacityRows = 0

  constructor(physical: Physical, capacityRows = CAPACITY_ROWS_DEFAULT) {
    this.physical = physical
    this.values = new ByteArena(physical === PHYSICAL.binary ? capacityRows * 8 : 0)
    this.#grow(Math.max(capacityRows, 1))
  }

  /** Bytes that this column holds in memory, spare capacity included. */
  get heldBytes(): number {
    return (
      this.#laneBytes.length +
      this.offsets.length * 4 +
      this.values.bytes.length +
      this.validity.length +
      this.isSet.length
    )
  }

  /** Bytes that its rows take in a block: values, offsets, and bitmaps as if both were kept. */
  get usedBytes(): number {
    const bitmaps = bitmapBytes(this.rowCount) * 2
    return this.physical === PHYSICAL.binary
      ? this.values.length + (this.rowCount + 1) * 4 + bitmaps
      : this.rowCount * LANE_BYTES[this.physical] + bitmaps
  }

  /** Makes room for `extraRows` more rows. */
  reserve(extraRows: number): void {
    const needed = this.rowCount + extraRows
    if (needed > this.#capacityRows) this.#grow(Math.max(needed, this.#capacityRows * 2))
  }

  #grow(capacityRows: number): void {
    if (this.physical === PHYSICAL.binary) {
      const offsets = new Uint32Array(capacityRows + 1)
      offsets.set(this.offsets)
      this.offsets = offsets
    } else {
      const lanes = new Uint8Array(capacityRows * LANE_BYTES[this.physical])
      lanes.set(this.#laneBytes)
      this.#laneBytes = lanes
      this.lanes = lanesOf(this.physical, lanes, capacityRows)
    }
    const validity = new Uint8Array(bitmapBytes(capacityRows))
    validity.set(this.validity)
    this.validity = validity
    const isSet = new Uint8Array(bitmapBytes(capacityRows))
    isSet.set(this.isSet)
    this.isSet = isSet
    this.#capacityRows = capacityRows
  }

  /**
   * Completes a row whose lane was written at `rowCount`, or whose binary value was appended to
   * `values` behind the last offset. Requires: `reserve(1)` was called before the lane was written.
   */
  endCell(): void {
    const row = this.rowCount
    setBit(this.validity, row)
    setBit(this.isSet, row)
    if (this.physical === PHYSICAL.binary) this.offsets[row + 1] = this.values.length
    this.rowCount = row + 1
  }

  /** Appends a cell that is null, and set or unset. */
  appendNull(isSet: boolean): void {
    this.reserve(1)
    const row = this.rowCount
    if (isSet) setBit(this.isSet, row)
    else this.unsetCount++
    this.nullCount++
    if (this.physical === PHYSICAL.binary) this.offsets[row + 1] = this.values.length
    this.rowCount = row + 1
  }

  /** Appends a plain value; null appends a set null. For edges. */
  appendCell(cell: Cell | null): void {
    if (cell === null) {
      this.appendNull(true)
      return
    }
    this.reserve(1)
    if (this.physical === PHYSICAL.binary) {
      assert(cell instanceof Uint8Array, 'binary cell is not bytes')
      this.values.append(cell, 0, cell.length)
    } else {
      writeLane(this.physical, this.lanes, this.rowCount, cell)
    }
    this.endCell()
  }

  /** Appends `source[start, end)` as a binary cell. */
  appendBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(1)
    this.values.append(source, start, end)
    this.endCell()
  }

  /**
   * Appends the cells of `source` at `rows[start, end)`, in that order.
   *
   * Requires: the same physical type. Cost: O(rows) with one growth per array.
   */
  appendRows(source: ColumnVector, rows: Uint32Array, start: number, end: number): void {
    const count = end - start
    this.reserve(count)
    const first = this.rowCount
    const { dictionary, validity } = source
    if (dictionary !== null) {
      this.#appendCodes(dictionary, codesAt(dictionary, validity, rows, start, end), count)
    } else if (this.physical === PHYSICAL.binary) {
      this.#gatherBinary(source.bytes, source.offsets, rows, start, end)
    } else {
      gatherLanes(this.physical, source.lanes, rows, start, end, this.lanes, first)
    }
    this.nullCount += gatherBits(source.validity, rows, start, end, this.validity, first)
    this.unsetCount += gatherBits(source.isSet, rows, start, end, this.isSet, first)
    this.rowCount = first + count
  }

  /** Appends the cells of `source` at `[start, end)`: whole stretches of bytes at a time. */
  appendRange(source: ColumnVector, start: number, end: number): void {
    const count = end - start
    this.reserve(count)
    const first = this.rowCount
    const { dictionary, validity } = source
    if (dictionary !== null) {
      this.#appendCodes(dictionary, codesIn(dictionary, validity, start, end), count)
    } else if (this.physical === PHYSICAL.binary) {
      const offsets = source.offsets
      const shift = this.values.append(source.bytes, offsets[start], offsets[end]) - offsets[start]
      for (let i = start + 1, row = first + 1; i <= end; i++, row++) {
        this.offsets[row] = offsets[i] + shift
      }
    } else {
      const width = LANE_BYTES[this.physical]
      this.#laneBytes.set(source.bytes.subarray(start * width, end * width), first * width)
    }
    this.nullCount += copyBits(source.validity, start, end, this.validity, first)
    this.unsetCount += copyBits(source.isSet, start, end, this.isSet, first)
    this.rowCount = first + count
  }

  /** Appends `count` cells of one plain value, or set nulls. */
  appendRepeated(cell: Cell | null, count: number): void {
    if (count === 0) return
    this.reserve(count)
    const first = this.rowCount
    if (cell instanceof Uint8Array) {
      this.values.reserve(cell.length * count)
      for (let row = first + 1; row <= first + count; row++) {
        this.values.append(cell, 0, cell.length)
        this.offsets[row] = this.values.length
      }
    } else if (this.physical === PHYSICAL.binary) {
      this.offsets.fill(this.values.length, first + 1, first + count + 1)
    } else if (cell !== null) {
      writeLane(this.physical, this.lanes, first, cell)
      repeatBytes(
        this.#laneBytes,
        first * LANE_BYTES[this.physical],
        LANE_BYTES[this.physical],
        count,
      )
    }
    if (cell === null) this.nullCount += count
    else setBits(this.validity, first, first + count)
    setBits(this.isSet, first, first + count)
    this.rowCount = first + count
  }

  /** Appends the values of codes and their offsets. */
  #appendCodes({ values }: ColumnDictionary, codes: Uint16Array, count: number): void {
    const target = this.values
    const start = target.length
    const end = start + joinedBytes(values, codes, count)
    target.reserve(end - start)
    const { offsets: ends, rowCount } = this
    const { bytes } = target
    joinValues(values, codes, count, {
      bytes,
      start,
      end,
      ends,
      endStart: rowCount + 1,
      base: start,
    })
    target.truncate(end)
  }

  #gatherBinary(
    bytes: Uint8Array,
    offsets: Uint32Array,
    rows: Uint32Array,
    start: number,
    end: number,
  ): void {
    let total = 0
    for (let i = start; i < end; i++) total += offsets[rows[i] + 1] - offsets[rows[i]]
    this.values.reserve(total)
    const target = this.values.bytes
    let length = this.values.length
    let row = this.rowCount
    for (let i = start; i < end; i++) {
      const from = offsets[rows[i]]
      const to = offsets[rows[i] + 1]
      copyBytes(bytes, from, to, target, length)
      length += to - from
      this.offsets[++row] = length
    }
    this.values.truncate(length)
  }

  /**
   * The rows so far as a vector. Borrowed: good until the builder is appended to or truncated.
   * Bitmaps without a zero bit are left out.
   */
  view(): ColumnVector {
    const count = this.rowCount
    const isBinary = this.physical === PHYSICAL.binary
    return new ColumnVector(
      this.physical,
      count,
      isBinary
        ? this.values.bytes.subarray(0, this.values.length)
        : this.#laneBytes.subarray(0, count * LANE_BYTES[this.physical]),
      isBinary ? this.offsets.subarray(0, count + 1) : null,
      this.nullCount === 0 ? null : this.validity.subarray(0, bitmapBytes(count)),
      this.unsetCount === 0 ? null : this.isSet.subarray(0, bitmapBytes(count)),
    )
  }

  /** Forgets all rows and keeps the capacity. Views handed out before become meaningless. */
  clear(): void {
    const count = this.rowCount
    this.#laneBytes.fill(0, 0, count * LANE_BYTES[this.physical])
    this.validity.fill(0, 0, bitmapBytes(count))
    this.isSet.fill(0, 0, bitmapBytes(count))
    this.values.truncate(0)
    this.rowCount = 0
    this.nullCount = 0
    this.unsetCount = 0
  }
}

/** Writes a plain value to lane `index`. Requires: the value fits, `physical` is not binary. */
export function writeLane(physical: Physical, lanes: Lanes, index: number, cell: Cell): void {
  if (physical === PHYSICAL.int64) {
    assert(typeof cell === 'bigint', 'int64 cell is not a bigint')
    lanes[index * 2] = Number(BigInt.asUintN(32, cell))
    lanes[index * 2 + 1] = Number(BigInt.asUintN(32, cell >> 32n))
  } else if (physical === PHYSICAL.int128) {
    assert(typeof cell === 'bigint', 'int128 cell is not a bigint')
    for (let word = 0; word < 4; word++) {
      lanes[index * 4 + word] = Number(BigInt.asUintN(32, cell >> BigInt(word * 32)))
    }
  } else {
    assert(typeof cell === 'number', 'cell is not a number')
    lanes[index] = cell
  }
}

/** Copies the `width` bytes at `start` behind themselves until they stand there `count` times. */
function repeatBytes(bytes: Uint8Array, start: number, width: number, count: number): void {
  const total = width * count
  for (let done = width; done < total; done *= 2) {
    bytes.copyWithin(start + done, start, start + Math.min(done, total - done))
  }
}

/**
 * Copies the bits at `rows[start, end)`; a missing bitmap is all ones. Returns how many were zero.
 */
function gatherBits(
  source: Uint8Array | null,
  rows: Uint32Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetRow: number,
): number {
  if (source === null) {
    setBits(target, targetRow, targetRow + end - start)
    return 0
  }
  let zeros = 0
  for (let i = start, out = targetRow; i < end; i++, out++) {
    if (getBit(source, rows[i])) setBit(target, out)
    else zeros++
  }
  return zeros
}

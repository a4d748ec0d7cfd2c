/**
 * Shapes of delta records: kind and columns of the cells. A file has few, so a record is stored as
 * the number of its shape. Hot.
 *
 *   shape 0   DELETE                        shape 1   UPDATE c0 c1           shape 2   UPDATE c0
 */

import { appendVarint, type VarintReader } from '../../cfile/varint.ts'
import type { ByteArena } from '../../util/arena.ts'
import { DELTA_KINDS } from './delta-records.ts'

const NO_SHAPE = -1
const COLUMNS_MIN = 16

/** Shapes by number, given out from 0 in the order in which they are met. */
export class DeltaShapes {
  count = 0
  /** Kind of each shape. */
  readonly kinds: number[] = []
  /** Shape i has the columns `columns[ends[i − 1], ends[i])` (0 before the first). */
  readonly ends: number[] = []
  columns = new Uint16Array(COLUMNS_MIN)
  /** Shapes whose hash was met before: the one met before with the same hash, or `NO_SHAPE`. */
  readonly #before: number[] = []
  readonly #byHash = new Map<number, number>()
  #last = NO_SHAPE

  /** The number of a record's shape: its cells have the columns `cellColumns[start, end)`. */
  numberOf(kind: number, cellColumns: Uint16Array, start: number, end: number): number {
    if (this.#last !== NO_SHAPE && this.#isShape(this.#last, kind, cellColumns, start, end)) {
      return this.#last
    }
    let hash = kind
    for (let cell = start; cell < end; cell++) {
      hash = (Math.imul(hash, 0x01000193) ^ (cellColumns[cell] + 1)) | 0
    }
    const newest = this.#byHash.get(hash) ?? NO_SHAPE
    let shape = newest
    while (shape !== NO_SHAPE && !this.#isShape(shape, kind, cellColumns, start, end)) {
      shape = this.#before[shape]
    }
    if (shape === NO_SHAPE) {
      shape = this.add(kind, cellColumns.subarray(start, end))
      this.#before.push(newest)
      this.#byHash.set(hash, shape)
    }
    this.#last = shape
    return shape
  }

  #isShape(
    shape: number,
    kind: number,
    cellColumns: Uint16Array,
    start: number,
    end: number,
  ): boolean {
    const first = shape === 0 ? 0 : this.ends[shape - 1]
    if (this.kinds[shape] !== kind || this.ends[shape] - first !== end - start) return false
    const columns = this.columns
    for (let i = first, cell = start; cell < end; i++, cell++) {
      if (columns[i] !== cellColumns[cell]) return false
    }
    return true
  }

  /** Adds a shape that is not there. Returns its number. */
  add(kind: number, columns: ArrayLike<number>): number {
    const first = this.count === 0 ? 0 : this.ends[this.count - 1]
    const end = first + columns.length
    if (end > this.columns.length) {
      const grown = new Uint16Array(Math.max(end, this.columns.length * 2))
      grown.set(this.columns)
      this.columns = grown
    }
    this.columns.set(columns, first)
    this.kinds.push(kind)
    this.ends.push(end)
    return this.count++
  }

  /** Appends all shapes as varints. */
  encode(target: ByteArena): void {
    appendVarint(target, this.count)
    for (let shape = 0; shape < this.count; shape++) {
      const first = shape === 0 ? 0 : this.ends[shape - 1]
      appendVarint(target, this.kinds[shape])
      appendVarint(target, this.ends[shape] - first)
      for (let i = first; i < this.ends[shape]; i++) appendVarint(target, this.columns[i])
    }
  }

  /** Reads what `encode` wrote. Throws: CORRUPTION when a shape cannot be one. */
  static decode(reader: VarintReader, columnCount: number, recordCount: number): DeltaShapes {
    const shapes = new DeltaShapes()
    const count = reader.nextUpTo(recordCount)
    for (let shape = 0; shape < count; shape++) {
      const kind = reader.nextUpTo(DELTA_KINDS.REINSERT)
      if (kind < DELTA_KINDS.UPDATE) throw reader.corruption('has a record of an unknown kind')
      const columns: number[] = []
      const cellCount = reader.nextUpTo(columnCount)
      for (let i = 0; i < cellCount; i++) columns.push(reader.nextUpTo(columnCount - 1))
      shapes.add(kind, columns)
    }
    return shapes
  }
}

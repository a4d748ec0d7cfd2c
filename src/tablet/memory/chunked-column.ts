/**
 * One column of rows that are kept in the order they came. Hot.
 *
 * Cells lie in chunks of 4,096: growing copies at most one chunk and leaves at most one of them
 * half empty, where one array that doubles would hold up to twice what it needs and copy megabytes
 * at a time.
 *
 *   position   0 … 4,095   4,096 … 8,191   8,192 …
 *              [ chunk 0 ] [   chunk 1   ] [ chunk 2, growing: 512, 1,024, … 4,096 rows ]
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnVector } from '../../common/column-vector.ts'
import type { Cell, Physical } from '../../common/data-type.ts'
import { assert } from '../../util/assert.ts'
import {
  CHUNK_MASK,
  CHUNK_OVERHEAD_BYTES,
  CHUNK_ROW_COUNT,
  CHUNK_SHIFT,
  grownCapacity,
  initialCapacity,
} from './chunk.ts'

/**
 * Cells by position, appended only. Positions are given out from 0 without a gap and never move.
 *
 *  I1  every chunk but the last is full;
 *  I2  no cell is unset: the one who appends says what an unset cell becomes.
 */
export class ChunkedColumn {
  readonly physical: Physical
  /** Read through by loops over positions. */
  readonly chunks: ColumnBuilder[] = []
  rowCount = 0
  #closedBytes = 0
  #closedNulls = 0

  constructor(physical: Physical) {
    this.physical = physical
  }

  /** Bytes held in memory, spare capacity included. Cost: O(1). */
  get heldBytes(): number {
    const last = this.chunks.at(-1)
    return last === undefined ? 0 : this.#closedBytes + last.heldBytes + CHUNK_OVERHEAD_BYTES
  }

  /** Cells that are null. Cost: O(1). */
  get nullCount(): number {
    const last = this.chunks.at(-1)
    return last === undefined ? 0 : this.#closedNulls + last.nullCount
  }

  /** Appends the cells of `source` at `rows[start, end)`. Requires: all of them are set. */
  appendRows(source: ColumnVector, rows: Uint32Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const chunk = this.#roomFor(end - at)
      const stop = Math.min(end, at + CHUNK_ROW_COUNT - chunk.rowCount)
      chunk.appendRows(source, rows, at, stop)
      this.rowCount += stop - at
      at = stop
    }
  }

  /** Appends the cells of `source` at `[start, end)`. Requires: all of them are set. */
  appendRange(source: ColumnVector, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const chunk = this.#roomFor(end - at)
      const stop = Math.min(end, at + CHUNK_ROW_COUNT - chunk.rowCount)
      chunk.appendRange(source, at, stop)
      this.rowCount += stop - at
      at = stop
    }
  }

  /** Appends one plain value, or null, `count` times. */
  appendRepeated(cell: Cell | null, count: number): void {
    for (let left = count; left > 0; ) {
      const chunk = this.#roomFor(left)
      const appended = Math.min(left, CHUNK_ROW_COUNT - chunk.rowCount)
      chunk.appendRepeated(cell, appended)
      this.rowCount += appended
      left -= appended
    }
  }

  /** Appends the cells of `source` at `rows[start, end)`; an unset one becomes `unset`. */
  appendSet(
    source: ColumnVector,
    rows: Uint32Array,
    start: number,
    end: number,
    unset: Cell | null,
  ): void {
    for (let at = start; at < end; ) {
      const isSet = source.hasCell(rows[at])
      let stop = at + 1
      while (stop < end && source.hasCell(rows[stop]) === isSet) stop++
      if (isSet) this.appendRows(source, rows, at, stop)
      else this.appendRepeated(unset, stop - at)
      at = stop
    }
  }

  /** Bytes of the binary value at a position; 0 where it is null. */
  valueBytes(position: number): number {
    const offsets = this.chunks[position >>> CHUNK_SHIFT].offsets
    const row = position & CHUNK_MASK
    return offsets[row + 1] - offsets[row]
  }

  /** The last chunk, or a new one, with room for `extraRows` or for as many as it can ever take. */
  #roomFor(extraRows: number): ColumnBuilder {
    const last = this.chunks.at(-1)
    const chunk = last === undefined || last.rowCount === CHUNK_ROW_COUNT ? this.#open(last) : last
    const rowCount = Math.min(CHUNK_ROW_COUNT, chunk.rowCount + extraRows)
    chunk.reserve(grownCapacity(rowCount) - chunk.rowCount)
    return chunk
  }

  #open(full: ColumnBuilder | undefined): ColumnBuilder {
    if (full !== undefined) {
      full.values.trim()
      this.#closedBytes += full.heldBytes + CHUNK_OVERHEAD_BYTES
      this.#closedNulls += full.nullCount
    }
    const chunk = new ColumnBuilder(this.physical, initialCapacity(this.chunks.length))
    this.chunks.push(chunk)
    return chunk
  }

  /** Walks all chunks. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(): void {
    let heldBytes = 0
    let nullCount = 0
    for (let index = 0; index < this.chunks.length; index++) {
      const chunk = this.chunks[index]
      const isLast = index === this.chunks.length - 1
      assert(isLast || chunk.rowCount === CHUNK_ROW_COUNT, 'every chunk but the last is full')
      assert(chunk.unsetCount === 0, 'a kept cell is set')
      heldBytes += chunk.heldBytes + CHUNK_OVERHEAD_BYTES
      nullCount += chunk.nullCount
    }
    assert(heldBytes === this.heldBytes, 'held bytes are those of the chunks')
    assert(nullCount === this.nullCount, 'nulls are those of the chunks')
  }
}

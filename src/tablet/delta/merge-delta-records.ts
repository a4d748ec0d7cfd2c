/**
 * Several runs of delta records as one. Hot.
 *
 *   parts       A: 4@10  9@12      B: 4@11  9@12
 *   numbers        0     1            2     3        records of all parts, one part after the other
 *   order          0  2  1  3                        by (ordinal, timestamp); of equals A's first
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaColumn, DeltaRecords } from './delta-records.ts'
import { NO_RECORDS } from './slice-delta-records.ts'

/**
 * Records of all parts, by ascending (ordinal, timestamp); of equals those of an earlier part
 * first. Cells are not necessarily in the order of the records.
 *
 * Returns: arrays of its own, or the only part that has records. Cost: O(records × log parts), and
 * the cells once.
 */
export function mergeDeltaRecords(parts: readonly DeltaRecords[]): DeltaRecords {
  const filled = parts.filter((part) => part.count > 0)
  if (filled.length === 0) return NO_RECORDS
  return filled.length === 1 ? filled[0] : new Merge(filled).run()
}

/** Columns of the merged records, and where the cells of each part went. */
class Merge {
  readonly #parts: readonly DeltaRecords[]
  readonly #ordinals: Uint32Array
  readonly #timestamps: Float64Array
  readonly #columns: ColumnBuilder[] = []
  readonly #columnIds: number[] = []
  readonly #indexes = new Map<number, number>()

  constructor(parts: readonly DeltaRecords[]) {
    let count = 0
    for (const part of parts) count += part.count
    this.#parts = parts
    this.#ordinals = new Uint32Array(count)
    this.#timestamps = new Float64Array(count)
  }

  run(): DeltaRecords {
    const count = this.#ordinals.length
    const ends: number[] = []
    let cellCount = 0
    for (const part of this.#parts) {
      const first = ends.at(-1) ?? 0
      this.#ordinals.set(part.ordinals.subarray(0, part.count), first)
      this.#timestamps.set(part.timestamps.subarray(0, part.count), first)
      ends.push(first + part.count)
      cellCount += part.cellEnds[part.count - 1]
    }
    const order = this.#order(ends)
    const merged = {
      count,
      ordinals: new Uint32Array(count),
      timestamps: new Float64Array(count),
      kinds: new Uint8Array(count),
      cellEnds: new Uint32Array(count),
      cellColumns: new Uint16Array(cellCount),
      cellPositions: new Uint32Array(cellCount),
    }
    this.#gather(order, ends, merged)
    return { ...merged, columns: this.#finishColumns() }
  }

  /** Numbers of all records in the order of the result. */
  #order(ends: readonly number[]): Uint32Array {
    const count = this.#ordinals.length
    let from = new Uint32Array(count)
    for (let i = 0; i < count; i++) from[i] = i
    let to = new Uint32Array(count)
    for (let runs = ends; runs.length > 1; ) {
      const joined: number[] = []
      for (let i = 0; i < runs.length; i += 2) {
        const start = i === 0 ? 0 : runs[i - 1]
        const end = runs[Math.min(i + 1, runs.length - 1)]
        mergeRuns(this.#ordinals, this.#timestamps, from, start, runs[i], end, to)
        joined.push(end)
      }
      runs = joined
      ;[from, to] = [to, from]
    }
    return from
  }

  #gather(
    order: Uint32Array,
    ends: readonly number[],
    merged: Omit<DeltaRecords, 'columns'>,
  ): void {
    const parts = this.#parts
    const shifts = parts.map((part) => this.#addCells(part))
    const partOf = partNumbers(ends, order.length)
    let cell = 0
    for (let i = 0; i < order.length; i++) {
      const number = order[i]
      const index = partOf[number]
      const part = parts[index]
      const record = index === 0 ? number : number - ends[index - 1]
      merged.ordinals[i] = part.ordinals[record]
      merged.timestamps[i] = part.timestamps[record]
      merged.kinds[i] = part.kinds[record]
      const end = part.cellEnds[record]
      const shift = shifts[index]
      for (let from = record === 0 ? 0 : part.cellEnds[record - 1]; from < end; from++, cell++) {
        const column = part.cellColumns[from]
        merged.cellColumns[cell] = shift.columns[column]
        merged.cellPositions[cell] = part.cellPositions[from] + shift.positions[column]
      }
      merged.cellEnds[i] = cell
    }
  }

  /** Appends the cells that a part uses. Returns what becomes of its columns and positions. */
  #addCells(part: DeltaRecords): { columns: Uint16Array; positions: Int32Array } {
    const { columns: columnList } = part
    const least = new Float64Array(columnList.length).fill(Infinity)
    const most = new Float64Array(columnList.length).fill(-1)
    const cellCount = part.cellEnds[part.count - 1]
    for (let cell = 0; cell < cellCount; cell++) {
      const column = part.cellColumns[cell]
      const position = part.cellPositions[cell]
      if (position < least[column]) least[column] = position
      if (position > most[column]) most[column] = position
    }
    const columns = new Uint16Array(columnList.length)
    const positions = new Int32Array(columnList.length)
    for (let index = 0; index < columnList.length; index++) {
      if (most[index] < 0) continue
      columns[index] = this.#indexOf(columnList[index])
      const builder = this.#columns[columns[index]]
      positions[index] = builder.rowCount - least[index]
      builder.appendRange(columnList[index].cells, least[index], most[index] + 1)
    }
    return { columns, positions }
  }

  #indexOf({ columnId, physical }: DeltaColumn): number {
    let index = this.#indexes.get(columnId)
    if (index === undefined) {
      index = this.#columns.length
      this.#columns.push(new ColumnBuilder(physical))
      this.#columnIds.push(columnId)
      this.#indexes.set(columnId, index)
    }
    assert(this.#columns[index].physical === physical, 'cells of a column are laid out alike')
    return index
  }

  #finishColumns(): DeltaColumn[] {
    return this.#columns.map((builder, index) => {
      const columnId = this.#columnIds[index]
      return { columnId, physical: builder.physical, cells: builder.view() }
    })
  }
}

/** Merges `from[start, middle)` and `from[middle, end)` into `to`. */
function mergeRuns(
  ordinals: Uint32Array,
  timestamps: Float64Array,
  from: Uint32Array,
  start: number,
  middle: number,
  end: number,
  to: Uint32Array,
): void {
  let left = start
  let right = middle
  for (let out = start; out < end; out++) {
    let takeLeft = right === end
    if (!takeLeft && left < middle) {
      const a = from[left]
      const b = from[right]
      takeLeft =
        ordinals[a] < ordinals[b] || (ordinals[a] === ordinals[b] && timestamps[a] <= timestamps[b])
    }
    to[out] = takeLeft ? from[left++] : from[right++]
  }
}

/** The part of each record number. */
function partNumbers(ends: readonly number[], count: number): Uint16Array {
  assert(ends.length <= 0x10000, 'parts can be numbered')
  const partOf = new Uint16Array(count)
  for (let part = 1; part < ends.length; part++) partOf.fill(part, ends[part - 1], ends[part])
  return partOf
}

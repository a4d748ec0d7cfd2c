/**
 * Rows of a DiskRowSet by their keys.
 *
 *   pending keys ─► within its bounds ─► Bloom filter ─► key pages ─► ordinals ─► visible? ─► cells
 */

import type { CFileReader } from '../../cfile/cfile-reader.ts'
import type { ColumnBuilder } from '../../common/column-builder.ts'
import type { Column } from '../../common/schema.ts'
import { compareBytes } from '../../util/bytes.ts'
import { DeltaWindow } from '../delta/delta-window.ts'
import type { KeyLookup } from '../scan/key-lookup.ts'
import type { DiskRowSet } from './disk-row-set.ts'

const NOT_FOUND = -1
const scratchRow = new Uint32Array(1)
const scratchPosition = new Int32Array(1)

/**
 * Adds to `lookup` the rows of its pending keys that are visible in a rowset, and takes those keys
 * off. Requires: the pending keys ascend. Throws: CORRUPTION.
 */
export function lookupDiskRows(rowSet: DiskRowSet, lookup: KeyLookup): void {
  const { pending, places, keys } = lookup
  const start = firstAtOrAbove(lookup, rowSet.lowerKey, 0)
  const end =
    rowSet.upperKey.length === 0
      ? lookup.pendingCount
      : firstAtOrAbove(lookup, rowSet.upperKey, start)
  if (start === end) return
  for (let i = start; i < end; i++) places[pending[i]] = NOT_FOUND
  rowSet.findRows(keys, lookup.hashes, pending, start, end, places)
  let found = 0
  for (let i = start; i < end; i++) found += places[pending[i]] === NOT_FOUND ? 0 : 1
  if (found === 0) return
  const reader = new RowReader(rowSet, lookup)
  let left = start
  for (let i = start; i < lookup.pendingCount; i++) {
    const key = pending[i]
    const isShown = i < end && places[key] !== NOT_FOUND && reader.add(places[key])
    if (isShown) lookup.note(key)
    else pending[left++] = key
  }
  lookup.pendingCount = left
}

/** Place of the first pending key at or above a bound, from `start` on. */
function firstAtOrAbove(lookup: KeyLookup, bound: Uint8Array, start: number): number {
  const { keys, pending, pendingCount } = lookup
  let place = start
  while (place < pendingCount) {
    const key = pending[place]
    const order = compareBytes(keys.bytes, keys.start(key), keys.ends[key], bound, 0, bound.length)
    if (order >= 0) break
    place++
  }
  return place
}

/** Reads single rows at a snapshot. */
class RowReader {
  readonly #columns: readonly Column[]
  readonly #readers: readonly (CFileReader | null)[]
  readonly #targets: readonly ColumnBuilder[]
  /** Null when no delta says anything about the snapshot. */
  readonly #deltas: DeltaWindow | null
  /** By column: its index in the deltas, or −1 when they do not change it. */
  readonly #deltaIndexes: readonly number[]

  constructor({ base, undos, redos, memStores }: DiskRowSet, lookup: KeyLookup) {
    const { columns, snapshot } = lookup
    this.#columns = columns
    this.#readers = columns.map(({ id }) => base.column(id))
    this.#targets = lookup.rows.columns
    const changing = columns.filter(({ isKey }) => !isKey)
    const stores = [...redos, ...memStores]
    const deltas = new DeltaWindow({ undos, redos: stores, snapshot, columns: changing })
    this.#deltas = deltas.relevantStores.length === 0 ? null : deltas
    this.#deltaIndexes = columns.map((column) => {
      const index = changing.indexOf(column)
      return index >= 0 && this.#deltas !== null && deltas.mayChange(index) ? index : -1
    })
  }

  /** Appends the row at an ordinal to the lookup's columns, if it is visible. Returns: whether. */
  add(ordinal: number): boolean {
    const deltas = this.#deltas
    if (deltas !== null) {
      deltas.load(ordinal, ordinal + 1)
      if (!deltas.isVisible(ordinal)) return false
    }
    for (let i = 0; i < this.#targets.length; i++) this.#addCell(i, ordinal)
    return true
  }

  #addCell(index: number, ordinal: number): void {
    const target = this.#targets[index]
    const deltaIndex = this.#deltaIndexes[index]
    if (this.#deltas !== null && deltaIndex >= 0) {
      scratchRow[0] = ordinal
      const changed = this.#deltas.positions(deltaIndex, scratchRow, 0, 1, scratchPosition)
      if (changed !== null && scratchPosition[0] >= 0) {
        target.appendRange(changed, scratchPosition[0], scratchPosition[0] + 1)
        return
      }
    }
    const reader = this.#readers[index]
    if (reader === null) {
      target.appendCell(this.#columns[index].readDefault)
      return
    }
    const page = reader.pageIndexOf(ordinal)
    scratchRow[0] = ordinal - reader.pageStart(page)
    target.appendRows(reader.page(page, 'point'), scratchRow, 0, 1)
  }
}

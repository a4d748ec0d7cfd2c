/**
 * Where to cut a tablet's keys so that reading each part takes about as many bytes. For scans that
 * are shared out; nothing but directories is read.
 *
 *   rowset 3    ├──p0──┼──p1──┼──p2──┤          pages of keys: how many rows lie between two keys
 *   rowset 5        ├────p0────┼────p1────┤     pages of columns: how many bytes those take
 *   MemRowSet     · · · · · ·                   a sample of its keys
 *                ───────┼───────────┼─────►     cuts, each where a page or a sample begins
 *
 * All is an estimate: deltas are left out, rows are taken to be spread evenly in a page, and rows
 * that were deleted count until they are gone.
 */

import type { PageList } from '../cfile/page-list.ts'
import { compareWhole } from '../util/bytes.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'
import { keyFraction } from './disk/key-fraction.ts'
import type { MemRowSet } from './memory/mem-row-set.ts'
import type { KeyBounds } from './row-set.ts'
import type { TabletParts } from './tablet-parts.ts'

/** What is to be read, and into how many parts it is cut. */
export interface KeySplitOptions extends KeyBounds {
  readonly columnIds: readonly number[]
  /** Bytes of a part, about; null: one part. */
  readonly targetBytes: number | null
  readonly partCountMax: number
}

/** Parts of a range of keys. */
export interface KeySplit {
  /** Ascending, within the range: where the second and each further part begins. */
  readonly keys: readonly Uint8Array[]
  /** Bytes of each part, about. */
  readonly bytes: readonly number[]
}

/** Points at which the keys may be cut to a part: enough for parts that differ little. */
const POINTS_PER_PART = 16
/** Keys of a MemRowSet that are looked at. */
const SAMPLE_COUNT_MAX = 1024

/** Bytes from a key on to the next point of the same rowset. */
interface Point {
  readonly key: Uint8Array
  readonly bytes: number
}

/**
 * Cuts the keys of a tablet. Throws: CORRUPTION. Requires: the schema has the columns. Cost: what
 * opening its rowsets takes, and O(pages).
 */
export function splitKeys(parts: TabletParts, options: KeySplitOptions): KeySplit {
  const { lowerKey, upperKey } = options
  const runs = parts.tree.inRange(lowerKey, upperKey).map((rowSet) => pointsOnDisk(rowSet, options))
  const { memRowSet, frozen } = parts
  runs.push(pointsInMemory(memRowSet, options))
  if (frozen !== null) runs.push(pointsInMemory(frozen.memRowSet, options))
  let totalBytes = 0
  for (const run of runs) for (const { bytes } of run) totalBytes += bytes
  const partCount = partCountOf(totalBytes, options)
  if (partCount === 1) return { keys: [], bytes: [Math.round(totalBytes)] }
  const stepBytes = totalBytes / (partCount * POINTS_PER_PART)
  const points = runs.flatMap((run) => thinned(run, stepBytes))
  points.sort((a, b) => compareWhole(a.key, b.key))
  return cut(points, totalBytes / partCount, lowerKey)
}

function partCountOf(totalBytes: number, { targetBytes, partCountMax }: KeySplitOptions): number {
  if (targetBytes === null) return 1
  return Math.max(1, Math.min(partCountMax, Math.round(totalBytes / targetBytes)))
}

/** Cuts where the nearest point to each multiple of a part's bytes is. */
function cut(points: readonly Point[], partBytes: number, lowerKey: Uint8Array): KeySplit {
  const keys: Uint8Array[] = []
  const bytes: number[] = []
  let before = 0
  let passed = 0
  let lastKey = lowerKey
  for (const point of points) {
    const isNearest = passed + point.bytes / 2 >= partBytes * (keys.length + 1)
    if (isNearest && compareWhole(lastKey, point.key) < 0) {
      keys.push(point.key.slice())
      bytes.push(Math.round(passed - before))
      before = passed
      lastKey = point.key
    }
    passed += point.bytes
  }
  bytes.push(Math.round(passed - before))
  return { keys, bytes }
}

/** The same bytes at fewer points: none but the last of fewer than `stepBytes`. */
function thinned(run: readonly Point[], stepBytes: number): Point[] {
  const kept: Point[] = []
  let start = 0
  let bytes = 0
  for (let i = 0; i < run.length; i++) {
    bytes += run[i].bytes
    if (bytes < stepBytes && i < run.length - 1) continue
    kept.push({ key: run[start].key, bytes })
    start = i + 1
    bytes = 0
  }
  return kept
}

/** A point for each page of keys that meets the range. */
function pointsOnDisk(rowSet: DiskRowSet, options: KeySplitOptions): Point[] {
  const { base } = rowSet
  const { separators } = base.keys.meta
  const pageBytes = bytesByKeyPage(rowSet, options.columnIds)
  const points: Point[] = []
  for (let index = 0; index < pageBytes.length; index++) {
    const isLast = index === pageBytes.length - 1
    const page = {
      lowerKey: index === 0 ? rowSet.lowerKey : separators.key(index),
      upperKey: isLast ? rowSet.upperKey : separators.key(index + 1),
    }
    const part = partWithin(page, options)
    if (part === 0) continue
    const { lowerKey } = options
    const key = compareWhole(page.lowerKey, lowerKey) < 0 ? lowerKey : page.lowerKey
    points.push({ key, bytes: pageBytes[index] * part })
  }
  return points
}

/** How much of `page` lies within a range, from 0 to 1. */
function partWithin(page: KeyBounds, { lowerKey, upperKey }: KeyBounds): number {
  const { lowerKey: start, upperKey: end } = page
  const isBehind = upperKey.length > 0 && compareWhole(start, upperKey) >= 0
  const isBefore = end.length > 0 && compareWhole(end, lowerKey) <= 0
  if (isBehind || isBefore) return 0
  const from = compareWhole(start, lowerKey) >= 0 ? 0 : keyFraction(start, end, lowerKey)
  const isWhole = upperKey.length === 0 || (end.length > 0 && compareWhole(end, upperKey) <= 0)
  const to = isWhole ? 1 : keyFraction(start, end, upperKey)
  // Keys are not spread evenly: a part that seems to be nothing may be something.
  return Math.max(to - from, 2 ** -20)
}

/** Bytes of the columns by page of keys; of the keys themselves where there are no columns. */
function bytesByKeyPage({ base }: DiskRowSet, columnIds: readonly number[]): Float64Array {
  const { rowEnds, lengths } = base.keys.meta.pages
  if (columnIds.length === 0) return Float64Array.from(lengths)
  const bytes = new Float64Array(rowEnds.length)
  for (const columnId of columnIds) {
    const column = base.column(columnId)
    if (column !== null) addBytes(bytes, rowEnds, column.pages)
  }
  return bytes
}

/** Adds the bytes of a column's pages to the pages of keys that have the same rows. */
function addBytes(bytes: Float64Array, rowEnds: readonly number[], pages: PageList): void {
  let target = 0
  let row = 0
  for (let page = 0; page < pages.rowEnds.length; page++) {
    const end = pages.rowEnds[page]
    const bytesPerRow = pages.lengths[page] / (end - row)
    while (row < end) {
      const stop = Math.min(end, rowEnds[target])
      bytes[target] += (stop - row) * bytesPerRow
      row = stop
      if (row === rowEnds[target]) target++
    }
  }
}

/** A point for each of a sample of keys within the range. */
function pointsInMemory(rowSet: MemRowSet, options: KeySplitOptions): Point[] {
  const { columnIds, lowerKey, upperKey } = options
  if (rowSet.rowCount === 0) return []
  const step = Math.ceil(rowSet.rowCount / SAMPLE_COUNT_MAX)
  const bytes = rowSet.cellBytes(columnIds) / rowSet.rowCount
  const points: Point[] = []
  const keys = rowSet.sampleKeys(step)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]
    if (compareWhole(key, lowerKey) < 0) continue
    if (upperKey.length > 0 && compareWhole(key, upperKey) >= 0) break
    points.push({ key, bytes: bytes * Math.min(step, rowSet.rowCount - i * step) })
  }
  return points
}

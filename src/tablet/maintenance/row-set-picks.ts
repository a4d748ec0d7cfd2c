/**
 * Which DiskRowSets an op would work on, and what that would be worth.
 */

import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import {
  COMPACTION_BYTES_MAX,
  COMPACTION_ROW_COUNT_MAX,
  ROWSET_BOUND_BYTES_MAX,
} from '../../common/limits.ts'
import type { Schema } from '../../common/schema.ts'
import { compareWhole } from '../../util/bytes.ts'
import { upperBoundOf } from '../disk/base-writer.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import { type RowSetMeta, rowSetBytes } from '../disk/row-set-meta.ts'
import type { TabletParts } from '../tablet-parts.ts'
import {
  type CompactionBudget,
  type CompactionCandidate,
  heightOf,
  pickCompaction,
  SMALL_FULLNESS,
} from './compaction-policy.ts'
import { countWide, pickAtRest, type RestBudget } from './rest-policy.ts'

const LIMITS = { bytes: COMPACTION_BYTES_MAX, rows: COMPACTION_ROW_COUNT_MAX }
/**
 * What maintenance spends on lower stacks while rows come: measured on flushes in random key order.
 */
const THRIFTY: CompactionBudget = { ...LIMITS, rewriteCost: 0.2, rewriteRatio: 2 }
/** What an operator spends. */
const GENEROUS: CompactionBudget = { ...LIMITS, rewriteCost: 0, rewriteRatio: Infinity }
/** Bytes that are rewritten in a tablet that is left alone for each byte that is new, at most. */
const REST_RATIO = 64
/** A rowset that is to be cut counts as much as a height, when there is too much to be done. */
const HEIGHT_PER_WIDE = 1
/** What a rowset more or less counts beside the average height. */
const HEIGHT_PER_ROW_SET = 0.001
/** What a row and its key take in a MemRowSet beside its cells, about. */
const ROW_OVERHEAD_BYTES = 40
/** What a text takes in a MemRowSet, about, before there is one to ask. */
const TEXT_BYTES = 16
/** Rows of a MemRowSet from which on its size tells that of its rows. */
const MEASURED_ROW_COUNT_MIN = 4096

const measuredBytesPerRow = new WeakMap<TabletParts, number>()

/** Rowsets to be merged. */
export interface CompactionChoice {
  readonly rowSets: readonly DiskRowSet[]
  readonly value: number
  /** Keys at which a rowset that is written ends, ascending. */
  readonly cuts: readonly Uint8Array[]
}

/** A rowset whose REDO files are to become one. */
export interface MinorChoice {
  readonly rowSet: DiskRowSet
  readonly fileCount: number
}

/** Columns of a rowset whose changes are to go into its base. */
export interface MajorChoice {
  readonly rowSet: DiskRowSet
  readonly columnIds: readonly number[]
  /** Bytes of REDO files by bytes of the base. */
  readonly ratio: number
}

/** History that nobody may read, now or later. */
export interface GarbageChoice {
  /** Bytes of what can be dropped now. */
  readonly bytes: number
  /** When there will be more; null: as things are, never. */
  readonly nextAt: Timestamp | null
}

/** The average number of rowsets that a key is looked for in. */
export function averageRowSetHeight(rowSets: readonly DiskRowSet[]): number {
  return heightOf(rowSets.map(({ meta }) => intervalOf(meta)))
}

/** How much compactions are to make less of. */
export function compactionBurden(parts: TabletParts): number {
  const candidates = candidatesOf(parts, new Set())
  const wideCount = candidates.length < 2 ? 0 : countWide(candidates, restBudget(Infinity))
  return heightOf(candidates) + candidates.length * HEIGHT_PER_ROW_SET + wideCount * HEIGHT_PER_WIDE
}

/** The rowsets that are best merged while rows come, or null. `failed` cannot be read. */
export function chooseCompaction(
  parts: TabletParts,
  failed: ReadonlySet<number>,
): CompactionChoice | null {
  return choose(parts, pickCompaction(candidatesOf(parts, failed), THRIFTY))
}

/** The rowsets that are best merged, or cut, when the tablet is left alone; null: none. */
export function chooseCompactionAtRest(
  parts: TabletParts,
  failed: ReadonlySet<number>,
): CompactionChoice | null {
  return choose(parts, pickAtRest(candidatesOf(parts, failed), restBudget(REST_RATIO)))
}

/** The same when it may cost what it will. */
export function chooseAskedCompaction(parts: TabletParts): CompactionChoice | null {
  const candidates = candidatesOf(parts, new Set())
  const atRest = pickAtRest(candidates, restBudget(Infinity))
  return choose(parts, atRest ?? pickCompaction(candidates, GENEROUS))
}

function restBudget(ratio: number): RestBudget {
  return { ...LIMITS, ratio }
}

function choose(
  { rowSets }: TabletParts,
  pick: {
    readonly chosen: readonly number[]
    readonly value: number
    readonly cuts?: readonly Uint8Array[]
  } | null,
): CompactionChoice | null {
  if (pick === null) return null
  const { chosen, value, cuts = [] } = pick
  return { rowSets: chosen.map((index) => rowSets[index]), value, cuts }
}

function candidatesOf(parts: TabletParts, failed: ReadonlySet<number>): CompactionCandidate[] {
  const bytesPerRow = memoryBytesPerRow(parts)
  return parts.rowSets.map(({ meta, isBusy, id }) => {
    const fullness = (meta.rowCount * bytesPerRow) / parts.layout.rowSetBytes
    const isFree = !isBusy && !failed.has(id) && (fullness < SMALL_FULLNESS || !isFlat(meta))
    return { ...intervalOf(meta), rowCount: meta.rowCount, fullness, isFree }
  })
}

/**
 * Whether all keys begin with the same bytes, as far as bounds tell: what is written in its place
 * would overlap as much.
 */
function isFlat({ lowerKey, upperKey }: RowSetMeta): boolean {
  if (lowerKey.length < ROWSET_BOUND_BYTES_MAX) return false
  const bound = upperBoundOf(lowerKey)
  return bound.length === 0 || (upperKey.length > 0 && compareWhole(upperKey, bound) <= 0)
}

/** The rowset with the most REDO files, if it has `fileCountMin`. */
export function chooseMinor(
  rowSets: readonly DiskRowSet[],
  excluded: ReadonlySet<number>,
  fileCountMin: number,
): MinorChoice | null {
  let choice: MinorChoice | null = null
  for (const rowSet of rowSets) {
    const fileCount = rowSet.meta.redos.length
    if (rowSet.isBusy || excluded.has(rowSet.id) || fileCount < fileCountMin) continue
    if (choice === null || fileCount > choice.fileCount) choice = { rowSet, fileCount }
  }
  return choice
}

/**
 * The rowset with the most changes in REDO files for its size, if their bytes are `ratioMin` of the
 * base's or more. One that has only deletes is not chosen: they stay what they are.
 */
export function chooseMajor(
  rowSets: readonly DiskRowSet[],
  excluded: ReadonlySet<number>,
  ratioMin: number,
): MajorChoice | null {
  let choice: MajorChoice | null = null
  for (const rowSet of rowSets) {
    if (rowSet.isBusy || excluded.has(rowSet.id)) continue
    const { redos, baseBytes } = rowSet.meta
    const ratio = redos.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(1, baseBytes)
    if (ratio < ratioMin || (choice !== null && ratio <= choice.ratio)) continue
    const columnIds = changedColumns(rowSet.meta)
    if (columnIds.length > 0) choice = { rowSet, columnIds, ratio }
  }
  return choice
}

/**
 * History at or below the ancient history mark. `maxAgeMicros`: how long the table keeps it.
 */
export function chooseGarbage(
  parts: TabletParts,
  now: Timestamp,
  maxAgeMicros: number,
): GarbageChoice {
  const mark = parts.ancientHistoryMark(now)
  let bytes = 0
  let nextAt: Timestamp | null = null
  const note = (newest: Timestamp, size: number) => {
    if (newest <= mark) bytes += size
    else if (newest + maxAgeMicros > now) {
      nextAt = Math.min(nextAt ?? Number.POSITIVE_INFINITY, newest + maxAgeMicros)
    }
  }
  for (const { meta, isBusy, oldestUnflushed } of parts.rowSets) {
    if (isBusy) continue
    for (const undo of meta.undos) note(undo.newest, undo.bytes)
    if (meta.liveRowCount > 0 || oldestUnflushed !== null) continue
    note(
      meta.redos.reduce((newest, redo) => Math.max(newest, redo.newest), 0),
      rowSetBytes(meta),
    )
  }
  return { bytes, nextAt }
}

/** Columns that REDO files have cells of, ascending. */
function changedColumns(meta: RowSetMeta): number[] {
  const ids = new Set<number>()
  for (const { columns } of meta.redos) {
    for (const { columnId, cellCount } of columns) if (cellCount > 0) ids.add(columnId)
  }
  return [...ids].sort((a, b) => a - b)
}

function intervalOf(meta: RowSetMeta) {
  return { lowerKey: meta.lowerKey, upperKey: meta.upperKey, bytes: rowSetBytes(meta) }
}

/**
 * What a row takes in a MemRowSet of this tablet, about: as was last measured, so that what is full
 * stays so when the MemRowSet has just been flushed.
 */
export function memoryBytesPerRow(parts: TabletParts): number {
  const { memRowSet, frozen, schema } = parts
  for (const measured of [memRowSet, frozen?.memRowSet]) {
    if (measured === undefined || measured.rowCount < MEASURED_ROW_COUNT_MIN) continue
    measuredBytesPerRow.set(parts, measured.heldBytes / measured.rowCount)
    break
  }
  return measuredBytesPerRow.get(parts) ?? guessBytesPerRow(schema)
}

function guessBytesPerRow({ columns }: Schema): number {
  let bytes = ROW_OVERHEAD_BYTES
  for (const { physical, isKey } of columns) {
    const cell = physical === PHYSICAL.binary ? TEXT_BYTES : LANE_BYTES[physical]
    bytes += isKey ? 2 * cell : cell
  }
  return bytes
}

/**
 * A scan of one tablet: its rowsets at one snapshot, in key order, filtered and projected.
 */

import {
  type ColumnPredicate,
  comparePredicateSelectivity,
  isTrivialPredicate,
} from '../../common/column-predicate.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { SCAN_STEP_ROW_COUNT_MAX } from '../../common/limits.ts'
import type { ScanStats } from '../../common/scan-stats.ts'
import type { Schema } from '../../common/schema.ts'
import { compareWhole } from '../../util/bytes.ts'
import type { KeyBounds, RowSet, RowSetIterator, RowSetScan, ScanBatch } from '../row-set.ts'
import { type ColumnTest, compileColumnTest } from './column-test.ts'
import { mayHoldKeys } from './may-hold-keys.ts'
import { MergeIterator } from './merge-iterator.ts'
import { hashOfKey, isOnlyKey } from './only-key.ts'
import { ScanMeter } from './scan-meter.ts'
import { SequenceIterator } from './sequence-iterator.ts'

/** What to scan. */
export interface ScanOptions {
  readonly rowSets: readonly RowSet[]
  readonly schema: Schema
  /** Columns of the result, in its order; none to count rows. */
  readonly columnIds: readonly number[]
  /** At most one a column; all must hold. */
  readonly predicates: readonly ColumnPredicate[]
  /**
   * Least encoded key; empty for no bound. To go on after key K of an ascending scan: K and a zero
   * byte.
   */
  readonly lowerKey: Uint8Array
  /** First encoded key above; empty for no bound. To go on after key K of a descending scan: K. */
  readonly upperKey: Uint8Array
  /** Rows of a tablet always come in key order: ascending, or, when it says so, descending. */
  readonly order: 'UNORDERED' | 'ORDERED' | 'DESCENDING'
  readonly snapshot: Timestamp
  /** Whether batches carry the encoded key of each row. */
  readonly withKeys: boolean
  /** What the rowsets hash keys by; left out: Bloom filters are not asked. */
  readonly keyHashSeed?: number
  /** Counts what is done; left out: the scanner has one of its own. */
  readonly meter?: ScanMeter
  /** Where rows read are billed. */
  readonly bill?: ReadBill
}

/** Counts stored rows that are read. */
export interface ReadBill {
  readonly rowsRead: number
}

/**
 * Opens a scan. `borrowedRowsMin`: as in a RowSetScan. Requires: no later op gets a timestamp at or
 * below the snapshot.
 */
export function openScan(
  options: ScanOptions,
  borrowedRowsMin = Number.POSITIVE_INFINITY,
): TabletScanner {
  const meters = metersOf(options)
  const common = rowSetScanOf(options, meters.meter)
  const scan = common === null ? null : { ...common, borrowedRowsMin }
  const iterator = scan === null ? null : openInKeyOrder(options.rowSets, scan)
  return new TabletScanner(iterator, meters)
}

/** Opens a scan of rowsets that gives their rows in its order. */
export function openInKeyOrder(rowSets: readonly RowSet[], scan: RowSetScan): RowSetIterator {
  const found = overlapping(rowSetsIn(rowSets, scan))
  const iterators = found.map((group) => openGroup(group, scan))
  if (scan.isDescending) iterators.reverse()
  return iterators.length === 1 ? iterators[0] : new SequenceIterator(iterators)
}

/**
 * Opens a scan of every rowset by itself, one after the other: for whoever asks for selections and
 * does not care for the order of rows. `borrowedRowsMin`: as in a RowSetScan. Requires: as
 * `openScan`; no keys are asked for.
 */
export function openRowSetScans(
  options: ScanOptions,
  borrowedRowsMin = Number.POSITIVE_INFINITY,
): RowSetIterator {
  const common = rowSetScanOf(options, metersOf(options).meter)
  if (common === null) return new SequenceIterator([])
  const scan = { ...common, borrowedRowsMin }
  const found = rowSetsIn(options.rowSets, scan)
  return new SequenceIterator(found.map(({ rowSet }) => rowSet.openIterator(scan)))
}

/** Where the work of a scan is counted. */
export function metersOf(options: ScanOptions): ScannerMeters {
  const { rowSets, columnIds, predicates, bill = null } = options
  if (options.meter !== undefined) return { meter: options.meter, bill }
  const meter = new ScanMeter([...columnIds, ...predicates.map(({ columnId }) => columnId)])
  meter.countRowSets(rowSets.length)
  return { meter, bill }
}

/** What is asked of every rowset; null when no row can pass. */
function rowSetScanOf(options: ScanOptions, meter: ScanMeter): RowSetScan | null {
  const { schema } = options
  const tests = compileTests(schema, options.predicates)
  if (tests.some(({ predicate }) => predicate.kind === 'NONE')) return null
  return {
    columns: options.columnIds.map((id) => schema.mustById(id)),
    snapshot: options.snapshot,
    tests,
    lowerKey: options.lowerKey,
    upperKey: options.upperKey,
    isDescending: options.order === 'DESCENDING',
    withKeys: options.withKeys,
    keyHash: onlyKeyHash(options),
    ...(tests.some(({ column }) => column.isKey) ? { keyColumns: schema.keyColumns } : {}),
    meter,
  }
}

/** The hash of the only key that lies within the bounds of a scan; null: there may be several. */
function onlyKeyHash({ schema, lowerKey, upperKey, keyHashSeed }: ScanOptions): number | null {
  if (keyHashSeed === undefined || !isOnlyKey(schema, lowerKey, upperKey)) return null
  return hashOfKey(lowerKey, keyHashSeed)
}

interface BoundedRowSet {
  readonly rowSet: RowSet
  readonly bounds: KeyBounds
}

/** Those that can have rows for a scan, as far as their bounds tell. */
function rowSetsIn(rowSets: readonly RowSet[], scan: RowSetScan): BoundedRowSet[] {
  const { meter, lowerKey, upperKey, tests, keyColumns } = scan
  const found: BoundedRowSet[] = []
  for (const rowSet of rowSets) {
    const bounds = rowSet.keyBounds()
    const isInBounds =
      bounds !== null && isBelow(bounds.lowerKey, upperKey) && isBelow(lowerKey, bounds.upperKey)
    if (!isInBounds) meter?.leaveOut(rowSet.id, 'key_bounds')
    else if (keyColumns === undefined || mayHoldKeys(keyColumns, bounds, tests)) {
      found.push({ rowSet, bounds })
    } else meter?.leaveOut(rowSet.id, 'key_list')
  }
  return found
}

/**
 * Groups of rowsets whose keys overlap, by ascending keys: those of two groups do not, so that they
 * need no merging.
 */
function overlapping(rowSets: readonly BoundedRowSet[]): BoundedRowSet[][] {
  const sorted = [...rowSets].sort((a, b) => compareWhole(a.bounds.lowerKey, b.bounds.lowerKey))
  const groups: BoundedRowSet[][] = []
  let end: Uint8Array | null = null
  for (const item of sorted) {
    const { lowerKey, upperKey } = item.bounds
    if (end !== null && isBelow(lowerKey, end)) {
      groups[groups.length - 1].push(item)
      if (!isBelow(upperKey, end) || upperKey.length === 0) end = upperKey
    } else {
      groups.push([item])
      end = upperKey
    }
  }
  return groups
}

/** Whether a key is below an upper bound, which may be none. */
function isBelow(key: Uint8Array, upperKey: Uint8Array): boolean {
  return upperKey.length === 0 || compareWhole(key, upperKey) < 0
}

function openGroup(group: readonly BoundedRowSet[], scan: RowSetScan): RowSetIterator {
  if (group.length === 1) return group[0].rowSet.openIterator(scan)
  const scanWithKeys = { ...scan, withKeys: true }
  const sources = group.map(({ rowSet, bounds }) => {
    return { iterator: rowSet.openIterator(scanWithKeys), bounds }
  })
  return new MergeIterator(sources, scan)
}

/** Makes predicates ready, those that leave out most rows first; without those that all pass. */
export function compileTests(schema: Schema, predicates: readonly ColumnPredicate[]): ColumnTest[] {
  return [...predicates]
    .sort((a, b) => comparePredicateSelectivity(schema, a, b))
    .map((predicate) => compileColumnTest(schema.mustById(predicate.columnId), predicate))
    .filter(({ column, predicate }) => !isTrivialPredicate(column, predicate))
}

/** What tells of the work of a scan. */
export interface ScannerMeters {
  readonly meter: ScanMeter
  readonly bill: ReadBill | null
}

/** An open scan. Writes between two batches do not show in it. */
export class TabletScanner {
  #iterator: RowSetIterator | null
  readonly #meter: ScanMeter
  readonly #bill: ReadBill | null
  #scannedCount = 0

  constructor(iterator: RowSetIterator | null, meters: ScannerMeters | null = null) {
    this.#iterator = iterator
    this.#meter = meters?.meter ?? new ScanMeter([])
    this.#bill = meters?.bill ?? null
  }

  /** What was done so far. Of a rowset that is being read, pages are counted as they are left. */
  get stats(): ScanStats {
    return this.#meter.stats
  }

  /** Rows looked at so far. */
  get scannedCount(): number {
    return this.#scannedCount
  }

  /**
   * The next rows: at most `rowCountMax`, and no more than fit `bytesMax`, but at least one.
   *
   * Returns: null when there are none left. A batch without rows means that many rows were looked
   * at in vain: the scan goes on behind its `lastKeyScanned`, here or in a scan opened anew.
   * Throws: CORRUPTION; then the scan is closed. Cost: looks at about `SCAN_STEP_ROW_COUNT_MAX`
   * rows at most.
   */
  nextBatch(rowCountMax: number, bytesMax: number): ScanBatch | null {
    const iterator = this.#iterator
    if (iterator === null) return null
    const billedBefore = this.#bill?.rowsRead ?? 0
    const scannedBefore = iterator.scannedCount
    let batch: ScanBatch | null = null
    try {
      batch = iterator.next({ rowCountMax, bytesMax, scannedMax: SCAN_STEP_ROW_COUNT_MAX })
    } finally {
      const scannedCount = iterator.scannedCount - scannedBefore
      this.#scannedCount += scannedCount
      this.#meter.countRows(scannedCount, batch?.block.rowCount ?? 0)
      this.#meter.countBilled((this.#bill?.rowsRead ?? 0) - billedBefore)
      if (batch === null) this.close()
    }
    return batch
  }

  /**
   * Lets go of the rowsets, whose files and memory are kept for an open scan: whoever does not read
   * to the end calls it. A scan that has ended or failed did so by itself. Further batches are
   * null.
   */
  close(): void {
    this.#iterator?.close()
    this.#iterator = null
  }
}

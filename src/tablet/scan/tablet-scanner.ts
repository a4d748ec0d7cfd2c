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
import type { Schema } from '../../common/schema.ts'
import type { RowSet, RowSetIterator, RowSetScan, ScanBatch } from '../row-set.ts'
import { type ColumnTest, compileColumnTest } from './column-test.ts'
import { MergeIterator } from './merge-iterator.ts'

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
}

/** Opens a scan. Requires: no later op gets a timestamp at or below the snapshot. */
export function openScan(options: ScanOptions): TabletScanner {
  const { schema, rowSets } = options
  const tests = compileTests(schema, options.predicates)
  if (tests.some(({ predicate }) => predicate.kind === 'NONE')) return new TabletScanner(null)
  const scan: RowSetScan = {
    columns: options.columnIds.map((id) => schema.mustById(id)),
    snapshot: options.snapshot,
    tests,
    lowerKey: options.lowerKey,
    upperKey: options.upperKey,
    isDescending: options.order === 'DESCENDING',
    withKeys: options.withKeys,
  }
  if (rowSets.length === 1) return new TabletScanner(rowSets[0].openIterator(scan))
  const scanWithKeys = { ...scan, withKeys: true }
  const iterators = rowSets.map((rowSet) => rowSet.openIterator(scanWithKeys))
  return new TabletScanner(new MergeIterator(iterators, scan))
}

function compileTests(schema: Schema, predicates: readonly ColumnPredicate[]): ColumnTest[] {
  return [...predicates]
    .sort((a, b) => comparePredicateSelectivity(schema, a, b))
    .map((predicate) => compileColumnTest(schema.mustById(predicate.columnId), predicate))
    .filter(({ column, predicate }) => !isTrivialPredicate(column, predicate))
}

/** An open scan. Writes between two batches do not show in it. */
export class TabletScanner {
  #iterator: RowSetIterator | null
  #scannedCount = 0

  constructor(iterator: RowSetIterator | null) {
    this.#iterator = iterator
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
   * Cost: looks at no more than about `SCAN_STEP_ROW_COUNT_MAX` rows.
   */
  nextBatch(rowCountMax: number, bytesMax: number): ScanBatch | null {
    if (this.#iterator === null) return null
    const batch = this.#iterator.next({
      rowCountMax,
      bytesMax,
      scannedMax: SCAN_STEP_ROW_COUNT_MAX,
    })
    if (batch === null) this.#iterator = null
    else this.#scannedCount += batch.scannedCount
    return batch
  }

  /** Lets go of the rowsets. Further batches are null. */
  close(): void {
    this.#iterator = null
  }
}

/**
 * A diff scan of one tablet: which rows changed above one time and at or below another, and what
 * they are then.
 *
 *   rowsets ──► changed rows by key tests ──► merged by key ──► other tests, nulls ──► shown
 *                                             of a key that ended in one rowset and lives on in
 *                                             another, the one that lives
 *
 * Tests on other columns come last: whether a key that ended lives on in another rowset must be
 * known whether or not it passes there.
 */

import type { ColumnPredicate } from '../../common/column-predicate.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { isDeletedColumn } from '../../common/is-deleted-column.ts'
import type { Column, Schema } from '../../common/schema.ts'
import type { RowSet, RowSetScan } from '../row-set.ts'
import type { ColumnTest } from '../scan/column-test.ts'
import type { ScanMeter } from '../scan/scan-meter.ts'
import {
  compileTests,
  metersOf,
  openInKeyOrder,
  type ScanOptions,
  TabletScanner,
} from '../scan/tablet-scanner.ts'
import { DiffIterator } from './diff-iterator.ts'

/** What to scan. The order is that of the keys, ascending. */
export interface DiffScanOptions extends ScanOptions {
  /** Rows that did not change above it are left out. */
  readonly diffFrom: Timestamp
}

/** Opens a diff scan. Requires: as `openScan`; history reaches back to where it begins. */
export function openDiffScan(options: DiffScanOptions): TabletScanner {
  const { schema, diffFrom, snapshot } = options
  const { keyTests, otherTests } = testsOf(schema, options.predicates)
  const isImpossible = keyTests.some(({ predicate }) => predicate.kind === 'NONE')
  const meters = metersOf(options)
  if (isImpossible || diffFrom >= snapshot) return new TabletScanner(null, meters)
  const shown = options.columnIds.map((id) => schema.mustById(id))
  const columns: Column[] = [...shown]
  for (const { column } of otherTests) if (!columns.includes(column)) columns.push(column)
  const isDeleted = isDeletedColumn()
  const scan: RowSetScan = {
    columns: [...columns, isDeleted],
    snapshot,
    diffFrom,
    tests: keyTests,
    lowerKey: options.lowerKey,
    upperKey: options.upperKey,
    isDescending: false,
    withKeys: options.withKeys,
    meter: meters.meter,
    ...(keyTests.length > 0 ? { keyColumns: schema.keyColumns } : {}),
  }
  const rowSets = changedRowSets(options, meters.meter)
  const tests = otherTests.map((test) => ({ test, place: columns.indexOf(test.column) }))
  const source = openInKeyOrder(rowSets, scan)
  const iterator = new DiffIterator(source, { columns: shown, isDeleted, tests })
  return new TabletScanner(iterator, meters)
}

/** Those in which a row may have changed. */
function changedRowSets(
  { rowSets, diffFrom, snapshot }: DiffScanOptions,
  meter: ScanMeter,
): RowSet[] {
  return rowSets.filter((rowSet) => {
    if (rowSet.mayHaveChanged(diffFrom, snapshot)) return true
    meter.leaveOut(rowSet.id, 'unchanged')
    return false
  })
}

function testsOf(
  schema: Schema,
  predicates: readonly ColumnPredicate[],
): { readonly keyTests: ColumnTest[]; readonly otherTests: ColumnTest[] } {
  const tests = compileTests(schema, predicates)
  return {
    keyTests: tests.filter(({ column }) => column.isKey),
    otherTests: tests.filter(({ column }) => !column.isKey),
  }
}

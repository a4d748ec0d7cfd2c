/**
 * What became of each row of an op, as one byte, and what that adds up to.
 *
 * Outcomes are decided once, in the section that logs the op, and written to the WAL. Replay does
 * what they say and never decides again (docs/formats/wal.md).
 *
 *   0          not decided yet; never stored
 *   1 … 15     ROW_OUTCOMES: what was done
 *   16 …       ROW_ERRORS: why nothing was done
 */

import { ROW_ERRORS, type RowErrors } from '../common/row-error.ts'
import { ROW_OPERATIONS } from '../common/row-operation.ts'
import { assert } from '../util/assert.ts'

/** What was done with a row. Stored: numbers are never reused. */
export const ROW_OUTCOMES = {
  /** A key that no store knew was inserted. */
  INSERT: 1,
  /** A key whose last version is a delete was inserted again. */
  REINSERT: 2,
  /** The set columns of a live row were changed. */
  UPDATE: 3,
  /** The set columns of a live row were changed, but the immutable ones. */
  UPDATE_MUTABLE: 4,
  /** A live row was deleted. */
  DELETE: 5,
  /** A live row was upserted with its key alone: it counts, and nothing changed. */
  KEY_ONLY_UPSERT: 6,
  /** One of the `_IGNORE` operations found nothing to do. */
  IGNORED: 7,
} as const

/** Outcomes from here on are codes of row errors. */
export const ROW_ERROR_MIN = 16

/** What the outcomes of an op add up to. The first six add up to its rows. */
export interface RowCounts {
  inserted: number
  upserted: number
  updated: number
  deleted: number
  ignored: number
  failed: number
  /** Rows that came to life: of INSERTs all that applied, of UPSERTs those whose key was absent. */
  created: number
}

/** Whether a row of an op did what it was meant to do, so that the op has a timestamp. */
export function hasApplied(counts: RowCounts): boolean {
  return counts.inserted + counts.upserted + counts.updated + counts.deleted > 0
}

/** Whether an outcome changes a store. */
export function changesStore(outcome: number): boolean {
  return outcome >= ROW_OUTCOMES.INSERT && outcome <= ROW_OUTCOMES.DELETE
}

/** Adds up the outcomes of an op. Requires: every row is decided. */
export function countOutcomes(
  operations: Uint8Array,
  outcomes: Uint8Array,
  rowCount: number,
): RowCounts {
  const counts = noCounts()
  for (let row = 0; row < rowCount; row++) {
    const outcome = outcomes[row]
    assert(outcome !== 0, 'a row was left undecided')
    if (outcome >= ROW_ERROR_MIN) counts.failed++
    else if (outcome === ROW_OUTCOMES.IGNORED) counts.ignored++
    else countApplied(counts, operations[row])
    if (outcome === ROW_OUTCOMES.INSERT || outcome === ROW_OUTCOMES.REINSERT) counts.created++
  }
  return counts
}

function countApplied(counts: RowCounts, operation: number): void {
  switch (operation) {
    case ROW_OPERATIONS.INSERT:
    case ROW_OPERATIONS.INSERT_IGNORE:
      counts.inserted++
      break
    case ROW_OPERATIONS.UPSERT:
    case ROW_OPERATIONS.UPSERT_IGNORE:
      counts.upserted++
      break
    case ROW_OPERATIONS.UPDATE:
    case ROW_OPERATIONS.UPDATE_IGNORE:
      counts.updated++
      break
    default:
      counts.deleted++
  }
}

/** Counts of no rows. */
export function noCounts(): RowCounts {
  return { inserted: 0, upserted: 0, updated: 0, deleted: 0, ignored: 0, failed: 0, created: 0 }
}

/** No row errors. Shared: never written to. */
export const NO_ROW_ERRORS: RowErrors = {
  rows: new Uint32Array(0),
  codes: new Uint8Array(0),
  columnIds: new Int32Array(0),
}

/**
 * The row errors among the outcomes of an op, in row order. `columnIds[row]` is the column that the
 * error of `row` is about, or −1.
 */
export function collectErrors(
  outcomes: Uint8Array,
  columnIds: Int32Array,
  rowCount: number,
  errorCount: number,
): RowErrors {
  if (errorCount === 0) return NO_ROW_ERRORS
  const errors = {
    rows: new Uint32Array(errorCount),
    codes: new Uint8Array(errorCount),
    columnIds: new Int32Array(errorCount),
  }
  let count = 0
  for (let row = 0; row < rowCount; row++) {
    if (outcomes[row] < ROW_ERROR_MIN) continue
    errors.rows[count] = row
    errors.codes[count] = outcomes[row]
    errors.columnIds[count] = columnIds[row]
    count++
  }
  assert(count === errorCount, 'failed rows were counted wrong')
  return errors
}

const rowErrorCodes: readonly number[] = Object.values(ROW_ERRORS)
assert(
  rowErrorCodes.every((code) => code >= ROW_ERROR_MIN),
  'codes of row errors begin above the outcomes',
)
assert(
  Object.values(ROW_OUTCOMES).every((outcome) => outcome > 0 && outcome < ROW_ERROR_MIN),
  'outcomes end below the codes of row errors',
)

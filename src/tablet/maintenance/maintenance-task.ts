/**
 * One maintenance op under way: work in bounded steps, between which writes and scans go on.
 *
 *   begin ──► step ──► step ──► … ──► last step: commit ──► done
 *     │         │        │
 *     └─────────┴────────┴── abort: nothing of it was
 *
 * Up to its last step a task changes nothing that anyone sees: it writes blocks to files that the
 * superblock names as unfinished. The last step makes all of it true in the transaction that
 * replaces the superblock. A crash before leaves the old state, a crash after the new one.
 *
 * While it runs, rows may be changed: a task takes what is at or below the time at which it began,
 * and its last step carries over what came later.
 */

import type { MaintenanceOp } from '../../common/maintenance-op.ts'

export { MAINTENANCE_OPS, type MaintenanceOp } from '../../common/maintenance-op.ts'

/** What a task did, for people. Counts of what was read and what was written in its place. */
export interface TaskSummary {
  readonly rowSetsIn: number
  readonly rowSetsOut: number
  readonly rowsIn: number
  readonly rowsOut: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** See the file's header. */
export interface MaintenanceTask {
  readonly op: MaintenanceOp
  /** What it did so far. */
  readonly summary: TaskSummary

  /**
   * Does one more piece of work. Returns whether that was the last.
   *
   * Requires: inside a transaction of the store; not called again after it returned true or threw.
   * Throws: CORRUPTION when what it reads is damaged: then the transaction is undone, `abort` is
   * called, and the tablet goes on as it was. Cost: about `stepBytes` of the layout of rows read or
   * written.
   */
  step(): boolean

  /**
   * Ends a task that is not done: lets go of everything, and leaves the rowsets as they were. The
   * files that it wrote become orphans.
   */
  abort(): void
}

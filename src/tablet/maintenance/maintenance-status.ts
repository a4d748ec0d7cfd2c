/**
 * What the maintenance manager tells of itself, to operators and to those who drive it. Plain data.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { MaintenanceOp } from '../../common/maintenance-op.ts'
import type { StatusCode } from '../../common/status.ts'
import type { TaskSummary } from './maintenance-task.ts'

/** How much an op would be worth now. */
export interface OpScore {
  readonly op: MaintenanceOp
  /** Bytes of memory that it would free. */
  readonly memoryBytes: number
  /** Bytes of WAL that nothing else but it holds back. */
  readonly walBytes: number
  /** Bytes of storage that it would free, as far as that is known before it is done. */
  readonly diskBytes: number
  /** What reads and writes would gain, the table's priority included; 0: nothing. */
  readonly performance: number
  /** When it is due; null: not as things are. */
  readonly dueAt: Timestamp | null
  readonly isRunning: boolean
  /** Until when it is not begun by itself, because it failed; null: it is not held back. */
  readonly heldBackUntil: Timestamp | null
}

/** One op that was run. */
export interface OpRun {
  readonly op: MaintenanceOp
  /** Whether an operator asked for it. */
  readonly isRequested: boolean
  readonly startedAt: Timestamp
  /** Null while it runs. */
  readonly endedAt: Timestamp | null
  readonly stepCount: number
  readonly summary: TaskSummary
  /** What made it fail, if it did. */
  readonly failure: { readonly code: StatusCode; readonly message: string } | null
}

/** All that an operator wants to know. */
export interface MaintenanceStatus {
  readonly scores: readonly OpScore[]
  readonly running: readonly OpRun[]
  /** The last eight that ended, newest first. */
  readonly lastRuns: readonly OpRun[]
}

/** How far an op is that was asked for. */
export interface RequestReport {
  readonly op: MaintenanceOp
  readonly isDone: boolean
  /** How many times the op was run for it: as often as there was something to do. */
  readonly runCount: number
  /** The sum of what those did. */
  readonly summary: TaskSummary
}

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { MaintenanceOp } from '../../common/maintenance-op.ts'
import type { StatusError } from '../../common/status.ts'
import type { RequestReport } from './maintenance-status.ts'
import type { TaskSummary } from './maintenance-task.ts'

/** An op that somebody asked for, and how far it is. */
export class OpRequest {
  readonly id: string
  readonly op: MaintenanceOp
  /** Time of the newest op when it was asked for. */
  readonly asOf: Timestamp
  /** Rowsets that were worked on for it: each once. */
  readonly rowSetIds = new Set<number>()
  /** Ops that were begun for it before its own: each once. */
  readonly before = new Set<MaintenanceOp>()
  /** Whether a compaction for it left the stack as high as it was. */
  isStackDone = false
  isDone = false
  failure: StatusError | null = null
  runCount = 0
  #summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(id: string, op: MaintenanceOp, asOf: Timestamp) {
    this.id = id
    this.op = op
    this.asOf = asOf
  }

  /** Adds what one run did for it. */
  add(summary: TaskSummary): void {
    const sum = this.#summary
    this.runCount++
    this.#summary = {
      rowSetsIn: sum.rowSetsIn + summary.rowSetsIn,
      rowSetsOut: sum.rowSetsOut + summary.rowSetsOut,
      rowsIn: sum.rowsIn + summary.rowsIn,
      rowsOut: sum.rowsOut + summary.rowsOut,
      bytesIn: sum.bytesIn + summary.bytesIn,
      bytesOut: sum.bytesOut + summary.bytesOut,
    }
  }

  /** How far it is. Throws: what made it fail. */
  report(): RequestReport {
    if (this.failure !== null) throw this.failure
    const { op, isDone, runCount } = this
    return { op, isDone, runCount, summary: this.#summary }
  }
}

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { StatusError } from '../../common/status.ts'
import type { OpRun } from './maintenance-status.ts'
import type { MaintenanceTask } from './maintenance-task.ts'

/** One op under way, and what is told of it. */
export class RunningOp {
  readonly task: MaintenanceTask
  /** The request that it is run for; null: it is run because it was due. */
  readonly requestId: string | null
  /** What there was to make less of when it began; null: that is not known. */
  readonly burden: number | null
  readonly #startedAt: Timestamp
  #stepCount = 0

  constructor(options: {
    readonly task: MaintenanceTask
    readonly requestId: string | null
    readonly burden: number | null
    readonly now: Timestamp
  }) {
    this.task = options.task
    this.requestId = options.requestId
    this.burden = options.burden
    this.#startedAt = options.now
  }

  /** Makes one step. Returns whether it was the last. Requires: inside a transaction. */
  step(): boolean {
    this.#stepCount++
    return this.task.step()
  }

  /** What is told of it. `endedAt`: null while it runs. */
  run(endedAt: Timestamp | null, failure: StatusError | null): OpRun {
    return {
      op: this.task.op,
      isRequested: this.requestId !== null,
      startedAt: this.#startedAt,
      endedAt,
      stepCount: this.#stepCount,
      summary: { ...this.task.summary },
      failure: failure === null ? null : { code: failure.code, message: failure.message },
    }
  }
}

import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'

/**
 * Another task, and before it: the open WAL generation is closed, and dropped at once, when all
 * that it tells is durable elsewhere or changed nothing. A load of refused rows makes such ones.
 */
export class WalRollTask implements MaintenanceTask {
  readonly #parts: TabletParts
  readonly #task: MaintenanceTask
  #hasRolled = false

  constructor(parts: TabletParts, task: MaintenanceTask) {
    this.#parts = parts
    this.#task = task
  }

  get op(): MaintenanceTask['op'] {
    return this.#task.op
  }

  get summary(): TaskSummary {
    return this.#task.summary
  }

  step(): boolean {
    if (this.#hasRolled || this.#parts.oldestAnchor !== null) return this.#task.step()
    // In a step of its own: what fails after it in the same transaction would break the tablet.
    this.#hasRolled = true
    this.#parts.beginWalGeneration()
    return false
  }

  abort(): void {
    this.#task.abort()
  }
}

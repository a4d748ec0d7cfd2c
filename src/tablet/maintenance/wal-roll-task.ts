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
  #droppedBytes = 0

  constructor(parts: TabletParts, task: MaintenanceTask) {
    this.#parts = parts
    this.#task = task
  }

  get op(): MaintenanceTask['op'] {
    return this.#task.op
  }

  /** That of the other task, and the bytes of WAL that were dropped before it. */
  get summary(): TaskSummary {
    const { summary } = this.#task
    return { ...summary, bytesIn: summary.bytesIn + this.#droppedBytes }
  }

  step(): boolean {
    if (this.#hasRolled || this.#parts.oldestAnchor !== null) return this.#task.step()
    // In a step of its own: what fails after it in the same transaction would break the tablet.
    this.#hasRolled = true
    const { bytes } = this.#parts.wal
    this.#parts.beginWalGeneration()
    this.#droppedBytes = bytes - this.#parts.wal.bytes
    return false
  }

  abort(): void {
    this.#task.abort()
  }
}

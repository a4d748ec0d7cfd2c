import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'

/** Merges DiskRowSets into ones that do not overlap. */
export class CompactRowSetsTask implements MaintenanceTask {
  readonly op = 'COMPACT'
  readonly summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(parts: TabletParts, rowSets: readonly DiskRowSet[], now: Timestamp) {
    void [parts, rowSets, now]
  }

  step(): boolean {
    return true
  }

  abort(): void {}
}

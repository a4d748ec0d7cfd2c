import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'

/** Brings the REDO cells of some columns into the base of a DiskRowSet. */
export class MajorDeltaTask implements MaintenanceTask {
  readonly op = 'MAJOR_DELTA_COMPACT'
  readonly summary: TaskSummary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  constructor(
    parts: TabletParts,
    rowSet: DiskRowSet,
    columnIds: readonly number[],
    now: Timestamp,
  ) {
    void [parts, rowSet, columnIds, now]
  }

  step(): boolean {
    return true
  }

  abort(): void {}
}

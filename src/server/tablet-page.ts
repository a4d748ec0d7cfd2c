/** A tablet's report as operators are shown it. */

import type { MaintenanceStatus, OpRun } from '../tablet/maintenance/maintenance-status.ts'
import type { Tablet } from '../tablet/tablet.ts'
import {
  type DeltaReport,
  type RowSetReport,
  reportOf,
  type TabletReport,
} from '../tablet/tablet-report.ts'
import { toHex } from '../util/bytes.ts'
import type { TabletReport as ShownReport } from '../wire/maintenance-schemas.ts'
import type { TabletStatusAnswer } from '../wire/tablet-protocol.ts'

/** What the page tells beside the tablet itself. */
export interface PageSurroundings {
  readonly now: number
  /** Bytes that all tablets of the isolate hold, and at which writes are refused. */
  readonly isolateBytes: number
  readonly isolateBytesMax: number
}

/** What there is to know of a tablet; null before it is initialized. */
export function tabletPage(
  tablet: Tablet,
  surroundings: PageSurroundings,
): TabletStatusAnswer | null {
  const { parts } = tablet
  if (parts === null) return null
  const { maintenance } = tablet
  const { tableId, tableVersion, columns, partitionSchema, partition } = parts.identity
  const { now } = surroundings
  const report = reportOf(parts)
  const { rowsRead, rowsWritten } = tablet.figures()
  const shown: ShownReport = {
    ...holdings(report, surroundings),
    maintenance: maintenanceObject(maintenance.status(now), maintenance.due(now)),
    billed_rows_read: rowsRead,
    billed_rows_written: rowsWritten,
  }
  return { tableId, tableVersion, columns, partitionSchema, partition, report: shown }
}

function holdings(
  report: TabletReport,
  { isolateBytes, isolateBytesMax }: PageSurroundings,
): Omit<ShownReport, 'maintenance' | 'billed_rows_read' | 'billed_rows_written'> {
  const { memory, wal, locks } = report
  return {
    live_row_count: report.liveRowCount,
    on_disk_size: report.onDiskBytes,
    memory: {
      total: memory.total,
      mem_row_set: memory.memRowSet,
      flushing: memory.flushing,
      deltas: memory.deltas,
      results: memory.results,
      rowsets: memory.rowSets,
      isolate: isolateBytes,
      isolate_limit: isolateBytesMax,
    },
    mem_row_set_rows: report.memRowSetRowCount,
    flushing_rows: report.flushingRowCount,
    wal: { bytes: wal.bytes, rows: wal.rowCount, generations: wal.generationCount },
    rowsets: report.rowSets.map(rowSetObject),
    average_rowset_height: report.averageRowSetHeight,
    mvcc: {
      safe_time: report.safeTime,
      clean_time: report.cleanTime,
      in_flight_ops: report.inFlightOpCount,
    },
    last_applied: report.lastApplied,
    history_mark: report.historyMark,
    locks: {
      held: locks.heldCount,
      waited_for: locks.waitingCount,
      waiting_ops: locks.waitingOpCount,
    },
  }
}

function rowSetObject(rowSet: RowSetReport): ShownReport['rowsets'][number] {
  return {
    id: rowSet.id,
    rows: rowSet.rowCount,
    live_rows: rowSet.liveRowCount,
    bytes: rowSet.bytes,
    base_bytes: rowSet.baseBytes,
    lower_key: toHex(rowSet.lowerKey),
    upper_key: rowSet.upperKey.length === 0 ? null : toHex(rowSet.upperKey),
    undos: deltaObject(rowSet.undos),
    redos: deltaObject(rowSet.redos),
    memory_deltas: { records: rowSet.memoryRecordCount, bytes: rowSet.memoryBytes },
    is_busy: rowSet.isBusy,
  }
}

function deltaObject({ fileCount, recordCount, deleteCount, bytes }: DeltaReport) {
  return { files: fileCount, records: recordCount, deletes: deleteCount, bytes }
}

function maintenanceObject(
  { scores, running, lastRuns }: MaintenanceStatus,
  nextAt: number | null,
): ShownReport['maintenance'] {
  return {
    ops: scores.map((score) => ({
      op: score.op,
      memory_bytes: score.memoryBytes,
      wal_bytes: score.walBytes,
      disk_bytes: score.diskBytes,
      performance: score.performance,
      due_at: score.dueAt,
      is_running: score.isRunning,
      held_back_until: score.heldBackUntil,
    })),
    running: running.map(runObject),
    last_runs: lastRuns.map(runObject),
    next_at: nextAt,
  }
}

function runObject({ summary, failure, ...run }: OpRun): ShownReport['maintenance']['running'][0] {
  return {
    op: run.op,
    is_requested: run.isRequested,
    started_at: run.startedAt,
    ended_at: run.endedAt,
    steps: run.stepCount,
    rowsets_in: summary.rowSetsIn,
    rowsets_out: summary.rowSetsOut,
    rows_in: summary.rowsIn,
    rows_out: summary.rowsOut,
    bytes_in: summary.bytesIn,
    bytes_out: summary.bytesOut,
    failure,
  }
}

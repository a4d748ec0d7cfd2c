/**
 * Makes tasks of what was decided.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { MaintenanceOp } from '../../common/maintenance-op.ts'
import type { DiskRowSet } from '../disk/disk-row-set.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { CompactRowSetsTask } from './compact-row-sets-task.ts'
import { FlushDeltaTask } from './flush-delta-task.ts'
import { FlushMemRowSetTask } from './flush-mem-row-set-task.ts'
import { GarbageTask } from './garbage-task.ts'
import { chooseAskedGone } from './gone-rows.ts'
import type { MaintenancePlanner } from './maintenance-planner.ts'
import type { MaintenanceTask } from './maintenance-task.ts'
import { MajorDeltaTask } from './major-delta-task.ts'
import { MinorDeltaTask } from './minor-delta-task.ts'
import type { OpRequest } from './op-request.ts'
import {
  type CompactionChoice,
  chooseAskedCompaction,
  chooseMajor,
  chooseMinor,
} from './row-set-picks.ts'
import { WalRollTask } from './wal-roll-task.ts'

/** Flushes that are run for one request. */
const ASKED_FLUSH_COUNT_MAX = 2
/** Compactions that are run for one request. */
const ASKED_COMPACTION_COUNT_MAX = 256

/** See the file's header. */
export class TaskStarter {
  readonly #parts: TabletParts
  readonly #planner: MaintenancePlanner
  readonly #rowSetIds = new WeakMap<MaintenanceTask, readonly number[]>()

  constructor(parts: TabletParts, planner: MaintenancePlanner) {
    this.#parts = parts
    this.#planner = planner
  }

  /** The rowsets that a task was made for: those that it failed on, if it did. */
  rowSetIdsOf(task: MaintenanceTask): readonly number[] {
    return this.#rowSetIds.get(task) ?? []
  }

  /** The task of an op that is due; null when there is nothing for it to do after all. */
  start(op: MaintenanceOp, now: Timestamp): MaintenanceTask | null {
    const { minor, major } = this.#planner.disk
    switch (op) {
      case 'FLUSH_MRS':
      case 'FLUSH_DMS':
      case 'GC':
        return this.#plain(op, now)
      case 'COMPACT': {
        const compaction = this.#planner.compaction(now)
        return compaction && this.#compact(compaction.choice, now)
      }
      case 'MINOR_DELTA_COMPACT':
        return minor && this.#minor(minor.rowSet, now)
      case 'MAJOR_DELTA_COMPACT':
        return major && this.#major(major.rowSet, major.columnIds, now)
    }
  }

  /** A flush without which a request would do less than it could; null when none is needed. */
  startBefore(request: OpRequest, now: Timestamp): MaintenanceTask | null {
    if (request.op !== 'GC') return null
    for (const op of ['FLUSH_DMS', 'FLUSH_MRS'] as const) {
      if (request.before.has(op) || !this.#planner.holdsHistory(op, now)) continue
      request.before.add(op)
      return this.#plain(op, now)
    }
    return null
  }

  /** The next task for a request; null when there is nothing left of it to do. */
  startAsked(request: OpRequest, now: Timestamp): MaintenanceTask | null {
    const { rowSets } = this.#parts
    const { op, runCount, rowSetIds } = request
    switch (op) {
      case 'FLUSH_MRS':
        return this.#holdsRowsOf(request) ? this.#plain(op, now) : null
      case 'FLUSH_DMS':
        return runCount === 0 && this.#holdsDeltas() ? this.#plain(op, now) : null
      case 'GC':
        return runCount === 0 ? this.#plain(op, now) : null
      case 'COMPACT': {
        if (runCount >= ASKED_COMPACTION_COUNT_MAX) return null
        const merge = request.isStackDone ? null : chooseAskedCompaction(this.#parts)
        const choice = merge ?? chooseAskedGone(this.#parts, now)
        return choice && this.#compact(choice, now)
      }
      case 'MINOR_DELTA_COMPACT': {
        const choice = chooseMinor(rowSets, rowSetIds, 2)
        if (choice === null) return null
        rowSetIds.add(choice.rowSet.id)
        return this.#minor(choice.rowSet, now)
      }
      case 'MAJOR_DELTA_COMPACT': {
        const choice = chooseMajor(rowSets, rowSetIds, 0)
        if (choice === null) return null
        rowSetIds.add(choice.rowSet.id)
        return this.#major(choice.rowSet, choice.columnIds, now)
      }
    }
  }

  /** Whether a run of it left nothing to do for a request, as far as that is known at once. */
  isDone(request: OpRequest): boolean {
    if (request.op === 'FLUSH_MRS') return !this.#holdsRowsOf(request)
    return request.op === 'FLUSH_DMS' || request.op === 'GC'
  }

  /** Whether rows that were there when it was asked for are in memory only. */
  #holdsRowsOf({ asOf, runCount }: OpRequest): boolean {
    const { frozen, memRowSet, flushedMark } = this.#parts
    // A flush that failed before left its rows frozen; then there are others to flush after them.
    if (runCount === ASKED_FLUSH_COUNT_MAX || flushedMark >= asOf) return false
    return frozen !== null || memRowSet.rowCount > 0
  }

  #holdsDeltas(): boolean {
    return this.#parts.rowSets.some(({ oldestUnflushed }) => oldestUnflushed !== null)
  }

  #plain(op: 'FLUSH_MRS' | 'FLUSH_DMS' | 'GC', now: Timestamp): MaintenanceTask {
    if (op === 'FLUSH_MRS') return new FlushMemRowSetTask(this.#parts, now)
    if (op === 'FLUSH_DMS') return new FlushDeltaTask(this.#parts, now)
    return new WalRollTask(this.#parts, new GarbageTask(this.#parts, now))
  }

  #compact({ rowSets, cuts }: CompactionChoice, now: Timestamp): MaintenanceTask {
    return this.#of(rowSets, new CompactRowSetsTask(this.#parts, rowSets, now, { cuts }))
  }

  #minor(rowSet: DiskRowSet, now: Timestamp): MaintenanceTask {
    return this.#of([rowSet], new MinorDeltaTask(this.#parts, rowSet, now))
  }

  #major(rowSet: DiskRowSet, columnIds: readonly number[], now: Timestamp): MaintenanceTask {
    return this.#of([rowSet], new MajorDeltaTask(this.#parts, rowSet, columnIds, now))
  }

  #of(rowSets: readonly DiskRowSet[], task: MaintenanceTask): MaintenanceTask {
    this.#rowSetIds.set(
      task,
      rowSets.map(({ id }) => id),
    )
    return task
  }
}

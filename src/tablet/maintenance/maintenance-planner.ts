/**
 * What a tablet needs, and which of it first. Only decides.
 *
 *   1  what is held in memory, when there is too much of it: the flush that frees most
 *   2  WAL that takes long to replay: the flush that frees most
 *   3  storage that nothing needs
 *   4  what makes reads cheaper: the op that gains most
 *
 * A tablet that is left alone and has little WAL is not flushed: to wake it costs less. When it has
 * rowsets that lie on each other, these are merged a few seconds after the last write. What would
 * keep ancient history for ever is done when that has become ancient: deletes in memory are
 * flushed, and rowsets of which a good part is deleted are written anew.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import {
  DELTA_MEM_STORE_FLUSH_BYTES,
  IDLE_AFTER_MS,
  IDLE_WAL_BYTES_MAX,
  IDLE_WAL_ROW_COUNT_MAX,
  REST_AFTER_MS,
  REST_UNCHANGED_MS,
  WAL_BYTES_FLUSH,
  WAL_ROW_COUNT_FLUSH,
} from '../../common/limits.ts'
import type { MaintenanceOp } from '../../common/maintenance-op.ts'
import type { MemoryAccountant } from '../memory-accountant.ts'
import { historyMaxAgeMicros, type TabletParts } from '../tablet-parts.ts'
import { chooseGone, type GoneChoice } from './gone-rows.ts'
import { findHeldHistory, findUnflushedDeletes } from './held-history.ts'
import {
  type CompactionChoice,
  chooseCompaction,
  chooseCompactionAtRest,
  chooseGarbage,
  chooseMajor,
  chooseMinor,
  compactionBurden,
  type GarbageChoice,
  type MajorChoice,
  type MinorChoice,
} from './row-set-picks.ts'

/** A tablet that holds less than this part of what it flushes at cannot help. */
const PRESSURE_SHARE = 1 / 32
/** How long what only makes reads cheaper waits when memory is short. */
const PRESSURE_WAIT_MICROS = 10_000_000
/** REDO files of a rowset from which on they are made one. */
const REDO_FILE_COUNT_MAX = 4
/** Bytes of REDO files by bytes of a base from which on they go into it. */
const REDO_RATIO_MAX = 0.1
/** A minor compaction of so many files gains as much as a height that is lower by 1. */
const REDO_FILES_PER_HEIGHT = 16
/** A table's priority is taken between −5 and 5, and each makes this times the one before. */
const PRIORITY_MAX = 5
const PRIORITY_BASE = 1.1
/** A stack that a merge makes lower by so much is merged at once; others may come on it first. */
const HEIGHT_HIGH = 3
/** How long a lower one waits for them. */
const LOW_STACK_WAIT_MICROS = 10_000_000
/** How much longer than history is kept what holds it stays in memory: more may come with it. */
const HISTORY_SLACK_MICROS = 60_000_000

/** How much an op would be worth. */
export interface OpWorth {
  readonly op: MaintenanceOp
  readonly memoryBytes: number
  readonly walBytes: number
  readonly diskBytes: number
  readonly performance: number
  readonly dueAt: Timestamp | null
}

/** What is chosen on disk: it stays the same until something there changes. */
interface DiskChoices {
  /** What is merged at once. */
  readonly compaction: CompactionChoice | null
  readonly minor: MinorChoice | null
  readonly major: MajorChoice | null
}

/** What is merged at rest, and since when that is known. */
interface ChoiceAtRest {
  readonly choice: CompactionChoice | null
  readonly since: Timestamp
}

/** What is merged, and when. */
interface DueCompaction {
  readonly choice: CompactionChoice
  readonly dueAt: Timestamp
}

/** What is gone, or would be. */
interface History extends GoneChoice {
  /** What on disk waits for the WAL to be shorter: see `findHeldHistory`. */
  readonly heldAt: Timestamp | null
}

/** See the file's header. */
export class MaintenancePlanner {
  readonly #parts: TabletParts
  readonly #accountant: MemoryAccountant
  /** Rowsets on which an op failed: they are left alone until the tablet wakes anew. */
  readonly #failed = new Set<number>()
  #disk: DiskChoices | null = null
  /** Null: it was not looked for. */
  #atRest: ChoiceAtRest | null = null
  #garbage: GarbageChoice | null = null
  #history: History | null = null

  constructor(parts: TabletParts, accountant: MemoryAccountant) {
    this.#parts = parts
    this.#accountant = accountant
  }

  /** Forgets what was chosen on disk: rowsets have changed, or are worked on. */
  forget(): void {
    this.#disk = null
    this.#atRest = null
    this.#garbage = null
    this.#history = null
  }

  /** Leaves rowsets alone from now on. */
  leaveAlone(rowSetIds: readonly number[]): void {
    for (const id of rowSetIds) this.#failed.add(id)
    this.forget()
  }

  /** Rowsets that are left alone. */
  get failed(): ReadonlySet<number> {
    return this.#failed
  }

  /** What is chosen on disk. Cost: O(1) while nothing there changes. */
  get disk(): DiskChoices {
    if (this.#disk !== null) return this.#disk
    const { rowSets } = this.#parts
    this.#disk = {
      compaction: this.#isCompacted ? chooseCompaction(this.#parts, this.#failed) : null,
      minor: chooseMinor(rowSets, this.#failed, REDO_FILE_COUNT_MAX),
      major: this.#isCompacted ? chooseMajor(rowSets, this.#failed, REDO_RATIO_MAX) : null,
    }
    return this.#disk
  }

  /**
   * What is merged or written anew next, and when. Null: nothing. Cost: O(1) while nothing on disk
   * changes.
   */
  compaction(now: Timestamp): DueCompaction | null {
    const merge = this.#merge(now)
    const { choice } = this.#historyAt(now)
    if (choice === null || (merge !== null && merge.dueAt <= now)) return merge
    const isMerged = choice.rowSets.every((rowSet) => merge?.choice.rowSets.includes(rowSet))
    return isMerged ? merge : { choice, dueAt: now }
  }

  /** What is merged next, and when: at rest for good, until then what lies high. */
  #merge(now: Timestamp): DueCompaction | null {
    const { compaction } = this.disk
    const { choice: atRest, since } = this.#choiceAtRest(now)
    // Ops may be ahead of physical time.
    const quietAt = Math.min(this.#parts.lastApplied, now) + REST_AFTER_MS * 1000
    const restAt = Math.min(quietAt, since + REST_UNCHANGED_MS * 1000)
    if (compaction !== null && (atRest === null || restAt > now)) {
      const isHigh = compaction.value >= HEIGHT_HIGH
      const dueAt = isHigh ? now : Math.min(quietAt, since + LOW_STACK_WAIT_MICROS)
      if (atRest === null || dueAt < restAt) return { choice: compaction, dueAt }
    }
    return atRest && { choice: atRest, dueAt: restAt }
  }

  #choiceAtRest(now: Timestamp): ChoiceAtRest {
    if (this.#atRest !== null) return this.#atRest
    const choice = this.#isCompacted ? chooseCompactionAtRest(this.#parts, this.#failed) : null
    this.#atRest = { choice, since: now }
    return this.#atRest
  }

  get #isCompacted(): boolean {
    return this.#parts.identity.extraConfigs['kudu.table.disable_compaction'] !== 'true'
  }

  /** The worth of the two flushes. Cost: O(rowsets). */
  flushes(now: Timestamp): readonly [OpWorth, OpWorth] {
    const { memRowSet, frozen } = this.#parts
    const rowsAt = frozen?.memRowSet.firstAt ?? (memRowSet.rowCount > 0 ? memRowSet.firstAt : null)
    const { oldest: deltasAt, bytes: deltaBytes } = this.#freeDeltas()
    const rowBytes = memRowSet.heldBytes + (frozen?.memRowSet.heldBytes ?? 0)
    const isPressed = this.#accountant.isOverSoft()
    const { worthwhileBytes } = this.#accountant
    const walAt = this.#walDueAt(now)
    const flush = (
      op: MaintenanceOp,
      anchor: Timestamp | null,
      otherAnchor: Timestamp | null,
      memoryBytes: number,
      limit: number,
    ): OpWorth => {
      const isHeld = anchor !== null
      const pressedLimit = Math.max(limit * PRESSURE_SHARE, worthwhileBytes)
      const isFull = memoryBytes >= limit || (isPressed && memoryBytes >= pressedLimit)
      const holdsWal = isHeld && (otherAnchor === null || anchor <= otherAnchor)
      const walBytes = holdsWal ? bytesUpTo(this.#parts, otherAnchor) : 0
      const dueAt = isHeld && isFull ? now : holdsWal ? walAt : null
      const historyAt = isHeld ? this.#historyDueAt(op, anchor, now) : null
      const at = earlier(dueAt, historyAt === null ? null : historyAt + HISTORY_SLACK_MICROS)
      return { op, memoryBytes, walBytes, diskBytes: 0, performance: 0, dueAt: at }
    }
    const rows = flush('FLUSH_MRS', rowsAt, deltasAt, rowBytes, this.#parts.layout.rowSetBytes)
    return [
      frozen === null ? rows : { ...rows, dueAt: now },
      flush('FLUSH_DMS', deltasAt, rowsAt, deltaBytes, DELTA_MEM_STORE_FLUSH_BYTES),
    ]
  }

  /** The worth of the other ops. Cost: O(rowsets). */
  others(now: Timestamp): readonly OpWorth[] {
    const { minor, major } = this.disk
    const compaction = this.compaction(now)
    // While memory is short, steps and writes that help are for flushes.
    const beginAt = this.#accountant.isOverSoft() ? now + PRESSURE_WAIT_MICROS : now
    const performs = (op: MaintenanceOp, performance: number, at: Timestamp = now): OpWorth => {
      const worth = performance * PRIORITY_BASE ** this.#priority
      const dueAt = worth > 0 ? Math.max(beginAt, at) : null
      return { op, memoryBytes: 0, walBytes: 0, diskBytes: 0, performance: worth, dueAt }
    }
    const compact = performs('COMPACT', compaction?.choice.value ?? 0, compaction?.dueAt)
    return [
      { ...compact, dueAt: earlier(compact.dueAt, this.#historyAt(now).nextAt) },
      performs('MINOR_DELTA_COMPACT', (minor?.fileCount ?? 0) / REDO_FILES_PER_HEIGHT),
      performs('MAJOR_DELTA_COMPACT', Math.min(1, major?.ratio ?? 0)),
      this.#garbageWorth(now),
    ]
  }

  /**
   * What an op is to make less of, as a number. One that ran and did not would be due for ever.
   * Null for flushes, beside which rows are written.
   */
  burden(op: MaintenanceOp, now: Timestamp): number | null {
    const { rowSets, orphanFiles } = this.#parts
    const redos = rowSets.flatMap(({ meta }) => meta.redos)
    switch (op) {
      case 'FLUSH_MRS':
      case 'FLUSH_DMS':
        return null
      case 'COMPACT':
        return compactionBurden(this.#parts)
      case 'MINOR_DELTA_COMPACT':
        return redos.length
      case 'MAJOR_DELTA_COMPACT':
        return redos.reduce((sum, { bytes }) => sum + bytes, 0)
      case 'GC': {
        const { walBytes, diskBytes } = this.#garbageWorth(now)
        const logBytes = this.holdsNothing ? this.#parts.wal.bytes : walBytes
        return logBytes + diskBytes + orphanFiles.length
      }
    }
  }

  #garbageWorth(now: Timestamp): OpWorth {
    const worth = { op: 'GC', memoryBytes: 0, performance: 0 } as const
    const walBytes = this.#freeWalBytes()
    const { bytes: diskBytes, nextAt } = this.#garbageAt(now)
    const isDue = walBytes > 0 || diskBytes > 0 || this.#hasOrphans()
    const laterAt = this.holdsNothing ? earlier(nextAt, this.#rollDueAt(now)) : nextAt
    return { ...worth, walBytes, diskBytes, dueAt: isDue ? now : laterAt }
  }

  /** When a WAL that nobody needs is to be dropped, for its length or for what it holds. */
  #rollDueAt(now: Timestamp): Timestamp | null {
    const { heldAt } = this.#historyAt(now)
    return earlier(this.#walDueAt(now), heldAt === null ? null : heldAt + this.#maxAgeMicros)
  }

  /** Whether what a flush would write keeps from being dropped what is ancient now. */
  holdsHistory(op: 'FLUSH_MRS' | 'FLUSH_DMS', now: Timestamp): boolean {
    const { memRowSet, frozen } = this.#parts
    const rowsAt = frozen?.memRowSet.firstAt ?? (memRowSet.rowCount > 0 ? memRowSet.firstAt : null)
    const anchor = op === 'FLUSH_MRS' ? rowsAt : this.#freeDeltas().oldest
    const dueAt = anchor === null ? null : this.#historyDueAt(op, anchor, now)
    return dueAt !== null && dueAt <= now
  }

  /**
   * When what is in memory since `anchor` keeps from being dropped what is ancient by then; null:
   * it does not. Deletes are not dropped before they are flushed themselves.
   */
  #historyDueAt(op: MaintenanceOp, anchor: Timestamp, now: Timestamp): Timestamp | null {
    const { heldAt } = this.#historyAt(now)
    const deletesAt = op === 'FLUSH_DMS' ? findUnflushedDeletes(this.#parts) : null
    const at = earlier(deletesAt, heldAt === null ? null : Math.max(heldAt, anchor))
    return at === null ? null : at + this.#maxAgeMicros
  }

  /** Looked for anew when the time has come that was told. */
  #historyAt(now: Timestamp): History {
    const known = this.#history
    if (known !== null && (known.nextAt === null || known.nextAt > now)) return known
    const gone = this.#isCompacted
      ? chooseGone(this.#parts, this.#failed, now, this.#maxAgeMicros)
      : { choice: null, nextAt: null }
    this.#history = { ...gone, heldAt: findHeldHistory(this.#parts, this.#isCompacted) }
    return this.#history
  }

  get #maxAgeMicros(): number {
    return historyMaxAgeMicros(this.#parts.identity)
  }

  /** Whether all that the WAL tells is durable elsewhere, or changed nothing. */
  get holdsNothing(): boolean {
    return this.#parts.oldestAnchor === null
  }

  /** Looked for anew when the time has come that was told. */
  #garbageAt(now: Timestamp): GarbageChoice {
    const known = this.#garbage
    if (known !== null && (known.nextAt === null || known.nextAt > now)) return known
    this.#garbage = chooseGarbage(this.#parts, now, this.#maxAgeMicros)
    return this.#garbage
  }

  #hasOrphans(): boolean {
    for (const file of this.#parts.orphanFiles) if (!this.#parts.pins.isPinned(file)) return true
    return false
  }

  /** Bytes of closed WAL generations that nothing needs. */
  #freeWalBytes(): number {
    const { wal, oldestAnchor } = this.#parts
    const count = wal.droppableCount(oldestAnchor ?? Number.MAX_SAFE_INTEGER)
    return wal.live.slice(0, count).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** When the WAL is to be made shorter; null: not as it is. */
  #walDueAt(now: Timestamp): Timestamp | null {
    const { bytes, rowCount, lastTimestamp } = this.#parts.wal
    if (bytes >= WAL_BYTES_FLUSH || rowCount >= WAL_ROW_COUNT_FLUSH) return now
    if (bytes <= IDLE_WAL_BYTES_MAX && rowCount <= IDLE_WAL_ROW_COUNT_MAX) return null
    // What is to be merged at rest is merged with what is in memory, not before it and after it.
    const isMergedAtRest = this.#choiceAtRest(now).choice !== null
    const waitMs = isMergedAtRest ? REST_AFTER_MS : IDLE_AFTER_MS
    // Ops may be ahead of physical time.
    return Math.min(lastTimestamp, now) + waitMs * 1000
  }

  /** Changes in memory that can be flushed: what works on a rowset carries its changes over. */
  #freeDeltas(): { readonly oldest: Timestamp | null; readonly bytes: number } {
    let oldest: Timestamp | null = null
    let bytes = 0
    for (const { oldestUnflushed, isBusy, memStores } of this.#parts.rowSets) {
      if (oldestUnflushed === null || isBusy) continue
      if (oldest === null || oldestUnflushed < oldest) oldest = oldestUnflushed
      for (const store of memStores) if (!store.isEmpty) bytes += store.heldBytes
    }
    return { oldest, bytes }
  }

  get #priority(): number {
    const text = this.#parts.identity.extraConfigs['kudu.table.maintenance_priority']
    const priority = text === undefined ? 0 : Number(text)
    return Math.max(-PRIORITY_MAX, Math.min(PRIORITY_MAX, priority))
  }
}

function earlier(a: Timestamp | null, b: Timestamp | null): Timestamp | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** Bytes of WAL generations that end before a time; all when there is none. */
function bytesUpTo({ wal }: TabletParts, end: Timestamp | null): number {
  if (end === null) return wal.bytes
  let bytes = 0
  for (const generation of wal.live) {
    if (generation.lastTimestamp < end) bytes += generation.bytes
  }
  return bytes
}

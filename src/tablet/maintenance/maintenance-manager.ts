/**
 * Runs a tablet's maintenance, a step at a time: whoever drives it lets other events in between.
 *
 *   flush lane     FLUSH_MRS, FLUSH_DMS                      goes first
 *   work lane      COMPACT, MINOR_…, MAJOR_…, GC             goes on when the other is empty
 *
 * Each lane has one op at a time. So a flush never waits for the end of a compaction, and memory is
 * bounded whatever else goes on. Which op is begun says maintenance-planner.ts; before that come
 * those that an operator asked for, in the order in which they asked.
 *
 * All of this is forgotten when the tablet's memory vanishes. What was under way then never was;
 * what is due is due again.
 *
 *  I1  a step is one transaction of the store;
 *  I2  an op that fails leaves the tablet as it was, and is not begun by itself for a while.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { MAINTENANCE_OPS, type MaintenanceOp } from '../../common/maintenance-op.ts'
import { StatusError } from '../../common/status.ts'
import { assert } from '../../util/assert.ts'
import type { MemoryAccountant } from '../memory-accountant.ts'
import type { TabletParts } from '../tablet-parts.ts'
import { GONE_SHARE_MIN } from './gone-rows.ts'
import { MaintenancePlanner, type OpWorth } from './maintenance-planner.ts'
import type { MaintenanceStatus, OpRun, OpScore, RequestReport } from './maintenance-status.ts'
import type { MaintenanceTask, TaskSummary } from './maintenance-task.ts'
import { OpRequest } from './op-request.ts'
import { RunningOp } from './running-op.ts'
import { TaskStarter } from './task-starter.ts'

/** What a manager is given. */
export interface MaintenanceOptions {
  readonly parts: TabletParts
  readonly accountant: MemoryAccountant
}

/** Runs that are remembered. */
const RUN_COUNT_MAX = 8
/** Requests that are remembered when they are done: for callers that ask again. */
const REQUEST_COUNT_MAX = 64
/**
 * How long an op is not begun by itself after it failed, or ran in vain; each time more it is twice
 * as long.
 */
const HOLD_BACK_MICROS = 30_000_000
/** The longest that an op is held back that is no flush. */
const HOLD_BACK_MICROS_MAX = 3_600_000_000

type Lane = 'flush' | 'work'

/** Failures of an op since it last did what it is for. */
interface Failures {
  readonly count: number
  readonly until: Timestamp
}

/** See the file's header. */
export class MaintenanceManager {
  readonly #parts: TabletParts
  readonly #accountant: MemoryAccountant
  readonly #planner: MaintenancePlanner
  readonly #starter: TaskStarter
  readonly #running: Record<Lane, RunningOp | null> = { flush: null, work: null }
  readonly #lastRuns: OpRun[] = []
  readonly #requests = new Map<string, OpRequest>()
  readonly #failures = new Map<MaintenanceOp, Failures>()

  constructor({ parts, accountant }: MaintenanceOptions) {
    this.#parts = parts
    this.#accountant = accountant
    this.#planner = new MaintenancePlanner(parts, accountant)
    this.#starter = new TaskStarter(parts, this.#planner)
  }

  /**
   * When the manager wants to be stepped, at or before `now` for at once; null: not as it is. Cost:
   * O(rowsets), more after an op.
   */
  due(now: Timestamp): Timestamp | null {
    if (this.#isAtWork) return now
    let earliest: Timestamp | null = null
    for (const worth of this.#worths(now)) {
      const dueAt = this.#dueAt(worth)
      if (dueAt !== null && (earliest === null || dueAt < earliest)) earliest = dueAt
    }
    return earliest
  }

  /**
   * Makes one step of the op that matters most, which may be its first. An op that fails is ended,
   * and nobody else hears of it.
   *
   * Returns: whether there is more to do at once. Throws: what leaves the tablet unusable.
   */
  step(now: Timestamp): { readonly isBusy: boolean } {
    this.#start(now)
    const lane = this.#running.flush !== null ? 'flush' : 'work'
    const running = this.#running[lane]
    if (running !== null) this.#advance(lane, running, now)
    const due = this.due(now)
    return { isBusy: due !== null && due <= now }
  }

  /**
   * Asks for an op, which steps then run until there is none of it left to do. `id` names the
   * request: asked again with it, tells how far it is and begins nothing.
   *
   * Throws: what made it fail.
   */
  request(op: MaintenanceOp, id: string): RequestReport {
    let request = this.#requests.get(id)
    if (request === undefined) {
      request = new OpRequest(id, op, this.#parts.lastApplied)
      this.#requests.set(id, request)
      this.#forgetRequests()
    }
    return request.report()
  }

  /** What it does, did and would do. */
  status(now: Timestamp): MaintenanceStatus {
    const running = [this.#running.flush, this.#running.work].filter((it) => it !== null)
    const runningOps = running.map(({ task }) => task.op)
    const scores = this.#worths(now).map((worth): OpScore => {
      const until = this.#failures.get(worth.op)?.until ?? 0
      return {
        ...worth,
        dueAt: this.#dueAt(worth),
        isRunning: runningOps.includes(worth.op),
        heldBackUntil: until > now ? until : null,
      }
    })
    const order = (op: MaintenanceOp) => MAINTENANCE_OPS.indexOf(op)
    return {
      scores: scores.sort((a, b) => order(a.op) - order(b.op)),
      running: running.map((it) => it.run(null, null)),
      lastRuns: [...this.#lastRuns],
    }
  }

  /** Whether an op is under way, or asked for. */
  get #isAtWork(): boolean {
    if (this.#running.flush !== null || this.#running.work !== null) return true
    return this.#nextRequest() !== undefined
  }

  #worths(now: Timestamp): readonly OpWorth[] {
    return [...this.#planner.flushes(now), ...this.#planner.others(now)]
  }

  #dueAt({ op, dueAt }: OpWorth): Timestamp | null {
    if (dueAt === null) return null
    return Math.max(dueAt, this.#failures.get(op)?.until ?? 0)
  }

  #nextRequest(): OpRequest | undefined {
    for (const request of this.#requests.values()) if (!request.isDone) return request
    return undefined
  }

  /** Begins an op in a lane that has none, if one is asked for or due. */
  #start(now: Timestamp): void {
    if (this.#running.flush === null) this.#startFlush(now)
    if (this.#running.flush === null && this.#running.work === null) this.#startWork(now)
  }

  #startFlush(now: Timestamp): void {
    if (this.#startRequest('flush', now)) return
    const due = this.#planner.flushes(now).filter((worth) => isDue(this.#dueAt(worth), now))
    if (due.length === 0) return
    const best = due.reduce((a, b) => (b.memoryBytes > a.memoryBytes ? b : a))
    this.#begin('flush', this.#starter.start(best.op, now), null, now)
  }

  #startWork(now: Timestamp): void {
    if (this.#startRequest('work', now)) return
    const due = this.#planner.others(now).filter((worth) => isDue(this.#dueAt(worth), now))
    if (due.length === 0) return
    const garbage = due.find(({ op }) => op === 'GC')
    const best = garbage ?? due.reduce((a, b) => (b.performance > a.performance ? b : a))
    this.#begin('work', this.#starter.start(best.op, now), null, now)
  }

  /**
   * Begins what the oldest request asks for, if it belongs in the lane. Requests for which there is
   * nothing left to do are done. Returns whether an op was begun.
   */
  #startRequest(lane: Lane, now: Timestamp): boolean {
    for (;;) {
      const request = this.#nextRequest()
      if (request === undefined) return false
      const before = lane === 'flush' ? this.#starter.startBefore(request, now) : null
      if (before === null && laneOf(request.op) !== lane) return false
      const task = before ?? this.#starter.startAsked(request, now)
      if (task !== null) {
        this.#begin(lane, task, request.id, now)
        return true
      }
      request.isDone = true
    }
  }

  #begin(lane: Lane, task: MaintenanceTask | null, requestId: string | null, now: Timestamp): void {
    if (task === null) return
    assert(this.#running[lane] === null, 'a lane has one op at a time')
    const burden = this.#planner.burden(task.op, now)
    this.#running[lane] = new RunningOp({ task, requestId, burden, now })
  }

  #advance(lane: Lane, running: RunningOp, now: Timestamp): void {
    try {
      if (this.#parts.transact(() => running.step())) this.#end(lane, running, now, null)
    } catch (error) {
      // Memory that was changed with a transaction that is undone is worth nothing.
      if (!(error instanceof StatusError) || this.#parts.isTorn) throw error
      running.task.abort()
      this.#end(lane, running, now, error)
    }
    const { identity, heldBytes } = this.#parts
    this.#accountant.hold(this.#parts, identity.tabletId, heldBytes)
  }

  #end(lane: Lane, running: RunningOp, now: Timestamp, failure: StatusError | null): void {
    const { task, requestId } = running
    this.#running[lane] = null
    this.#lastRuns.unshift(running.run(now, failure))
    this.#lastRuns.length = Math.min(this.#lastRuns.length, RUN_COUNT_MAX)
    this.#planner.forget()
    if (failure !== null) this.#planner.leaveAlone(this.#starter.rowSetIdsOf(task))
    const wasInVain = failure === null && this.#wasInVain(running, now)
    if (failure !== null || (requestId === null && wasInVain)) this.#holdBack(task.op, now)
    else this.#failures.delete(task.op)
    const request = requestId === null ? undefined : this.#requests.get(requestId)
    if (request === undefined) return
    request.failure = failure
    if (failure !== null) request.isDone = true
    else if (task.op === request.op) this.#noteRun(request, task.summary, wasInVain)
  }

  /** Notes what a run did for a request, and whether that was the last. */
  #noteRun(request: OpRequest, summary: TaskSummary, wasInVain: boolean): void {
    const didNothing = wasInVain && summary.rowSetsIn === 0 && summary.bytesIn === 0
    if (request.op !== 'GC' || !didNothing) request.add(summary)
    // Then there may still be rowsets that are to be written anew.
    const isOver = request.op === 'COMPACT' && wasInVain && request.isStackDone
    if (wasInVain) request.isStackDone = true
    request.isDone = isOver || this.#starter.isDone(request)
  }

  /** Whether an op that ended as it should left all that it was for. */
  #wasInVain({ task, burden, requestId }: RunningOp, now: Timestamp): boolean {
    const { op, summary } = task
    if (burden === null) return summary.rowsIn === 0
    // Rows that are left out are never left out again.
    const leftOutMin = requestId === null ? summary.rowsIn * GONE_SHARE_MIN : 1
    const leftOut = summary.rowsIn - summary.rowsOut
    if (op === 'COMPACT' && leftOut > 0 && leftOut >= leftOutMin) return false
    return (this.#planner.burden(op, now) ?? 0) >= burden
  }

  #holdBack(op: MaintenanceOp, now: Timestamp): void {
    const count = (this.#failures.get(op)?.count ?? 0) + 1
    // Memory waits for a flush, and writes for memory.
    const waitMax = laneOf(op) === 'flush' ? HOLD_BACK_MICROS : HOLD_BACK_MICROS_MAX
    const wait = Math.min(waitMax, HOLD_BACK_MICROS * 2 ** (count - 1))
    this.#failures.set(op, { count, until: now + wait })
  }

  #forgetRequests(): void {
    for (const [id, { isDone }] of this.#requests) {
      if (this.#requests.size <= REQUEST_COUNT_MAX) return
      if (isDone) this.#requests.delete(id)
    }
  }
}

function isDue(dueAt: Timestamp | null, now: Timestamp): boolean {
  return dueAt !== null && dueAt <= now
}

function laneOf(op: MaintenanceOp): Lane {
  return op === 'FLUSH_MRS' || op === 'FLUSH_DMS' ? 'flush' : 'work'
}

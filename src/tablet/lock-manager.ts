/**
 * Row locks of one tablet: exclusive, by encoded key, owned by an op, taken and released a batch
 * at a time.
 *
 *        op 1: acquire {a, b}      op 2: acquire {b, c}      op 3: acquire {c, a}
 *
 *          a   1 ◄─ 3              1 has a and b: held
 *          b   1 ◄─ 2              2 is at the head of c only: it waits for 1
 *          c   2 ◄─ 3              3 is at no head: it waits for 1 and 2
 *
 * A batch either is held, with every one of its keys, or waits for all of them: it enters the
 * queues of all its keys in one step, behind whoever came before, and is held when it is at the
 * head of each. Keys of a waiting batch that are at their heads already are kept for it; nobody
 * overtakes, so no batch starves.
 *
 * Why nothing deadlocks. Every queue is in order of arrival, so a batch waits only for batches
 * that arrived earlier; among any set of waiting batches the earliest waits for none of the
 * others. That makes the order of keys inside a batch irrelevant. (Taking keys one after the
 * other in key order would do as well, but has to sort.) What the order of arrival does not cover
 * is an op that takes a second batch while it has a first: later ones may wait for the first
 * while the second waits for them. Only such a second batch can close a circle, and when it
 * would, it is refused at once with ABORTED: the op releases what it has and may try again. An op
 * waits for one batch at a time.
 *
 * An op may take a key again that it has, in one batch or in several: it has it once, until it
 * releases all.
 *
 * The manager neither reads a clock nor owns a timer: `nextDeadline` says when `expire` is worth
 * calling. Keys are not copied but borrowed from the caller's arena (lock-table.ts).
 */

import { TIMESTAMP_MAX, type Timestamp } from '../common/hybrid-clock.ts'
import type { Outcome, StatusCode } from '../common/status.ts'
import type { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import type { LockBatch } from './lock/lock-batches.ts'
import { LockTable } from './lock/lock-table.ts'
import { LockTicket } from './lock/lock-ticket.ts'

const GRANTED: Outcome<null> = { ok: true, value: null }

/** Row locks of one tablet. */
export class LockManager {
  readonly #table = new LockTable()
  /** Tickets that wait, by batch, in order of arrival. */
  readonly #waiting = new Map<LockBatch, LockTicket>()
  #waitingKeyCount = 0
  #arrivals = 0
  /** Batches that a removal made ready. Empty between calls. */
  readonly #ready: LockBatch[] = []
  /** Settled tickets whose `onReady` is to be called. */
  readonly #settled: LockTicket[] = []
  #isTelling = false

  /** Locks held. */
  get heldCount(): number {
    return this.#table.nodeCount - this.#waitingKeyCount
  }

  /** Locks that belong to batches which wait. */
  get waitingCount(): number {
    return this.#waitingKeyCount
  }

  /** Ops that wait. */
  get waitingOpCount(): number {
    return this.#waiting.size
  }

  /** Whether nobody holds or waits. */
  get isEmpty(): boolean {
    return this.#table.batchCount === 0
  }

  /**
   * Locks the first `count` keys for `op`, all or none.
   *
   * Requires: `op` is no other op's number; `hashes[i]` is the tablet's hash of key `i`; the
   * keys' bytes stay what and where they are in `keys` until the op releases or the wait ends
   * (more may be appended behind them).
   * Returns: `held` when the op has them now. Otherwise a ticket: it waits until it is settled,
   * by `releaseBatch` of others, `expire` once `deadline` is reached, or `cancel`; or it has
   * ended with ABORTED, when the op has other locks and would wait for itself. After a wait, what
   * was checked before it is to be checked again.
   * Throws: SERVICE_UNAVAILABLE when the tablet has too many locks; nothing is changed.
   * Cost: O(count) when held, without allocation.
   */
  acquireBatch(
    op: number,
    keys: KeyArena,
    hashes: Uint32Array,
    count: number,
    deadline: Timestamp = TIMESTAMP_MAX,
  ): 'held' | LockTicket {
    assert(Number.isSafeInteger(op), 'the number of an op is a safe integer')
    assert(op >= 0, 'the number of an op is not negative')
    const newest = this.#table.newestOf(op)
    assert(this.#table.missing(newest) === 0, 'an op waits for one batch at a time')
    const batch = this.#table.addBatch(op, keys, hashes, count)
    if (this.#table.missing(batch) === 0) return 'held'
    const ticket = new LockTicket(op, batch, deadline, this.#arrivals++)
    if (newest !== 0 && this.#table.waitsForItself(batch)) this.#refuse(ticket)
    else this.#wait(ticket)
    return ticket
  }

  /**
   * Releases all locks of `op` at once, and hands them on. A wait of the op's own ends with
   * ABORTED.
   *
   * Ops that are now held are told in the order in which they began to wait. An op without locks
   * is fine, so that cleaning up needs no knowledge of how far things went.
   */
  releaseBatch(op: number): void {
    let batch = this.#table.newestOf(op)
    while (batch !== 0) {
      const older = this.#table.olderThan(batch)
      if (this.#table.missing(batch) > 0)
        this.#giveUp(batch, 'ABORTED', 'the op released its row locks')
      else this.#table.removeBatch(batch, this.#ready)
      batch = older
    }
    this.#grantReady()
    this.#tell()
  }

  /**
   * Ends every wait whose deadline is at or before `now` with TIMED_OUT. What such an op held
   * before, it holds on.
   *
   * Returns: how many waits ended so. A wait that the end of another lets through is held, unless
   * its own deadline has come as well.
   */
  expire(now: Timestamp): number {
    let count = 0
    for (const ticket of this.#waiting.values()) {
      if (ticket.deadline > now) continue
      this.#giveUp(ticket.batch, 'TIMED_OUT', 'timed out waiting for row locks')
      count++
    }
    this.#grantReady()
    this.#tell()
    return count
  }

  /**
   * Ends the wait of `ticket` with ABORTED. Returns false, and does nothing, when it waits no
   * more.
   */
  cancel(ticket: LockTicket): boolean {
    if (ticket.state !== 'waiting') return false
    assert(this.#waiting.get(ticket.batch) === ticket, 'the ticket is of another tablet')
    this.#giveUp(ticket.batch, 'ABORTED', 'the wait for row locks was cancelled')
    this.#grantReady()
    this.#tell()
    return true
  }

  /**
   * The earliest deadline of those who wait; TIMESTAMP_MAX when there is none. Cost: O(ops that
   * wait).
   */
  nextDeadline(): Timestamp {
    let earliest = TIMESTAMP_MAX
    for (const ticket of this.#waiting.values()) earliest = Math.min(earliest, ticket.deadline)
    return earliest
  }

  /** Asserts that counters, queues and tickets agree. */
  checkInvariants(): void {
    this.#table.checkInvariants()
    let keyCount = 0
    for (const [batch, ticket] of this.#waiting) {
      assert(ticket.state === 'waiting', 'a settled ticket waits')
      assert(this.#table.missing(batch) > 0, 'a batch that has all its keys waits')
      keyCount += this.#table.keyCount(batch)
    }
    assert(keyCount === this.#waitingKeyCount, 'locks waited for are miscounted')
    assert(this.#ready.length === 0, 'a batch is ready and was not told')
  }

  #wait(ticket: LockTicket): void {
    this.#waiting.set(ticket.batch, ticket)
    this.#waitingKeyCount += this.#table.keyCount(ticket.batch)
  }

  #refuse(ticket: LockTicket): void {
    this.#table.removeBatch(ticket.batch, this.#ready)
    assert(this.#ready.length === 0, 'someone waited for a batch that has just come')
    ticket.settle(failed('ABORTED', 'waiting for row locks would end in a deadlock'))
  }

  /** Takes a waiting batch out. Its ticket is told by `#tell`. */
  #giveUp(batch: LockBatch, code: StatusCode, message: string): void {
    const ticket = this.#stopWaiting(batch)
    this.#table.removeBatch(batch, this.#ready)
    ticket.settle(failed(code, message))
    this.#settled.push(ticket)
  }

  /**
   * Settles the tickets of the ready batches, in order of arrival, but of those that were given
   * up since.
   */
  #grantReady(): void {
    if (this.#ready.length === 0) return
    const granted: LockTicket[] = []
    for (const batch of this.#ready) {
      if (this.#waiting.has(batch)) granted.push(this.#stopWaiting(batch))
    }
    this.#ready.length = 0
    granted.sort((a, b) => a.arrival - b.arrival)
    for (const ticket of granted) {
      ticket.settle(GRANTED)
      this.#settled.push(ticket)
    }
  }

  #stopWaiting(batch: LockBatch): LockTicket {
    const ticket = this.#waiting.get(batch)
    assert(ticket !== undefined, 'a batch that waits has no ticket')
    this.#waiting.delete(batch)
    this.#waitingKeyCount -= this.#table.keyCount(batch)
    return ticket
  }

  /**
   * Calls `onReady` of settled tickets, in order; those settled by the calls themselves come
   * after.
   */
  #tell(): void {
    if (this.#isTelling || this.#settled.length === 0) return
    this.#isTelling = true
    try {
      for (let i = 0; i < this.#settled.length; i++) this.#settled[i].onReady?.(this.#settled[i])
    } finally {
      this.#settled.length = 0
      this.#isTelling = false
    }
  }
}

function failed(code: StatusCode, message: string): Outcome<never> {
  return { ok: false, code, message, details: { resource: 'row' } }
}

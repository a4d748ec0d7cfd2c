/**
 * What an op holds in its hand while it waits for row locks.
 *
 *   waiting ──► held         it has all of them
 *      └──────► ended        TIMED_OUT, or ABORTED (cancelled, or a deadlock)
 *
 * A ticket changes once. It is polled, or has `onReady` set by whoever wants to be told.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { Outcome } from '../../common/status.ts'
import { assert } from '../../util/assert.ts'
import type { LockBatch } from './lock-batches.ts'

/** Where a wait for locks has got to. */
export type LockTicketState = 'waiting' | 'held' | 'ended'

/** A wait for row locks. Made by LockManager, which alone settles it. */
export class LockTicket {
  /** Who waits. */
  readonly op: number
  /** When the wait ends at the latest. */
  readonly deadline: Timestamp
  /** Its batch in the lock table, while it waits or holds. */
  readonly batch: LockBatch
  /** Tickets are numbered as they come: locks are handed on in this order. */
  readonly arrival: number
  /**
   * Called once, when the ticket is no longer waiting.
   *
   * Requires: it does not throw. It may call the manager, whose state is consistent by then;
   * calls for other tickets follow in their order.
   */
  onReady: ((ticket: LockTicket) => void) | null = null
  #outcome: Outcome<null> | null = null

  constructor(op: number, batch: LockBatch, deadline: Timestamp, arrival: number) {
    this.op = op
    this.batch = batch
    this.deadline = deadline
    this.arrival = arrival
  }

  /** Where the wait has got to. Once `held`, it stays so even after the locks are released. */
  get state(): LockTicketState {
    if (this.#outcome === null) return 'waiting'
    return this.#outcome.ok ? 'held' : 'ended'
  }

  /** How it ended; null while it waits. */
  get outcome(): Outcome<null> | null {
    return this.#outcome
  }

  /** Ends the wait. Only the manager calls it, once. */
  settle(outcome: Outcome<null>): void {
    assert(this.#outcome === null, 'a ticket is settled twice')
    this.#outcome = outcome
  }
}

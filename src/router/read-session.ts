/**
 * One request's calls that read: makes sure that what is answered is of the table that was asked
 * for, and picks the one snapshot that all of its tablets are read at.
 *
 * A tablet that no write ever reached knows nothing of its table, so its answer proves nothing. A
 * read is answered only if a tablet that knows accepted the front's version, or the catalog named
 * the table during this request.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { StatusError } from '../common/status.ts'
import type { TableRef } from '../wire/catalog-protocol.ts'
import type { TabletAnswer, TabletCall, TabletStub } from '../wire/tablet-protocol.ts'
import type { OpenTable } from './open-table.ts'
import type { TableCache } from './table-cache.ts'
import { type CallContext, callTablet } from './tablet-caller.ts'

/** Times one call is repeated because the table changed underneath. */
const STALE_COUNT_MAX = 3

/**
 * The table is not what the read was planned for: it was dropped and another has its name, or it
 * was altered before the read began. The request begins again, if it sent nothing yet.
 */
export class TableReplaced extends Error {
  override readonly name = 'TableReplaced'
}

/** The calls of one read. */
export class ReadSession {
  readonly context: CallContext
  /** The table by which the read was planned. */
  readonly table: OpenTable
  /** The table as it was heard of last, for calls. */
  #current: OpenTable
  readonly #cache: TableCache
  readonly #ref: TableRef
  #isConfirmed: boolean

  /** `isConfirmed`: the catalog named this table since the request began. */
  constructor(
    context: CallContext,
    cache: TableCache,
    ref: TableRef,
    table: OpenTable,
    isConfirmed: boolean,
  ) {
    this.context = context
    context.budget.coverTablets(table.tabletCount)
    this.table = table
    this.#current = table
    this.#cache = cache
    this.#ref = ref
    this.#isConfirmed = isConfirmed
  }

  /**
   * Calls the tablet at `index`. Returns: its value, null when no write ever reached it, and its
   * clock, which in the latter case is the time that was read at if none was asked for.
   * Throws: the tablet's failure, NOT_FOUND when the table is gone, ILLEGAL_STATE when the tablet
   * is, TableReplaced.
   */
  async call<T>(
    index: number,
    send: (stub: TabletStub, call: TabletCall) => Promise<TabletAnswer<T>>,
  ): Promise<{ readonly value: T | null; readonly clock: Timestamp }> {
    for (let attempt = 0; attempt < STALE_COUNT_MAX; attempt++) {
      const current = this.#current.indexOf(this.table.tabletId(index))
      if (current < 0) throw rangeDropped()
      const answer = await callTablet(this.context, this.#current, current, send)
      const { clock } = answer
      if (answer.kind === 'uninitialized') return { value: null, clock }
      if (answer.kind === 'ok') {
        this.#isConfirmed = true
        return { value: answer.value, clock }
      }
      await this.#refresh()
    }
    throw new StatusError('SERVICE_UNAVAILABLE', 'table is being changed')
  }

  /** Asks the catalog whether the table is still there, unless that is known. Throws: as `call`. */
  async confirm(): Promise<void> {
    if (!this.#isConfirmed) await this.#refresh()
  }

  /**
   * Picks a snapshot that holds every write acknowledged before now, on any of the tablets.
   *
   * Offers the front's time to all of them. A tablet raises its clock above the offer, so that
   * nothing is written at or below it any more, and answers with the time of its newest op; the
   * greatest of all is the snapshot. Every tablet accepts it when it is read, since its clock rises
   * with the call.
   */
  async pickSnapshot(indexes: readonly number[]): Promise<Timestamp> {
    const { clock } = this.context.ports
    const offered = clock.now()
    const answers = await Promise.all(
      indexes.map((index) =>
        this.call(index, (stub, call) => stub.offer({ ...call, snapshot: offered })),
      ),
    )
    let snapshot = offered
    for (const { value } of answers) {
      if (value !== null && value.lastApplied > snapshot) snapshot = value.lastApplied
    }
    clock.raise(snapshot)
    return snapshot
  }

  async #refresh(): Promise<void> {
    const fresh = await this.#cache.refresh(this.#ref)
    const { id, version } = this.table.entry
    if (fresh.entry.id !== id) throw new TableReplaced()
    // Who altered the table before the read began may have written to a range that the plan lacks.
    // Once the plan's version was accepted it was altered since, and tablets are found by their
    // id.
    if (fresh.entry.version !== version && !this.#isConfirmed) throw new TableReplaced()
    this.#current = fresh
    this.#isConfirmed = true
  }
}

function rangeDropped(): StatusError {
  const detail = 'a range of the table was dropped since the read began'
  return new StatusError('ILLEGAL_STATE', detail, { resource: 'range' })
}

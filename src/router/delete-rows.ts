/**
 * Deletes the rows that one snapshot selects, in all tablets of a plan at the same time.
 *
 * The work is done in the tablets; the front calls each of them until it is done. A call may be
 * made again: what is remembered there tells what it did.
 */

import { successorKey } from '../common/encoded-key.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { StatusError } from '../common/status.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import type { DeleteRowsAnswer, DeletionProgress, ResultKey } from '../wire/tablet-protocol.ts'
import { type ReadSession, TableReplaced } from './read-session.ts'
import type { ScanPlan } from './scan-plan.ts'

/** How a request deletes. */
export interface DeletionOptions {
  /** Scope of the client's Idempotency-Key, or null: then the front makes a key of its own. */
  readonly clientKey: string | null
  /** Digest of the request. */
  readonly digest: string
}

/** What was deleted. */
export interface DeletionSummary {
  /** With a client's key, also by earlier requests with it. */
  readonly deletedCount: number
  /**
   * Time of the newest op, or, when nothing was there to delete, of the snapshot that told so: who
   * reads at it sees none of the rows.
   */
  readonly timestamp: Timestamp
  /** Whether all of it is remembered from an earlier request. */
  readonly isReplayed: boolean
  /** Why not all was deleted, or null. */
  readonly failure: StatusError | null
}

const NO_PROGRESS: DeletionProgress = { shareCount: 0, deletedCount: 0, timestamp: null }

/**
 * Deletes what a plan selects.
 *
 * Throws: what reads of tablets throw, as long as nothing was deleted; from then on that is a part
 * of what is returned.
 */
export async function deleteRows(
  session: ReadSession,
  plan: ScanPlan,
  options: DeletionOptions,
): Promise<DeletionSummary> {
  const { clock } = session.context.ports
  const hasTablets = plan.tablets.length > 0
  const snapshot = hasTablets ? await session.pickSnapshot(plan.tablets) : clock.now()
  const deletion = new RowDeletion(session, plan, options, snapshot)
  await deletion.run()
  return deletion.finish()
}

class RowDeletion {
  readonly #session: ReadSession
  readonly #plan: ScanPlan
  readonly #resultKey: Omit<ResultKey, 'share'>
  readonly #snapshot: Timestamp
  /** What each tablet answered last. */
  readonly #answers = new Map<number, DeleteRowsAnswer>()
  #failure: unknown = null

  constructor(
    session: ReadSession,
    plan: ScanPlan,
    { clientKey, digest }: DeletionOptions,
    snapshot: Timestamp,
  ) {
    this.#session = session
    this.#plan = plan
    this.#snapshot = snapshot
    const key = clientKey ?? session.context.ports.randomId()
    this.#resultKey = { key, digest, isInternal: clientKey === null }
  }

  /** Works in all tablets until they are done, or one of them fails. */
  async run(): Promise<void> {
    await Promise.all(
      this.#plan.tablets.map(async (index) => {
        try {
          await this.#deleteIn(index)
        } catch (error) {
          this.#failure ??= error
        }
      }),
    )
  }

  /** What it came to. Throws: the failure, if nothing was deleted. */
  async finish(): Promise<DeletionSummary> {
    const answers = [...this.#answers.values()]
    let deletedCount = 0
    let timestamp: Timestamp | null = null
    let snapshot: Timestamp | null = null
    for (const { progress, snapshot: readAt } of answers) {
      deletedCount += progress.deletedCount
      timestamp = latest(timestamp, progress.timestamp)
      snapshot = latest(snapshot, readAt)
    }
    const failure = this.#failure
    if (failure === null) await this.#session.confirm()
    else if (deletedCount === 0 || !isExpected(failure)) throw withCount(failure, deletedCount)
    return {
      deletedCount,
      timestamp: timestamp ?? snapshot ?? this.#snapshot,
      isReplayed: answers.length > 0 && answers.every(({ isReplayed }) => isReplayed),
      failure: failure === null ? null : withCount(statusOf(failure), deletedCount),
    }
  }

  async #deleteIn(index: number): Promise<void> {
    const { predicates, upperKey } = this.#plan.spec
    let { lowerKey } = this.#plan.spec
    let progress = NO_PROGRESS
    let carried: Uint8Array = EMPTY_BYTES
    for (;;) {
      const next = { predicates, lowerKey, upperKey, progress, carried }
      const { value } = await this.#session.call(index, (stub, call) =>
        stub.deleteRows({
          ...call,
          ...next,
          snapshot: this.#snapshot,
          resultKey: this.#resultKey,
        }),
      )
      // No write ever reached this tablet.
      if (value === null) return
      this.#answers.set(index, value)
      if (value.failure !== null) throw this.#failureIn(index, value.failure)
      if (!value.hasMore || this.#failure !== null) return
      lowerKey = successorKey(value.lastKey)
      progress = value.progress
      carried = value.carried
    }
  }

  #failureIn(
    index: number,
    { code, message, details }: NonNullable<DeleteRowsAnswer['failure']>,
  ): StatusError {
    const tabletId = this.#session.table.tabletId(index)
    return new StatusError(code, message, { ...details, tablet_id: tabletId })
  }
}

function latest(a: Timestamp | null, b: Timestamp | null): Timestamp | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}

function isExpected(failure: unknown): boolean {
  return failure instanceof StatusError || failure instanceof TableReplaced
}

/** A failure that tells how many rows are gone all the same. */
function withCount<Failure>(failure: Failure, deletedCount: number): Failure | StatusError {
  if (!(failure instanceof StatusError)) return failure
  const { code, message, details, cause } = failure
  const extra = { ...details.extra, rows_applied: deletedCount }
  return new StatusError(code, message, { ...details, extra }, cause)
}

function statusOf(failure: unknown): StatusError {
  if (failure instanceof StatusError) return failure
  return new StatusError('ABORTED', 'table was dropped and created again during the request')
}

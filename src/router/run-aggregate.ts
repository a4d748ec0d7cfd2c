/**
 * Aggregates the rows of a planned scan: its tablets at one snapshot, some at a time, their partial
 * results merged as they come.
 */

import { aggregateResults } from '../common/aggregate/aggregate-results.ts'
import { AggregateTable } from '../common/aggregate/aggregate-table.ts'
import { type AggregatePlan, planAggregates } from '../common/aggregate-plan.ts'
import type { AggregateSpec } from '../common/aggregate-spec.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { AGGREGATE_FAN_OUT_MAX, AGGREGATE_FRONT_BYTES_MAX } from '../common/limits.ts'
import type { ReadMode } from '../common/read-mode.ts'
import type { RowBlock } from '../common/row-block.ts'
import { CorruptionError, StatusError } from '../common/status.ts'
import { ScanFrameReader } from '../wire/scan-frame.ts'
import type { ReadSession } from './read-session.ts'
import type { ScanPlan } from './scan-plan.ts'
import { snapshotOf } from './scan-session.ts'

/** Bytes of a tablet's answer from which on fewer tablets are asked at once. */
const LARGE_ANSWER_BYTES = 4_000_000
const LARGE_FAN_OUT = 2

/** How to read for an aggregation. */
export interface AggregateOptions {
  readonly mode: ReadMode
  /** Given by the client; null: picked here. */
  readonly snapshot: Timestamp | null
}

/** What came out of an aggregation. */
export interface AggregateResult {
  /**
   * A row for each group, in no order: group keys, then aggregates, of the types that
   * `aggregateResultTypes` tells. Without group keys there is one row.
   */
  readonly block: RowBlock
  readonly snapshot: Timestamp
}

/**
 * Aggregates the rows that a plan selects; its projection, order and limit do not count.
 *
 * Throws: INVALID_ARGUMENT for too many groups, a number that does not fit; whatever reads throw.
 */
export async function runAggregate(
  session: ReadSession,
  plan: ScanPlan,
  spec: AggregateSpec,
  options: AggregateOptions,
): Promise<AggregateResult> {
  const { tablets } = plan
  const asked = await snapshotOf(session, tablets, options)
  const aggregates = planAggregates(session.table.schema, spec)
  const gathering = new Gathering(session, plan, spec, asked, aggregates)
  await gathering.run()
  const snapshot = gathering.snapshot ?? session.context.ports.clock.now()
  return { block: aggregateResults(aggregates, gathering.table), snapshot }
}

/** Asks the tablets of an aggregation, some at a time, and merges what they answer. */
class Gathering {
  /** The one that is read at; null until the only tablet has answered, or there is none. */
  snapshot: Timestamp | null
  readonly table: AggregateTable
  readonly #session: ReadSession
  readonly #plan: ScanPlan
  readonly #spec: AggregateSpec
  /** Of the plan's tablets those that were not asked yet are from here on. */
  #next = 0
  /** Tablets to ask at once. */
  #fanOut = AGGREGATE_FAN_OUT_MAX
  #isFailed = false

  constructor(
    session: ReadSession,
    plan: ScanPlan,
    spec: AggregateSpec,
    snapshot: Timestamp | null,
    aggregates: AggregatePlan,
  ) {
    this.snapshot = snapshot
    this.table = new AggregateTable(aggregates, AGGREGATE_FRONT_BYTES_MAX)
    this.#session = session
    this.#plan = plan
    this.#spec = spec
  }

  /** Throws: the first failure; nothing more is asked then. */
  async run(): Promise<void> {
    const count = Math.min(this.#fanOut, this.#plan.tablets.length)
    await Promise.all(Array.from({ length: count }, (_, index) => this.#work(index)))
  }

  /** Asks one tablet after the other. `index`: how many others do so. */
  async #work(index: number): Promise<void> {
    const { tablets } = this.#plan
    try {
      while (this.#next < tablets.length && !this.#isFailed && index < this.#fanOut) {
        await this.#ask(tablets[this.#next++])
      }
    } catch (error) {
      this.#isFailed = true
      throw error
    }
  }

  async #ask(tablet: number): Promise<void> {
    const { predicates, lowerKey, upperKey } = this.#plan.spec
    const request = { spec: this.#spec, predicates, lowerKey, upperKey, snapshot: this.snapshot }
    const { value, clock } = await this.#session.call(tablet, (stub, call) =>
      stub.aggregate({ ...call, ...request }),
    )
    // No write ever reached it.
    if (value === null) {
      this.snapshot ??= clock
      return
    }
    this.snapshot ??= value.snapshot
    if (value.frames.length > LARGE_ANSWER_BYTES) this.#fanOut = LARGE_FAN_OUT
    if (!this.#isFailed) this.#merge(value.frames, tablet)
  }

  #merge(frames: Uint8Array, tablet: number): void {
    try {
      this.table.merge(blocksIn(frames))
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error
      const details = { ...error.details, tablet_id: this.#session.table.tabletId(tablet) }
      throw new StatusError(error.code, error.message, details, error)
    }
  }
}

function blocksIn(frames: Uint8Array): RowBlock[] {
  const blocks: RowBlock[] = []
  const reader = new ScanFrameReader()
  reader.push(frames)
  for (let batch = reader.next(); batch !== null; batch = reader.next()) blocks.push(batch.block)
  reader.finish()
  return blocks
}

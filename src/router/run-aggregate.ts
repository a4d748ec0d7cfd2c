/**
 * Aggregates the rows of a planned scan: its tablets at one snapshot, some at a time, their partial
 * results merged as they come.
 */

import type { AggregateSpec } from '../common/aggregate-spec.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { ReadMode } from '../common/read-mode.ts'
import type { RowBlock } from '../common/row-block.ts'
import { StatusError } from '../common/status.ts'
import type { ReadSession } from './read-session.ts'
import type { ScanPlan } from './scan-plan.ts'

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
  _session: ReadSession,
  _plan: ScanPlan,
  _spec: AggregateSpec,
  _options: AggregateOptions,
): Promise<AggregateResult> {
  throw new StatusError('NOT_SUPPORTED', 'aggregates are not there yet')
}

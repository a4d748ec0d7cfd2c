/** What a client asks of an aggregation, worked out against a table. */

import type { AggregateSpec } from '../common/aggregate-spec.ts'
import { compileAggregates } from '../common/compile-aggregates.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { ReadMode } from '../common/read-mode.ts'
import { scanSpecFromJson } from '../common/scan-request.ts'
import type { Column } from '../common/schema.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { OpenTable } from '../router/open-table.ts'
import { planScan, type ScanPlan } from '../router/scan-plan.ts'
import type { AggregateBody } from '../wire/aggregate-schemas.ts'
import type { Front } from './app-env.ts'
import type { OrderColumn } from './order-rows.ts'
import { readOrder } from './read-order.ts'
import { readModeOf } from './scan-query.ts'
import { snapshotTime } from './snapshot-time.ts'

/** An aggregation worked out. */
export interface AggregateQuery {
  /** Which rows. */
  readonly plan: ScanPlan
  readonly spec: AggregateSpec
  /** Columns of the result. */
  readonly columns: readonly Column[]
  readonly order: readonly OrderColumn[]
  /** Rows of the result; infinity without a limit. */
  readonly limit: number
  readonly mode: ReadMode
  /** The snapshot asked for, or null. */
  readonly snapshot: Timestamp | null
}

/** The aggregation of a body. Throws: INVALID_ARGUMENT, INVALID_SNAPSHOT. */
export function aggregateQuery(
  { ports }: Front,
  table: OpenTable,
  body: AggregateBody,
  values: ValueOptions,
): AggregateQuery {
  const { schema, entry } = table
  const { snapshot_timestamp: time } = body
  const mode = readModeOf(body.read_mode, time !== undefined)
  const { spec, columns } = compileAggregates(schema, body)
  const order = readOrder(columns, body.order_by)
  const limit = body.limit ?? Number.POSITIVE_INFINITY
  const plan = planScan(table, {
    columnIds: [],
    spec: scanSpecFromJson(schema, body, values),
    order: 'UNORDERED',
    // Rows of the result say nothing of rows of the table, but that none need none.
    limit: limit === 0 ? 0 : Number.POSITIVE_INFINITY,
  })
  const snapshot = time === undefined ? null : snapshotTime(time, ports.clock, entry)
  return { plan, spec, columns, order, limit, mode, snapshot }
}

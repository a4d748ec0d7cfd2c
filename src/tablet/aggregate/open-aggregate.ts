import { aggregateColumnIds } from '../../common/aggregate-plan.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import { openTabletSelections } from '../read-path.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { AggregateRequest } from '../tablet-request.ts'
import { AggregateRun } from './aggregate-run.ts'

/** An aggregation that was opened, and the snapshot that it is of. */
export interface OpenedAggregate {
  readonly snapshot: Timestamp
  readonly run: AggregateRun
}

/**
 * Opens an aggregation of the rows at a snapshot. Throws: INVALID_ARGUMENT when the table lacks a
 * column asked for. Requires: the snapshot was promised.
 */
export function openAggregate(
  parts: TabletParts,
  request: AggregateRequest,
  snapshot: Timestamp,
): OpenedAggregate {
  const { spec } = request
  const scan = {
    ...request,
    columnIds: aggregateColumnIds(spec),
    order: 'UNORDERED' as const,
    withKeys: false,
  }
  const rows = openTabletSelections(parts, scan, snapshot)
  return { snapshot, run: new AggregateRun({ rows, schema: parts.schema, spec }) }
}

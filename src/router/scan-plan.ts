/**
 * Which tablets a scan must ask, and what: resolved once from a request, before any call.
 */

import { keySpecOf, optimizeDiffSpec } from '../common/diff-spec.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { prunePartitions } from '../common/partition-pruner.ts'
import { type OptimizedScanSpec, optimizeScanSpec, type ScanSpec } from '../common/scan-spec.ts'
import { StatusError } from '../common/status.ts'
import type { ScanOrder } from '../wire/tablet-protocol.ts'
import type { OpenTable } from './open-table.ts'

/** What a scan wants of a table. */
export interface ScanRequest {
  readonly columnIds: readonly number[]
  readonly spec: ScanSpec
  readonly order: ScanOrder
  /** Rows in all, over all pages. */
  readonly limit: number
  /** Given: a diff scan, of rows that changed above it. Requires: the order is ORDERED. */
  readonly diffFrom?: Timestamp | null
}

/** A scan worked out. */
export interface ScanPlan {
  readonly request: ScanRequest
  /** Predicates merged and pushed into the key bounds. */
  readonly spec: OptimizedScanSpec
  /** Indexes of the tablets left, in partition-key order. */
  readonly tablets: readonly number[]
}

/**
 * Optimizes a scan's spec and prunes the table's tablets by it; of one tablet alone, tells whether
 * it can have rows.
 *
 * Throws: ILLEGAL_STATE when that tablet is not there any more.
 */
export function planScan(
  table: OpenTable,
  request: ScanRequest,
  tabletId: string | null = null,
): ScanPlan {
  const { schema, entry, partitions } = table
  const isDiff = (request.diffFrom ?? null) !== null
  const spec = isDiff
    ? optimizeDiffSpec(schema, request.spec)
    : optimizeScanSpec(schema, request.spec)
  const isEmpty = spec.isEmpty || request.limit === 0
  if (tabletId !== null) {
    const index = mustFindTablet(table, tabletId)
    return { request, spec, tablets: isEmpty ? [] : [index] }
  }
  const prunedBy = isDiff ? keySpecOf(schema, request.spec) : request.spec
  // Pruned by what was asked: pushed predicates are gone from the optimized spec, and so are lists'
  // values.
  const tablets = isEmpty
    ? []
    : prunePartitions(schema, entry.partitionSchema, partitions, prunedBy)
  return { request, spec, tablets }
}

function mustFindTablet(table: OpenTable, tabletId: string): number {
  const index = table.indexOf(tabletId)
  if (index >= 0) return index
  throw new StatusError('ILLEGAL_STATE', 'the range of the scan was dropped since its token', {
    resource: 'range',
  })
}

/**
 * Which rows a scan wants: predicates and bounds on the encoded primary key, both of which a row must meet.
 */

import type { ColumnPredicate } from './column-predicate.ts'

/** Which rows a scan wants. Plain data. */
export interface ScanSpec {
  /** At most one a column. */
  readonly predicates: readonly ColumnPredicate[]
  /** Encoded primary key, inclusive; empty = open. */
  readonly lowerKey: Uint8Array
  /** Encoded primary key, exclusive; empty = open. */
  readonly upperKey: Uint8Array
}

/** A scan spec after `optimizeScanSpec`. */
export interface OptimizedScanSpec extends ScanSpec {
  /** Whether no row can match: the scan needs no tablet. */
  readonly isEmpty: boolean
}

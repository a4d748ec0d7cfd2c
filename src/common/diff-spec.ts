/** Which rows a diff scan wants: as a scan, but that deleted rows have no cells but the key's. */

import type { ColumnPredicate } from './column-predicate.ts'
import {
  combinePredicates,
  type OptimizedScanSpec,
  optimizeScanSpec,
  type ScanSpec,
} from './scan-spec.ts'
import type { Schema } from './schema.ts'

/** The part of a spec that decides of every row, deleted ones too: all but other predicates. */
export function keySpecOf(schema: Schema, spec: ScanSpec): ScanSpec {
  return { ...spec, predicates: spec.predicates.filter((it) => isOnKey(schema, it)) }
}

/**
 * As `optimizeScanSpec`, where predicates on other columns than the key's say nothing of deleted
 * rows: one that no row can pass does not make the spec empty.
 */
export function optimizeDiffSpec(schema: Schema, spec: ScanSpec): OptimizedScanSpec {
  const keySpec = optimizeScanSpec(schema, keySpecOf(schema, spec))
  const others = spec.predicates.filter((it) => !isOnKey(schema, it))
  const predicates = [...keySpec.predicates, ...combinePredicates(schema, others)]
  return { ...keySpec, predicates }
}

function isOnKey(schema: Schema, { columnId }: ColumnPredicate): boolean {
  return schema.mustById(columnId).isKey
}

/**
 * Which rows a scan wants: predicates and bounds on the encoded primary key, both of which a row
 * must meet.
 *
 * `optimizeScanSpec` moves as much as it can from the predicates into the bounds, and before that
 * from the bounds into the predicates, where the two together may turn out to be narrower, or to
 * contradict each other (K§3.6). It never changes which rows match.
 */

import { compareWhole } from '../util/bytes.ts'
import {
  type ColumnPredicate,
  comparePredicateSelectivity,
  isNullPredicate,
  isTrivialPredicate,
  mergePredicates,
} from './column-predicate.ts'
import { liftKeyBounds, type PredicateMap, pushLowerBound, pushUpperBound } from './key-bounds.ts'
import type { Schema } from './schema.ts'

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
  /**
   * Whether no row can match. Even if it is not looked at, the predicates and bounds match none.
   */
  readonly isEmpty: boolean
}

/** How to optimize. */
export interface OptimizeOptions {
  /**
   * Whether predicates that the bounds say in full are dropped. Pruning partitions by hash wants
   * them kept, since it does not look at bounds.
   */
  readonly erasePushed: boolean
}

/**
 * Merges predicates into at most one a column, drops those that the schema alone satisfies, and
 * orders them by when they are worth evaluating.
 *
 * Requires: every column id is one of the schema's.
 */
export function combinePredicates(
  schema: Schema,
  predicates: readonly ColumnPredicate[],
): ColumnPredicate[] {
  return ordered(schema, mergedByColumn(schema, predicates))
}

/**
 * The same rows said with bounds as narrow and predicates as few as possible, predicates in the
 * order in which they are worth evaluating.
 *
 * Requires: every column id is one of the schema's. Any bytes will do as bounds.
 */
export function optimizeScanSpec(
  schema: Schema,
  spec: ScanSpec,
  options: OptimizeOptions = { erasePushed: true },
): OptimizedScanSpec {
  const { lowerKey, upperKey } = spec
  const given = mergedByColumn(schema, spec.predicates)
  if (isContradiction(given, lowerKey, upperKey)) return emptySpec(schema, given, spec)
  const lifted = liftKeyBounds(schema, lowerKey, upperKey)
  const predicates = mergedByColumn(schema, [...given.values(), ...lifted])
  if (isContradiction(predicates, lowerKey, upperKey)) return emptySpec(schema, predicates, spec)
  const lower = pushLowerBound(schema.keyColumns, predicates)
  const upper = pushUpperBound(schema.keyColumns, predicates)
  const bounds = {
    lowerKey: compareWhole(lowerKey, lower.key) < 0 ? lower.key : lowerKey,
    upperKey: lesserBound(upperKey, upper.key),
  }
  if (options.erasePushed) {
    erasePushed(schema, predicates, Math.max(lower.columnCount, upper.columnCount))
  }
  const isEmpty = isContradiction(predicates, bounds.lowerKey, bounds.upperKey)
  return { predicates: ordered(schema, predicates), ...bounds, isEmpty }
}

function mergedByColumn(
  schema: Schema,
  predicates: readonly ColumnPredicate[],
): Map<number, ColumnPredicate> {
  const merged = new Map<number, ColumnPredicate>()
  for (const predicate of predicates) {
    const column = schema.mustById(predicate.columnId)
    const next = predicate.kind === 'IS_NULL' ? isNullPredicate(column) : predicate
    if (isTrivialPredicate(column, next)) continue
    const other = merged.get(column.id)
    merged.set(column.id, other === undefined ? next : mergePredicates(column, other, next))
  }
  return merged
}

function ordered(schema: Schema, predicates: PredicateMap): ColumnPredicate[] {
  return [...predicates.values()].sort((a, b) => comparePredicateSelectivity(schema, a, b))
}

/** Whether a predicate matches nothing or the bounds leave no room. */
function isContradiction(
  predicates: PredicateMap,
  lowerKey: Uint8Array,
  upperKey: Uint8Array,
): boolean {
  for (const predicate of predicates.values()) if (predicate.kind === 'NONE') return true
  return upperKey.length > 0 && compareWhole(lowerKey, upperKey) >= 0
}

function emptySpec(schema: Schema, predicates: PredicateMap, spec: ScanSpec): OptimizedScanSpec {
  const { lowerKey, upperKey } = spec
  return { predicates: ordered(schema, predicates), lowerKey, upperKey, isEmpty: true }
}

/** The lesser of two upper bounds, of which an empty one is above all. */
function lesserBound(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  return b.length === 0 || compareWhole(a, b) <= 0 ? a : b
}

/**
 * Drops the predicates that the bounds say in full: equalities on leading key columns and the first
 * range. A list is not said by its least and greatest value, and behind it or behind a range bounds
 * speak of its ends only.
 */
function erasePushed(
  schema: Schema,
  predicates: Map<number, ColumnPredicate>,
  columnCount: number,
): void {
  for (const column of schema.keyColumns.slice(0, columnCount)) {
    const kind = predicates.get(column.id)?.kind
    if (kind !== 'EQUALITY' && kind !== 'RANGE') return
    predicates.delete(column.id)
    if (kind === 'RANGE') return
  }
}

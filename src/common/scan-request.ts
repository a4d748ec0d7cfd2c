/** Which rows a client asks for, as a scan spec: predicates and bounds on the primary key. */

import { EMPTY_BYTES } from '../util/bytes.ts'
import { shownValue } from './cell-error.ts'
import { cellFromJson } from './cell-json.ts'
import { type ColumnPredicate, nonePredicate } from './column-predicate.ts'
import type { Cell } from './data-type.ts'
import { encodeKeyCells } from './encoded-key.ts'
import { isJsonObject } from './json-object.ts'
import { predicatesFromJson } from './predicate-request.ts'
import { combinePredicates, type ScanSpec } from './scan-spec.ts'
import type { Schema } from './schema.ts'
import { invalidArgument } from './status.ts'
import type { ValueOptions } from './value-options.ts'

/** The members of a scan's body that say which rows are wanted, as the client sent them. */
export interface ScanRequest {
  readonly predicates?: unknown
  readonly primary_key_lower?: unknown
  readonly primary_key_upper?: unknown
}

/**
 * Reads which rows a request wants. The spec is not optimized yet.
 *
 * Requires: numbers in the request are NumberLiterals.
 * Throws: INVALID_ARGUMENT, as `predicatesFromJson`; also for a bound that misses a key column, has
 * another one, or a value that its column cannot hold.
 */
export function scanSpecFromJson(
  schema: Schema,
  request: ScanRequest,
  options: ValueOptions,
): ScanSpec {
  const { predicates, primary_key_lower: lower, primary_key_upper: upper } = request
  const asked = predicates === undefined ? [] : predicatesFromJson(schema, predicates, options)
  const lowerKey = keyBound(schema, 'primary_key_lower', lower, options)
  const upperKey = keyBound(schema, 'primary_key_upper', upper, options)
  const spec = { lowerKey: lowerKey ?? EMPTY_BYTES, upperKey: upperKey ?? EMPTY_BYTES }
  return { predicates: withUpperBound(schema, asked, upperKey), ...spec }
}

/**
 * The least key of all, the empty text, encodes to no bytes, which as an upper bound would be none:
 * there the predicates say that nothing lies below it.
 */
function withUpperBound(
  schema: Schema,
  predicates: ColumnPredicate[],
  upperKey: Uint8Array | null,
): ColumnPredicate[] {
  if (upperKey === null || upperKey.length > 0) return predicates
  return combinePredicates(schema, [...predicates, nonePredicate(schema.columns[0])])
}

function keyBound(
  schema: Schema,
  member: string,
  bound: unknown,
  options: ValueOptions,
): Uint8Array | null {
  if (bound === undefined) return null
  if (!isJsonObject(bound)) throw invalidArgument(`member "${member}" must be an object`)
  const cells = schema.keyColumns.map((column): Cell => {
    const cell = Object.hasOwn(bound, column.name)
      ? cellFromJson(column, bound[column.name], options)
      : null
    if (cell !== null) return cell
    const what = `needs a value of key column "${column.name}"`
    throw invalidArgument(`member "${member}" ${what}`, { column: column.name })
  })
  // Every key column is there, so one too many is not a key column.
  if (Object.keys(bound).length === cells.length) return encodeKeyCells(schema.keyColumns, cells)
  const isKey = (name: string) => schema.byName(name)?.isKey === true
  const stranger = Object.keys(bound).find((name) => !isKey(name)) ?? ''
  throw invalidArgument(
    `member "${member}" has ${JSON.stringify(shownValue(stranger))}, which is no key column`,
  )
}

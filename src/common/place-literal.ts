/**
 * Where a literal lies among the values a column can hold, so that a predicate whose literal the column cannot
 * hold is arithmetic and not an error: `int8 < 300` is every row that is not null.
 */

import { AssertionError } from '../util/assert.ts'
import type { Cell } from './data-type.ts'
import type { JsonScalar } from './number-literal.ts'
import type { Column } from './schema.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from './value-options.ts'

/**
 * A literal's place.
 *
 * `exact`: the column can hold it. `between`: it cannot, and `below` is the greatest cell under it.
 * `above`, `below`: over or under every cell. `nan`: the literal is NaN.
 */
export type Placement =
  | { readonly kind: 'exact'; readonly cell: Cell }
  | { readonly kind: 'between'; readonly below: Cell }
  | { readonly kind: 'above' }
  | { readonly kind: 'below' }
  | { readonly kind: 'nan' }

/**
 * Places a value of a request's JSON. FLOAT and DOUBLE round a number to the nearest cell, −0 becomes 0; a
 * finite number beyond their range lies between the greatest finite cell and infinity.
 *
 * Throws: INVALID_ARGUMENT when the value is null or of the wrong kind for the column.
 */
export function placeLiteral(
  column: Column,
  value: JsonScalar,
  options: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Placement {
  throw new AssertionError(`not built yet: ${column.name} ${String(value)} ${options.timestamps}`)
}

/** Places a value in text form (`where=` of a query string). Throws: as `placeLiteral`. */
export function placeText(
  column: Column,
  text: string,
  options: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Placement {
  throw new AssertionError(`not built yet: ${column.name} ${text} ${options.timestamps}`)
}

/** Which columns a request wants of rows. */

import type { Column, Schema } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import { shownName } from './json-tree.ts'

/**
 * The columns with these names, in this order; all in schema order when there is no list.
 *
 * Throws: INVALID_ARGUMENT for a name that no column has, or that is listed twice.
 */
export function readProjection(
  schema: Schema,
  names: readonly string[] | undefined,
): readonly Column[] {
  if (names === undefined) return schema.columns
  const columns = new Set<Column>()
  for (const name of names) {
    const column = schema.byName(name)
    if (column === undefined) {
      throw invalidArgument(`columns: there is no column ${shownName(name)}`, {
        column: name.slice(0, 64).toWellFormed(),
      })
    }
    if (columns.has(column)) {
      throw invalidArgument(`columns: "${name}" is listed twice`, { column: name })
    }
    columns.add(column)
  }
  return [...columns]
}

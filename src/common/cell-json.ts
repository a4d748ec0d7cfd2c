/**
 * One cell as JSON and as text, both ways, exactly as the REST contract spells values. For edges: defaults,
 * range bounds, path segments. Bodies of rows go through cell-reader.ts and cell-writer.ts.
 */

import { AssertionError } from '../util/assert.ts'
import type { Cell } from './data-type.ts'
import type { Column } from './schema.ts'
import type { ValueOptions } from './value-options.ts'

export { type JsonScalar, NumberLiteral } from './number-literal.ts'
export { DEFAULT_VALUE_OPTIONS, type ValueOptions } from './value-options.ts'

/**
 * The cell that a JSON value stands for; null for null.
 *
 * Throws: INVALID_ARGUMENT, `column "value": 300 is out of range for INT8`, with the column in its details;
 * also for null where the column is not nullable, and for arrays and objects.
 */
export function cellFromJson(column: Column, value: unknown, options: ValueOptions): Cell | null {
  throw new AssertionError(`not built yet: ${column.name} ${String(value)} ${options.timestamps}`)
}

/** The cell that a text stands for (CSV field, path segment). Throws: as `cellFromJson`. */
export function cellFromText(column: Column, text: string, options: ValueOptions): Cell {
  throw new AssertionError(`not built yet: ${column.name} ${text} ${options.timestamps}`)
}

/** A cell as JSON text; `null` for null. */
export function cellToJson(column: Column, cell: Cell | null, options: ValueOptions): string {
  throw new AssertionError(`not built yet: ${column.name} ${String(cell)} ${options.timestamps}`)
}

/** A cell as text without quotes (CSV field, path segment). */
export function cellToText(column: Column, cell: Cell, options: ValueOptions): string {
  throw new AssertionError(`not built yet: ${column.name} ${String(cell)} ${options.timestamps}`)
}

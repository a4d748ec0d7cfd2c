/** JSON values of which no more is known. */

import { NumberLiteral } from './number-literal.ts'

/** Whether a value read from JSON is an object. Ask for its members with `Object.hasOwn`. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null
  return isObject && !Array.isArray(value) && !(value instanceof NumberLiteral)
}

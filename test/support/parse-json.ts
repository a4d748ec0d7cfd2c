/** JSON with its numbers kept as they are written, as request bodies are read. */

import { NumberLiteral } from '../../src/common/number-literal.ts'

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown

const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** The value of a JSON text, numbers as NumberLiterals. */
export function parseJson(text: string): unknown {
  return parseWith(text, (_, value, context) => {
    return typeof value === 'number' ? new NumberLiteral(context.source) : value
  })
}

/**
 * Columns and cells of Kudu's test vectors. Kudu's tests have unsigned integers, which no table can
 * have: the encoded key of UINTn v is that of INTn v − 2^(n − 1), and the vectors are read so.
 */

import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { Schema } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aColumnDefinition } from './a-schema.ts'

const TYPES: Readonly<Record<string, string>> = {
  UINT8: 'INT8',
  UINT16: 'INT16',
  UINT32: 'INT32',
  UINT64: 'INT64',
  INT128: 'DECIMAL(38)',
  DECIMAL32: 'DECIMAL(9)',
  DECIMAL64: 'DECIMAL(18)',
  DECIMAL128: 'DECIMAL(38)',
  VARCHAR: 'VARCHAR(10)',
}

const WIDE = ['INT64', 'INT128', 'DECIMAL64', 'DECIMAL128']

/** The type that stands for a type of the vectors. */
export function typeOf(type: string): string {
  return TYPES[type] ?? type
}

/** Key columns of the vectors' types. Not validated: BOOL may be among them. */
export function columnsOf(types: readonly string[], names?: readonly string[]): readonly Column[] {
  const definitions = types.map((type, index) => {
    return aColumnDefinition(`${names?.[index] ?? `key${index}`} ${typeOf(type)} KEY`, index)
  })
  return new Schema(definitions).columns
}

/** A cell of the vectors: integers are decimal texts, everything else is text. */
export function cellOf(type: string, text: string): Cell {
  if (typeOf(type) === 'BOOL') return text === 'true' ? 1 : 0
  const unsigned = /^UINT(\d+)$/.exec(type)
  if (unsigned !== null) {
    const bits = BigInt(unsigned[1])
    const signed = BigInt(text) - (1n << (bits - 1n))
    return bits === 64n ? signed : Number(signed)
  }
  if (WIDE.includes(type)) return BigInt(text)
  if (/^(INT|DECIMAL)/.test(type)) return Number(text)
  return utf8Encode(text)
}

/**
 * Texts and bytes that begin with a prefix, as a range: `[prefix, least value above all that begin
 * so)`.
 */

import { assert } from '../util/assert.ts'
import { concatBytes, utf8Decode, utf8Encode } from '../util/bytes.ts'
import { type ColumnPredicate, rangePredicate } from './column-predicate.ts'
import { PHYSICAL } from './data-type.ts'
import type { Column } from './schema.ts'

const CODE_POINT_MAX = 0x10ffff
const BEFORE_SURROGATES = 0xd7ff
const BEHIND_SURROGATES = 0xe000
// U+10FFFF, the last code point, as UTF-8.
const LAST_CODE_POINT = utf8Encode(String.fromCodePoint(CODE_POINT_MAX))

/**
 * Cells that begin with `prefix`.
 *
 * Requires: the column is STRING, VARCHAR or BINARY; for the first two the prefix is UTF-8. Both
 * bounds of the range then are UTF-8 too, so that they can be shown.
 */
export function prefixPredicate(column: Column, prefix: Uint8Array): ColumnPredicate {
  assert(column.physical === PHYSICAL.binary, 'only texts and bytes have prefixes')
  const above = column.type === 'BINARY' ? bytesAbove(prefix) : textAbove(prefix)
  return rangePredicate(column, prefix, above)
}

/** The least bytes above all that begin with the prefix; null when there are none. */
function bytesAbove(prefix: Uint8Array): Uint8Array | null {
  let end = prefix.length
  while (end > 0 && prefix[end - 1] === 0xff) end--
  if (end === 0) return null
  const above = prefix.slice(0, end)
  above[end - 1]++
  return above
}

/**
 * The least text above all that begin with the prefix, which orders by code points as UTF-8 does.
 */
function textAbove(prefix: Uint8Array): Uint8Array | null {
  let end = prefix.length
  while (endsWith(prefix, end, LAST_CODE_POINT)) end -= LAST_CODE_POINT.length
  if (end === 0) return null
  let start = end - 1
  while (start > 0 && (prefix[start] & 0xc0) === 0x80) start--
  const last = utf8Decode(prefix.subarray(start, end)).codePointAt(0)
  assert(last !== undefined && last < CODE_POINT_MAX, 'a code point has a successor')
  const next = last === BEFORE_SURROGATES ? BEHIND_SURROGATES : last + 1
  return concatBytes(prefix.subarray(0, start), utf8Encode(String.fromCodePoint(next)))
}

function endsWith(bytes: Uint8Array, end: number, suffix: Uint8Array): boolean {
  const start = end - suffix.length
  return start >= 0 && suffix.every((byte, i) => bytes[start + i] === byte)
}

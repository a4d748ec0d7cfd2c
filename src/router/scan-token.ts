/**
 * Tokens that stand for a part of a scan: the whole request, one tablet and a range of its keys.
 * All tokens of a scan together give each of its rows once, whoever takes them, in whatever order.
 *
 *   byte 0     2
 *   bytes 1 …  JSON, UTF-8: [table id, snapshot, column ids, tablet id, predicates, lower key,
 *              upper key, order, limit, [diff from, its name] | null]
 *
 * A cell is a number, or the text of one that JSON lacks, or ["i", integer], or ["b", base64url];
 * keys are base64url. Columns are named by id and the tablet by its own, so that a rename shows
 * nowhere, and what was dropped is not mistaken for what has its name now.
 */

import { decodeBase64Url, encodeBase64Url } from '../common/base64-url.ts'
import type { ColumnPredicate } from '../common/column-predicate.ts'
import type { Cell } from '../common/data-type.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { ScanSpec } from '../common/scan-spec.ts'
import { invalidArgument, type StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { assert } from '../util/assert.ts'
import { utf8Decode, utf8Encode } from '../util/bytes.ts'
import type { ScanOrder } from '../wire/tablet-protocol.ts'
import { openToken, signToken, TOKEN_KINDS } from './signed-token.ts'

/** A part of a scan. */
export interface ScanToken {
  readonly snapshot: Timestamp
  readonly columnIds: readonly number[]
  readonly tabletId: string
  /** Which rows of the tablet. */
  readonly spec: ScanSpec
  readonly order: ScanOrder
  /** Rows that this part gives at most; infinity: all. */
  readonly limit: number
  /** A diff scan: where it begins, and how it names the member that tells of deleted rows. */
  readonly diff: ScanTokenDiff | null
}

/** The part of a token that makes it one of a diff scan. */
export interface ScanTokenDiff {
  readonly from: Timestamp
  readonly isDeletedName: string
}

type StoredCell = number | string | readonly [string, string]
type StoredPredicate = readonly [
  number,
  ColumnPredicate['kind'],
  StoredCell | null,
  StoredCell | null,
  readonly StoredCell[],
]
type StoredToken = readonly [
  string,
  Timestamp,
  readonly number[],
  string,
  readonly StoredPredicate[],
  string,
  string,
  ScanOrder,
  number | null,
  readonly [Timestamp, string] | null,
]

/** The text of a token of a scan of this table. */
export function encodeScanToken(table: TableEntry, token: ScanToken): Promise<string> {
  const { snapshot, columnIds, tabletId, spec, order, limit, diff } = token
  const stored: StoredToken = [
    table.id,
    snapshot,
    columnIds,
    tabletId,
    spec.predicates.map(storedPredicate),
    encodeBase64Url(spec.lowerKey),
    encodeBase64Url(spec.upperKey),
    order,
    limit === Number.POSITIVE_INFINITY ? null : limit,
    diff === null ? null : [diff.from, diff.isDeletedName],
  ]
  const json = utf8Encode(JSON.stringify(stored))
  const bytes = new Uint8Array(json.length + 1)
  bytes[0] = TOKEN_KINDS.SCAN
  bytes.set(json, 1)
  return signToken(table, bytes)
}

/** The token of a text. Throws: INVALID_ARGUMENT when this table did not give it out. */
export async function decodeScanToken(table: TableEntry, text: string): Promise<ScanToken> {
  const bytes = await openToken(table, text)
  if (bytes === null || bytes[0] !== TOKEN_KINDS.SCAN) throw foreignToken()
  // Signed, so it is what was given out.
  const stored = JSON.parse(utf8Decode(bytes.subarray(1))) as StoredToken
  const [tableId, snapshot, columnIds, tabletId, predicates, lower, upper, order, limit, diff] =
    stored
  if (tableId !== table.id) throw foreignToken()
  return {
    snapshot,
    columnIds,
    tabletId,
    spec: {
      predicates: predicates.map(plainPredicate),
      lowerKey: keyOf(lower),
      upperKey: keyOf(upper),
    },
    order,
    limit: limit ?? Number.POSITIVE_INFINITY,
    diff: diff === null ? null : { from: diff[0], isDeletedName: diff[1] },
  }
}

function storedPredicate(predicate: ColumnPredicate): StoredPredicate {
  const { columnId, kind, lower, upper, values } = predicate
  return [
    columnId,
    kind,
    lower === null ? null : storedCell(lower),
    upper === null ? null : storedCell(upper),
    values.map(storedCell),
  ]
}

function plainPredicate(stored: StoredPredicate): ColumnPredicate {
  const [columnId, kind, lower, upper, values] = stored
  return {
    columnId,
    kind,
    lower: lower === null ? null : plainCell(lower),
    upper: upper === null ? null : plainCell(upper),
    values: values.map(plainCell),
  }
}

function storedCell(cell: Cell): StoredCell {
  if (typeof cell === 'bigint') return ['i', String(cell)]
  if (cell instanceof Uint8Array) return ['b', encodeBase64Url(cell)]
  return Number.isFinite(cell) ? cell : String(cell)
}

function plainCell(stored: StoredCell): Cell {
  if (typeof stored === 'number') return stored
  if (typeof stored === 'string') return Number(stored)
  const [form, text] = stored
  return form === 'i' ? BigInt(text) : keyOf(text)
}

function keyOf(text: string): Uint8Array {
  const bytes = decodeBase64Url(text)
  assert(bytes !== null, 'what was signed was encoded')
  return bytes
}

function foreignToken(): StatusError {
  return invalidArgument('scan_token is not one that this table gave out')
}

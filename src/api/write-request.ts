/**
 * What the writes of all routes have in common: a session for a request, and what it ended with.
 */

import { ROW_OPERATIONS, type RowOperation } from '../common/row-operation.ts'
import type { Schema } from '../common/schema.ts'
import { WriteSession, type WriteSummary } from '../router/write-session.ts'
import type { AppContext, Front } from './app-env.ts'
import type { Privilege } from './auth.ts'
import type { DecodedRows } from './format/decoded-rows.ts'
import { idempotencyKey } from './request-headers.ts'
import { feedRows, sessionFailure } from './row-write.ts'
import { newCallContext, type TableAccess, withCurrentTable } from './table-access.ts'

/** Privileges of which a write needs some. */
export const WRITE_PRIVILEGES: readonly Privilege[] = ['INSERT', 'UPDATE', 'DELETE']

const NEEDED: Readonly<Record<RowOperation, readonly Privilege[]>> = {
  [ROW_OPERATIONS.INSERT]: ['INSERT'],
  [ROW_OPERATIONS.INSERT_IGNORE]: ['INSERT'],
  [ROW_OPERATIONS.UPSERT]: ['INSERT', 'UPDATE'],
  [ROW_OPERATIONS.UPSERT_IGNORE]: ['INSERT', 'UPDATE'],
  [ROW_OPERATIONS.UPDATE]: ['UPDATE'],
  [ROW_OPERATIONS.UPDATE_IGNORE]: ['UPDATE'],
  [ROW_OPERATIONS.DELETE]: ['DELETE'],
  [ROW_OPERATIONS.DELETE_IGNORE]: ['DELETE'],
}

/** Rows of a request, batch by batch; of each, `feedRows` takes what is in `rows`. */
export interface RowBatches {
  /** Holds the first batch, and after `next` the next one. */
  readonly rows: DecodedRows
  /** Operations that the rows of all batches have. */
  readonly operations: ReadonlySet<number>
  /** Puts the next batch into `rows`. Returns: whether there was one. */
  next(): boolean
}

/** A write that is over. */
export interface FinishedWrite {
  readonly session: WriteSession
  readonly summary: WriteSummary
}

/** What a row operation needs. */
export function privilegesOf(operation: number): readonly Privilege[] {
  return NEEDED[operation as RowOperation]
}

/**
 * The client's Idempotency-Key within its scope, a table and a caller; null when it sent none.
 * Throws: INVALID_ARGUMENT.
 */
export function scopedKey(c: AppContext, tableId: string): string | null {
  const key = idempotencyKey(c.req.raw)
  return key === null ? null : `${tableId} ${c.get('caller').id} ${key}`
}

/** A session for the rows of one request. Throws: INVALID_ARGUMENT for a bad Idempotency-Key. */
export function openWriteSession(front: Front, c: AppContext, access: TableAccess): WriteSession {
  const { ref, table, isConfirmed } = access
  const clientKey = scopedKey(c, table.entry.id)
  const options = { ref, clientKey, isConfirmed }
  return new WriteSession(newCallContext(front), front.cache, table, options)
}

/**
 * Writes rows that can be decoded again: if the table turns out not to be what this front
 * remembers, altered or dropped and made again, and nothing was applied, they are decoded for the
 * one there is.
 *
 * Throws: what `decode` throws, NOT_AUTHORIZED, a tablet's failure with what was applied.
 */
export function writeDecoded(
  front: Front,
  c: AppContext,
  access: TableAccess,
  decode: (schema: Schema) => RowBatches,
): Promise<FinishedWrite> {
  return writeAgain(front, access, (current) => writeOnce(front, c, current, decode))
}

/**
 * Writes what can be written again: as `writeDecoded`. `write` opens a session by the table that it
 * is given, and finishes it.
 */
export async function writeAgain(
  front: Front,
  access: TableAccess,
  write: (access: TableAccess) => Promise<FinishedWrite>,
): Promise<FinishedWrite> {
  const first = await withCurrentTable(front, access, () => write(access))
  if (first !== null && !isForAnotherTable(first)) return mustSucceed(first)
  const table = await front.cache.refresh(access.ref)
  return mustSucceed(await write({ ...access, table, isConfirmed: true }))
}

function isForAnotherTable({ session }: FinishedWrite): boolean {
  return session.isPlanStale && session.appliedCount === 0 && session.unknownCount === 0
}

/** A finished write. Throws: the failure of its session with what was applied. */
export function mustSucceed(write: FinishedWrite): FinishedWrite {
  const failure = sessionFailure(write.session)
  if (failure !== null) throw failure
  return write
}

async function writeOnce(
  front: Front,
  c: AppContext,
  access: TableAccess,
  decode: (schema: Schema) => RowBatches,
): Promise<FinishedWrite> {
  const { schema, entry } = access.table
  const batches = decode(schema)
  const needed = new Set([...batches.operations].flatMap(privilegesOf))
  for (const privilege of needed) c.get('caller').check(privilege, entry.name)
  const session = openWriteSession(front, c, access)
  do {
    await feedRows(batches.rows, session)
  } while (session.failure === null && batches.next())
  return { session, summary: await session.finish() }
}

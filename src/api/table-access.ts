/** From a request's path to the table it means, once the caller is known to be allowed. */

import { type StatusCode, StatusError } from '../common/status.ts'
import { CallBudget } from '../router/call-budget.ts'
import type { OpenTable } from '../router/open-table.ts'
import { ReadSession, TableReplaced } from '../router/read-session.ts'
import { tableRefOf } from '../router/table-cache.ts'
import { type CallContext, callContext } from '../router/tablet-caller.ts'
import type { TableRef } from '../wire/catalog-protocol.ts'
import type { AppContext, Front } from './app-env.ts'
import type { Privilege } from './auth.ts'
import { decodeSegment, pathSegments } from './raw-path.ts'
import { raiseToClientTime } from './request-headers.ts'

/** Where `{table}` is in the paths `/api/v1/tables/{table}…`. */
const TABLE_SEGMENT = 3

/** Codes of failures that may come from what a front believes of a table. */
const CODES_OF_TABLE: readonly StatusCode[] = ['INVALID_ARGUMENT', 'ILLEGAL_STATE']

/** A table that the caller may use. */
export interface TableAccess {
  readonly ref: TableRef
  readonly table: OpenTable
  /** Whether the catalog named it during this request. */
  readonly isConfirmed: boolean
}

/** The reference in a request's path. Throws: INVALID_ARGUMENT when it is badly encoded. */
export function tableRef(c: AppContext): TableRef {
  return tableRefOf(decodeSegment(pathSegments(c.req.path)[TABLE_SEGMENT]))
}

/** What is asked of a table. */
export interface AccessOptions {
  /** What the caller must be allowed to do: all of it. */
  readonly all?: readonly Privilege[]
  /** What the caller must be allowed to do: any of it, until the rest of the request tells what. */
  readonly any?: readonly Privilege[]
  /** Whether the catalog is asked, whatever this front remembers. */
  readonly isFresh?: boolean
}

/**
 * The table of a request's path.
 *
 * Throws: NOT_AUTHORIZED unless the caller has the privileges, NOT_FOUND, INVALID_ARGUMENT for a
 * time of the client's that cannot be.
 */
export async function accessTable(
  front: Front,
  c: AppContext,
  options: AccessOptions,
): Promise<TableAccess> {
  const access = await authorizedTable(front, c, options)
  raiseToClientTime(c.req.raw, front.ports.clock)
  return access
}

async function authorizedTable(
  { cache }: Front,
  c: AppContext,
  { all = [], any = [], isFresh = false }: AccessOptions,
): Promise<TableAccess> {
  const ref = tableRef(c)
  const caller = c.get('caller')
  const check = (name: string | null) => {
    for (const privilege of all) caller.check(privilege, name)
    if (any.length > 0) caller.checkAny(any, name)
  }
  if ('name' in ref) check(ref.name)
  try {
    const known = isFresh
      ? { table: await cache.refresh(ref), isConfirmed: true }
      : await cache.open(ref)
    if ('id' in ref) check(known.table.entry.name)
    return { ref, ...known }
  } catch (error) {
    // Who may not know of the table is told the same whether it exists or not.
    if (error instanceof StatusError && error.code === 'NOT_FOUND' && 'id' in ref) check(null)
    throw error
  }
}

/**
 * Runs a read of a table; again, from its beginning, if the table turns out not to be what this
 * front remembers: altered, or dropped and made again. `work` must not have sent anything before it
 * throws.
 */
export async function withReadSession<T>(
  front: Front,
  access: TableAccess,
  work: (session: ReadSession) => Promise<T>,
): Promise<T> {
  const { ref, table, isConfirmed } = access
  const context = newCallContext(front)
  const session = new ReadSession(context, front.cache, ref, table, isConfirmed)
  const first = await withCurrentTable(front, access, () => work(session))
  if (first !== null) return first
  const replacement = await front.cache.refresh(ref)
  return work(new ReadSession(context, front.cache, ref, replacement, true))
}

/**
 * Runs `work`, which reads a request by the table that this front remembers.
 *
 * Returns: what it returns, or null when it failed because the table is another by now: a column
 * that a front does not know of may be there all the same, and so may a page token's range.
 * Throws: what it throws.
 */
export async function withCurrentTable<T>(
  { cache }: Front,
  { ref, table, isConfirmed }: TableAccess,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TableReplaced) return null
    const isOfTable = error instanceof StatusError && CODES_OF_TABLE.includes(error.code)
    if (isConfirmed || !isOfTable) throw error
    const { id, version } = (await cache.refresh(ref)).entry
    if (id === table.entry.id && version === table.entry.version) throw error
    return null
  }
}

/** The calls of one request. */
export function newCallContext({ ports }: Front): CallContext {
  return callContext(ports, new CallBudget())
}

/**
 * What is left to do for a table that was dropped: its initialized tablets must first refuse, so
 * that no front with an old picture of the table goes on, and then give their storage back.
 *
 *   drop ──► toRefuse ──(tablet stored that it refuses)──► toFree ──(storage given back)──► gone
 *
 * Both steps may be repeated: a tablet that was freed already has nothing to free.
 */

import { assert } from '../util/assert.ts'

/** Tablets of a dropped table by what they still have to be told. */
export interface DropWork {
  readonly tableId: string
  readonly toRefuse: readonly string[]
  readonly toFree: readonly string[]
}

/** The work left once `tabletIds` refuse. */
export function afterRefusal(work: DropWork, tabletIds: readonly string[]): DropWork {
  const refusing = new Set(tabletIds)
  return {
    tableId: work.tableId,
    toRefuse: work.toRefuse.filter((id) => !refusing.has(id)),
    toFree: [...work.toFree, ...work.toRefuse.filter((id) => refusing.has(id))],
  }
}

/** The work left once `tabletIds` are freed. */
export function afterFreeing(work: DropWork, tabletIds: readonly string[]): DropWork {
  const freed = new Set(tabletIds)
  return { ...work, toFree: work.toFree.filter((id) => !freed.has(id)) }
}

/** Whether nothing is left. */
export function isDone(work: DropWork): boolean {
  return work.toRefuse.length === 0 && work.toFree.length === 0
}

/** The stored form. */
export function encodeDropWork(work: DropWork): string {
  return JSON.stringify({ toRefuse: work.toRefuse, toFree: work.toFree })
}

/** The work of a stored form. */
export function decodeDropWork(tableId: string, text: string): DropWork {
  const { toRefuse, toFree } = JSON.parse(text) as Omit<DropWork, 'tableId'>
  assert(Array.isArray(toRefuse) && Array.isArray(toFree), 'stored drop has both its lists')
  return { tableId, toRefuse, toFree }
}

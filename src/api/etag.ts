/** Entity tags of tables, and the headers that name them: `If-Match`, `If-None-Match`. */

import { invalidArgument } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'

/** The entity tag of a table: another for every change of it. */
export function tableEtag(table: TableEntry): string {
  return `"${table.id}-${table.version}"`
}

/**
 * A header of entity tags, or null when it was not sent.
 *
 * Throws: INVALID_ARGUMENT when it names none, which is no condition, and not that there is none.
 */
export function conditionOf(request: Request, name: 'If-Match' | 'If-None-Match'): string | null {
  const header = request.headers.get(name)
  if (header === null || /[^\s,]/.test(header)) return header
  throw invalidArgument(`header ${name} is empty: it must be * or list entity tags`)
}

/**
 * Whether a header of entity tags names `etag`: `*` names any; weak tags count if `allowsWeak`.
 */
export function namesEtag(header: string, etag: string, allowsWeak: boolean): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim()
    if (tag === '*' || tag === etag) return true
    return allowsWeak && tag.startsWith('W/') && tag.slice(2) === etag
  })
}

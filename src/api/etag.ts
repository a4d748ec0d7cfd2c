/** Entity tags of tables, and the headers that name them: `If-Match`, `If-None-Match`. */

import type { TableEntry } from '../common/table.ts'

/** The entity tag of a table: another for every change of it. */
export function tableEtag(table: TableEntry): string {
  return `"${table.id}-${table.version}"`
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

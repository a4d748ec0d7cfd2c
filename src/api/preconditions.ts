/** The conditions of a request on what it is about: `If-Match`, `If-None-Match`. */

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

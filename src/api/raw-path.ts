/**
 * Paths as they were sent. A key may hold any character, `%2F` too, so paths are split before they
 * are decoded.
 */

import { invalidArgument } from '../common/status.ts'

/** The path of a URL, nothing decoded. */
export function rawPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.slice(start).search(/[?#]/)
  return end === -1 ? url.slice(start) : url.slice(start, start + end)
}

/** The query of a URL behind its `?`, nothing decoded; '' when there is none. */
export function rawQuery(url: string): string {
  const hash = url.indexOf('#')
  const whole = hash === -1 ? url : url.slice(0, hash)
  const start = whole.indexOf('?')
  return start === -1 ? '' : whole.slice(start + 1)
}

/** Segments of a path behind its first slash, nothing decoded. */
export function pathSegments(path: string): string[] {
  return path.slice(1).split('/')
}

/** The text of a segment. Throws: INVALID_ARGUMENT when it is not percent-encoded UTF-8. */
export function decodeSegment(segment: string): string {
  return decodePercent(segment, 'path segment')
}

/**
 * The text of something percent-encoded. Throws: INVALID_ARGUMENT for escapes that are none, and
 * for bytes that are not UTF-8.
 */
export function decodePercent(encoded: string, what: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    const shown = encoded.length <= 64 ? encoded : `${encoded.slice(0, 64)}…`
    throw invalidArgument(`${what} "${shown}" is not percent-encoded UTF-8`)
  }
}

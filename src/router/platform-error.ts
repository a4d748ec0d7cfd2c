/**
 * Errors of calls to objects that the platform makes, not the objects. It marks them: `overloaded`
 * (never repeat), `retryable` (provably transient), `durableObjectReset` (the object went away in
 * mid-call; what it did is durable or gone, so only what is the same when done twice may be
 * repeated).
 */

import type { RouterPorts } from './ports.ts'

/** Marks of an error that the platform made. */
export interface PlatformError {
  readonly overloaded?: boolean
  readonly retryable?: boolean
  readonly durableObjectReset?: boolean
}

/** Whether repeating a call that may be repeated can help. */
export function isWorthRepeating(error: unknown): boolean {
  const marks = error as PlatformError
  if (marks.overloaded === true) return false
  return marks.retryable === true || marks.durableObjectReset === true
}

/** How long to wait before a call is repeated for the time of this number, from 0. */
export function backoffMs(ports: RouterPorts, attempt: number): number {
  return 20 * 4 ** attempt * (0.5 + ports.prng.unit())
}

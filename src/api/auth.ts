/**
 * Who sends a request, and what they may do. Closed by default: without a configured token nobody
 * is let in, unless authentication was switched off for this machine alone.
 */

import { StatusError } from '../common/status.ts'
import { utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import type { AppSettings } from './ports.ts'

/** What a caller can be allowed to do with a table. */
export type Privilege =
  | 'SELECT'
  | 'INSERT'
  | 'UPDATE'
  | 'DELETE'
  | 'METADATA'
  | 'ALTER'
  | 'CREATE'
  | 'DROP'

/** Who sends a request. */
export interface Caller {
  /** Scope of the caller's idempotency keys. */
  readonly id: string
  /** Owner of the tables they make, unless they say another. */
  readonly name: string
  /**
   * Throws NOT_AUTHORIZED unless the caller may do this with the table of that name; null: with a
   * table whose name is not known, because none has the id that was asked for.
   */
  check(privilege: Privilege, tableName: string | null): void
  /** As `check`, of any one of some privileges. */
  checkAny(privileges: readonly Privilege[], tableName: string | null): void
  /** Throws NOT_AUTHORIZED unless the caller may do everything there is to do. */
  checkSuperuser(): void
}

class Superuser implements Caller {
  readonly id: string
  readonly name: string

  constructor(id: string, name: string) {
    this.id = id
    this.name = name
  }

  check(): void {
    // Allowed everything.
  }

  checkAny(): void {
    // Allowed everything.
  }

  checkSuperuser(): void {
    // They are.
  }
}

const ADMIN: Caller = new Superuser('admin', 'admin')
const ANYBODY_HERE: Caller = new Superuser('anybody', '')

/**
 * The sender of a request.
 *
 * Throws: SERVICE_UNAVAILABLE when nothing is configured, UNAUTHENTICATED without the right token,
 * NOT_AUTHORIZED when authentication is off and the request is not this machine's own.
 */
export async function authenticate(request: Request, settings: AppSettings): Promise<Caller> {
  if (settings.isAuthDisabled) {
    checkIsLocal(request)
    return ANYBODY_HERE
  }
  if (settings.adminToken === '') {
    const detail = 'service is not configured: it has no NYALA_ADMIN_TOKEN'
    throw new StatusError('SERVICE_UNAVAILABLE', detail, { retryable: false })
  }
  const token = tokenOf(request.headers.get('Authorization'))
  if (token === null) throw unauthenticated('request has no bearer token')
  if (!(await areEqual(token, settings.adminToken))) throw unauthenticated('token is not known')
  return ADMIN
}

function unauthenticated(message: string): StatusError {
  return new StatusError('UNAUTHENTICATED', message)
}

/** The token of an Authorization header, or null when there is none. */
function tokenOf(header: string | null): string | null {
  const match = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '')
  if (match === null) return null
  const [, scheme, credentials] = match
  if (scheme.toLowerCase() === 'bearer') return credentials
  return passwordOf(credentials)
}

function passwordOf(credentials: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(credentials), (character) => character.charCodeAt(0))
    const text = utf8DecodeStrict(bytes) ?? ''
    const colon = text.indexOf(':')
    return colon === -1 ? null : text.slice(colon + 1)
  } catch {
    return null
  }
}

/**
 * Compares secrets by their hashes, so that how long it takes tells nothing of where they differ.
 */
async function areEqual(given: string, expected: string): Promise<boolean> {
  const [a, b] = await Promise.all([hashOf(given), hashOf(expected)])
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a[i] ^ b[i]
  return difference === 0
}

async function hashOf(text: string): Promise<Uint8Array> {
  const bytes = utf8Encode(text) as Uint8Array<ArrayBuffer>
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/**
 * Refuses what another machine, or another site's page in a browser of this machine, could send: a
 * page whose name was made to resolve to this machine still sends its own name as the host. A proxy
 * before this service may have made the origin of such a page its own; the browser's word for where
 * the page is from goes through it.
 */
function checkIsLocal(request: Request): void {
  const url = new URL(request.url)
  const host = request.headers.get('Host')
  const isLocal = isLoopback(url.hostname) && (host === null || isLoopback(hostnameOf(host)))
  const origin = request.headers.get('Origin')
  const site = request.headers.get('Sec-Fetch-Site') ?? 'same-origin'
  const isOwn = origin?.toLowerCase() === url.origin && site === 'same-origin'
  if (isLocal && (origin === null || isOwn)) return
  const detail = 'authentication is off, and then only requests of this machine are answered'
  throw new StatusError('NOT_AUTHORIZED', detail)
}

function hostnameOf(host: string): string {
  return host.replace(/:\d*$/, '')
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.toLowerCase()
  return bare === 'localhost' || bare === '[::1]' || /^127(\.\d{1,3}){3}$/.test(bare)
}

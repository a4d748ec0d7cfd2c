/** Cross-origin headers, for the configured origins and nobody else. */

const EXPOSED_HEADERS = [
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Nyala-Request-Id',
  'Nyala-Rows-Failed',
  'Nyala-Timestamp',
  'Retry-After',
].join(', ')

const ALLOWED_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Nyala-Propagated-Timestamp',
  'Nyala-Request-Id',
].join(', ')

const PREFLIGHT_SECONDS = '600'

/**
 * Adds to `headers` what a browser must see before a page of another origin may read the answer.
 */
export function addCorsHeaders(
  headers: Headers,
  request: Request,
  origins: readonly string[],
): void {
  if (origins.length === 0) return
  headers.append('Vary', 'Origin')
  const origin = request.headers.get('Origin')
  if (origin === null || !origins.includes(origin)) return
  headers.set('Access-Control-Allow-Origin', origin)
  headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  if (request.method !== 'OPTIONS') return
  headers.set('Access-Control-Allow-Methods', headers.get('Allow') ?? '')
  headers.set('Access-Control-Allow-Headers', ALLOWED_HEADERS)
  headers.set('Access-Control-Max-Age', PREFLIGHT_SECONDS)
}

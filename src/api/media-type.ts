/** Media types: what a body is in, and what a client wants to be answered in. */

import { StatusError } from '../common/status.ts'
import type { QueryParams } from './query-params.ts'

/** Names of the formats of rows, as `format=` spells them. */
export const FORMATS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const
/** A format of rows. */
export type Format = (typeof FORMATS)[number]

/** Media types of each format; the first is the one that is answered with. */
const MEDIA_TYPES: Readonly<Record<Format, readonly string[]>> = {
  json: ['application/json'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  csv: ['text/csv'],
  arrow: ['application/vnd.apache.arrow.stream'],
  parquet: ['application/vnd.apache.parquet'],
}

/** The media types of a format; the first is the one that is answered with. */
export function mediaTypesOf(format: Format): readonly string[] {
  return MEDIA_TYPES[format]
}

/** The value of a Content-Type header for rows in a format. */
export function contentTypeOf(format: Format): string {
  return format === 'csv' ? 'text/csv; charset=utf-8' : MEDIA_TYPES[format][0]
}

/**
 * The format of a request's body, by its Content-Type.
 *
 * Throws: UNSUPPORTED_MEDIA_TYPE, naming the accepted ones, when it is none of `accepted`, or in a
 * charset other than UTF-8.
 */
export function bodyFormat<F extends Format>(request: Request, accepted: readonly F[]): F {
  const header = request.headers.get('Content-Type')
  const names = accepted.map((format) => MEDIA_TYPES[format][0]).join(', ')
  if (header === null) throw unsupported(`request has no Content-Type, accepted are ${names}`)
  const { essence, parameters } = parseMediaType(header)
  const format = accepted.find((known) => MEDIA_TYPES[known].includes(essence))
  if (format === undefined) {
    throw unsupported(`Content-Type ${shown(essence)} is not accepted, accepted are ${names}`)
  }
  const charset = parameters.get('charset') ?? 'utf-8'
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw unsupported(`charset ${shown(charset)} is not accepted, accepted is utf-8`)
  }
  return format
}

/**
 * Whether a request's body is compressed with gzip, by its Content-Encoding.
 *
 * Throws: UNSUPPORTED_MEDIA_TYPE for any other encoding.
 */
export function isGzipped(request: Request): boolean {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return false
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  throw unsupported(`Content-Encoding ${shown(encoding)} is not accepted, accepted is gzip`)
}

/**
 * The format to answer with: `format=`, else the one of `offered` that Accept likes best, the first
 * among equals.
 *
 * Throws: INVALID_ARGUMENT when `format=` is no format, NOT_ACCEPTABLE when none of `offered` will
 * do.
 */
export function answerFormat<F extends Format>(
  request: Request,
  query: QueryParams,
  offered: readonly F[],
): F {
  const asked = query.choice('format', FORMATS)
  const names = offered.map((format) => MEDIA_TYPES[format][0]).join(', ')
  if (asked !== null) {
    const format = offered.find((known) => known === asked)
    if (format !== undefined) return format
    throw notAcceptable(`format=${asked} is not offered here, offered are ${names}`)
  }
  const ranges = parseAccept(request.headers.get('Accept') ?? '*/*')
  let best: F | null = null
  let bestQuality = 0
  for (const format of offered) {
    const quality = Math.max(...MEDIA_TYPES[format].map((type) => qualityOf(type, ranges)))
    if (quality <= bestQuality) continue
    best = format
    bestQuality = quality
  }
  if (best !== null) return best
  throw notAcceptable(`none of the media types in Accept is offered here, offered are ${names}`)
}

interface AcceptRange {
  readonly essence: string
  readonly quality: number
}

function parseAccept(header: string): AcceptRange[] {
  const ranges = header.split(',').filter((part) => part.trim() !== '')
  if (ranges.length === 0) return [{ essence: '*/*', quality: 1 }]
  return ranges.map((part) => {
    const { essence, parameters } = parseMediaType(part)
    const quality = Number(parameters.get('q') ?? 1)
    // A quality that is none is passed over, as recipients of bad headers do.
    return { essence, quality: quality >= 0 && quality <= 1 ? quality : 1 }
  })
}

/** How much a client likes a media type: by the most specific range that names it. */
function qualityOf(type: string, ranges: readonly AcceptRange[]): number {
  const group = `${type.slice(0, type.indexOf('/'))}/*`
  for (const essence of [type, group, '*/*']) {
    const range = ranges.find((known) => known.essence === essence)
    if (range !== undefined) return range.quality
  }
  return 0
}

interface MediaType {
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

/** A media type and its parameters, all in lower case, quotes taken off. */
function parseMediaType(text: string): MediaType {
  const [essence, ...rest] = text.split(';')
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const [name, value = ''] = parameter.split('=')
    parameters.set(
      name.trim().toLowerCase(),
      value
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .toLowerCase(),
    )
  }
  return { essence: essence.trim().toLowerCase(), parameters }
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 64))
}

function unsupported(message: string): StatusError {
  return new StatusError('UNSUPPORTED_MEDIA_TYPE', message)
}

function notAcceptable(message: string): StatusError {
  return new StatusError('NOT_ACCEPTABLE', message)
}

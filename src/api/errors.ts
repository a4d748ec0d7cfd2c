/**
 * Turns whatever a request ended with into a response: `application/problem+json` (RFC 9457). The
 * only place that does.
 */

import { STATUS, type StatusCode, StatusError } from '../common/status.ts'
import { TableReplaced } from '../router/read-session.ts'
import type { AppLog } from './ports.ts'

const TITLES: Readonly<Record<StatusCode, string>> = {
  INVALID_ARGUMENT: 'Invalid argument',
  UNAUTHENTICATED: 'Unauthenticated',
  NOT_AUTHORIZED: 'Not authorized',
  NOT_FOUND: 'Not found',
  METHOD_NOT_ALLOWED: 'Method not allowed',
  NOT_ACCEPTABLE: 'Not acceptable',
  ALREADY_PRESENT: 'Already present',
  ILLEGAL_STATE: 'Illegal state',
  ABORTED: 'Aborted',
  INVALID_SNAPSHOT: 'Invalid snapshot',
  PRECONDITION_FAILED: 'Precondition failed',
  PAYLOAD_TOO_LARGE: 'Payload too large',
  UNSUPPORTED_MEDIA_TYPE: 'Unsupported media type',
  IMMUTABLE: 'Immutable',
  THROTTLED: 'Throttled',
  CORRUPTION: 'Corruption',
  INTERNAL: 'Internal error',
  NOT_SUPPORTED: 'Not supported',
  SERVICE_UNAVAILABLE: 'Service unavailable',
  TIMED_OUT: 'Timed out',
}

/** Details that a problem shows under their own names. */
const SHOWN_DETAILS = ['column', 'row_index', 'line', 'limit', 'tablet_id', 'resource'] as const

const RETRY_AFTER_SECONDS = '1'

/** What is known of the request that failed. `route` is its pattern: a path may hold keys. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  readonly route: string
}

/** The failure that an error stands for: itself, or INTERNAL for one that nobody expected. */
export function statusErrorOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof TableReplaced) {
    return new StatusError('SERVICE_UNAVAILABLE', 'table is being replaced', {}, error)
  }
  return new StatusError('INTERNAL', 'internal error', {}, error)
}

/** Whether somebody must look into failures with a code. */
export function isOurFault(code: StatusCode): boolean {
  return code === 'INTERNAL' || code === 'CORRUPTION'
}

/** The response to a request that failed. Logs the failures that somebody must look into. */
export function errorResponse(error: unknown, request: FailedRequest, log: AppLog): Response {
  const failure = statusErrorOf(error)
  logFailure(failure, request, log)
  return problemResponse(failure, request.requestId)
}

function logFailure(failure: StatusError, request: FailedRequest, log: AppLog): void {
  const { code, message, cause } = failure
  const { requestId, method, route } = request
  const fields = { request_id: requestId, method, route, code, detail: message }
  if (isOurFault(code)) log.error('request failed', fields, cause ?? failure)
  else if (cause !== undefined) log.info('request failed', { ...fields, cause: String(cause) })
}

/** A failure as a response. */
export function problemResponse(
  failure: StatusError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { http } = STATUS[failure.code]
  return new Response(JSON.stringify(problemOf(failure, requestId)), {
    status: http,
    headers: {
      'Content-Type': 'application/problem+json',
      ...headersOf(failure),
      ...headers,
    },
  })
}

function problemOf(failure: StatusError, requestId: string): Record<string, unknown> {
  const { code, message, details } = failure
  const problem: Record<string, unknown> = {
    type: `urn:nyala:error:${code}`,
    title: TITLES[code],
    status: STATUS[code].http,
    detail: message,
    instance: requestId,
    code,
    retryable: isRetryable(failure),
  }
  for (const name of SHOWN_DETAILS) {
    const value = details[name]
    if (value !== undefined) problem[name] = value
  }
  return { ...problem, ...details.extra }
}

function headersOf(failure: StatusError): Record<string, string> {
  const { snapshot, isReplayed } = failure.details
  return {
    ...(snapshot === undefined ? {} : { 'Nyala-Timestamp': String(snapshot) }),
    ...(isReplayed === true ? { 'Idempotency-Replayed': 'true' } : {}),
    ...headersOfCode(failure),
  }
}

function headersOfCode(failure: StatusError): Record<string, string> {
  switch (failure.code) {
    case 'UNAUTHENTICATED':
      return { 'WWW-Authenticate': 'Bearer' }
    case 'THROTTLED':
    case 'SERVICE_UNAVAILABLE':
      return isRetryable(failure) ? { 'Retry-After': RETRY_AFTER_SECONDS } : {}
    default:
      return {}
  }
}

function isRetryable({ code, details }: StatusError): boolean {
  return details.retryable ?? STATUS[code].retryable
}

/** Why a request failed: what the service says of it, or that nothing was heard. */

import type { TransportAnswer } from './transport.ts'

const TEXT_LENGTH_MAX = 300
const RETRYABLE_STATUSES: readonly number[] = [429, 502, 503, 504]

/** A failed request. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  /** 0 when no answer came. */
  readonly status: number
  readonly code: string
  readonly isRetryable: boolean
  /** How long the service asks to wait. */
  readonly retryAfterMs: number
  /** Rows of a write that were applied in spite of it. */
  readonly rowsApplied: number
  /** Whether rows may have been applied of which the answer does not tell. */
  readonly isInDoubt: boolean

  constructor(message: string, details: Partial<ServiceErrorDetails>) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.status = details.status ?? 0
    this.code = details.code ?? ''
    this.isRetryable = details.isRetryable ?? false
    this.retryAfterMs = details.retryAfterMs ?? 0
    this.rowsApplied = details.rowsApplied ?? 0
    this.isInDoubt = details.isInDoubt ?? false
  }
}

/** What there is to know beside the message. */
export interface ServiceErrorDetails {
  readonly status: number
  readonly code: string
  readonly isRetryable: boolean
  readonly retryAfterMs: number
  readonly rowsApplied: number
  readonly isInDoubt: boolean
  readonly cause: unknown
}

/** The failure when no answer came, or not the whole of it. */
export function unheard(cause: unknown): ServiceError {
  // A refused connection is an error of several, one an address, without a message of its own.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  const text = first instanceof Error ? first.message : String(first)
  return new ServiceError(`no answer: ${text}`, { isRetryable: true, isInDoubt: true, cause })
}

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly retryable?: boolean
  readonly rows_applied?: number
  readonly rows_unknown?: number
}

/** The failure that an answer tells of. */
export function refusedBy(answer: TransportAnswer, text: string): ServiceError {
  const { status } = answer
  const problem = parseProblem(text)
  const retryAfter = Number(answer.header('retry-after'))
  const told = { status, retryAfterMs: retryAfter > 0 ? retryAfter * 1000 : 0 }
  if (problem === null) {
    const shown = text.slice(0, TEXT_LENGTH_MAX).trim()
    const isRetryable = RETRYABLE_STATUSES.includes(status)
    return new ServiceError(`${status} ${shown}`, { ...told, isRetryable, isInDoubt: isRetryable })
  }
  const { code = String(status), detail = '', retryable, rows_applied, rows_unknown } = problem
  return new ServiceError(`${code}: ${detail}`, {
    ...told,
    code,
    isRetryable: retryable === true,
    rowsApplied: rows_applied ?? 0,
    isInDoubt: code === 'TIMED_OUT' || (rows_applied ?? 0) > 0 || (rows_unknown ?? 0) > 0,
  })
}

function parseProblem(text: string): Problem | null {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? (value as Problem) : null
  } catch {
    return null
  }
}

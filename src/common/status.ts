/** Every way a request can fail, its HTTP status, and whether repeating it can help. */
export const STATUS = {
  INVALID_ARGUMENT: { http: 400, retryable: false },
  UNAUTHENTICATED: { http: 401, retryable: false },
  NOT_AUTHORIZED: { http: 403, retryable: false },
  NOT_FOUND: { http: 404, retryable: false },
  METHOD_NOT_ALLOWED: { http: 405, retryable: false },
  NOT_ACCEPTABLE: { http: 406, retryable: false },
  ALREADY_PRESENT: { http: 409, retryable: false },
  ILLEGAL_STATE: { http: 409, retryable: false },
  ABORTED: { http: 409, retryable: true },
  INVALID_SNAPSHOT: { http: 410, retryable: false },
  PRECONDITION_FAILED: { http: 412, retryable: false },
  PAYLOAD_TOO_LARGE: { http: 413, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { http: 415, retryable: false },
  IMMUTABLE: { http: 422, retryable: false },
  THROTTLED: { http: 429, retryable: true },
  CORRUPTION: { http: 500, retryable: false },
  INTERNAL: { http: 500, retryable: false },
  NOT_SUPPORTED: { http: 501, retryable: false },
  SERVICE_UNAVAILABLE: { http: 503, retryable: true },
  TIMED_OUT: { http: 504, retryable: true },
} as const
/** Name of a way to fail. */
export type StatusCode = keyof typeof STATUS

/** Facts that help a client to find what was wrong; all optional, all safe to show. */
export interface StatusDetails {
  readonly column?: string
  readonly row_index?: number
  readonly line?: number
  readonly limit?: number
  readonly tablet_id?: string
  readonly resource?: 'table' | 'range' | 'row'
  readonly retryable?: boolean
  /**
   * The snapshot that showed what is wrong, such as that a row is absent: a header of the answer.
   */
  readonly snapshot?: number
  /** The failure is a remembered result: a header of the answer. */
  readonly isReplayed?: boolean
  /** Members that one kind of problem adds, such as `rows_applied`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * An expected failure: thrown inside one layer, carried as an `Outcome` across an object boundary.
 */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly code: StatusCode
  readonly details: StatusDetails

  constructor(code: StatusCode, message: string, details: StatusDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/** Stored bytes are not what was written. Names the block, never its contents. */
export class CorruptionError extends StatusError {
  constructor(message: string) {
    super('CORRUPTION', message)
  }
}

/** Shorthand for the most common failure. */
export function invalidArgument(message: string, details: StatusDetails = {}): StatusError {
  return new StatusError('INVALID_ARGUMENT', message, details)
}

/** What crosses an object boundary: plain data, because class identity does not survive RPC. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly code: StatusCode
      readonly message: string
      readonly details: StatusDetails
    }

/** Runs `work` and turns an expected failure into data. Anything else is thrown on. */
export function outcomeOf<T>(work: () => T): Outcome<T> {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    if (error instanceof StatusError) return failure(error)
    throw error
  }
}

/** A failure as data. */
export function failure(error: StatusError): Outcome<never> {
  return { ok: false, code: error.code, message: error.message, details: error.details }
}

/** The value of an outcome. Throws the StatusError that it carries. */
export function mustValue<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value
  throw new StatusError(outcome.code, outcome.message, outcome.details)
}

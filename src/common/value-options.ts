/** How values are written, and how integers are read, in one request. */
export interface ValueOptions {
  /** INT64 in JSON as a number literal or as a string. */
  readonly int64: 'number' | 'string'
  /**
   * UNIXTIME_MICROS as RFC 3339 or as integers; `millis` also makes integers read be milliseconds.
   */
  readonly timestamps: 'rfc3339' | 'micros' | 'millis'
}

/** What holds when a request says nothing. */
export const DEFAULT_VALUE_OPTIONS: ValueOptions = { int64: 'number', timestamps: 'rfc3339' }

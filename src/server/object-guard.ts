/**
 * The border between an object's decisions and its callers.
 *
 *   StatusError        expected: goes to the caller as data, since classes do not survive the way
 *   anything else      the program or the storage failed: what is in memory can no longer be
 *                      trusted, so the object is ended in the same turn, which also undoes what the
 *                      turn wrote. Its callers see the platform's `durableObjectReset`; the next
 *                      call finds what was durable.
 */

import { failure, type Outcome, StatusError } from '../common/status.ts'
import type { Log, LogFields } from './log.ts'

/** The part of an object's state that ends it. */
export interface Abortable {
  abort(reason?: string): void
}

/** Runs an object's synchronous sections. */
export class ObjectGuard {
  readonly #state: Abortable
  readonly #log: Log

  constructor(state: Abortable, log: Log) {
    this.#state = state
    this.#log = log
  }

  /**
   * Runs one synchronous section. `fields` tell the log what it was about.
   *
   * Returns: its value, or its expected failure as data. Throws: what was unexpected, after ending
   * the object.
   */
  run<T>(operation: string, work: () => T, fields: LogFields = {}): Outcome<T> {
    try {
      return { ok: true, value: work() }
    } catch (error) {
      if (!(error instanceof StatusError)) this.end(operation, error, fields)
      if (error.code === 'CORRUPTION' || error.code === 'INTERNAL') {
        this.#log.error('section failed', { operation, ...fields }, error)
      }
      return failure(error)
    }
  }

  /** Ends the object because of an unexpected error. Requires: the turn in which it was thrown. */
  end(operation: string, error: unknown, fields: LogFields = {}): never {
    this.#log.error('object ends', { operation, ...fields }, error)
    this.#state.abort(`internal error in ${operation}`)
    throw error
  }
}

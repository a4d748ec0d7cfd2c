/**
 * Calls the catalog object, repeats the call where that is safe, and turns what comes back into a
 * value or a StatusError.
 */

import { FRONT_DEADLINE_MS, FRONT_RETRY_COUNT_MAX } from '../common/limits.ts'
import { mustValue, type Outcome, StatusError } from '../common/status.ts'
import type { CatalogStub } from '../wire/catalog-protocol.ts'
import { backoffMs, isWorthRepeating, type PlatformError } from './platform-error.ts'
import type { RouterPorts } from './ports.ts'

/**
 * Makes one call that reads, or that is the same when made twice.
 *
 * Throws: the catalog's failure, SERVICE_UNAVAILABLE when it stays unreachable or overloaded,
 * INTERNAL when it failed at every try.
 */
export async function callCatalog<T>(
  ports: RouterPorts,
  send: (catalog: CatalogStub) => Promise<Outcome<T>>,
): Promise<T> {
  const deadlineMs = ports.elapsedMs() + FRONT_DEADLINE_MS
  for (let attempt = 0; ; attempt++) {
    try {
      return mustValue(await send(ports.catalog()))
    } catch (error) {
      if (error instanceof StatusError) throw error
      const canRepeat = attempt < FRONT_RETRY_COUNT_MAX && ports.elapsedMs() < deadlineMs
      if (!canRepeat || !isWorthRepeating(error)) throw unreachableCatalog(error)
      await ports.sleep(backoffMs(ports, attempt))
    }
  }
}

/**
 * Makes one call that must not be made twice.
 *
 * Throws: the catalog's failure, SERVICE_UNAVAILABLE when it refused the call for its load,
 * TIMED_OUT when what the call was to do may have been done.
 */
export async function callCatalogOnce<T>(
  ports: RouterPorts,
  send: (catalog: CatalogStub) => Promise<Outcome<T>>,
): Promise<T> {
  try {
    return mustValue(await send(ports.catalog()))
  } catch (error) {
    if (error instanceof StatusError) throw error
    if ((error as PlatformError).overloaded === true) throw unreachableCatalog(error)
    const detail = 'catalog did not answer; the change may have been made'
    throw new StatusError('TIMED_OUT', detail, {}, error)
  }
}

function unreachableCatalog(error: unknown): StatusError {
  const marks = error as PlatformError
  if (marks.overloaded === true) {
    return new StatusError('SERVICE_UNAVAILABLE', 'catalog is overloaded', {}, error)
  }
  if (marks.retryable === true && marks.durableObjectReset !== true) {
    return new StatusError('SERVICE_UNAVAILABLE', 'catalog is unreachable', {}, error)
  }
  return new StatusError('INTERNAL', 'catalog failed', {}, error)
}

/**
 * Remembers what became of keyed shares, so that a repeat is answered and not applied again.
 *
 *   clients' keys   kept ten minutes in a budget that, when full, refuses new keys and forgets none
 *   fronts' keys    kept thirty seconds in their own budget that, when full, forgets the oldest
 *
 * A result is written to the WAL with its op, in one stored row, and comes back by replay; before
 * its WAL generation is dropped it is written to the results row (stored-results.ts).
 *
 *  I1  `bytes` of a side is the sum of its results' sizes;
 *  I2  a side's results are in the order in which they were remembered.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import {
  FRONT_RESULT_BYTES_MAX,
  FRONT_RESULT_KEPT_MS,
  RESULT_BYTES_MAX,
  RESULT_KEPT_MS,
  RESULT_KEY_LENGTH_MAX,
} from '../common/limits.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import type { ResultKey, WriteResult } from './tablet-request.ts'

const DIGEST_LENGTH_MAX = 256
const SHARE_MAX = 2 ** 32 - 1

/** A guess at what a remembered result holds beside its texts and errors. */
const RESULT_FIXED_BYTES = 256
const BYTES_PER_ERROR = 9

/** One result, as it is stored. */
export interface StoredResult {
  readonly key: ResultKey
  readonly result: WriteResult
  readonly expiresAt: Timestamp
}

interface RememberedResult extends StoredResult {
  readonly bytes: number
}

class Side {
  readonly bytesMax: number
  readonly keptMicros: number
  bytes = 0
  readonly results = new Map<string, RememberedResult>()

  constructor(bytesMax: number, keptMs: number) {
    this.bytesMax = bytesMax
    this.keptMicros = keptMs * 1000
  }

  /** Forgets the oldest until `extraBytes` more fit, or none is left that may be forgotten. */
  makeRoom(extraBytes: number, forgetsExpiredOnly: boolean, now: Timestamp): void {
    for (const [name, remembered] of this.results) {
      if (this.bytes + extraBytes <= this.bytesMax) return
      if (forgetsExpiredOnly && remembered.expiresAt > now) return
      this.forget(name, remembered)
    }
  }

  forget(name: string, remembered: RememberedResult): void {
    this.results.delete(name)
    this.bytes -= remembered.bytes
  }
}

/** Throws INVALID_ARGUMENT when a key is not one that the WAL can give back as it was. */
export function checkResultKey({ key, share, digest }: ResultKey): void {
  if (key.length > RESULT_KEY_LENGTH_MAX || digest.length > DIGEST_LENGTH_MAX) {
    throw invalidArgument(`result key is longer than the limit of ${RESULT_KEY_LENGTH_MAX}`, {
      limit: RESULT_KEY_LENGTH_MAX,
    })
  }
  if (!key.isWellFormed() || !digest.isWellFormed()) {
    throw invalidArgument('result key has a lone surrogate')
  }
  if (!Number.isInteger(share) || share < 0 || share > SHARE_MAX) {
    throw invalidArgument('result key has no number of a share')
  }
}

/**
 * See the file's header. Times are physical microseconds.
 *
 * What is stored is read when a result is first asked for: whoever only reads rows needs none.
 */
export class ResultCache {
  readonly #clients = new Side(RESULT_BYTES_MAX, RESULT_KEPT_MS)
  readonly #fronts = new Side(FRONT_RESULT_BYTES_MAX, FRONT_RESULT_KEPT_MS)

  #readStored: (() => readonly StoredResult[]) | null

  /** `readStored` gives the results that are stored, all of them older than any remembered here. */
  constructor(readStored: (() => readonly StoredResult[]) | null = null) {
    this.#readStored = readStored
  }

  /** Bytes of all results remembered, but for stored ones that nobody needed yet. */
  get bytes(): number {
    return this.#clients.bytes + this.#fronts.bytes
  }

  /** Results remembered, expired ones that nobody asked for included. */
  get count(): number {
    return this.#clients.results.size + this.#fronts.results.size
  }

  /**
   * The remembered result of a share, or undefined when there is none or it has expired.
   * Throws: INVALID_ARGUMENT when the share's bytes are not those of the first request; ABORTED
   * when it was to replace another result than the one remembered; CORRUPTION when what is stored
   * is damaged. Cost: the first time, at most 1 row read.
   */
  find(key: ResultKey, now: Timestamp): WriteResult | undefined {
    this.#haveStored()
    const side = this.#sideOf(key)
    const name = nameOf(key)
    const remembered = side.results.get(name)
    if (remembered === undefined) return undefined
    if (remembered.expiresAt <= now) {
      side.forget(name, remembered)
      return undefined
    }
    if (remembered.key.digest === key.digest) return remembered.result
    if (key.replaces === undefined) throw otherRequest()
    if (remembered.key.digest === key.replaces) return undefined
    throw keyInUse()
  }

  /**
   * What is remembered of a share, whatever its digest; undefined when nothing is. Throws:
   * CORRUPTION. Cost: as `find`.
   */
  peek(
    key: Pick<ResultKey, 'key' | 'share' | 'isInternal'>,
    now: Timestamp,
  ): StoredResult | undefined {
    this.#haveStored()
    const remembered = this.#sideOf(key).results.get(nameOf(key))
    return remembered === undefined || remembered.expiresAt <= now ? undefined : remembered
  }

  /**
   * Makes room for a share's result. Throws: THROTTLED when clients' keys fill their budget.
   */
  reserve(key: ResultKey, errorCount: number, now: Timestamp): void {
    const side = this.#sideOf(key)
    const extraBytes = sizeOf(key, errorCount)
    side.makeRoom(extraBytes, !key.isInternal, now)
    if (side.bytes + extraBytes <= side.bytesMax) return
    throw new StatusError(
      'THROTTLED',
      `tablet remembers as many idempotency keys as fit ${side.bytesMax} bytes`,
      { limit: side.bytesMax },
    )
  }

  /** When a share's result expires that is remembered at `now`. */
  expiryOf(key: ResultKey, now: Timestamp): Timestamp {
    return now + this.#sideOf(key).keptMicros
  }

  /** Puts the stored results before all that are remembered here. */
  #haveStored(): void {
    if (this.#readStored === null) return
    const older = this.#readStored()
    this.#readStored = null
    const newer: StoredResult[] = []
    for (const side of [this.#clients, this.#fronts]) {
      newer.push(...side.results.values())
      side.results.clear()
      side.bytes = 0
    }
    for (const { key, result, expiresAt } of older) this.remember(key, result, expiresAt)
    for (const { key, result, expiresAt } of newer) this.remember(key, result, expiresAt)
  }

  /** Remembers a share's result. Requires: `reserve`d, or read back from the WAL. */
  remember(key: ResultKey, result: WriteResult, expiresAt: Timestamp): void {
    const side = this.#sideOf(key)
    const name = nameOf(key)
    const before = side.results.get(name)
    if (before !== undefined) side.forget(name, before)
    const bytes = sizeOf(key, result.errors.rows.length)
    const { share, digest, isInternal } = key
    const kept = { key: key.key, share, digest, isInternal }
    side.results.set(name, { key: kept, result, expiresAt, bytes })
    side.bytes += bytes
    if (key.isInternal) side.makeRoom(0, false, expiresAt)
  }

  /**
   * Visits every result, of each side the oldest first, expired ones included. Throws: CORRUPTION.
   */
  forEach(visit: (key: ResultKey, result: WriteResult, expiresAt: Timestamp) => void): void {
    this.#haveStored()
    for (const side of [this.#clients, this.#fronts]) {
      for (const { key, result, expiresAt } of side.results.values()) visit(key, result, expiresAt)
    }
  }

  /** Asserts I1. */
  checkInvariants(): void {
    for (const side of [this.#clients, this.#fronts]) {
      let bytes = 0
      for (const remembered of side.results.values()) bytes += remembered.bytes
      assert(bytes === side.bytes, 'bytes of remembered results are not their sum')
    }
  }

  #sideOf(key: Pick<ResultKey, 'isInternal'>): Side {
    return key.isInternal ? this.#fronts : this.#clients
  }
}

/** The failure of a key that was used before with another digest. */
export function otherRequest(): StatusError {
  return invalidArgument('idempotency key was used before with another request')
}

/** The failure of a key with which another request does its work. */
export function keyInUse(): StatusError {
  return new StatusError('ABORTED', 'another request with the same idempotency key is under way')
}

function nameOf({ share, key }: Pick<ResultKey, 'share' | 'key'>): string {
  return `${share}:${key}`
}

function sizeOf(key: ResultKey, errorCount: number): number {
  return (
    RESULT_FIXED_BYTES + 2 * (key.key.length + key.digest.length) + errorCount * BYTES_PER_ERROR
  )
}

/**
 * The ops of a tablet since its stores were last flushed, one entry an op, in generations.
 *
 *   generation 4           generation 5           generation 6
 *   ┌──┬──┬──┬──┬──┐       ┌──┬──┬──┬──┐          ┌──┬──┐
 *   │op│op│op│op│op│       │op│op│op│op│          │op│op│ ◄── append
 *   └──┴──┴──┴──┴──┘       └──┴──┴──┴──┘          └──┴──┘
 *   closed at 16 MiB       closed                 open
 *
 * An entry is one stored row, or several when it is larger than one may be; all rows of an entry
 * are written in one transaction, so an entry is there as a whole or not at all.
 *
 * Billing: an entry 1 row written per 1.9 MB begun. Beginning a generation adds 3 to the op that
 * does so: 2 for the table, 1 for the superblock that names it.
 *
 *  I1  live generations are consecutive numbers, WAL_GENERATION_COUNT_MAX at most; the last
 *      is open;
 *  I2  timestamps of entries ascend strictly, over generations too.
 */

import { TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import {
  STORED_ROW_BYTES_MAX,
  WAL_GENERATION_BYTES_MAX,
  WAL_GENERATION_COUNT_MAX,
} from '../common/limits.ts'
import { CorruptionError, StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import { concatBytes } from '../util/bytes.ts'
import { VERIFY } from '../util/verify.ts'
import type { TabletStore } from './ports.ts'
import { decodeWalEntry, type WalEntry, WalEntryEncoder } from './wal-entry.ts'

/** The generation that a new tablet begins with. */
export const WAL_GENERATION_FIRST = 1

/** One for all tablets: the store keeps nothing of what it is given. */
const scratchEncoder = new WalEntryEncoder()

/** See the file's header. */
export class Wal {
  readonly #store: TabletStore
  readonly #generations: number[]
  #openBytes: number
  #closedBytes: number
  #lastTimestamp: Timestamp

  private constructor(
    store: TabletStore,
    generations: readonly number[],
    bytesByGeneration: readonly number[],
    lastTimestamp: Timestamp,
  ) {
    assert(generations.length > 0, 'a tablet has a WAL generation')
    this.#store = store
    this.#generations = [...generations]
    this.#openBytes = bytesByGeneration[bytesByGeneration.length - 1]
    this.#closedBytes = bytesByGeneration.reduce((sum, bytes) => sum + bytes, 0) - this.#openBytes
    this.#lastTimestamp = lastTimestamp
  }

  /** The WAL of a new tablet. Requires: inside `transact`. */
  static create(store: TabletStore): Wal {
    store.createWal(WAL_GENERATION_FIRST)
    return new Wal(store, [WAL_GENERATION_FIRST], [0], TIMESTAMP_MIN)
  }

  /**
   * The WAL in storage, after `visit` has seen its entries in the order of their timestamps.
   *
   * Throws: CORRUPTION that names generation and stored row, and what `visit` throws.
   */
  static replay(
    store: TabletStore,
    generations: readonly number[],
    visit: (entry: WalEntry, where: string) => void,
  ): Wal {
    let lastTimestamp: Timestamp = TIMESTAMP_MIN
    const bytesByGeneration = generations.map((generation) =>
      readGeneration(store, generation, (entry, where) => {
        if (entry.timestamp <= lastTimestamp) {
          throw new CorruptionError(`${where}: its timestamp is not above the one before`)
        }
        lastTimestamp = entry.timestamp
        visit(entry, where)
      }),
    )
    return new Wal(store, generations, bytesByGeneration, lastTimestamp)
  }

  /** Live generations, oldest first; the last one is open. */
  get generations(): readonly number[] {
    return this.#generations
  }

  /** Bytes of all live generations. */
  get bytes(): number {
    return this.#closedBytes + this.#openBytes
  }

  /** Time of the newest entry; TIMESTAMP_MIN when there is none. */
  get lastTimestamp(): Timestamp {
    return this.#lastTimestamp
  }

  /**
   * Makes sure that the next entry has a place. Throws: SERVICE_UNAVAILABLE when all generations
   * are full.
   */
  reserve(): void {
    if (!this.#isOpenFull() || this.#generations.length < WAL_GENERATION_COUNT_MAX) return
    throw new StatusError('SERVICE_UNAVAILABLE', 'tablet has too much unflushed WAL', {
      limit: WAL_GENERATION_BYTES_MAX * WAL_GENERATION_COUNT_MAX,
      retryable: true,
    })
  }

  /**
   * Appends an entry. Returns whether it began a generation, so that the superblock must be written
   * in the same transaction. Requires: inside `transact`, after `reserve`.
   */
  append(entry: WalEntry): boolean {
    assert(entry.timestamp > this.#lastTimestamp, 'ops are logged in the order of their timestamps')
    const hasBegun = this.#isOpenFull()
    if (hasBegun) this.#beginGeneration()
    const generation = this.#generations[this.#generations.length - 1]
    const bytes = scratchEncoder.encode(entry, generation)
    if (VERIFY) decodeWalEntry(bytes.slice(), generation, 'an entry just encoded')
    this.#store.appendWal(generation, cutIntoParts(bytes))
    this.#openBytes += bytes.length
    this.#lastTimestamp = entry.timestamp
    return hasBegun
  }

  #isOpenFull(): boolean {
    return this.#openBytes >= WAL_GENERATION_BYTES_MAX
  }

  #beginGeneration(): void {
    assert(this.#generations.length < WAL_GENERATION_COUNT_MAX, 'a generation was reserved')
    const generation = this.#generations[this.#generations.length - 1] + 1
    this.#store.createWal(generation)
    this.#generations.push(generation)
    this.#closedBytes += this.#openBytes
    this.#openBytes = 0
  }

  /** Asserts I1. */
  checkInvariants(): void {
    const generations = this.#generations
    assert(generations.length <= WAL_GENERATION_COUNT_MAX, 'more live generations than slots')
    for (let i = 1; i < generations.length; i++) {
      assert(generations[i] === generations[i - 1] + 1, 'live generations are consecutive')
    }
  }
}

function cutIntoParts(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length <= STORED_ROW_BYTES_MAX) return [bytes]
  const parts: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += STORED_ROW_BYTES_MAX) {
    parts.push(bytes.subarray(start, Math.min(bytes.length, start + STORED_ROW_BYTES_MAX)))
  }
  return parts
}

/** Visits the entries of a generation. Returns their bytes. */
function readGeneration(
  store: TabletStore,
  generation: number,
  visit: (entry: WalEntry, where: string) => void,
): number {
  let idExpected = 1
  let bytesRead = 0
  let firstId = 0
  let pending: Uint8Array[] = []
  let pendingLeft = 0
  store.readWal(generation, (id, partsLeft, payload) => {
    const here = `WAL generation ${generation}, stored row ${id}`
    if (id !== idExpected) throw new CorruptionError(`${here}: row ${idExpected} is missing`)
    idExpected++
    if (pending.length === 0) firstId = id
    else if (partsLeft !== pendingLeft - 1) {
      throw new CorruptionError(`${here}: parts of an entry are out of order`)
    }
    pending.push(payload)
    pendingLeft = partsLeft
    if (partsLeft > 0) return
    const bytes = pending.length === 1 ? payload : concatBytes(...pending)
    pending = []
    bytesRead += bytes.length
    const where = `WAL generation ${generation}, entry at row ${firstId}`
    visit(decodeWalEntry(bytes, generation, where), where)
  })
  if (pending.length > 0) {
    throw new CorruptionError(`WAL generation ${generation}: the entry at row ${firstId} is cut`)
  }
  return bytesRead
}

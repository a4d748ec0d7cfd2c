/**
 * The ops of a tablet since its stores were last flushed, one entry an op, in generations.
 *
 *   generation 4           generation 5           generation 6
 *   ┌──┬──┬──┬──┬──┐       ┌──┬──┬──┬──┐          ┌──┬──┐
 *   │op│op│op│op│op│       │op│op│op│op│          │op│op│ ◄── append
 *   └──┴──┴──┴──┴──┘       └──┴──┴──┴──┘          └──┴──┘
 *   dropped by the commit  closed at 16 MiB,      open
 *   after which no store   or by a flush
 *   holds an unflushed
 *   change of it
 *
 * An entry is one stored row, or several when it is larger than one may be; all rows of an entry
 * are written in one transaction, so an entry is there as a whole or not at all.
 *
 * Billing: an entry 1 row written per 1.9 MB begun. Beginning a generation adds 3 to the op that
 * does so: 2 for the table, 1 for the superblock that names it.
 *
 *  I1  live generations are consecutive numbers, WAL_GENERATION_COUNT_MAX at most; the last
 *      is open and is never dropped;
 *  I2  timestamps of entries ascend strictly, over generations too.
 */

import { TIMESTAMP_MAX, TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import {
  STORED_ROW_BYTES_MAX,
  WAL_GENERATION_BYTES_MAX,
  WAL_GENERATION_COUNT_FLUSHED_MAX,
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

/** A live generation. */
export interface WalGeneration {
  readonly number: number
  /** Times of its first and its last entry; TIMESTAMP_MIN while it has none. */
  readonly firstTimestamp: Timestamp
  readonly lastTimestamp: Timestamp
  readonly bytes: number
  /** Stored rows. */
  readonly rowCount: number
  /** When the last of the results in it expires; TIMESTAMP_MIN when there is none. */
  readonly resultsUntil: Timestamp
}

class Generation implements WalGeneration {
  readonly number: number
  firstTimestamp: Timestamp = TIMESTAMP_MIN
  lastTimestamp: Timestamp = TIMESTAMP_MIN
  bytes = 0
  rowCount = 0
  resultsUntil: Timestamp = TIMESTAMP_MIN

  constructor(number: number) {
    this.number = number
  }

  add(entry: WalEntry, bytes: number, rowCount: number): void {
    if (this.rowCount === 0) this.firstTimestamp = entry.timestamp
    this.lastTimestamp = entry.timestamp
    this.bytes += bytes
    this.rowCount += rowCount
    if (entry.resultKey === null) return
    this.resultsUntil = Math.max(this.resultsUntil, entry.expiresAt)
  }
}

/** See the file's header. */
export class Wal {
  readonly #store: TabletStore
  /** Oldest first. */
  readonly #live: Generation[]
  #lastTimestamp: Timestamp

  private constructor(store: TabletStore, live: readonly Generation[], lastTimestamp: Timestamp) {
    assert(live.length > 0, 'a tablet has a WAL generation')
    this.#store = store
    this.#live = [...live]
    this.#lastTimestamp = lastTimestamp
  }

  /** The WAL of a new tablet. Requires: inside `transact`. */
  static create(store: TabletStore): Wal {
    store.createWal(WAL_GENERATION_FIRST)
    return new Wal(store, [new Generation(WAL_GENERATION_FIRST)], TIMESTAMP_MIN)
  }

  /**
   * The WAL in storage, to be replayed before anything is appended. `droppedUntil`: no op that was
   * logged in a dropped generation is above it.
   */
  static open(
    store: TabletStore,
    generations: readonly number[],
    droppedUntil: Timestamp = TIMESTAMP_MIN,
  ): Wal {
    const live = generations.map((number) => new Generation(number))
    return new Wal(store, live, droppedUntil)
  }

  /**
   * Visits the entries in the order of their timestamps. Throws: CORRUPTION that names generation
   * and stored row, and what `visit` throws. Requires: called once, after `open`.
   */
  replay(visit: (entry: WalEntry, where: string) => void): void {
    let lastTimestamp: Timestamp = TIMESTAMP_MIN
    for (const generation of this.#live) {
      readGeneration(this.#store, generation.number, (entry, where, bytes, rowCount) => {
        if (entry.timestamp <= lastTimestamp) {
          throw new CorruptionError(`${where}: its timestamp is not above the one before`)
        }
        lastTimestamp = entry.timestamp
        generation.add(entry, bytes, rowCount)
        visit(entry, where)
      })
    }
    this.#lastTimestamp = Math.max(this.#lastTimestamp, lastTimestamp)
  }

  /** Live generations, oldest first; the last one is open. */
  get generations(): readonly number[] {
    return this.#live.map(({ number }) => number)
  }

  /** The same, with what is known of them. */
  get live(): readonly WalGeneration[] {
    return this.#live
  }

  /** Bytes of all live generations. */
  get bytes(): number {
    let bytes = 0
    for (const generation of this.#live) bytes += generation.bytes
    return bytes
  }

  /** Stored rows of all live generations. */
  get rowCount(): number {
    let rowCount = 0
    for (const generation of this.#live) rowCount += generation.rowCount
    return rowCount
  }

  /** Time of the oldest live entry; TIMESTAMP_MAX when there is none. */
  get firstTimestamp(): Timestamp {
    for (const { rowCount, firstTimestamp } of this.#live) if (rowCount > 0) return firstTimestamp
    return TIMESTAMP_MAX
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
    if (!this.#isOpenFull() || this.#live.length < WAL_GENERATION_COUNT_MAX) return
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
    if (hasBegun) this.#begin()
    const open = this.#live[this.#live.length - 1]
    const bytes = scratchEncoder.encode(entry, open.number)
    if (VERIFY) decodeWalEntry(bytes.slice(), open.number, 'an entry just encoded')
    const parts = cutIntoParts(bytes)
    this.#store.appendWal(open.number, parts)
    open.add(entry, bytes.length, parts.length)
    this.#lastTimestamp = entry.timestamp
    return hasBegun
  }

  /**
   * Closes the open generation, so that it can be dropped once nothing needs it. One without
   * entries stays open, and so does every one while few numbers are left: those are for entries.
   *
   * Returns: whether there is a new generation, so that the superblock must be written in the same
   * transaction. Requires: inside `transact`.
   */
  beginGeneration(): boolean {
    const open = this.#live[this.#live.length - 1]
    if (open.rowCount === 0 || this.#live.length >= WAL_GENERATION_COUNT_FLUSHED_MAX) return false
    this.#begin()
    return true
  }

  /**
   * How many generations, from the oldest, hold no change at or above `anchor`: the time of the
   * oldest unflushed change, TIMESTAMP_MAX when there is none. The open one never counts.
   */
  droppableCount(anchor: Timestamp): number {
    const closedCount = this.#live.length - 1
    let count = 0
    while (count < closedCount && this.#live[count].lastTimestamp < anchor) count++
    return count
  }

  /** Time of the newest entry of the oldest `count` generations. */
  lastTimestampOf(count: number): Timestamp {
    let last: Timestamp = TIMESTAMP_MIN
    for (let i = 0; i < count; i++) last = Math.max(last, this.#live[i].lastTimestamp)
    return last
  }

  /** Until when some result in the oldest `count` generations is to be remembered. */
  resultsUntilOf(count: number): Timestamp {
    let until: Timestamp = TIMESTAMP_MIN
    for (let i = 0; i < count; i++) until = Math.max(until, this.#live[i].resultsUntil)
    return until
  }

  /**
   * Drops the oldest generations. Requires: inside `transact`, which also writes a superblock
   * without them; at most `droppableCount`.
   */
  drop(count: number): void {
    assert(count < this.#live.length, 'the open generation is never dropped')
    for (const { number } of this.#live.splice(0, count)) this.#store.dropWal(number)
  }

  #isOpenFull(): boolean {
    return this.#live[this.#live.length - 1].bytes >= WAL_GENERATION_BYTES_MAX
  }

  #begin(): void {
    assert(this.#live.length < WAL_GENERATION_COUNT_MAX, 'a generation was reserved')
    const number = this.#live[this.#live.length - 1].number + 1
    this.#store.createWal(number)
    this.#live.push(new Generation(number))
  }

  /** Asserts I1 and I2. */
  checkInvariants(): void {
    const live = this.#live
    assert(live.length <= WAL_GENERATION_COUNT_MAX, 'more live generations than slots')
    let lastTimestamp: Timestamp = TIMESTAMP_MIN
    for (let i = 0; i < live.length; i++) {
      if (i > 0) assert(live[i].number === live[i - 1].number + 1, 'generations are consecutive')
      if (live[i].rowCount === 0) continue
      assert(live[i].firstTimestamp > lastTimestamp, 'timestamps ascend over generations')
      lastTimestamp = live[i].lastTimestamp
    }
    assert(lastTimestamp <= this.#lastTimestamp, 'the newest entry is known')
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

/** Visits the entries of a generation, with their bytes and how many stored rows they take. */
function readGeneration(
  store: TabletStore,
  generation: number,
  visit: (entry: WalEntry, where: string, bytes: number, rowCount: number) => void,
): void {
  let idExpected = 1
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
    const where = `WAL generation ${generation}, entry at row ${firstId}`
    visit(decodeWalEntry(bytes, generation, where), where, bytes.length, id - firstId + 1)
  })
  if (pending.length > 0) {
    throw new CorruptionError(`WAL generation ${generation}: the entry at row ${firstId} is cut`)
  }
}

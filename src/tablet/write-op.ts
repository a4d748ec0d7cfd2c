/**
 * What one op needs while it is decided and applied: its rows, their keys, and a place a row for
 * what is found out. Used again for every op; nothing in it outlives the section
 * that works on the op. Hot.
 *
 *   row            0     1     2     3     4
 *   keys           k     q     k     z     k     encoded primary keys, in one arena
 *   leaders        0     1     0     3     0     the first row with the same key
 *   stores         0     0     0     2     0     which store has the version that the row is about
 *   slots          7    −1     7    11     7     where that has the key, or ABSENT_SLOT
 *   presence      LIVE   –   LIVE  LIVE  LIVE    by leader: what the key is for the next row
 *   keyStores      0     0     0     2     0     by leader: which store has that
 *   touched                                      which kinds of non-key columns the row sets
 *   outcomes                                     what was done with the row (row-outcome.ts)
 */

import type { ColumnVector } from '../common/column-vector.ts'
import { encodeKeys } from '../common/encoded-key.ts'
import { hashKeys } from '../common/hash-keys.ts'
import { RowBlock } from '../common/row-block.ts'
import { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { equalBytes } from '../util/bytes.ts'
import type { DiskRowSet } from './disk/disk-row-set.ts'

/** Slot of a key that the store does not know. */
export const ABSENT_SLOT = -1

/** What a key is to the tablet. */
export const PRESENCE = {
  /** No version of it, or one that ended in a store to which no row is added any more. */
  ABSENT: 0,
  /** Its last version is in the active MemRowSet, and is a delete. */
  GHOST: 1,
  LIVE: 2,
} as const

/** Stores by number; `FIRST_ROW_SET + i` is `rowSets[i]` of the op. */
export const STORES = {
  /** The active MemRowSet. Absent keys are its: it takes them in. */
  ACTIVE: 0,
  /** The MemRowSet that is being flushed. */
  FROZEN: 1,
  FIRST_ROW_SET: 2,
} as const

const CAPACITY_MIN = 16
/** An arena of keys that grew beyond it is given back. Keys of a full share take less. */
const KEPT_KEY_BYTES_MAX = 2 * 1024 * 1024
const NO_BLOCK = new RowBlock(0, [], [], new Uint8Array(0))
const NO_OPERATIONS = new Uint8Array(0)

/** See the file's header. */
export class WriteOp {
  readonly keys = new KeyArena(CAPACITY_MIN)
  block: RowBlock = NO_BLOCK
  /** One a row: `ROW_OPERATIONS`. */
  operations: Uint8Array = NO_OPERATIONS
  rowCount = 0
  /** Whether some rows of the op have the same key. Then `leaders` is meaningful. */
  hasDuplicates = false
  hashes = new Uint32Array(CAPACITY_MIN)
  stores = new Uint16Array(CAPACITY_MIN)
  slots = new Int32Array(CAPACITY_MIN)
  keyStores = new Uint16Array(CAPACITY_MIN)
  leaders = new Int32Array(CAPACITY_MIN)
  presence = new Uint8Array(CAPACITY_MIN)
  touched = new Uint8Array(CAPACITY_MIN)
  outcomes = new Uint8Array(CAPACITY_MIN)
  /** The column that a row's error is about, or −1. */
  errorColumnIds = new Int32Array(CAPACITY_MIN)
  /** Row numbers `[0, capacity)`: what a pass over all rows is given as its list of rows. */
  allRows = new Uint32Array(CAPACITY_MIN)
  /** Rowsets on disk that have a live row of the op. */
  readonly rowSets: DiskRowSet[] = []
  /** Scratch: slots or ordinals that one store has. */
  found = new Int32Array(CAPACITY_MIN)
  /** Scratch: row numbers of a pass over some rows. */
  someRows = new Uint32Array(CAPACITY_MIN)
  #table = new Int32Array(CAPACITY_MIN * 2)
  #ordinals = new Int32Array(0)

  constructor() {
    this.#grow(CAPACITY_MIN)
  }

  /** Begins an op: forgets the one before. Requires: the block has operations. */
  begin(block: RowBlock): void {
    assert(block.operations !== null, 'an op needs the operations of its rows')
    const rowCount = block.rowCount
    if (rowCount > this.outcomes.length) this.#grow(Math.max(rowCount, this.outcomes.length * 2))
    this.block = block
    this.operations = block.operations
    this.rowCount = rowCount
    this.hasDuplicates = false
    this.keys.truncate(0)
    this.keys.count = 0
    this.outcomes.fill(0, 0, rowCount)
    this.touched.fill(0, 0, rowCount)
  }

  /** Scratch: an ordinal a row, all absent. */
  absentOrdinals(): Int32Array {
    if (this.#ordinals.length < this.rowCount) this.#ordinals = new Int32Array(this.outcomes.length)
    return this.#ordinals.fill(ABSENT_SLOT, 0, this.rowCount)
  }

  /** The number of a rowset that has a live row of the op. Cost: O(1) for the one asked last. */
  storeOf(rowSet: DiskRowSet): number {
    let index = this.rowSets.length - 1
    while (index >= 0 && this.rowSets[index] !== rowSet) index--
    if (index < 0) index = this.rowSets.push(rowSet) - 1
    return STORES.FIRST_ROW_SET + index
  }

  /** Lets go of what may be large. Requires: nobody holds on to the keys. */
  end(): void {
    this.rowSets.length = 0
    if (this.keys.bytes.length > KEPT_KEY_BYTES_MAX) this.keys.bytes = new Uint8Array(256)
    this.keys.truncate(0)
    this.keys.count = 0
    this.block = NO_BLOCK
    this.operations = NO_OPERATIONS
    this.rowCount = 0
  }

  /**
   * Encodes and hashes the keys of all rows. Rows without a whole key get some key all the same.
   */
  encodeKeys(keyColumns: readonly ColumnVector[], keyHashSeed: number): void {
    encodeKeys(keyColumns, this.rowCount, this.keys)
    hashKeys(this.keys, 0, keyHashSeed, this.hashes)
  }

  /**
   * Groups the rows by key: sets `leaders`. Only an op with duplicates needs it.
   * Cost: one probe a row into a table of twice as many places.
   */
  findLeaders(): void {
    const hasDuplicates = findLeaders(this.keys, this.hashes, this.#tableFor(), this.leaders)
    assert(hasDuplicates === this.hasDuplicates, 'keys were counted wrong')
  }

  /** The same, and sets `hasDuplicates`, for an op whose keys nobody counted. */
  countDuplicates(): void {
    this.hasDuplicates = findLeaders(this.keys, this.hashes, this.#tableFor(), this.leaders)
  }

  #tableFor(): Int32Array {
    let size = CAPACITY_MIN
    while (size < this.rowCount * 2) size *= 2
    if (this.#table.length < size) this.#table = new Int32Array(size)
    return this.#table.subarray(0, size).fill(-1)
  }

  #grow(capacity: number): void {
    this.hashes = new Uint32Array(capacity)
    this.stores = new Uint16Array(capacity)
    this.slots = new Int32Array(capacity)
    this.found = new Int32Array(capacity)
    this.keyStores = new Uint16Array(capacity)
    this.leaders = new Int32Array(capacity)
    this.presence = new Uint8Array(capacity)
    this.touched = new Uint8Array(capacity)
    this.outcomes = new Uint8Array(capacity)
    this.errorColumnIds = new Int32Array(capacity)
    this.allRows = new Uint32Array(capacity)
    this.someRows = new Uint32Array(capacity)
    for (let row = 0; row < capacity; row++) this.allRows[row] = row
  }
}

/**
 * Writes the first row with the same key to `leaders` for each key. Returns whether any two are the
 * same.
 *
 * Requires: `table` is all −1, its length a power of two above the number of keys.
 */
function findLeaders(
  keys: KeyArena,
  hashes: Uint32Array,
  table: Int32Array,
  leaders: Int32Array,
): boolean {
  const { bytes, ends, count } = keys
  const mask = table.length - 1
  let hasDuplicates = false
  for (let row = 0; row < count; row++) {
    const hash = hashes[row]
    let place = hash & mask
    let leader = table[place]
    while (leader !== -1) {
      if (hashes[leader] === hash) {
        const leaderStart = leader === 0 ? 0 : ends[leader - 1]
        const start = row === 0 ? 0 : ends[row - 1]
        if (equalBytes(bytes, leaderStart, ends[leader], bytes, start, ends[row])) break
      }
      place = (place + 1) & mask
      leader = table[place]
    }
    if (leader === -1) {
      table[place] = row
      leaders[row] = row
    } else {
      leaders[row] = leader
      hasDuplicates = true
    }
  }
  return hasDuplicates
}

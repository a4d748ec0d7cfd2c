/**
 * Where in a MemRowSet a key is. Hot.
 *
 * An open-addressed table of pairs (hash, slot + 1), probed in steps of one pair; a zero in the
 * second place is an empty place. A key that is absent, the common case of an insert, is told by
 * hashes alone.
 */

import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import type { MemRowStore } from './mem-row-store.ts'

/** What a search gives for a key that is in no slot. */
export const ABSENT = -1

const CAPACITY_MIN = 64

/**
 * Slots by the hash of their keys; the keys themselves lie in the row store.
 *
 *  I1  each slot is in the table once, at or behind the place of its hash, with no empty place
 *      between;
 *  I2  at most three quarters of the places are taken, so that a search ends soon.
 */
export class KeyIndex {
  #table = new Int32Array(CAPACITY_MIN * 2)
  #mask = CAPACITY_MIN - 1
  #count = 0

  /** Bytes held in memory. */
  get heldBytes(): number {
    return this.#table.byteLength
  }

  /** Slots in the table. */
  get count(): number {
    return this.#count
  }

  /**
   * Finds keys `[0, count)`: writes to `out` the slot of each, or `ABSENT`.
   *
   * Requires: `hashes[i]` is the hash of key `i`. Cost: a probe a key, no allocation.
   */
  findSlots(
    rows: MemRowStore,
    keys: KeyArena,
    hashes: Uint32Array,
    count: number,
    out: Int32Array,
  ): void {
    for (let i = 0; i < count; i++) out[i] = this.findSlot(rows, keys, i, hashes[i])
  }

  /** The slot of key `index`, or `ABSENT`. */
  findSlot(rows: MemRowStore, keys: KeyArena, index: number, hash: number): number {
    const table = this.#table
    const mask = this.#mask
    const wanted = hash | 0
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const slot = table[place * 2 + 1] - 1
      if (slot < 0) return ABSENT
      if (table[place * 2] === wanted && rows.hasKey(slot, keys, index)) return slot
    }
  }

  /** Writes the hash of each slot to `out`. Cost: O(places), in the order of the table. */
  readHashes(out: Uint32Array): void {
    const table = this.#table
    for (let i = 0; i < table.length; i += 2) {
      if (table[i + 1] !== 0) out[table[i + 1] - 1] = table[i]
    }
  }

  /** Makes room for `extraSlots` more. */
  reserve(extraSlots: number): void {
    const needed = this.#count + extraSlots
    let capacity = this.#mask + 1
    while (needed * 4 > capacity * 3) capacity *= 2
    if (capacity > this.#mask + 1) this.#grow(capacity)
  }

  /** Puts a slot in. Requires: its key is absent; there is room. */
  add(hash: number, slot: number): void {
    const table = this.#table
    const mask = this.#mask
    let place = hash & mask
    while (table[place * 2 + 1] !== 0) place = (place + 1) & mask
    table[place * 2] = hash
    table[place * 2 + 1] = slot + 1
    this.#count++
  }

  #grow(capacity: number): void {
    const old = this.#table
    const table = new Int32Array(capacity * 2)
    const mask = capacity - 1
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue
      let place = old[i] & mask
      while (table[place * 2 + 1] !== 0) place = (place + 1) & mask
      table[place * 2] = old[i]
      table[place * 2 + 1] = old[i + 1]
    }
    this.#table = table
    this.#mask = mask
  }

  /** Walks the table. Throws an AssertionError where an invariant does not hold. */
  checkInvariants(rowCount: number): void {
    const table = this.#table
    const mask = this.#mask
    const seen = new Uint8Array(rowCount)
    for (let place = 0; place <= mask; place++) {
      if (table[place * 2 + 1] === 0) continue
      const slot = table[place * 2 + 1] - 1
      assert(slot < rowCount, 'an indexed slot exists')
      assert(seen[slot] === 0, 'a slot is indexed once')
      seen[slot] = 1
      for (let at = table[place * 2] & mask; at !== place; at = (at + 1) & mask) {
        assert(table[at * 2 + 1] !== 0, 'no gap parts a slot from the place of its hash')
      }
    }
    assert(this.#count === rowCount, 'every slot is indexed')
    assert(this.#count * 4 <= (mask + 1) * 3, 'the index keeps a quarter of its places free')
  }
}

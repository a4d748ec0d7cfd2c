/** Different byte strings, each with a number. Hot: no object a string. */

import { KeyArena } from '../../util/arena.ts'
import { equalBytes } from '../../util/bytes.ts'

const SLOT_COUNT_MIN = 1024
/**
 * Slots that are looked at for a string. One that has not found its place by then gets a number of
 * its own each time it comes: who makes strings collide on purpose gets a larger dictionary, not a
 * slow one.
 */
const PROBE_COUNT_MAX = 32

/**
 * Numbers byte strings in the order of their first appearance.
 *
 *  I1  a slot is 0 or the number of a value plus one; at most half of the slots are taken;
 *  I2  `#hashes[code]` is the hash of value `code`.
 */
export class ByteDictionary {
  /** The values, by number. */
  readonly values = new KeyArena(SLOT_COUNT_MIN, SLOT_COUNT_MIN * 8)
  #slots = new Int32Array(SLOT_COUNT_MIN)
  #hashes = new Int32Array(SLOT_COUNT_MIN)

  /** Values so far. */
  get count(): number {
    return this.values.count
  }

  /** The number of `bytes[start, end)`, which is a new one if it was not there. */
  codeOf(bytes: Uint8Array, start: number, end: number): number {
    const { values } = this
    const slots = this.#slots
    const hashes = this.#hashes
    const hash = hashOf(bytes, start, end)
    const mask = slots.length - 1
    let slot = hash & mask
    for (let probe = 0; probe < PROBE_COUNT_MAX; probe++) {
      const code = slots[slot] - 1
      if (code < 0) return this.#add(bytes, start, end, hash, slot)
      if (hashes[code] === hash) {
        const from = values.start(code)
        if (equalBytes(values.bytes, from, values.ends[code], bytes, start, end)) return code
      }
      slot = (slot + 1) & mask
    }
    return this.#add(bytes, start, end, hash, -1)
  }

  /** Forgets all values. */
  clear(): void {
    this.values.clear()
    this.#slots.fill(0)
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const { values } = this
    const code = values.count
    values.append(bytes, start, end)
    values.endKey()
    if (code === this.#hashes.length) this.#growHashes()
    this.#hashes[code] = hash
    if (slot >= 0) this.#slots[slot] = code + 1
    if (values.count * 2 > this.#slots.length) this.#growSlots()
    return code
  }

  #growHashes(): void {
    const hashes = new Int32Array(this.#hashes.length * 2)
    hashes.set(this.#hashes)
    this.#hashes = hashes
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let code = 0; code < this.values.count; code++) {
      let slot = this.#hashes[code] & mask
      let probe = 0
      while (slots[slot] !== 0 && probe++ < PROBE_COUNT_MAX) slot = (slot + 1) & mask
      if (slots[slot] === 0) slots[slot] = code + 1
    }
    this.#slots = slots
  }
}

/** A hash of 32 bits, four bytes at a time. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  let i = start
  for (; i + 4 <= end; i += 4) {
    const word = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  for (; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

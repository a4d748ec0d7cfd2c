/** Numbers the different pairs of numbers, from 0, in the order in which they are met. Hot. */

const CAPACITY_MIN = 64
/** Numbers of a pair that have fewer bits are looked up in a table of all such pairs. */
const SMALL_BITS = 6

/** An open-addressed table of pairs; the pair numbered `n` is `first[n]`, `second[n]`. */
export class PairNumbers {
  /** Pairs met. */
  count = 0
  first = new Uint32Array(CAPACITY_MIN)
  second = new Uint32Array(CAPACITY_MIN)
  /** Numbers plus one; 0 where there is none. */
  #slots = new Uint32Array(CAPACITY_MIN * 2)
  /** Of pairs of small numbers the number plus one; 0: it was not met by `assign`. */
  readonly #small = new Uint32Array(1 << (2 * SMALL_BITS))

  /** Bytes that it holds in memory. */
  get heldBytes(): number {
    const words = this.first.length + this.second.length + this.#slots.length + this.#small.length
    return words * 4
  }

  /** Writes to `out[i]` the number of the pair `(a[i], b[i])`. `out` may be one of the two. */
  assign(a: Uint32Array, b: Uint32Array, count: number, out: Uint32Array): void {
    const small = this.#small
    let lastA = -1
    let lastB = -1
    let last = 0
    for (let i = 0; i < count; i++) {
      const first = a[i]
      const second = b[i]
      if ((first | second) >>> SMALL_BITS === 0) {
        // Few values of each, the common case: no hashing, and nothing that depends on the row.
        const place = (first << SMALL_BITS) | second
        if (small[place] === 0) small[place] = this.numberOf(first, second) + 1
        out[i] = small[place] - 1
        continue
      }
      // Neighbours are often the same.
      if (first !== lastA || second !== lastB) {
        lastA = first
        lastB = second
        last = this.numberOf(first, second)
      }
      out[i] = last
    }
  }

  /** The number of a pair, which may be new. */
  numberOf(a: number, b: number): number {
    const { first, second } = this
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hashOf(a, b) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot] - 1
      if (number < 0) return this.#add(a, b, slot)
      if (first[number] === a && second[number] === b) return number
    }
  }

  #add(a: number, b: number, slot: number): number {
    const number = this.count
    if (number === this.first.length) {
      this.first = grown(this.first)
      this.second = grown(this.second)
    }
    this.first[number] = a
    this.second[number] = b
    this.#slots[slot] = number + 1
    this.count = number + 1
    if (this.count * 4 > this.#slots.length * 3) this.#growSlots()
    return number
  }

  #growSlots(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.count; number++) {
      let slot = hashOf(this.first[number], this.second[number]) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}

function hashOf(a: number, b: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

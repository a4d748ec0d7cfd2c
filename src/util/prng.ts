/**
 * A seeded source of numbers that are random enough for tests, jitter and sampling, never for
 * secrets.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand). The same seed gives the same numbers
 * everywhere.
 */
export class Prng {
  #a = 0
  #b = 0
  #c = 0
  #counter = 1

  constructor(seed: number) {
    this.#a = seed >>> 0
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = 0x9e3779b9
    for (let i = 0; i < 15; i++) this.uint32()
  }

  /** An integer in `[0, 2^32)`. */
  uint32(): number {
    const t = (this.#a + this.#b + this.#counter) >>> 0
    this.#counter = (this.#counter + 1) >>> 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) >>> 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) >>> 0
    return t
  }

  /** An integer in `[0, bound)`. Requires: `bound` in 1 … 2^32. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * bound)
  }

  /** An integer in `[low, high]`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** A number in `[0, 1)`. */
  unit(): number {
    return this.uint32() / 2 ** 32
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.unit() < probability
  }

  /** An element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]
  }
}

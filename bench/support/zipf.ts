/**
 * Numbers as YCSB draws them: few of them often, by Zipf's law, in constant time (Gray and others,
 * Quickly Generating Billion-Record Synthetic Databases, 1994).
 */

import type { Prng } from '../../src/util/prng.ts'

/** The skew that YCSB has. */
const THETA = 0.99

/** Draws numbers `[0, count)`, the smaller the more often; `count` may grow. */
export class Zipf {
  readonly #prng: Prng
  readonly #zeta2 = 1 + 0.5 ** THETA
  #count = 0
  #zeta = 0

  constructor(prng: Prng) {
    this.#prng = prng
  }

  /** A number of `[0, count)`. Requires: `count` is at least 1, and never less than before. */
  next(count: number): number {
    while (this.#count < count) this.#zeta += 1 / (++this.#count) ** THETA
    const unit = this.#prng.unit()
    const place = unit * this.#zeta
    if (place < 1) return 0
    if (place < this.#zeta2) return Math.min(1, count - 1)
    const eta = (1 - (2 / count) ** (1 - THETA)) / (1 - this.#zeta2 / this.#zeta)
    const drawn = Math.floor(count * (eta * unit - eta + 1) ** (1 / (1 - THETA)))
    return Math.min(drawn, count - 1)
  }
}

/** Mixes the bits of a 32-bit number; different numbers stay different. */
export function scramble(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

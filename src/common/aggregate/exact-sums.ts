/**
 * Exact sums of integers, which never wrap. Hot.
 *
 *   sum of a group = plain + limb 0 + limb 1 × 2^32 + limb 2 × 2^64 + …
 *
 * Small numbers are added to `plain`, a double that is emptied into the limbs before it could
 * round. Limbs are doubles with whole numbers, any sign, of far less than 53 bits, to which words
 * are added as they are; every million additions what is above 32 bits is carried on. No number is
 * made of all the words before a result is.
 */

import { assert } from '../../util/assert.ts'
import { ColumnVector } from '../column-vector.ts'
import { PHYSICAL, type Physical } from '../data-type.ts'
import { CorruptionError } from '../status.ts'
import { type AggregateState, grownCapacity } from './aggregate-state.ts'

const WORD = 2 ** 32
/** The words of a sum: 10^38 times 2^53 rows has 180 bits. */
export const SUM_WORDS = 6
/** Beyond it plain sums are emptied: one that is not, and a number that is not, add exactly. */
const PLAIN_MAX = 2 ** 52
/** Words of less than 2^32 that can be added to a limb before it must be carried. */
const ADDITIONS_MAX = 2 ** 20

/** Words of one sum as an integer of two's complement, low word first. */
const scratchSum = new Uint32Array(SUM_WORDS)

/** See the file's header. */
export class ExactSums implements AggregateState {
  #plain = new Float64Array(0)
  /** `SUM_WORDS` a group; none until a sum needs them. */
  #limbs = new Float64Array(0)
  /** No plain sum is further from 0. */
  #plainBound = 0
  /** Additions to limbs since they were carried. */
  #additions = 0

  get heldBytes(): number {
    return this.#plain.byteLength + this.#limbs.byteLength
  }

  reserve(groupCount: number): void {
    if (groupCount <= this.#plain.length) return
    const plain = new Float64Array(grownCapacity(this.#plain.length, groupCount))
    plain.set(this.#plain)
    this.#plain = plain
    if (this.#limbs.length > 0) this.#growLimbs()
  }

  #growLimbs(): void {
    const limbs = new Float64Array(this.#plain.length * SUM_WORDS)
    limbs.set(this.#limbs)
    this.#limbs = limbs
  }

  /** Makes room for up to `count` additions to limbs. */
  #openLimbs(count: number): Float64Array {
    if (this.#limbs.length === 0) this.#growLimbs()
    assert(count <= ADDITIONS_MAX, 'a batch of additions is small')
    this.#additions += count
    if (this.#additions > ADDITIONS_MAX) {
      this.#carry(this.#plain.length)
      this.#additions = count
    }
    return this.#limbs
  }

  /**
   * Adds the whole number `values[i]` to group `groups[i]`, for `count` rows; 0 where there is
   * nothing to add. Requires: none is further from 0 than `bound`, which is at most 2^53.
   */
  addNumbers(groups: Uint32Array | null, values: Float64Array, count: number, bound: number): void {
    if (groups === null) {
      this.#addToOne(values, count, bound)
    } else if (bound * count <= PLAIN_MAX && this.#plain.length <= count) {
      this.#openPlain(bound * count)
      const plain = this.#plain
      for (let i = 0; i < count; i++) plain[groups[i]] += values[i]
    } else {
      this.#addOneByOne(groups, values, count, bound)
    }
  }

  #addToOne(values: Float64Array, count: number, bound: number): void {
    if (bound * count <= PLAIN_MAX) {
      this.#openPlain(bound * count)
      let sum = 0
      for (let i = 0; i < count; i++) sum += values[i]
      this.#plain[0] += sum
    } else {
      for (let i = 0; i < count; i++) this.#addLarge(0, values[i])
    }
  }

  /** Makes room in the plain sums of all groups for as much as `bound`, either way. */
  #openPlain(bound: number): void {
    this.#plainBound += bound
    if (this.#plainBound <= PLAIN_MAX) return
    for (let group = 0; group < this.#plain.length; group++) this.#empty(group)
    this.#plainBound = bound
  }

  /** As `addNumbers`, of numbers or groups of which there are many: each sum is looked at. */
  #addOneByOne(groups: Uint32Array, values: Float64Array, count: number, bound: number): void {
    if (bound > PLAIN_MAX) {
      for (let i = 0; i < count; i++) this.#addLarge(groups[i], values[i])
      return
    }
    const plain = this.#plain
    for (let i = 0; i < count; i++) {
      const group = groups[i]
      const sum = plain[group] + values[i]
      plain[group] = sum
      if (sum > PLAIN_MAX || sum < -PLAIN_MAX) this.#empty(group)
    }
    this.#plainBound = PLAIN_MAX
  }

  /** Moves a plain sum to its limbs. */
  #empty(group: number): void {
    const value = this.#plain[group]
    if (value === 0) return
    this.#plain[group] = 0
    this.#addLarge(group, value)
  }

  #addLarge(group: number, value: number): void {
    const limbs = this.#openLimbs(1)
    const high = Math.floor(value / WORD)
    limbs[group * SUM_WORDS] += value - high * WORD
    limbs[group * SUM_WORDS + 1] += high
  }

  /** Adds the INT64 lane `rows[i]` to group `groups[i]`, for `count` rows; lanes of null are 0. */
  addPairs(groups: Uint32Array | null, lanes: Uint32Array, rows: Uint32Array, count: number): void {
    const limbs = this.#openLimbs(count)
    for (let i = 0; i < count; i++) {
      const limb = groups === null ? 0 : groups[i] * SUM_WORDS
      const lane = rows[i] * 2
      limbs[limb] += lanes[lane]
      limbs[limb + 1] += lanes[lane + 1] | 0
    }
  }

  /** As `addPairs`, of INT128 lanes. */
  addQuads(groups: Uint32Array | null, lanes: Uint32Array, rows: Uint32Array, count: number): void {
    const limbs = this.#openLimbs(count)
    for (let i = 0; i < count; i++) {
      const limb = groups === null ? 0 : groups[i] * SUM_WORDS
      const lane = rows[i] * 4
      limbs[limb] += lanes[lane]
      limbs[limb + 1] += lanes[lane + 1]
      limbs[limb + 2] += lanes[lane + 2]
      limbs[limb + 3] += lanes[lane + 3] | 0
    }
  }

  /** As `addPairs`, of integers of less than 128 bits; 0 where there is nothing to add. */
  addIntegers(groups: Uint32Array | null, values: readonly bigint[], count: number): void {
    const limbs = this.#openLimbs(count)
    for (let i = 0; i < count; i++) {
      const limb = groups === null ? 0 : groups[i] * SUM_WORDS
      const value = values[i]
      for (let word = 0; word < 3; word++) {
        limbs[limb + word] += Number(BigInt.asUintN(32, value >> BigInt(word * 32)))
      }
      limbs[limb + 3] += Number(value >> 96n)
    }
  }

  /** Carries every limb of groups `[0, groupCount)` but the last down to 32 bits, not negative. */
  #carry(groupCount: number): void {
    const limbs = this.#limbs
    const last = SUM_WORDS - 1
    for (let limb = 0; limb < groupCount * SUM_WORDS; limb += SUM_WORDS) {
      for (let word = 0; word < last; word++) {
        const high = Math.floor(limbs[limb + word] / WORD)
        limbs[limb + word] -= high * WORD
        limbs[limb + word + 1] += high
      }
    }
    this.#additions = 0
  }

  /** Moves everything to carried limbs. */
  #settle(groupCount: number): Float64Array {
    for (let group = 0; group < groupCount; group++) this.#empty(group)
    this.#openLimbs(0)
    this.#carry(groupCount)
    return this.#limbs
  }

  /** Sums of groups `[0, groupCount)`, for reading one by one. Good until rows are added. */
  totals(groupCount: number): SumReader {
    return new SumReader(this.#settle(groupCount))
  }

  /** One column, as narrow as its sums allow: INT64, INT128, or 24 bytes as a binary value. */
  partial(groupCount: number): ColumnVector[] {
    const reader = this.totals(groupCount)
    let wordCount = 2
    for (let group = 0; group < groupCount && wordCount < SUM_WORDS; group++) {
      reader.read(group)
      while (wordCount < SUM_WORDS && !reader.fits(wordCount)) wordCount += 2
    }
    const words = new Uint32Array(groupCount * wordCount)
    for (let group = 0; group < groupCount; group++) {
      reader.read(group)
      for (let word = 0; word < wordCount; word++) {
        words[group * wordCount + word] = reader.words[word]
      }
    }
    const bytes = new Uint8Array(words.buffer)
    if (wordCount < SUM_WORDS) {
      const physical: Physical = wordCount === 2 ? PHYSICAL.int64 : PHYSICAL.int128
      return [new ColumnVector(physical, groupCount, bytes, null, null, null)]
    }
    const offsets = new Uint32Array(groupCount + 1).map((_, group) => group * SUM_WORDS * 4)
    return [new ColumnVector(PHYSICAL.binary, groupCount, bytes, offsets, null, null)]
  }

  merge(columns: readonly ColumnVector[], groups: Uint32Array, count: number): void {
    if (columns.length === 0) throw malformed()
    const { physical, bytes, offsets } = columns[0]
    const wordCount = physical === PHYSICAL.int64 ? 2 : physical === PHYSICAL.int128 ? 4 : SUM_WORDS
    if (physical === PHYSICAL.binary) checkSums(offsets, count)
    const words = bytes.slice(0, count * wordCount * 4)
    if (words.length < count * wordCount * 4) throw malformed()
    const source = new Uint32Array(words.buffer)
    const limbs = this.#openLimbs(count)
    for (let i = 0; i < count; i++) {
      const limb = groups[i] * SUM_WORDS
      const first = i * wordCount
      for (let word = 0; word < wordCount - 1; word++) limbs[limb + word] += source[first + word]
      limbs[limb + wordCount - 1] += source[first + wordCount - 1] | 0
    }
  }
}

function checkSums(offsets: Uint32Array, count: number): void {
  for (let i = 0; i <= count; i++) {
    if (offsets[i] !== i * SUM_WORDS * 4) throw malformed()
  }
}

function malformed(): CorruptionError {
  return new CorruptionError('aggregation of a tablet is malformed: a sum has another width')
}

/** Reads sums out of carried limbs. */
export class SumReader {
  /** The sum read last, of two's complement, low word first. Scratch that all readers share. */
  readonly words = scratchSum
  readonly #limbs: Float64Array

  constructor(limbs: Float64Array) {
    this.#limbs = limbs
  }

  /** Reads the sum of a group into `words`. */
  read(group: number): void {
    const limb = group * SUM_WORDS
    // The last limb may be negative; storing it takes it modulo 2^32.
    for (let word = 0; word < SUM_WORDS; word++) scratchSum[word] = this.#limbs[limb + word]
  }

  /** Whether the sum read last is the one in its lowest words. */
  fits(wordCount: number): boolean {
    const sign = (scratchSum[wordCount - 1] | 0) >> 31
    for (let word = wordCount; word < SUM_WORDS; word++) {
      if ((scratchSum[word] | 0) !== sign) return false
    }
    return true
  }

  /** The sum read last. For edges. */
  get value(): bigint {
    let value = BigInt(scratchSum[SUM_WORDS - 1] | 0)
    for (let word = SUM_WORDS - 2; word >= 0; word--) {
      value = (value << 32n) | BigInt(scratchSum[word])
    }
    return value
  }
}

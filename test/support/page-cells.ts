/** Cells of a column as pages have them, of plain values, and shapes of values to draw from. */

import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../../src/common/data-type.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'

/** A vector of plain cells; texts become UTF-8, numbers 64-bit integers where the type has them. */
export function cellsOf(
  physical: Physical,
  values: readonly (Cell | string | null)[],
): ColumnVector {
  const builder = new ColumnBuilder(physical, values.length)
  const isWide = physical === PHYSICAL.int64 || physical === PHYSICAL.int128
  for (const value of values) {
    if (typeof value === 'string') builder.appendCell(utf8Encode(value))
    else if (typeof value === 'number' && isWide) builder.appendCell(BigInt(value))
    else builder.appendCell(value)
  }
  return builder.view()
}

/** The cells of a vector as plain values. */
export function plainCells(cells: ColumnVector): (Cell | null)[] {
  return Array.from({ length: cells.rowCount }, (_, row) => cells.cell(row))
}

/** Bits of an integer's physical type. */
export const INTEGER_BITS: ReadonlyMap<Physical, number> = new Map([
  [PHYSICAL.int8, 8],
  [PHYSICAL.int16, 16],
  [PHYSICAL.int32, 32],
  [PHYSICAL.int64, 64],
  [PHYSICAL.int128, 128],
])

/** An integer as a cell of the type, its higher bits cut off. */
export function integerCell(physical: Physical, value: bigint): Cell {
  const bits = INTEGER_BITS.get(physical) ?? 64
  const cut = BigInt.asIntN(bits, value)
  return bits > 32 ? cut : Number(cut)
}

/** A random integer below 2^`bits`. */
export function randomBits(prng: Prng, bits: number): bigint {
  let value = 0n
  for (let word = 0; word < 4; word++) value = (value << 32n) | BigInt(prng.uint32())
  return BigInt.asUintN(bits, value)
}

/** Shapes that integers of a column have: each makes the i-th of many. */
export const INTEGER_SHAPES: Readonly<
  Record<string, (prng: Prng, bits: number) => (i: number) => bigint>
> = {
  'one value': (prng, bits) => {
    const value = randomBits(prng, bits)
    return () => value
  },
  'any bits': (prng, bits) => () => randomBits(prng, bits),
  'a small range anywhere': (prng, bits) => {
    const base = randomBits(prng, bits)
    const range = prng.between(1, 20)
    return () => base + randomBits(prng, range)
  },
  'both ends': (prng, bits) => () => {
    const least = -(1n << BigInt(bits - 1))
    return prng.pick([least, least + 1n, -1n, 0n, 1n, -least - 1n])
  },
  ascending: (prng, bits) => {
    let value = randomBits(prng, bits)
    const step = prng.between(0, 34)
    return () => (value += randomBits(prng, step))
  },
  'descending with leaps': (prng, bits) => {
    let value = randomBits(prng, bits)
    return () => (value -= prng.chance(0.02) ? randomBits(prng, bits) : BigInt(prng.below(9)))
  },
  'mostly small': (prng, bits) => () =>
    prng.chance(0.02) ? randomBits(prng, bits) : BigInt(prng.between(-20, 20)),
  'multiples of a large number': (prng) => () => BigInt(prng.below(1_000_000)) * 86_400_000_000n,
  'multiples beyond 32 bits': (prng) => () => randomBits(prng, 40) * 1000n,
  runs: (prng, bits) => {
    let value = 0n
    return () => {
      if (prng.chance(0.03)) value = randomBits(prng, bits)
      return value
    }
  },
  'few values': (prng, bits) => {
    const values = Array.from({ length: 12 }, () => randomBits(prng, bits))
    return () => prng.pick(values)
  },
  '50 bits': (prng) => () => randomBits(prng, 50) - 2n ** 49n,
}

const SPECIAL_FLOATS = [0, -0, Number.NaN, Infinity, -Infinity, 5e-324, 1e300, -1.5e-45]

/** Shapes that floating point numbers of a column have. */
export const FLOAT_SHAPES: Readonly<Record<string, (prng: Prng) => (i: number) => number>> = {
  decimals: (prng) => {
    const power = prng.pick([1, 10, 100, 1e4, 1e9])
    return () => prng.between(-1_000_000, 1_000_000) / power
  },
  'decimals and exceptions': (prng) => () =>
    prng.chance(0.03) ? prng.pick(SPECIAL_FLOATS) : prng.between(0, 9999) / 100,
  'special ones': (prng) => () => prng.pick(SPECIAL_FLOATS),
  'large integers': (prng) => () => Number(randomBits(prng, 60)),
  'any fraction': (prng) => () => prng.unit() + prng.unit() / 2 ** 30,
  'few of them': (prng) => {
    const values = Array.from({ length: 9 }, () => prng.unit() * Math.PI)
    return () => prng.pick(values)
  },
  zeros: () => () => 0,
}

const WORDS = ['quick', 'brown', 'fox', 'jumps', 'over', 'the', 'lazy', 'dog', '', 'naïve']

/** Shapes that texts of a column have. */
export const TEXT_SHAPES: Readonly<Record<string, (prng: Prng) => (i: number) => string>> = {
  'few of them': (prng) => () => prng.pick(WORDS),
  sentences: (prng) => () =>
    Array.from({ length: prng.below(9) }, () => prng.pick(WORDS)).join(' '),
  'sorted keys': () => (i) => `customer-${String(i * 7).padStart(9, '0')}@example`,
  empty: () => () => '',
  'one long among short': (prng) => (i) => (i === 5 ? 'x'.repeat(65_536) : prng.pick(WORDS)),
  'any characters': (prng) => () =>
    Array.from({ length: prng.below(20) }, () => String.fromCharCode(prng.below(0xd800))).join(''),
}

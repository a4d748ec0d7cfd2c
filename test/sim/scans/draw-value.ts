/** Cells at random: a few that come again and again, some that ascend, some never seen before. */

import { Buffer } from 'node:buffer'
import type { Prng } from '../../../src/util/prng.ts'
import { integerEnds, isIntegral, type ModelColumn, type Value } from './model-value.ts'

const CHARACTERS = ['a', 'b', 'Z', '0', ' ', ',', '"', '\\', '\n', '\0', '\u007f', 'é', '水']
const RARE_CHARACTERS = ['😀', '\uffff', '\ue000', '\u2028', '\ud7ff', '\u{10ffff}', '\r']
/** Where UTF-8 orders otherwise than UTF-16, where prefixes have no next character, and zeros. */
const EDGE_TEXTS = ['', '\0', '\0\0', 'a\0', 'a', '\ud7ff', '\ue000', '\uffff', '😀']
const LAST_TEXTS = [
  '\u{10ffff}',
  '\u{10ffff}a',
  'a\u{10ffff}',
  'a\u{10ffff}b',
  'a\ud7ffa',
  'a\ue000',
]
const EDGE_HEX = ['', '00', '0000', '61', '6100', '61ff', '61ffff', '61ffff61', '62', 'fe', 'feff']
const LAST_HEX = ['feffff', 'ff', 'ff00', 'ffff', 'ffff61', 'ffffff']
const FLOATS = [0, -0, 1, -1, 0.5, 0.1, 1e30, -1e-30, Number.NaN, Infinity, -Infinity, 16777217]
const DOUBLE_EDGES = [5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53, 1 / 3]
const FLOAT_EDGES = [2 ** -149, (2 - 2 ** -23) * 2 ** 127]

/** How the cells of a column come about. */
export interface ValuePlan {
  /** Cells that come again. */
  readonly pool: readonly Value[]
  /** Of the cells that are not null: how many are of the pool; of the others half ascend. */
  readonly poolShare: number
  readonly nullShare: number
  /** Where ascending cells begin. */
  readonly base: bigint
  /** Bytes that texts and bytes have about; null: few. */
  readonly longBytes: number | null
}

/** A plan for a column. */
export function drawPlan(prng: Prng, column: ModelColumn): ValuePlan {
  const size = prng.pick(column.isKey ? [3, 8, 20, 60] : [1, 2, 5, 12, 40])
  return {
    pool: Array.from({ length: size }, () => drawValue(prng, column)),
    poolShare: prng.pick(column.isKey ? [0.3, 0.8, 0.98] : [0, 0.5, 0.9, 1, 1]),
    nullShare: column.isNullable ? prng.pick([0, 0.05, 0.3, 0.9]) : 0,
    base: BigInt(prng.between(-100, 100)),
    longBytes: null,
  }
}

/** A cell by plan; `serial` numbers the rows that were drawn. */
export function drawPlanned(
  prng: Prng,
  column: ModelColumn,
  plan: ValuePlan,
  serial: number,
): Value {
  if (prng.chance(plan.nullShare)) return null
  if (plan.longBytes !== null && !column.isKey) {
    const value = drawLong(prng, column, plan.longBytes)
    if (value !== null) return value
  }
  if (prng.chance(plan.poolShare)) return prng.pick(plan.pool)
  if (prng.chance(0.5) && isIntegral(column.type)) return ascending(column, plan.base, serial)
  return drawValue(prng, column)
}

/** A long text or bytes; null for a column that holds none. */
function drawLong(prng: Prng, { type }: ModelColumn, bytes: number): Value {
  if (type !== 'STRING' && type !== 'BINARY') return null
  const piece = type === 'STRING' ? prng.pick(['ab', 'é', 'x,"', '0123456789']) : 'a0ff'
  const count = prng.below(Math.ceil(bytes / Buffer.byteLength(piece)) + 1)
  return piece.repeat(count) + (type === 'STRING' ? String(prng.below(1000)) : '')
}

function ascending(column: ModelColumn, base: bigint, serial: number): bigint {
  const [, most] = integerEnds(column)
  return (base + BigInt(serial)) % (most + 1n)
}

/** Any cell of a column, its ends among them. */
export function drawValue(prng: Prng, column: ModelColumn): Value {
  const { type, length } = column
  switch (type) {
    case 'BOOL':
      return prng.chance(0.5)
    case 'FLOAT':
      return Math.fround(drawDouble(prng, FLOAT_EDGES))
    case 'DOUBLE':
      return drawDouble(prng, DOUBLE_EDGES)
    case 'STRING':
      return drawText(prng, prng.chance(0.08) ? 300 : 8)
    case 'VARCHAR':
      return drawText(prng, length)
    case 'BINARY':
      return drawHex(prng, prng.chance(0.08) ? 200 : 6)
    default:
      return drawInteger(prng, column)
  }
}

/** A text of at most so many characters. */
export function drawText(prng: Prng, lengthMax: number): string {
  // Longer than the bounds that rowsets remember, and alike in all of these.
  if (lengthMax > 70 && prng.chance(0.5)) return 'p'.repeat(70) + prng.pick(['', '\0', 'a', 'b'])
  if (prng.chance(0.15)) {
    const texts = [...EDGE_TEXTS, ...LAST_TEXTS].filter((text) => [...text].length <= lengthMax)
    return prng.pick(texts)
  }
  const count = prng.chance(0.2) ? lengthMax : prng.below(lengthMax + 1)
  const isPlain = prng.chance(0.6)
  return Array.from({ length: count }, () => {
    if (isPlain) return prng.pick(['a', 'b', 'c'])
    return prng.pick(prng.chance(0.2) ? RARE_CHARACTERS : CHARACTERS)
  }).join('')
}

function drawHex(prng: Prng, lengthMax: number): string {
  if (lengthMax > 70 && prng.chance(0.5)) return 'ff'.repeat(70) + prng.pick(['', '00', 'fe', 'ff'])
  if (prng.chance(0.2)) return prng.pick([...EDGE_HEX, ...LAST_HEX])
  const count = prng.below(lengthMax + 1)
  return Array.from({ length: count }, () => {
    const byte = prng.chance(0.5) ? prng.pick([0, 1, 0x61, 0xfe, 0xff]) : prng.below(256)
    return byte.toString(16).padStart(2, '0')
  }).join('')
}

function drawDouble(prng: Prng, edges: readonly number[]): number {
  if (prng.chance(0.1)) return prng.pick([Number.NaN, Infinity, -Infinity])
  if (prng.chance(0.4)) return prng.pick([...FLOATS, ...edges])
  if (prng.chance(0.7)) return prng.between(-2000, 2000) / prng.pick([1, 4, 10, 3])
  return (prng.unit() - 0.5) * 10 ** prng.between(-40, 40)
}

function drawInteger(prng: Prng, column: ModelColumn): bigint {
  const [least, most] = integerEnds(column)
  if (prng.chance(0.1)) return prng.pick([least, most, least + 1n, most - 1n, 0n])
  let value = 0n
  for (let i = 0; i < 4; i++) value = (value << 32n) | BigInt(prng.uint32())
  value = BigInt.asIntN(prng.pick([3, 6, 8, 12, 20, 34, 54, 64, 127]), value)
  // Times mostly of this century, so that they can be told from each other by their buckets.
  if (column.type === 'UNIXTIME_MICROS' && prng.chance(0.7)) {
    return 1_800_000_000_000_000n + BigInt.asIntN(prng.pick([10, 30, 40, 45]), value)
  }
  if (value >= least && value <= most) return value
  const folded = value % (most + 1n)
  return folded < least ? least - (folded % -least) : folded
}

/**
 * Which cell of a column a cell of Arrow is, by the book; and random columns of Arrow for columns
 * of tables.
 */

import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8DecodeStrict } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import { integerEnds } from './boundary-cells.ts'
import { nearestFloat } from './exact-float.ts'
import type { PlainArrowCell, PlainArrowType } from './plain-arrow.ts'
import { randomCell } from './random-cell.ts'
import { randomInteger } from './scalars.ts'

const CELL_BYTES_MAX = 65_536
const MICROS_OF_UNIT = [1_000_000n, 1000n, 1n]

/** The cell, or undefined when the column cannot hold it. */
export function plainArrowCell(
  type: PlainArrowType,
  column: Column,
  cell: Exclude<PlainArrowCell, null>,
): Cell | undefined {
  if (cell instanceof Uint8Array) return bytesCell(column, cell)
  if (typeof cell === 'boolean') return cell ? 1 : 0
  if (type.name === 'Float') return floatCell(type, column, Number(cell))
  const value = BigInt(cell)
  if (type.name === 'Timestamp') {
    if (type.unit !== 3) return integerCell(column, value * MICROS_OF_UNIT[type.unit ?? 0])
    return value % 1000n === 0n ? integerCell(column, value / 1000n) : undefined
  }
  if (type.name === 'Date') {
    if (type.unit === 0) return integerCell(column, value)
    return value % 86_400_000n === 0n ? integerCell(column, value / 86_400_000n) : undefined
  }
  return fixedCell(column, value, type.scale ?? 0)
}

function bytesCell(column: Column, bytes: Uint8Array): Cell | undefined {
  if (bytes.length > CELL_BYTES_MAX) return undefined
  if (column.type === 'BINARY') return bytes
  const text = utf8DecodeStrict(bytes)
  if (text === undefined) return undefined
  return [...text].length > (column.attributes.length ?? Infinity) ? undefined : bytes
}

function floatCell(type: PlainArrowType, column: Column, sent: number): Cell | undefined {
  const value = type.bits === 16 ? plainHalf(sent) : type.bits === 32 ? Math.fround(sent) : sent
  if (column.type === 'DOUBLE') return value
  if (column.type === 'FLOAT') {
    const float = Math.fround(value)
    return Number.isFinite(value) && !Number.isFinite(float) ? undefined : float
  }
  return Number.isInteger(value) ? integerCell(column, BigInt(value)) : undefined
}

/** The value of sixteen bits. */
export function plainHalf(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1
  const exponent = Math.floor(bits / 1024) % 32
  const fraction = bits % 1024
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN
  if (exponent === 0) return sign * fraction * 2 ** -24
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** value × 10^−scale. */
function fixedCell(column: Column, value: bigint, scale: number): Cell | undefined {
  if (column.type === 'DOUBLE') return Number(`${value}e${-scale}`)
  if (column.type === 'FLOAT') {
    if (value === 0n) return 0
    const float = nearestFloat(value < 0n ? -value : value, -scale)
    return float === Infinity ? undefined : value < 0n ? -float : float
  }
  const shift = (column.attributes.scale ?? 0) - scale
  if (shift >= 0) return integerCell(column, value * 10n ** BigInt(shift))
  const power = 10n ** BigInt(-shift)
  return value % power === 0n ? integerCell(column, value / power) : undefined
}

function integerCell(column: Column, value: bigint): Cell | undefined {
  const [low, high] = integerEnds(column)
  if (value < low || value > high) return undefined
  const isWide = column.physical === PHYSICAL.int64 || column.physical === PHYSICAL.int128
  return isWide ? value : Number(value)
}

const INTEGER_TYPES: readonly PlainArrowType[] = [8, 16, 32, 64].flatMap((bits) => [
  { name: 'Int', bits, isSigned: true },
  { name: 'Int', bits, isSigned: false },
])
const FLOAT_TYPES: readonly PlainArrowType[] = [16, 32, 64].map((bits) => ({ name: 'Float', bits }))
const TEXT_TYPES: readonly PlainArrowType[] = [
  { name: 'Utf8' },
  { name: 'LargeUtf8' },
  { name: 'Utf8View' },
]
const BINARY_TYPES: readonly PlainArrowType[] = [
  { name: 'Binary' },
  { name: 'LargeBinary' },
  { name: 'BinaryView' },
  { name: 'FixedSizeBinary', width: 3 },
  { name: 'FixedSizeBinary', width: 0 },
]

function randomDecimalType(prng: Prng, column: Column): PlainArrowType {
  const bits = prng.pick([32, 64, 128, 256])
  const near = (column.attributes.scale ?? 0) + prng.between(-3, 4)
  const scale = prng.chance(0.7) ? near : prng.between(-5, 45)
  return { name: 'Decimal', bits, precision: bits / 4, scale }
}

/** A type whose cells the column takes. */
export function randomArrowType(prng: Prng, column: Column): PlainArrowType {
  if (!column.isKey && prng.chance(0.04)) return { name: 'Null' }
  switch (column.type) {
    case 'BOOL':
      return { name: 'Bool' }
    case 'INT8':
    case 'INT16':
    case 'INT32':
    case 'INT64':
    case 'FLOAT':
    case 'DOUBLE':
      return prng.pick([
        ...INTEGER_TYPES,
        ...FLOAT_TYPES,
        ...FLOAT_TYPES,
        randomDecimalType(prng, column),
        randomDecimalType(prng, column),
      ])
    case 'DECIMAL':
      return prng.chance(0.3) ? prng.pick(INTEGER_TYPES) : randomDecimalType(prng, column)
    case 'STRING':
    case 'VARCHAR':
      return prng.pick(TEXT_TYPES)
    case 'BINARY':
      return prng.pick(column.isKey ? BINARY_TYPES.slice(0, 4) : BINARY_TYPES)
    case 'UNIXTIME_MICROS': {
      const unit = prng.below(4)
      const time: PlainArrowType = { name: 'Timestamp', unit }
      const zoned: PlainArrowType = { ...time, timezone: prng.pick(['UTC', 'Asia/Tokyo', '']) }
      return prng.pick([time, zoned, zoned, prng.pick(INTEGER_TYPES)])
    }
    case 'DATE':
      return { name: 'Date', unit: prng.below(2) }
  }
}

/** A cell of a type, often one that the column can hold. */
export function randomArrowCell(
  prng: Prng,
  type: PlainArrowType,
  column: Column,
): Exclude<PlainArrowCell, null> {
  switch (type.name) {
    case 'Bool':
      return prng.chance(0.5)
    case 'Float':
      return randomFloat(prng, type, column)
    case 'Int':
    case 'Decimal':
      return randomFixed(prng, type, column)
    case 'Timestamp':
      return randomTime(prng, type)
    case 'Date': {
      const days = randomInteger(prng, prng.pick([20, 22, 32]))
      if (type.unit === 0) return days
      return prng.chance(0.9) ? days * 86_400_000n : randomInteger(prng, 64)
    }
    case 'FixedSizeBinary':
      return Uint8Array.from({ length: type.width ?? 0 }, () => prng.below(256))
    default:
      return randomBytes(prng, type, column)
  }
}

function randomFloat(prng: Prng, type: PlainArrowType, column: Column): number {
  if (type.bits === 16) return prng.below(65_536)
  if (column.type === 'FLOAT' || column.type === 'DOUBLE') return Number(randomCell(prng, column))
  if (prng.chance(0.9)) return Number(randomInteger(prng, prng.pick([8, 16, 32, 53, 63])))
  return prng.pick([0.5, Number.NaN, Infinity, -Infinity, -0, 2 ** 63, -(2 ** 63), 1e300])
}

function randomFixed(prng: Prng, type: PlainArrowType, column: Column): bigint {
  const bits = type.bits ?? 64
  const isSigned = type.name === 'Decimal' || type.isSigned === true
  let value = randomInteger(prng, Math.min(prng.between(1, bits), 128))
  if (bits === 256 && prng.chance(0.1)) value = (value << 127n) | randomInteger(prng, 120)
  // What the column has, in the scale of what is sent.
  const cell = randomCell(prng, column)
  if (typeof cell !== 'number' || Number.isInteger(cell)) {
    const shift = (type.scale ?? 0) - (column.attributes.scale ?? 0)
    if (prng.chance(0.8) && !(cell instanceof Uint8Array)) {
      const plain = BigInt(cell)
      value = shift >= 0 ? plain * 10n ** BigInt(shift) : plain / 10n ** BigInt(-shift)
    }
  }
  return isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)
}

function randomTime(prng: Prng, { unit = 0 }: PlainArrowType): bigint {
  const value = randomInteger(prng, prng.pick([31, 44, 64]))
  return unit === 3 && prng.chance(0.9) ? BigInt.asIntN(64, (value / 1000n) * 1000n) : value
}

function randomBytes(prng: Prng, type: PlainArrowType, column: Column): Uint8Array {
  if (prng.chance(0.01)) return new Uint8Array(CELL_BYTES_MAX + prng.between(-1, 1)).fill(0x61)
  if (prng.chance(0.02)) return Uint8Array.from({ length: prng.below(20) }, () => prng.below(256))
  const cell = randomCell(prng, column) as Uint8Array
  // Long enough not to lie in a view itself; sometimes longer than VARCHAR takes.
  const times = type.name.endsWith('View') || prng.chance(0.03) ? prng.between(1, 3) : 1
  return Uint8Array.from(Array.from({ length: times }, () => [...cell]).flat())
}

/** Types of Arrow's columns, as the schema of a stream tells them. */

import { invalidArgument } from '../../../common/status.ts'
import type { FlatTable } from './flat-table.ts'

/** Types, numbered as in metadata. Others are nested, or nothing that a column holds. */
export const ARROW_TYPES = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  timestamp: 10,
  fixedSizeBinary: 15,
  largeBinary: 19,
  largeUtf8: 20,
  binaryView: 23,
  utf8View: 24,
} as const

/** What a date, and a timestamp, counts. */
export const DATE_UNITS = { day: 0, millisecond: 1 } as const
export const TIME_UNITS = { second: 0, millisecond: 1, microsecond: 2, nanosecond: 3 } as const

/** Names of the units of time, as errors spell them. */
export const TIME_UNIT_TEXTS: readonly string[] = ['s', 'ms', 'us', 'ns']

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'Null'],
  [4, 'Binary'],
  [5, 'Utf8'],
  [6, 'Bool'],
  [9, 'Time'],
  [11, 'Interval'],
  [12, 'List'],
  [13, 'Struct'],
  [14, 'Union'],
  [16, 'FixedSizeList'],
  [17, 'Map'],
  [18, 'Duration'],
  [19, 'LargeBinary'],
  [20, 'LargeUtf8'],
  [21, 'LargeList'],
  [22, 'RunEndEncoded'],
  [23, 'BinaryView'],
  [24, 'Utf8View'],
  [25, 'ListView'],
  [26, 'LargeListView'],
])

/** A type. All members always present; those that a type does not have are 0. */
export interface ArrowType {
  /** One of ARROW_TYPES, or another number. */
  readonly id: number
  /** Bits of an integer, a float or a decimal; 8 for each byte of FixedSizeBinary. */
  readonly bits: number
  readonly isSigned: boolean
  /** Of a date or a timestamp. */
  readonly unit: number
  readonly precision: number
  readonly scale: number
}

const PLAIN: Omit<ArrowType, 'id'> = { bits: 0, isSigned: false, unit: 0, precision: 0, scale: 0 }

/** Signed integers of 32 bits. */
export const INT32: ArrowType = { ...PLAIN, id: ARROW_TYPES.int, bits: 32, isSigned: true }

/**
 * The type of a field; `table` says more of it.
 *
 * Throws: INVALID_ARGUMENT for sizes and units that Arrow does not have.
 */
export function readArrowType(id: number, table: FlatTable | null): ArrowType {
  switch (id) {
    case ARROW_TYPES.int:
      if (table === null) throw unknownType()
      return readIntegerType(table)
    case ARROW_TYPES.float: {
      const precision = table?.short(0, 0) ?? 0
      return { ...PLAIN, id, bits: oneOf([16, 32, 64], 16 * 2 ** precision) }
    }
    case ARROW_TYPES.decimal: {
      const bits = oneOf([32, 64, 128, 256], table?.int(2, 128) ?? 128)
      const scale = table?.int(1, 0) ?? 0
      if (Math.abs(scale) > 1000) throw unknownType()
      return { ...PLAIN, id, bits, precision: table?.int(0, 0) ?? 0, scale }
    }
    case ARROW_TYPES.date: {
      const unit = oneOf([0, 1], table?.short(0, DATE_UNITS.millisecond) ?? DATE_UNITS.millisecond)
      return { ...PLAIN, id, unit, bits: unit === DATE_UNITS.day ? 32 : 64 }
    }
    case ARROW_TYPES.timestamp:
      return { ...PLAIN, id, unit: oneOf([0, 1, 2, 3], table?.short(0, 0) ?? 0), bits: 64 }
    case ARROW_TYPES.fixedSizeBinary: {
      const byteWidth = table?.int(0, 0) ?? 0
      if (byteWidth < 0 || byteWidth > 2 ** 24) throw unknownType()
      return { ...PLAIN, id, bits: byteWidth * 8 }
    }
    default:
      return { ...PLAIN, id }
  }
}

/** The type that a table for integers tells. */
export function readIntegerType(table: FlatTable): ArrowType {
  const bits = oneOf([8, 16, 32, 64], table.int(0, 0))
  return { ...PLAIN, id: ARROW_TYPES.int, bits, isSigned: table.byte(1, 0) === 1 }
}

/** A type as errors name it: `Int32`, `Timestamp(ns)`, `Decimal128(10,2)`. */
export function arrowTypeText(type: ArrowType): string {
  switch (type.id) {
    case ARROW_TYPES.int:
      return `${type.isSigned ? 'Int' : 'UInt'}${type.bits}`
    case ARROW_TYPES.float:
      return `Float${type.bits}`
    case ARROW_TYPES.decimal:
      return `Decimal${type.bits}(${type.precision},${type.scale})`
    case ARROW_TYPES.date:
      return `Date${type.bits}`
    case ARROW_TYPES.timestamp:
      return `Timestamp(${TIME_UNIT_TEXTS[type.unit]})`
    case ARROW_TYPES.fixedSizeBinary:
      return `FixedSizeBinary(${type.bits / 8})`
    default:
      return TYPE_NAMES.get(type.id) ?? `type ${type.id}`
  }
}

/** Whether cells of a type lie in buffers of bytes that views point into. */
export function hasViews({ id }: ArrowType): boolean {
  return id === ARROW_TYPES.binaryView || id === ARROW_TYPES.utf8View
}

function oneOf(known: readonly number[], value: number): number {
  if (!known.includes(value)) throw unknownType()
  return value
}

function unknownType(): Error {
  return invalidArgument('schema has a type that Arrow does not have')
}

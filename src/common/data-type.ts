/**
 * Column types: their names, how their cells are held in memory, and the cell as a plain value.
 *
 * A *logical* type (`DataType`) is what a schema says; a *physical* type is how its cells are laid
 * out (K§1.1). Everything below the schema works on physical types.
 *
 *   logical                      physical   lane               Cell
 *   BOOL                         int8       1 byte, 0 or 1     number 0 or 1
 *   INT8 INT16 INT32             same       1, 2, 4 bytes LE   number
 *   DATE                         int32      days since epoch   number
 *   INT64 UNIXTIME_MICROS        int64      8 bytes LE         bigint
 *   FLOAT DOUBLE                 float32/64 IEEE 754 LE        number
 *   DECIMAL(p ≤ 9 / 18 / 38, s)  int32/64/128  unscaled LE     number / bigint / bigint
 *   STRING VARCHAR BINARY        binary     offsets and bytes  Uint8Array (UTF-8 for text)
 */

/** Names of the logical types, as the REST contract spells them. */
export const DATA_TYPES = [
  'BOOL',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FLOAT',
  'DOUBLE',
  'STRING',
  'BINARY',
  'UNIXTIME_MICROS',
  'DATE',
  'VARCHAR',
  'DECIMAL',
] as const
/** A logical column type. */
export type DataType = (typeof DATA_TYPES)[number]

/** Physical layouts, numbered as they are stored in blocks. */
export const PHYSICAL = {
  int8: 0,
  int16: 1,
  int32: 2,
  int64: 3,
  float32: 4,
  float64: 5,
  int128: 6,
  binary: 7,
} as const
/** A physical layout. */
export type Physical = (typeof PHYSICAL)[keyof typeof PHYSICAL]

/** Bytes of one lane by physical type; 0 for `binary`. */
export const LANE_BYTES: readonly number[] = [1, 2, 4, 8, 4, 8, 16, 0]

/**
 * A cell that is not null, as a plain value: see the table above. For edges, never per row in hot
 * code.
 */
export type Cell = number | bigint | Uint8Array

/** What a type needs beside its name. */
export interface TypeAttributes {
  /** DECIMAL: digits in all, 1 … 38. */
  readonly precision?: number
  /** DECIMAL: digits behind the point, 0 … precision. */
  readonly scale?: number
  /** VARCHAR: code points, 1 … 65,535. */
  readonly length?: number
}

/** Physical layout of a logical type. */
export function physicalOf(type: DataType, attributes: TypeAttributes = {}): Physical {
  switch (type) {
    case 'BOOL':
    case 'INT8':
      return PHYSICAL.int8
    case 'INT16':
      return PHYSICAL.int16
    case 'INT32':
    case 'DATE':
      return PHYSICAL.int32
    case 'INT64':
    case 'UNIXTIME_MICROS':
      return PHYSICAL.int64
    case 'FLOAT':
      return PHYSICAL.float32
    case 'DOUBLE':
      return PHYSICAL.float64
    case 'STRING':
    case 'BINARY':
    case 'VARCHAR':
      return PHYSICAL.binary
    case 'DECIMAL': {
      const precision = attributes.precision ?? 0
      if (precision <= 9) return PHYSICAL.int32
      return precision <= 18 ? PHYSICAL.int64 : PHYSICAL.int128
    }
  }
}

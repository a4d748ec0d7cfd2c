/**
 * Cells where predicates and keys go wrong: the ends of each type, their neighbours, zeros,
 * prefixes.
 */

import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { fromHex, utf8Encode } from '../../src/util/bytes.ts'

const INTEGER_BITS: Readonly<Record<string, bigint>> = {
  INT8: 8n,
  INT16: 16n,
  INT32: 32n,
  INT64: 64n,
  UNIXTIME_MICROS: 64n,
}

const FLOATS = [Number.NaN, -Infinity, -1.5, -0, 0, 1.5, Infinity]

// 'é', U+FFFF and U+1F600 order differently as UTF-16 than as UTF-8.
const TEXTS = [
  '',
  '\0',
  '\0\0',
  'a',
  'a\0',
  'a\0\0',
  'a\u{1}',
  'ab',
  'b',
  'é',
  '\u{ffff}',
  '\u{1f600}',
]

const BINARIES = ['', '00', '0000', '61', '6100', '610001', 'fe', 'feff', 'ff', 'ff00', 'ffff']

/**
 * About a dozen cells that a column can hold, NaN and −0 among the floats. Ascending but for NaN.
 */
export function boundaryCells(column: Column): Cell[] {
  if (column.type === 'BOOL') return [0, 1]
  if (column.type === 'BINARY') return BINARIES.map(fromHex)
  if (column.physical === PHYSICAL.binary) return textCells(column)
  if (column.type === 'FLOAT') {
    const least = 2 ** -149
    const greatest = (2 - 2 ** -23) * 2 ** 127
    return [...FLOATS, least, -least, greatest, -greatest, Math.fround(0.1)].sort(ascending)
  }
  if (column.type === 'DOUBLE') {
    const { MIN_VALUE, MAX_VALUE } = Number
    return [...FLOATS, MIN_VALUE, -MIN_VALUE, MAX_VALUE, -MAX_VALUE, 0.1].sort(ascending)
  }
  const [least, greatest] = integerEnds(column)
  const integers = [least, least + 1n, least + 2n, -2n, -1n, 0n, 1n, 2n, greatest - 1n, greatest]
  const distinct = [...new Set(integers)].sort((a, b) => (a < b ? -1 : 1))
  return distinct.map((cell) => (isWide(column) ? cell : Number(cell)))
}

/** The least and greatest integer of an integer, date or decimal column. */
export function integerEnds(column: Column): [bigint, bigint] {
  if (column.type === 'DATE') return [-719_162n, 2_932_896n]
  if (column.type === 'DECIMAL') {
    const greatest = 10n ** BigInt(column.attributes.precision ?? 0) - 1n
    return [-greatest, greatest]
  }
  const half = 1n << (INTEGER_BITS[column.type] - 1n)
  return [-half, half - 1n]
}

function textCells(column: Column): Cell[] {
  const length = column.attributes.length ?? Infinity
  return TEXTS.filter((text) => [...text].length <= length).map(utf8Encode)
}

function isWide(column: Column): boolean {
  return column.physical === PHYSICAL.int64 || column.physical === PHYSICAL.int128
}

function ascending(a: number, b: number): number {
  if (Number.isNaN(a)) return -1
  return Number.isNaN(b) ? 1 : a - b
}

/** Random cells of any column, its boundaries among them. */

import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { DATE_DAYS_MAX, DATE_DAYS_MIN } from '../../src/common/date.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import { randomInteger } from './scalars.ts'

/** One column of each type and layout, as `aColumn` reads them. */
export const COLUMN_TEXTS: readonly string[] = [
  'value BOOL',
  'value INT8',
  'value INT16',
  'value INT32',
  'value INT64',
  'value FLOAT',
  'value DOUBLE',
  'value STRING',
  'value BINARY',
  'value UNIXTIME_MICROS',
  'value DATE',
  'value VARCHAR(4)',
  'value DECIMAL(1)',
  'value DECIMAL(9,4)',
  'value DECIMAL(10,10)',
  'value DECIMAL(18,2)',
  'value DECIMAL(19,3)',
  'value DECIMAL(38,38)',
]

const CHARACTERS = [
  'a',
  'Z',
  '0',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0000',
  '\u007f',
  'é',
  '水',
  '😀',
  '\u2028',
]

/** A cell of the column: anything, the ends of its range, or next to them. */
export function randomCell(prng: Prng, column: Column): Cell {
  switch (column.type) {
    case 'BOOL':
      return prng.below(2)
    case 'INT8':
    case 'INT16':
    case 'INT32':
      return Number(within(prng, BigInt(bitsOf(column)), undefined))
    case 'INT64':
    case 'UNIXTIME_MICROS':
      return within(prng, 64n, undefined)
    case 'FLOAT':
      return Math.fround(randomDouble(prng))
    case 'DOUBLE':
      return randomDouble(prng)
    case 'DATE':
      return prng.pick([DATE_DAYS_MIN, DATE_DAYS_MAX, prng.between(DATE_DAYS_MIN, DATE_DAYS_MAX)])
    case 'DECIMAL': {
      const value = within(prng, 128n, 10n ** BigInt(column.attributes.precision ?? 0))
      return column.physical === PHYSICAL.int32 ? Number(value) : value
    }
    case 'BINARY':
      return Uint8Array.from({ length: prng.below(20) }, () => prng.below(256))
    case 'STRING':
    case 'VARCHAR': {
      const length = prng.below((column.attributes.length ?? 12) + 1)
      return utf8Encode(Array.from({ length }, () => prng.pick(CHARACTERS)).join(''))
    }
  }
}

function bitsOf(column: Column): number {
  return column.type === 'INT8' ? 8 : column.type === 'INT16' ? 16 : 32
}

/** An integer of `bits` bits, below `bound` in size when there is one, often at an end. */
function within(prng: Prng, bits: bigint, bound: bigint | undefined): bigint {
  const low = bound === undefined ? -(2n ** (bits - 1n)) : 1n - bound
  const high = bound === undefined ? 2n ** (bits - 1n) - 1n : bound - 1n
  const value = randomInteger(prng, Number(bits))
  if (prng.chance(0.1)) return prng.pick([low, high, low + 1n, high - 1n])
  return value < low || value > high ? value % (high + 1n) : value
}

const scratch = new DataView(new ArrayBuffer(8))

function randomDouble(prng: Prng): number {
  const special = [
    0,
    -0,
    Number.NaN,
    Infinity,
    -Infinity,
    5e-324,
    Number.MAX_VALUE,
    1e-45,
    3.4028235e38,
  ]
  switch (prng.below(4)) {
    case 0:
      return prng.pick(special)
    case 1:
      return prng.between(-1000, 1000) / prng.pick([1, 10, 1000, 3])
    default:
      scratch.setUint32(0, prng.uint32())
      scratch.setUint32(4, prng.uint32())
      return scratch.getFloat64(0)
  }
}

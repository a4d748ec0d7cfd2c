import { describe, expect, test } from 'vitest'
import { cellToText, DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../src/common/cell-json.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { type JsonScalar, NumberLiteral } from '../../src/common/number-literal.ts'
import { type Placement, placeLiteral, placeText } from '../../src/common/place-literal.ts'
import type { Column } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { compareWhole, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { randomCell } from '../support/random-cell.ts'
import { randomDigits } from '../support/scalars.ts'

const INT64_MAX = 2n ** 63n - 1n

function place(type: string, value: JsonScalar | { n: string }, options?: ValueOptions): Placement {
  const isNumber = typeof value === 'object' && value !== null && 'n' in value
  return placeLiteral(
    aColumn(`value ${type}`),
    isNumber ? new NumberLiteral(value.n) : value,
    options,
  )
}

const exact = (cell: Cell): Placement => ({ kind: 'exact', cell })
const between = (below: Cell): Placement => ({ kind: 'between', below })
const above: Placement = { kind: 'above' }
const below: Placement = { kind: 'below' }

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

/** A decimal text as an integer over 10^50. */
function scaled(text: string): bigint {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text)!
  const power = 50 - fraction.length + Number(exponent)
  const magnitude = BigInt(whole + fraction) * 10n ** BigInt(power)
  return sign === '-' ? -magnitude : magnitude
}

/** How a cell that is a number stands to the placed literal: negative, zero or positive. */
function orderOf(cell: Cell, placement: Placement): number {
  switch (placement.kind) {
    case 'exact':
      return cell === placement.cell ? 0 : cell < placement.cell ? -1 : 1
    case 'between':
      return cell <= placement.below ? -1 : 1
    case 'above':
      return -1
    case 'below':
      return 1
    case 'nan':
      return Number.NaN
  }
}

function randomLiteral(prng: Prng, column: Column): string {
  const near = cellToText(column, randomCell(prng, column), DEFAULT_VALUE_OPTIONS)
  const sign = prng.chance(0.5) ? '-' : ''
  switch (prng.below(5)) {
    case 0:
      return near
    case 1:
      return near.includes('.')
        ? `${near}${randomDigits(prng, 3)}`
        : `${near}.${randomDigits(prng, 2)}`
    case 2:
      return `${sign}${prng.between(1, 9)}${randomDigits(prng, prng.below(45))}`
    case 3:
      return `${sign}0.${randomDigits(prng, prng.between(1, 45))}`
    default:
      return `${sign}${prng.below(1000)}e${prng.between(-45, 40)}`
  }
}

describe('placeLiteral', () => {
  test('orders every cell as unbounded arithmetic does, for all fixed-point types', () => {
    const prng = new Prng(91)
    const types = [
      'INT8',
      'INT16',
      'INT32',
      'INT64',
      'DECIMAL(3,2)',
      'DECIMAL(9,9)',
      'DECIMAL(18,4)',
    ]
    const wrong: string[] = []
    for (let round = 0; round < 4000; round++) {
      const column = aColumn(`value ${prng.pick([...types, 'DECIMAL(38,10)'])}`)
      const literal = randomLiteral(prng, column)
      const placement = placeLiteral(column, new NumberLiteral(literal))
      for (let i = 0; i < 4; i++) {
        const cell = randomCell(prng, column)
        const value = scaled(cellToText(column, cell, DEFAULT_VALUE_OPTIONS))
        const expected = value === scaled(literal) ? 0 : value < scaled(literal) ? -1 : 1
        if (orderOf(cell, placement) !== expected) {
          wrong.push(`seed 91 round ${round}: ${column.type} ${literal} and cell ${cell}`)
        }
      }
    }

    expect(wrong).toEqual([])
  })

  test('finds exact, between, above and below at the ends of a range', () => {
    expect(place('INT8', { n: '127' })).toEqual(exact(127))
    expect(place('INT8', { n: '1.5' })).toEqual(between(1))
    expect(place('INT8', { n: '-1.5' })).toEqual(between(-2))
    expect(place('INT8', { n: '127.5' })).toEqual(above)
    expect(place('INT8', { n: '-128.5' })).toEqual(below)
    expect(place('INT8', { n: '-127.5' })).toEqual(between(-128))
    expect(place('INT8', { n: '1e999999999' })).toEqual(above)
    expect(place('INT8', { n: '-1e999999999' })).toEqual(below)
    expect(place('INT8', { n: '-1e-999999999' })).toEqual(between(-1))
    expect(place('INT64', { n: '9223372036854775807' })).toEqual(exact(INT64_MAX))
    expect(place('INT64', '9223372036854775808')).toEqual(above)
    expect(place('INT64', { n: '-9223372036854775808.5' })).toEqual(below)
    expect(place('DECIMAL(3,2)', '9.99')).toEqual(exact(999))
    expect(place('DECIMAL(3,2)', '9.995')).toEqual(above)
    expect(place('DECIMAL(3,2)', { n: '0.005' })).toEqual(between(0))
    expect(place('DECIMAL(20,2)', { n: '-0.005' })).toEqual(between(-1n))
  })

  test('rounds for FLOAT and DOUBLE and keeps what is too large below infinity', () => {
    expect(place('FLOAT', { n: '0.1' })).toEqual(exact(Math.fround(0.1)))
    expect(place('DOUBLE', { n: '0.1' })).toEqual(exact(0.1))
    expect(place('FLOAT', { n: '1e300' })).toEqual(between(3.4028234663852886e38))
    expect(place('FLOAT', { n: '-1e300' })).toEqual(between(Number.NEGATIVE_INFINITY))
    expect(place('DOUBLE', { n: '1e400' })).toEqual(between(Number.MAX_VALUE))
    expect(place('DOUBLE', { n: '-1e400' })).toEqual(between(Number.NEGATIVE_INFINITY))
    expect(place('DOUBLE', 'Infinity')).toEqual(exact(Number.POSITIVE_INFINITY))
    expect(place('FLOAT', 'NaN')).toEqual({ kind: 'nan' })
    expect(place('FLOAT', { n: '-1e-400' })).toEqual(exact(0))
    expect(place('DOUBLE', { n: '-0' })).toEqual(exact(0))
  })

  test('places times finer than a microsecond and beyond the range', () => {
    const type = 'UNIXTIME_MICROS'
    expect(place(type, '1970-01-01T00:00:00.0000005Z')).toEqual(between(0n))
    expect(place(type, '1969-12-31T23:59:59.9999995Z')).toEqual(between(-1n))
    expect(place(type, '294247-01-10T04:00:54.775807Z')).toEqual(exact(INT64_MAX))
    expect(place(type, '294247-01-10T04:00:54.7758071Z')).toEqual(above)
    expect(place(type, '-290308-12-21T19:59:05.2241919Z')).toEqual(below)
    expect(place(type, '999999-01-01T00:00:00Z')).toEqual(above)
    expect(place(type, { n: '1.5' })).toEqual(between(1n))
    expect(place(type, { n: '1e30' })).toEqual(above)
    const millis: ValueOptions = { int64: 'number', timestamps: 'millis' }
    expect(place(type, { n: '1.5' }, millis)).toEqual(exact(1500n))
    expect(place(type, { n: '-1.0005' }, millis)).toEqual(between(-1001n))
    expect(place(type, { n: '9223372036854776' }, millis)).toEqual(above)
  })

  test('places the year 0000 before all dates', () => {
    expect(place('DATE', '0000-12-31')).toEqual(below)
    expect(place('DATE', '0001-01-01')).toEqual(exact(-719_162))
  })

  test('places a string that is too long right behind its prefix', () => {
    expect(place('VARCHAR(2)', 'aé😀')).toEqual(between(utf8Encode('aé')))
    expect(place('VARCHAR(2)', '😀é')).toEqual(exact(utf8Encode('😀é')))
    expect(place('BOOL', true)).toEqual(exact(1))
    expect(place('BINARY', 'aGk')).toEqual(exact(utf8Encode('hi')))
  })

  test('orders every short string as bytes order it against a long one', () => {
    const prng = new Prng(92)
    const column = aColumn('value VARCHAR(4)')
    for (let round = 0; round < 2000; round++) {
      const cell = randomCell(prng, column) as Uint8Array
      const literal = Array.from({ length: prng.between(5, 8) }, () =>
        prng.pick([...'aZ0é水😀']),
      ).join('')
      const placement = placeLiteral(column, literal)
      const isPrefix = prng.chance(0.5)
      const other = isPrefix ? utf8Encode([...literal].slice(0, prng.below(5)).join('')) : cell

      expect(placement.kind).toBe('between')
      if (placement.kind !== 'between') continue
      const isOver = compareWhole(other, placement.below as Uint8Array) > 0
      expect(isOver, `seed 92 round ${round}`).toBe(compareWhole(other, utf8Encode(literal)) > 0)
    }
  })

  test('cuts strings and bytes over 64 KiB to what a cell can hold', () => {
    const long = place('STRING', 'é'.repeat(40_000))
    const binary = place('BINARY', Buffer.alloc(70_000, 7).toString('base64'))
    const varchar = place('VARCHAR(40000)', 'é'.repeat(40_001))

    expect(long).toEqual(between(utf8Encode('é'.repeat(32_768))))
    expect(binary).toEqual(between(new Uint8Array(65_536).fill(7)))
    expect(varchar).toEqual(between(utf8Encode('é'.repeat(32_768))))
    expect(refusal(() => place('BINARY', '!'.repeat(100_000)))).toContain('BINARY, which takes')
  })

  test('refuses null and values of the wrong kind', () => {
    const wrong: [string, JsonScalar | { n: string }][] = [
      ['INT8', '5'],
      ['INT8', true],
      ['INT64', 'x'],
      ['STRING', { n: '5' }],
      ['STRING', '\ud800'],
      ['FLOAT', '0.5'],
      ['DATE', '2026-02-30'],
      ['UNIXTIME_MICROS', '2016-12-31T23:59:60Z'],
      ['BINARY', 'a'],
      ['BOOL', { n: '1' }],
      ['DECIMAL(5,2)', 'NaN'],
    ]
    for (const [type, value] of wrong) {
      expect(
        refusal(() => place(type, value)),
        type,
      ).toMatch(/^INVALID_ARGUMENT: column "value": /)
    }
    expect(refusal(() => place('INT8 NULL', null))).toContain('use IS NULL')
  })
})

describe('placeText', () => {
  test('takes the text form', () => {
    expect(placeText(aColumn('v INT8'), '300')).toEqual(above)
    expect(placeText(aColumn('v BOOL'), 'TRUE')).toEqual(exact(1))
    expect(placeText(aColumn('v FLOAT'), 'nan')).toEqual({ kind: 'nan' })
    expect(placeText(aColumn('v UNIXTIME_MICROS'), '1970-01-01 00:00:00.0000001Z')).toEqual(
      between(0n),
    )
    expect(placeText(aColumn('v UNIXTIME_MICROS'), '1.5')).toEqual(between(1n))
    expect(refusal(() => placeText(aColumn('v INT8'), 'x'))).toContain('not a value of INT8')
  })
})

describe('placeLiteral on DATE', () => {
  const column = aColumn('day DATE NULL')

  test.each([
    ['10000-01-01', 'above'],
    ['+123456-12-31', 'above'],
    ['-0001-01-01', 'below'],
    ['0000-12-31', 'below'],
  ])('places %s, which no cell holds, %s all cells', (text, kind) => {
    expect(placeLiteral(column, text)).toEqual({ kind })
  })

  test.each(['10000-13-01', '2026-1-1', '+2026', '99999', '-'])('refuses %s', (text) => {
    expect(() => placeLiteral(column, text)).toThrow('DATE')
  })
})

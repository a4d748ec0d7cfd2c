import { describe, expect, test } from 'vitest'
import {
  cellFromJson,
  cellFromText,
  cellToJson,
  cellToText,
  DEFAULT_VALUE_OPTIONS,
  NumberLiteral,
  type ValueOptions,
} from '../../src/common/cell-json.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { StatusError } from '../../src/common/status.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { fromHex, utf8Encode } from '../../src/util/bytes.ts'
import { aColumn } from '../support/a-schema.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface TruncateVectors {
  readonly utf8_truncate: {
    readonly cases: readonly { inputHex?: string; input?: string; maxChars: number }[]
  }
}

const MILLIS: ValueOptions = { int64: 'number', timestamps: 'millis' }
const QUOTED: ValueOptions = { int64: 'string', timestamps: 'micros' }

/** A JSON text as values are handed in: numbers as literals. */
function jsonValue(json: string): unknown {
  return /^[-\d]/.test(json) ? new NumberLiteral(json) : JSON.parse(json)
}

function read(type: string, json: string, options = DEFAULT_VALUE_OPTIONS): Cell | null {
  return cellFromJson(aColumn(`value ${type}`), jsonValue(json), options)
}

/** What comes out for what goes in. */
function through(type: string, json: string, options = DEFAULT_VALUE_OPTIONS): string {
  return cellToJson(aColumn(`value ${type}`), read(type, json, options), options)
}

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('cellFromJson', () => {
  test('takes what the contract says and gives it back as the contract says', () => {
    const cases: [string, string, string][] = [
      ['BOOL', 'true', 'true'],
      ['BOOL', 'false', 'false'],
      ['INT8', '-128', '-128'],
      ['INT8', '1e2', '100'],
      ['INT16', '32767.0', '32767'],
      ['INT32', '-2147483648', '-2147483648'],
      ['INT64', '9007199254740993.0', '9007199254740993'],
      ['INT64', '"-9223372036854775808"', '-9223372036854775808'],
      ['FLOAT', '0.1', '0.1'],
      ['FLOAT', '16777217', '16777216'],
      ['FLOAT', '"-Infinity"', '"-Infinity"'],
      ['DOUBLE', '-0', '-0'],
      ['DOUBLE', '-0.0', '-0'],
      ['DOUBLE', '1e21', '1e+21'],
      ['DOUBLE', '"NaN"', '"NaN"'],
      ['STRING', '"é\\"\\n"', '"é\\"\\n"'],
      ['STRING', '""', '""'],
      ['VARCHAR(2)', '"😀😀"', '"😀😀"'],
      ['BINARY', '"_-8"', '"/+8="'],
      ['BINARY', '""', '""'],
      ['UNIXTIME_MICROS', '"2026-02-01T01:59:59.000001+02:00"', '"2026-01-31T23:59:59.000001Z"'],
      ['UNIXTIME_MICROS', '0', '"1970-01-01T00:00:00.000000Z"'],
      ['DATE', '"2024-02-29"', '"2024-02-29"'],
      ['DECIMAL(5,2)', '1.5', '"1.50"'],
      ['DECIMAL(5,2)', '"-999.99"', '"-999.99"'],
      ['DECIMAL(5,2)', '"-0.000"', '"0.00"'],
      ['DECIMAL(18)', '999999999999999999', '"999999999999999999"'],
      ['DECIMAL(38,38)', '1e-38', `"0.${'0'.repeat(37)}1"`],
    ]
    for (const [type, json, expected] of cases) expect(through(type, json), json).toBe(expected)
  })

  test('names column, value and type when a value does not fit', () => {
    const cases: [string, string, string][] = [
      ['INT8', '300', '300 is out of range for INT8'],
      ['INT32', '1.5', '1.5 is not an integer, as INT32 needs'],
      ['INT64', '1e999999999', '1e999999999 is out of range for INT64'],
      ['FLOAT', '1e39', '1e39 is out of range for FLOAT'],
      ['DOUBLE', '-1e309', '-1e309 is out of range for DOUBLE'],
      ['VARCHAR(2)', '"abc"', 'value is longer than the limit of 2 code points'],
      ['DATE', '"0000-01-01"', '"0000-01-01" is out of range for DATE'],
      ['DECIMAL(5,2)', '1000', '1000 is out of range for DECIMAL(5,2)'],
      [
        'DECIMAL(5,2)',
        '"0.001"',
        '"0.001" has more than 2 digits behind the point, the scale of DECIMAL(5,2)',
      ],
      ['BOOL', '1', '1 is not a value of BOOL, which takes true or false'],
      ['INT8', '"1"', '"1" is not a value of INT8, which takes an integer'],
      ['STRING', '1', '1 is not a value of STRING, which takes a string'],
      ['STRING', '[]', 'an array is not a value of STRING, which takes a string'],
      ['STRING', '{}', 'an object is not a value of STRING, which takes a string'],
      ['STRING', '"\\ud800"', 'value has a lone surrogate, which is no character'],
      ['BINARY', '"a"', '"a" is not a value of BINARY, which takes a base64 string'],
      [
        'UNIXTIME_MICROS',
        '"2016-12-31T23:59:60Z"',
        '"2016-12-31T23:59:60Z" is a leap second, which UNIXTIME_MICROS does not have',
      ],
      [
        'UNIXTIME_MICROS',
        '"2026-01-01T00:00:00.0000001Z"',
        '"2026-01-01T00:00:00.0000001Z" is finer than a microsecond',
      ],
    ]
    for (const [type, json, complaint] of cases) {
      expect(refusal(() => read(type, json))).toBe(`INVALID_ARGUMENT: column "value": ${complaint}`)
    }
  })

  test('refuses values of another kind for every type', () => {
    const kinds: Record<string, readonly string[]> = {
      BOOL: ['"true"', '0', '"1"'],
      INT16: ['true', '"5"', '"NaN"'],
      INT64: ['true', '"abc"', '""', '" 1"', '"+1"', '"0x1"'],
      FLOAT: ['false', '"1.5"', '"nan"', '"infinity"', '"+Infinity"', '""'],
      DOUBLE: ['"inf"', '"-NaN"', 'true'],
      VARCHAR: ['5', 'true'],
      BINARY: ['5', 'false'],
      UNIXTIME_MICROS: ['true', '"0"', '"2026-01-01"', '"2026-01-01 00:00:00Z"', '""'],
      DATE: ['20000101', 'true', '"20000101"'],
      DECIMAL: ['true', '"NaN"', '""', '"1,5"', '"1.5.1"'],
    }
    for (const [type, values] of Object.entries(kinds)) {
      const attributes = type === 'VARCHAR' ? '(5)' : type === 'DECIMAL' ? '(9,2)' : ''
      for (const json of values) {
        const refused = refusal(() => read(type + attributes, json))

        expect(refused, `${type} ${json}`).toContain(`is not a value of ${type}`)
      }
    }
  })

  test('takes null only where the column does', () => {
    expect(read('INT8 NULL', 'null')).toBeNull()
    expect(refusal(() => read('INT8', 'null'))).toContain('null is not allowed')
    expect(refusal(() => read('INT8 KEY', 'null'))).toContain('null is not allowed for a key')
  })

  test('cuts a long value in its error and puts the column in the details', () => {
    const long = `"${'x'.repeat(1000)}😀"`
    expect(refusal(() => read('DATE', long)).length).toBeLessThan(250)

    try {
      read('VARCHAR(3)', '"abcd"')
      expect.unreachable()
    } catch (error) {
      expect((error as StatusError).details).toEqual({ column: 'value', limit: 3 })
    }
  })

  test('refuses a cell over 64 KiB, and an error as large as its value', () => {
    const fits = 'x'.repeat(65_536)
    const limit = 'value is larger than the limit of 65536 bytes'

    expect((read('STRING', `"${fits}"`) as Uint8Array).length).toBe(65_536)
    expect(refusal(() => read('STRING', `"${fits}x"`))).toContain(limit)
    expect(refusal(() => read('VARCHAR(65535)', `"${'é'.repeat(40_000)}"`))).toContain(limit)
    const binary = Buffer.alloc(65_536).toString('base64')
    expect((read('BINARY', `"${binary}"`) as Uint8Array).length).toBe(65_536)
    expect(refusal(() => read('BINARY', `"${binary.slice(0, -2)}AA"`))).toContain(limit)
    expect(refusal(() => read('BINARY', `"${'A'.repeat(200_000)}"`))).toContain(limit)
  })

  test('reads integers as milliseconds when the request says so, and strings as before', () => {
    expect(read('UNIXTIME_MICROS', '1500', MILLIS)).toBe(1_500_000n)
    expect(read('UNIXTIME_MICROS', '"1970-01-01T00:00:00.000001Z"', MILLIS)).toBe(1n)
    expect(refusal(() => read('UNIXTIME_MICROS', '9223372036854776', MILLIS))).toContain('range')
  })

  test('asserts that numbers come as literals', () => {
    expect(() => cellFromJson(aColumn('v INT8'), 5, DEFAULT_VALUE_OPTIONS)).toThrow(AssertionError)
  })

  test('counts code points where Kudu truncates in silence', () => {
    const { cases } = readVectors<TruncateVectors>('values').utf8_truncate
    for (const { inputHex, input = '', maxChars } of cases) {
      // "á x32 + a x32": 64 characters in 96 bytes, which fit; one fewer is an error here.
      const text = input.replaceAll(/(\S) x32/g, (_, c: string) => c.repeat(32)).replace(' + ', '')
      if (inputHex !== undefined) {
        // An incomplete sequence is never read: what comes in is UTF-8.
        expect(new TextDecoder().decode(fromHex(inputHex))).toBe('aaaa\ufffd')
        continue
      }

      expect(read(`VARCHAR(${maxChars})`, JSON.stringify(text))).toEqual(utf8Encode(text))
      expect(refusal(() => read(`VARCHAR(${maxChars - 1})`, JSON.stringify(text)))).toContain(
        `limit of ${maxChars - 1} code points`,
      )
    }
    reportVectors('utf8_truncate', cases.length)
  })
})

describe('cellFromText', () => {
  const fromText = (type: string, text: string, options = DEFAULT_VALUE_OPTIONS) =>
    cellFromText(aColumn(`value ${type}`), text, options)

  test('takes the JSON form without quotes', () => {
    expect(fromText('INT64', '9007199254740993')).toBe(9_007_199_254_740_993n)
    expect(fromText('INT8', '1e1')).toBe(10)
    expect(fromText('DECIMAL(5,2)', '-1.5')).toBe(-150)
    expect(fromText('DATE', '1970-01-02')).toBe(1)
    expect(fromText('BINARY', 'aGk')).toEqual(utf8Encode('hi'))
    expect(fromText('STRING', 'a"b ')).toEqual(utf8Encode('a"b '))
    expect(fromText('STRING', '')).toEqual(new Uint8Array(0))
    expect(fromText('UNIXTIME_MICROS', '1500')).toBe(1500n)
    expect(fromText('UNIXTIME_MICROS', '1500', MILLIS)).toBe(1_500_000n)
    expect(fromText('UNIXTIME_MICROS', '1e-0')).toBe(1n)
  })

  test('takes words in any case, and a space and short offsets in times', () => {
    expect([fromText('BOOL', 'TRUE'), fromText('BOOL', 'faLse')]).toEqual([1, 0])
    expect(fromText('DOUBLE', 'nan')).toBeNaN()
    expect(fromText('FLOAT', '-INFINITY')).toBe(Number.NEGATIVE_INFINITY)
    expect(fromText('UNIXTIME_MICROS', '1970-01-01 02:00:00+0200')).toBe(0n)
    expect(fromText('UNIXTIME_MICROS', '1970-01-01t02:00:00+02')).toBe(0n)
  })

  test('refuses what is neither', () => {
    const cases = [
      'BOOL 1',
      'BOOL yes',
      'INT8 ',
      'INT8  1',
      'DOUBLE inf',
      'DOUBLE +1',
      'DOUBLE NaN ',
    ]
    for (const line of [...cases, 'UNIXTIME_MICROS 2026-01-01', 'DATE 2026-1-1', 'BINARY !']) {
      const [type, ...text] = line.split(' ')

      expect(
        refusal(() => fromText(type, text.join(' '))),
        line,
      ).toContain('is not a value of')
    }
    expect(refusal(() => fromText('STRING', 'a\udc00'))).toContain('lone surrogate')
  })
})

describe('cellToJson', () => {
  test('obeys the options of the request', () => {
    const time = aColumn('value UNIXTIME_MICROS')
    const long = aColumn('value INT64')

    expect(cellToJson(time, -1n, QUOTED)).toBe('-1')
    expect(cellToJson(time, -1n, MILLIS)).toBe('-1')
    expect(cellToJson(time, 1999n, MILLIS)).toBe('1')
    expect(cellToJson(long, 2n ** 63n - 1n, QUOTED)).toBe('"9223372036854775807"')
    expect(cellToJson(long, 2n ** 63n - 1n, MILLIS)).toBe('9223372036854775807')
    expect(cellToJson(long, null, QUOTED)).toBe('null')
  })
})

describe('cellToText', () => {
  test('has no quotes and no escapes', () => {
    expect(cellToText(aColumn('v INT64'), 5n, QUOTED)).toBe('5')
    expect(cellToText(aColumn('v STRING'), utf8Encode('a"\n'), QUOTED)).toBe('a"\n')
    expect(cellToText(aColumn('v DOUBLE'), Number.NaN, QUOTED)).toBe('NaN')
    expect(cellToText(aColumn('v DECIMAL(9,1)'), -5, QUOTED)).toBe('-0.5')
    expect(cellToText(aColumn('v BOOL'), 1, QUOTED)).toBe('true')
  })
})

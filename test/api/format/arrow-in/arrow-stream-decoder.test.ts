import { describe, expect, test } from 'vitest'
import { ArrowStreamDecoder } from '../../../../src/api/format/arrow-in/arrow-stream-decoder.ts'
import { DecodedRows } from '../../../../src/api/format/decoded-rows.ts'
import {
  CELL_BYTES_MAX,
  ROW_ERROR_COUNT_MAX,
  SHARE_ROW_COUNT_MAX,
} from '../../../../src/common/limits.ts'
import type { Schema } from '../../../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../../../src/common/value-options.ts'
import { concatBytes, fromHex, utf8Decode, utf8Encode } from '../../../../src/util/bytes.ts'
import { aSchema } from '../../../support/a-schema.ts'
import { decodeArrow, shownRow } from '../../../support/decode-rows.ts'
import {
  ARROW_EOS,
  type PlainArrowCell,
  type PlainArrowField,
  type PlainArrowType,
  plainBatch,
  plainDictionary,
  plainSchema,
} from '../../../support/plain-arrow.ts'

const INT32 = { name: 'Int', bits: 32, isSigned: true } as const
const INT64 = { name: 'Int', bits: 64, isSigned: true } as const
const KEY: PlainArrowField = { name: 'k', type: INT32 }

function shown(schema: Schema, body: Uint8Array, values: ValueOptions = DEFAULT_VALUE_OPTIONS) {
  const { rows, problems, failure } = decodeArrow(schema, body, { values })
  return {
    rows: rows.map(({ index, cells }) => `${index}: ${shownRow(cells)}`),
    problems: problems.map(([index, , message]) => `${index}: ${message}`),
    failure,
  }
}

function ordinals(count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt(i))
}

/** Cells for one column `v`, under a key that counts; `column` is its type in the table. */
function sent(column: string, type: PlainArrowType, cells: readonly PlainArrowCell[]) {
  const fields = [KEY, { name: 'v', type }]
  const body = concatBytes(plainSchema(fields), plainBatch(fields, [ordinals(cells.length), cells]))
  const { rows, problems, failure } = shown(aSchema('k INT32 KEY', `v ${column} NULL`), body)
  return {
    rows: rows.map((row) => row.replace(/^\d+: k=/, '')),
    problems: problems.map((problem) => problem.replace(/^(\d+): column "v": /, '$1: ')),
    failure,
  }
}

function failureOf(...messages: readonly Uint8Array[]): string | null {
  return decodeArrow(aSchema('k INT32 KEY', 's STRING NULL'), concatBytes(...messages)).failure
}

const K = [KEY]

describe('ArrowStreamDecoder', () => {
  test('refuses rows whose integers do not fit', () => {
    expect(sent('INT8', INT32, [-129n, -128n, 127n, 128n, null])).toEqual({
      rows: ['1 v=-128', '2 v=127', '4 v=null'],
      problems: ['0: -129 is out of range for INT8', '3: 128 is out of range for INT8'],
      failure: null,
    })
    const unsigned = { name: 'Int', bits: 64, isSigned: false } as const
    expect(sent('INT64', unsigned, [2n ** 63n - 1n, 2n ** 63n])).toEqual({
      rows: ['0 v=9223372036854775807n'],
      problems: ['1: 9223372036854775808 is out of range for INT64'],
      failure: null,
    })
  })

  test('takes floats that are integers for integers, and refuses others', () => {
    const float = { name: 'Float', bits: 64 } as const
    expect(sent('INT64', float, [2 ** 53, -(2 ** 63), -0, 2 ** 63, 1.5, Number.NaN])).toEqual({
      rows: ['0 v=9007199254740992n', '1 v=-9223372036854775808n', '2 v=0n'],
      problems: [
        '3: 9223372036854776000 is out of range for INT64',
        '4: 1.5 is not an integer, as INT64 needs',
        '5: NaN is not a value of INT64, which takes an integer, or a string of one',
      ],
      failure: null,
    })
  })

  test('rounds to FLOAT once, and refuses what rounds to an infinity', () => {
    const float = { name: 'Float', bits: 64 } as const
    expect(sent('FLOAT', float, [0.1, Infinity, Number.NaN, 1e39, -0])).toEqual({
      rows: ['0 v=0.10000000149011612', '1 v=Infinity', '2 v=NaN', '4 v=-0'],
      problems: ['3: 1e+39 is out of range for FLOAT'],
      failure: null,
    })
    // The nearest double lies halfway between two FLOATs, the decimal above it.
    const decimal = { name: 'Decimal', bits: 128, precision: 16, scale: 16 } as const
    expect(sent('FLOAT', decimal, [5000000298023224n]).rows).toEqual(['0 v=0.5000000596046448'])
    expect(sent('FLOAT', INT64, [2n ** 54n + 2n ** 30n + 1n]).rows).toEqual([
      `0 v=${2 ** 54 + 2 ** 31}`,
    ])
  })

  test('rescales decimals exactly or refuses them', () => {
    const decimal = { name: 'Decimal', bits: 128, precision: 38, scale: 3 } as const
    expect(sent('DECIMAL(4,2)', decimal, [1230n, -99990n, 1234n, 100000n])).toEqual({
      rows: ['0 v=123', '1 v=-9999'],
      problems: [
        '2: 1.234 has more than 2 digits behind the point, the scale of DECIMAL(4,2)',
        '3: 100.000 is out of range for DECIMAL(4,2)',
      ],
      failure: null,
    })
    const wide = { name: 'Decimal', bits: 256, precision: 76, scale: -2 } as const
    const most = 10n ** 36n - 1n
    expect(sent('DECIMAL(38,0)', wide, [most, -most, most + 1n])).toEqual({
      rows: [`0 v=${most * 100n}n`, `1 v=-${most * 100n}n`],
      problems: [`2: ${most + 1n}e2 is out of range for DECIMAL(38,0)`],
      failure: null,
    })
  })

  test('reads timestamps of every unit to the ends of their range', () => {
    const time = (unit: number) => ({ name: 'Timestamp', unit }) as const
    const last = 2n ** 63n - 1n
    expect(sent('UNIXTIME_MICROS', time(0), [last / 1_000_000n, last / 1_000_000n + 1n])).toEqual({
      rows: ['0 v=9223372036854000000n'],
      problems: ['1: 9223372036855 s is out of range for UNIXTIME_MICROS'],
      failure: null,
    })
    const least = -(last / 1000n) - 1n
    expect(sent('UNIXTIME_MICROS', time(1), [least + 1n, least])).toEqual({
      rows: ['0 v=-9223372036854775000n'],
      problems: ['1: -9223372036854776 ms is out of range for UNIXTIME_MICROS'],
      failure: null,
    })
    expect(sent('UNIXTIME_MICROS', time(3), [-(2n ** 63n) + 808n, -1000n, -1n])).toEqual({
      rows: ['0 v=-9223372036854775n', '1 v=-1n'],
      problems: ['2: -1 ns is finer than a microsecond'],
      failure: null,
    })
  })

  test('reads integers as microseconds, or as milliseconds if asked', () => {
    const fields = [KEY, { name: 'v', type: INT64 }]
    const body = concatBytes(plainSchema(fields), plainBatch(fields, [[1n], [-5n]]))
    const schema = aSchema('k INT32 KEY', 'v UNIXTIME_MICROS')
    const millis = { ...DEFAULT_VALUE_OPTIONS, timestamps: 'millis' } as const
    expect(shown(schema, body).rows).toEqual(['0: k=1 v=-5n'])
    expect(shown(schema, body, millis).rows).toEqual(['0: k=1 v=-5000n'])
  })

  test('reads dates of days and of milliseconds that are whole days', () => {
    expect(sent('DATE', { name: 'Date', unit: 0 }, [-719_162n, 2_932_896n, 2_932_897n])).toEqual({
      rows: ['0 v=-719162', '1 v=2932896'],
      problems: ['2: day 2932897 is out of range for DATE'],
      failure: null,
    })
    expect(sent('DATE', { name: 'Date', unit: 1 }, [-86_400_000n, 1n, 2n ** 62n])).toEqual({
      rows: ['0 v=-1'],
      problems: [
        '1: 1 ms is not a value of DATE, which takes YYYY-MM-DD, 0001-01-01 to 9999-12-31',
        '2: 4611686018427387904 ms is out of range for DATE',
      ],
      failure: null,
    })
  })

  test('refuses texts that are not UTF-8, each by itself, or too long', () => {
    const halves = [Uint8Array.of(0xc3), Uint8Array.of(0xa9), utf8Encode('éé'), utf8Encode('ééé')]
    for (const name of ['Utf8', 'LargeUtf8', 'Utf8View'] as const) {
      expect(sent('VARCHAR(2)', { name }, halves)).toEqual({
        rows: ['2 v=xc3a9c3a9'],
        problems: [
          '0: value is not UTF-8',
          '1: value is not UTF-8',
          '3: value is longer than the limit of 2 code points',
        ],
        failure: null,
      })
    }
    const large = [new Uint8Array(CELL_BYTES_MAX), new Uint8Array(CELL_BYTES_MAX + 1)]
    expect(sent('BINARY', { name: 'LargeBinary' }, large).problems).toEqual([
      '1: value is larger than the limit of 65536 bytes',
    ])
  })

  test('reads views that lie in any order and share their bytes', () => {
    const words = ['the first of the words', 'the other of the words', 'the third of the words']
    const fields: PlainArrowField[] = [KEY, { name: 'v', type: { name: 'Utf8View' } }]
    const batch = plainBatch(fields, [ordinals(3), words.map(utf8Encode)])
    // The body ends with three views and the words.
    const start = batch.length - 3 * 16 - 72
    const [first, second] = [0, 16].map((at) => batch.slice(start + at, start + at + 16))
    batch.set(second, start)
    batch.set(first, start + 16)
    const { rows, failure } = shown(
      aSchema('k INT32 KEY', 'v STRING'),
      concatBytes(plainSchema(fields), batch),
    )
    expect(failure).toBeNull()
    expect(rows.map((row) => utf8Decode(fromHex(row.split('v=x')[1])))).toEqual([
      words[1],
      words[0],
      words[2],
    ])
  })

  test('refuses rows without a key, and names the first wrong column of a row', () => {
    const fields: PlainArrowField[] = [{ name: 'v', type: INT32 }, KEY]
    const body = concatBytes(
      plainSchema(fields),
      plainBatch(fields, [
        [300n, 1n, 300n],
        [null, null, 7n],
      ]),
    )
    expect(shown(aSchema('k INT32 KEY', 'v INT8'), body).problems).toEqual([
      '0: column "v": 300 is out of range for INT8',
      '1: column "k": null is not allowed for a key column',
      '2: column "v": 300 is out of range for INT8',
    ])
  })

  test('names the value of a dictionary that does not fit', () => {
    const fields: PlainArrowField[] = [
      KEY,
      { name: 'v', type: INT32, dictionary: { id: 1n, index: { name: 'Int', bits: 8 } } },
    ]
    const body = concatBytes(
      plainSchema(fields),
      plainDictionary(1n, INT32, [5n, 300n, null], false),
      plainDictionary(1n, INT32, [7n], true),
      plainBatch(fields, [ordinals(5), [0n, 1n, 2n, 3n, null]]),
      plainDictionary(1n, INT32, [9n], false),
      plainBatch(fields, [[9n], [0n]]),
    )
    expect(shown(aSchema('k INT32 KEY', 'v INT8 NULL'), body)).toEqual({
      rows: ['0: k=0 v=5', '2: k=2 v=null', '3: k=3 v=7', '4: k=4 v=null', '5: k=9 v=9'],
      problems: ['1: column "v": 300 is out of range for INT8'],
      failure: null,
    })
  })

  test('counts on over batches, and reads on after a run of wrong rows', () => {
    const count = SHARE_ROW_COUNT_MAX * 2 + 5
    const cells = ordinals(count).map((i) => (i === 0n || i === 9000n ? 1n : 300n))
    const { rows, problems } = sent('INT8', INT32, cells)
    expect(rows).toEqual(['0 v=1', '9000 v=1'])
    expect(problems[0]).toBe('1: 300 is out of range for INT8')
    expect(problems.length).toBeGreaterThanOrEqual(ROW_ERROR_COUNT_MAX)
  })

  test('takes a stream without rows, without an end, or without markers', () => {
    expect(failureOf(plainSchema(K))).toBeNull()
    expect(failureOf(plainSchema(K), ARROW_EOS)).toBeNull()
    const old = [plainSchema(K), plainBatch(K, [[7n]])].map((message) => message.subarray(4))
    const body = concatBytes(...old, new Uint8Array(4))
    expect(shown(aSchema('k INT32 KEY'), body)).toEqual({
      rows: ['0: k=7'],
      problems: [],
      failure: null,
    })
  })

  test('gives rows of few bytes that become many a few at a time', () => {
    const large = new Uint8Array(CELL_BYTES_MAX).fill(0x61)
    const dictionary = { id: 1n, index: { name: 'Int', bits: 8 } } as const
    const fields: PlainArrowField[] = [KEY, { name: 's', type: { name: 'Utf8' }, dictionary }]
    const count = 300
    const stream = concatBytes(
      plainSchema(fields),
      plainDictionary(1n, { name: 'Utf8' }, [large, utf8Encode('b')], false),
      plainBatch(fields, [ordinals(count), ordinals(count).map((i) => (i < 200n ? 0n : 1n))]),
    )
    const schema = aSchema('k INT32 KEY', 's STRING')
    const rows = new DecodedRows(schema)
    const decoder = new ArrowStreamDecoder(schema, DEFAULT_VALUE_OPTIONS, 1, rows, () => undefined)
    const taken: number[] = []
    for (let at = 0; at < stream.length || decoder.isPending; ) {
      at = decoder.pushUntilFull(stream, at)
      expect(rows.builder.usedBytes).toBeLessThan(4 * 1024 * 1024 + CELL_BYTES_MAX * 2)
      taken.push(rows.builder.rowCount)
      rows.clear()
    }
    expect(decoder.failure).toBeNull()
    expect(taken.length).toBeLessThan(8)
    expect(taken.reduce((sum, rowCount) => sum + rowCount, 0)).toBe(count)
  })
})

import { describe, expect, test } from 'vitest'
import { DecodedRows } from '../../../src/api/format/decoded-rows.ts'
import { NdjsonDecoder } from '../../../src/api/format/ndjson-decoder.ts'
import {
  COLUMN_COUNT_MAX,
  LINE_BYTES_MAX,
  ROW_ERROR_COUNT_MAX,
  SHARE_ROW_COUNT_MAX,
} from '../../../src/common/limits.ts'
import { ROW_OPERATIONS } from '../../../src/common/row-operation.ts'
import type { Schema } from '../../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { concatBytes, utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeNdjson, plainOf, shownRow } from '../../support/decode-rows.ts'

const SCHEMA = aSchema('k INT32 KEY', 's STRING NULL', 'v INT8 NULL')

function shown(body: string | Uint8Array, cuts: readonly number[] = []) {
  const { rows, problems, failure } = decodeNdjson(SCHEMA, body, { cuts })
  return {
    rows: rows.map(({ index, cells }) => `${index}: ${shownRow(cells)}`),
    problems: problems.map(([index, , message]) => `${index}: ${message}`),
    failure,
  }
}

function decoderOf(schema: Schema): NdjsonDecoder {
  const rows = new DecodedRows(schema)
  return new NdjsonDecoder(schema, DEFAULT_VALUE_OPTIONS, ROW_OPERATIONS.UPSERT, rows)
}

describe('NdjsonDecoder', () => {
  test('skips blank lines, and counts neither them nor line breaks as rows', () => {
    expect(shown('\n{"k":1}\r\n \t\r\n\r\n{"k":2}')).toEqual({
      rows: ['0: k=1', '1: k=2'],
      problems: [],
      failure: null,
    })
    expect(shown('')).toEqual({ rows: [], problems: [], failure: null })
  })

  test('gives rows the operation of the request', () => {
    const decoder = decoderOf(SCHEMA)
    decoder.pushUntilFull(utf8Encode('{"k":1}\n{"s":"a","k":2}\n'), 0)

    const { rows } = plainOf(SCHEMA, decoder.rows, decoder.failure)
    expect(rows.map(({ operation }) => operation)).toEqual([5, 5])
  })

  test('refuses a row for a wrong value, an unknown member, a missing or null key', () => {
    const body = [
      '{"k":1,"v":300}',
      '{"k":2,"toString":1}',
      '{"s":"a"}',
      '{"k":null}',
      '{"k":3,"s":{"a":1}}',
      '{"k":4,"s":"\\ud800"}',
      '{"k":5}',
    ].join('\n')

    expect(shown(body)).toEqual({
      rows: ['6: k=5'],
      problems: [
        '0: column "v": 300 is out of range for INT8',
        '1: unknown column "toString"',
        '2: no value provided for key column "k"',
        '3: column "k": null is not allowed for a key column',
        '4: column "s": an object is not a value of STRING, which takes a string',
        '5: column "s": value has a lone surrogate, which is no character',
      ],
      failure: null,
    })
  })

  test('refuses a line that is JSON but no object, and goes on', () => {
    expect(shown('5\n[{"k":1}]\n"a"\nnull\n{"k":1}\n')).toEqual({
      rows: ['4: k=1'],
      problems: [0, 1, 2, 3].map((index) => `${index}: row is not an object`),
      failure: null,
    })
  })

  test('lets the last of repeated members count, also after a wrong one', () => {
    const lines = ['{"k":1,"v":300,"v":3}', '{"k":"x","k":2}', '{"k":3,"s":"a","s":null}']

    expect(shown(lines.join('\n')).rows).toEqual(['0: k=1 v=3', '1: k=2', '2: k=3 s=null'])
    expect(shown('{"k":1,"v":3,"v":300}').problems).toHaveLength(1)
    expect(shown('{"k":1,"k":null}').problems).toHaveLength(1)
  })

  test('reads columns named like members of every object', () => {
    const schema = aSchema('__proto__ INT32 KEY', 'constructor STRING NULL', 'toString BOOL NULL')
    const body =
      '{"__proto__":1,"constructor":"a","toString":true}\n{"__proto__":2}\n{"hasOwnProperty":1}'
    const { rows, problems } = decodeNdjson(schema, body)

    expect(rows.map(({ cells }) => shownRow(cells))).toEqual([
      '__proto__=1 constructor=x61 toString=1',
      '__proto__=2',
    ])
    expect(problems.map(([index, column]) => [index, column])).toEqual([[2, 'hasOwnProperty']])
  })

  test('does not take a row across lines', () => {
    expect(shown('{"k":1,\n"v":2}\n').failure).toBe(
      'line 1: unexpected end of JSON at byte 7 of the line',
    )
    expect(shown('{"k":1}{"k":2}\n').failure).toMatch('line 1: unexpected text behind the value')
  })

  test.each([
    ['{"k":1}\n{"k":2', 'line 2: unexpected end of JSON at byte 6 of the line'],
    ['{"k":1}\nnot json\n{"k":2}', 'line 2: not a value at byte 0 of the line'],
    ['{"k":1}\n{"k":2,"s":"\u0001"}\n', 'line 2: control character in a string'],
    ['{"k":1}\n\n{"k":01}\n', 'line 3: number has a leading zero at byte 5 of the line'],
    ['{"k":1}\n{"k":2,}\n', 'line 2: expected a member name'],
    [`{"k":1}\n${'{"s":'.repeat(33)}`, 'line 2: nested deeper than the limit of 32'],
  ])('ends at a line that is not JSON: %j', (body, message) => {
    const { rows, failure } = shown(body)

    expect(rows).toEqual(['0: k=1'])
    expect(failure).toMatch(message)
  })

  test('ends at a line that is not UTF-8, also outside strings that are read', () => {
    const bad = concatBytes(
      utf8Encode('{"k":1}\n{"k":2,"s":"'),
      Uint8Array.of(0xff),
      utf8Encode('"}\n'),
    )

    expect(shown(bad)).toMatchObject({
      rows: ['0: k=1'],
      failure: expect.stringMatching('line 2: not UTF-8'),
    })
  })

  test('ignores what is pushed after a failure', () => {
    const decoder = decoderOf(SCHEMA)
    decoder.pushUntilFull(utf8Encode('x\n{"k":1}\n'), 0)
    decoder.pushUntilFull(utf8Encode('{"k":2}\n'), 0)
    decoder.finish()

    expect(decoder.failure?.details.line).toBe(1)
    expect(decoder.rows.builder.rowCount).toBe(0)
  })

  test('takes a line as long as the limit, and none longer, in one piece and in many', () => {
    const line = (bytes: number) => {
      const text = utf8Encode(`{"k":1,"k":2${' '.repeat(100)}}`)
      const long = new Uint8Array(bytes + 1).fill(0x20)
      long.set(text)
      long[bytes] = 0x0a
      return long
    }

    for (const cuts of [[], [1000], [LINE_BYTES_MAX, LINE_BYTES_MAX + 1]]) {
      expect(shown(line(LINE_BYTES_MAX), cuts).rows).toEqual(['0: k=2'])
      expect(shown(line(LINE_BYTES_MAX + 1), cuts)).toEqual({
        rows: [],
        problems: [],
        failure: `line 1: line is longer than the limit of ${LINE_BYTES_MAX} bytes`,
      })
    }
  })

  test('counts all refused rows and spells out the first thousand', () => {
    const decoder = decoderOf(SCHEMA)
    decoder.pushUntilFull(utf8Encode('5\n'.repeat(ROW_ERROR_COUNT_MAX + 5)), 0)

    expect(decoder.rows.problems).toHaveLength(ROW_ERROR_COUNT_MAX)
    expect(decoder.rows.failedCount).toBe(ROW_ERROR_COUNT_MAX + 5)
    expect(decoder.rows.nextRowIndex).toBe(ROW_ERROR_COUNT_MAX + 5)
  })

  test('cuts what it shows of long names and values', () => {
    const long = 'é'.repeat(10_000)
    const { problems } = shown(`{"k":1,"${long}":1}\n{"k":"${long}"}`)

    for (const problem of problems) expect(problem.length).toBeLessThan(200)
    expect(problems).toHaveLength(2)
  })

  test('stops when the batch is full, and goes on where it stopped', () => {
    const decoder = decoderOf(SCHEMA)
    const rowCount = SHARE_ROW_COUNT_MAX * 2 + 1000
    const chunk = utf8Encode(Array.from({ length: rowCount }, (_, k) => `{"k":${k}}\n`).join(''))

    const counts: number[] = []
    for (let at = 0; at < chunk.length; ) {
      at = decoder.pushUntilFull(chunk, at)
      counts.push(decoder.rows.builder.rowCount)
      expect(decoder.rows.rowIndexes[0]).toBe(decoder.rows.nextRowIndex - counts[counts.length - 1])
      decoder.rows.clear()
    }

    expect(counts.reduce((sum, count) => sum + count)).toBe(rowCount)
    expect(Math.max(...counts)).toBeLessThan(SHARE_ROW_COUNT_MAX + 300)
    expect(counts.length).toBe(3)
  })

  test('holds few rows of many columns at a time, however sparse they are', () => {
    const names = Array.from({ length: COLUMN_COUNT_MAX - 1 }, (_, i) => `c${i} DECIMAL(38) NULL`)
    const decoder = decoderOf(aSchema('k INT32 KEY', ...names))
    const chunk = utf8Encode('{"k":1}\n'.repeat(5000))

    decoder.pushUntilFull(chunk, 0)

    const heldBytes = decoder.rows.builder.columns.reduce(
      (sum, column) => sum + column.heldBytes,
      0,
    )
    expect(decoder.rows.builder.rowCount).toBeLessThan(2000)
    expect(heldBytes).toBeLessThan(16 * 1024 * 1024)
  })
})

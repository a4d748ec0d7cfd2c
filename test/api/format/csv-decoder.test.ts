import { describe, expect, test } from 'vitest'
import { CsvDecoder } from '../../../src/api/format/csv-decoder.ts'
import { DecodedRows } from '../../../src/api/format/decoded-rows.ts'
import { LINE_BYTES_MAX, SHARE_ROW_COUNT_MAX } from '../../../src/common/limits.ts'
import { ROW_OPERATIONS } from '../../../src/common/row-operation.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { concatBytes, toHex, utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { type DecodeSetting, decodeCsv, shownRow } from '../../support/decode-rows.ts'

const SCHEMA = aSchema('k INT32 KEY', 's STRING NULL', 'v INT8 NULL')

function shown(body: string | Uint8Array, setting: DecodeSetting = {}) {
  const { rows, problems, failure } = decodeCsv(SCHEMA, body, setting)
  const texts = rows.map(({ index, cells }) => `${index}: ${shownRow(cells)}`)
  return {
    rows: texts,
    problems: problems.map(([index, , message]) => `${index}: ${message}`),
    failure,
  }
}

function hex(text: string): string {
  return `x${toHex(utf8Encode(text))}`
}

function rowsOf(body: string, setting: DecodeSetting = {}): readonly string[] {
  const { rows, problems, failure } = shown(body, setting)
  expect({ problems, failure }).toEqual({ problems: [], failure: null })
  return rows
}

describe('CsvDecoder', () => {
  test('reads records under a header, in its order, the other columns unset', () => {
    expect(rowsOf('s,k\na,1\nb,2\n')).toEqual(['0: k=1 s=x61', '1: k=2 s=x62'])
    expect(rowsOf('k\n1')).toEqual(['0: k=1'])
    expect(rowsOf('k,s\n')).toEqual([])
    expect(rowsOf('')).toEqual([])
  })

  test('tells null, the unquoted empty field, from the empty string in quotes', () => {
    expect(rowsOf('k,s,v\n1,,\n2,"",3\n')).toEqual(['0: k=1 s=null v=null', '1: k=2 s=x v=3'])
  })

  test('takes the text for null that the request names, unquoted alone', () => {
    const body = 'k,s,v\n1,NULL,NULL\n2,"NULL",\n3,,1\n'

    expect(shown(body, { nullText: 'NULL' })).toEqual({
      rows: ['0: k=1 s=null v=null', '2: k=3 s=x v=1'],
      problems: ['1: column "v": "" is not a value of INT8, which takes an integer'],
      failure: null,
    })
  })

  test('reads quoted fields with commas, quotes and line breaks', () => {
    expect(rowsOf('k,s\n1,"a,b"\n"2","say ""hi"""\n3,"x\r\ny\n"\n4,""""\n')).toEqual([
      `0: k=1 s=${hex('a,b')}`,
      `1: k=2 s=${hex('say "hi"')}`,
      `2: k=3 s=${hex('x\r\ny\n')}`,
      `3: k=4 s=${hex('"')}`,
    ])
  })

  test('takes LF and CRLF, skips blank lines, and leaves spaces and lone CRs alone', () => {
    expect(rowsOf('\r\n\nk,s\r\n1,a\r\n\r\n\n2, b \n3,c\rd\r\n')).toEqual([
      '0: k=1 s=x61',
      '1: k=2 s=x206220',
      '2: k=3 s=x630d64',
    ])
  })

  test('skips a byte order mark, in however many chunks it comes', () => {
    const body = utf8Encode('\ufeff"k",s\n1,\ufeff\n')

    for (const cuts of [[], [1], [2], [1, 2, 3], [3], [4]]) {
      expect(shown(body, { cuts }).rows, String(cuts)).toEqual(['0: k=1 s=xefbbbf'])
    }
    expect(shown(utf8Encode('\ufeffk\n1\n').subarray(0, 2)).failure).toBe('line 1: not UTF-8')
    expect(shown(concatBytes(Uint8Array.of(0xef, 0xbb, 0x80), utf8Encode('k\n'))).failure).toMatch(
      'line 1: unknown column',
    )
  })

  test('refuses wrong values, missing keys and records of another width, one by one', () => {
    const body = 'k,v\n1,300\n,1\n2\n3,4,5\nx,1\n4,5\n'

    expect(shown(body)).toEqual({
      rows: ['5: k=4 v=5'],
      problems: [
        '0: column "v": "300" is out of range for INT8',
        '1: column "k": null is not allowed for a key column',
        '2: record has 1 fields, the header 2',
        '3: record has 3 fields, the header 2',
        '4: column "k": "x" is not a value of INT32, which takes an integer',
      ],
      failure: null,
    })
    expect(shown('s\na\nb\n').problems).toEqual([
      '0: no value provided for key column "k"',
      '1: no value provided for key column "k"',
    ])
  })

  test.each([
    ['k,x\n1,2\n', 'line 1: unknown column "x" in the header'],
    ['k,\n1,2\n', 'line 1: unknown column "" in the header'],
    ['k,k\n1,2\n', 'line 1: column "k" is twice in the header'],
    ['\n\nk,s,"k"\n', 'line 3: column "k" is twice in the header'],
    ['k,s,v,w\n', 'line 1: the header has more fields than the table has columns'],
    ['k,s\n1,a"b\n', 'line 2: a quote stands inside an unquoted field'],
    ['k,s\n1,"a"b\n', 'line 2: text follows the closing quote of a field'],
    ['k,s\n1,"a" \n', 'line 2: text follows the closing quote of a field'],
    ['k,s\n1,"a"\rb\n', 'line 2: text follows the closing quote of a field'],
    ['k,s\n1,"a"\r', 'line 2: text follows the closing quote of a field'],
    ['k,s\n1,"x\ny"\n\n2,"a', 'line 5: a quoted field is not closed'],
    ['k"', 'line 1: a quote stands inside an unquoted field'],
  ])('ends at what is not CSV: %j', (body, failure) => {
    const bytes = utf8Encode(body)
    const everywhere = Array.from(bytes, (_, index) => index)

    expect(shown(body).failure).toBe(failure)
    expect(shown(body, { cuts: everywhere }).failure).toBe(failure)
  })

  test('ends at a quote where none can be, without waiting for the record to end', () => {
    const decoder = new CsvDecoder(
      SCHEMA,
      { ...DEFAULT_VALUE_OPTIONS, nullText: '' },
      ROW_OPERATIONS.INSERT,
      new DecodedRows(SCHEMA),
    )
    decoder.pushUntilFull(utf8Encode('k,s\n1,a'), 0)
    decoder.pushUntilFull(utf8Encode('b"c'), 0)

    expect(decoder.failure?.message).toBe('line 2: a quote stands inside an unquoted field')
  })

  test('ends at bytes that are not UTF-8, with the rows before them', () => {
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const head = utf8Encode('k,s\n1,é\n2,a')
      const tail = utf8Encode('\n3,c\n')
      const body = concatBytes(head, Uint8Array.from(bad), tail)

      for (const cuts of [[], [head.length], [head.length + 1]]) {
        expect(shown(body, { cuts })).toEqual({
          rows: ['0: k=1 s=xc3a9'],
          problems: [],
          failure: 'line 3: not UTF-8',
        })
      }
      expect(shown(body.subarray(0, head.length + bad.length)).failure).toBe('line 3: not UTF-8')
    }
  })

  test('takes a record as long as the limit, and none longer, in one piece and in many', () => {
    const record = (bytes: number, isQuoted: boolean) => {
      const long = new Uint8Array(4 + bytes + 1).fill(isQuoted ? 0x0a : 0x61)
      long.set(utf8Encode(isQuoted ? 'k,s\n1,"' : 'k,s\n1,'))
      if (isQuoted) long[4 + bytes - 1] = 0x22
      long[4 + bytes] = 0x0a
      return long
    }

    const cases = [
      [false, []],
      [true, [1000]],
    ] as const
    for (const [isQuoted, cuts] of cases) {
      // The record is taken; its field is larger than a cell.
      expect(shown(record(LINE_BYTES_MAX, isQuoted), { cuts })).toMatchObject({
        problems: ['0: column "s": value is larger than the limit of 65536 bytes'],
        failure: null,
      })
      expect(shown(record(LINE_BYTES_MAX + 1, isQuoted), { cuts })).toMatchObject({
        problems: [],
        failure: `line 2: record is longer than the limit of ${LINE_BYTES_MAX} bytes`,
      })
    }
  })

  test('refuses a text for null that no unquoted field can hold', () => {
    for (const nullText of ['"', 'a,b', 'a\nb', '\r', '\ud800', 'x'.repeat(257)]) {
      expect(() => decodeCsv(SCHEMA, '', { nullText })).toThrow('null text')
    }
  })

  test('stops when the batch is full, and goes on where it stopped', () => {
    const rows = new DecodedRows(SCHEMA)
    const options = { ...DEFAULT_VALUE_OPTIONS, nullText: '' }
    const decoder = new CsvDecoder(SCHEMA, options, ROW_OPERATIONS.UPDATE, rows)
    const rowCount = SHARE_ROW_COUNT_MAX * 2 + 1000
    const lines = Array.from(
      { length: rowCount },
      (_, k) => `${k},"a\nb",${k % 500 === 9 ? 999 : 1}`,
    )
    const chunk = utf8Encode(`k,s,v\n${lines.join('\n')}\n`)

    let count = 0
    let failedCount = 0
    for (let at = 0; at < chunk.length; ) {
      at = decoder.pushUntilFull(chunk, at)
      const { builder, rowIndexes } = rows
      expect(builder.rowCount).toBeLessThan(SHARE_ROW_COUNT_MAX + 300)
      const keys = builder.view().columns[0].lanes
      expect(keys).toEqual(Int32Array.from(rowIndexes.subarray(0, builder.rowCount)))
      count += builder.rowCount
      failedCount += rows.failedCount
      rows.clear()
    }
    expect({ count: count + failedCount, failedCount }).toEqual({
      count: rowCount,
      failedCount: 35,
    })
    decoder.pushUntilFull(utf8Encode('1,"a"b\n'), 0)
    expect(decoder.failure?.details.line).toBe(rowCount * 2 + 2)
  })
})

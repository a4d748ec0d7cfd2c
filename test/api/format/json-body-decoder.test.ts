import { describe, expect, test } from 'vitest'
import { DecodedRows } from '../../../src/api/format/decoded-rows.ts'
import { JsonBodyDecoder, operationOf } from '../../../src/api/format/json-body-decoder.ts'
import { JSON_ROW_COUNT_MAX, SHARE_ROW_COUNT_MAX } from '../../../src/common/limits.ts'
import { ROW_OPERATIONS } from '../../../src/common/row-operation.ts'
import { StatusError } from '../../../src/common/status.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeJson, shownRow } from '../../support/decode-rows.ts'
import { plainBody } from '../../support/plain-rows.ts'
import { mutated, randomSpace } from '../../support/random-json.ts'
import { EVERY_TYPE, randomRow } from '../../support/random-rows.ts'

const SCHEMA = aSchema('k INT32 KEY', 's STRING NULL', 'v INT8 NULL')
const { INSERT, UPSERT, UPDATE, DELETE } = ROW_OPERATIONS

function shown(body: string): unknown {
  const { rows, problems, failure } = decodeJson(SCHEMA, body)
  if (failure !== null) return failure
  const texts: string[] = []
  for (const { index, operation, cells } of rows) {
    texts[index] = `${index}: ${operation} ${shownRow(cells)}`
  }
  for (const [index, , message] of problems) texts[index] = `${index}: ${message}`
  return texts
}

/** A decoder that has read a body. */
function started(body: string): JsonBodyDecoder {
  const bytes = utf8Encode(`${body}\n`)
  const decoder = new JsonBodyDecoder(SCHEMA, DEFAULT_VALUE_OPTIONS, new DecodedRows(SCHEMA))
  decoder.start(bytes, bytes.length - 1)
  return decoder
}

describe('operationOf', () => {
  test('knows the eight operations in any case, and nothing that objects inherit', () => {
    expect(operationOf('upsert_Ignore')).toBe(ROW_OPERATIONS.UPSERT_IGNORE)
    for (const name of ['', 'TRUNCATE', 'toString', '__proto__']) {
      expect(() => operationOf(name)).toThrow(`unknown operation "${name}"`)
    }
  })
})

describe('JsonBodyDecoder', () => {
  test('reads rows under one operation, INSERT by itself, wherever it stands', () => {
    expect(shown('{"rows":[{"k":1},{"k":2,"s":"a"}]}')).toEqual(['0: 1 k=1', '1: 1 k=2 s=x61'])
    expect(shown('{"operation":"UPSERT","rows":[{"k":1}]}')).toEqual([`0: ${UPSERT} k=1`])
    expect(shown('{"rows":[{"k":1},{"k":2}],"operation":"delete"}')).toEqual([
      `0: ${DELETE} k=1`,
      `1: ${DELETE} k=2`,
    ])
    expect(shown('{"rows":[]}')).toEqual([])
  })

  test('reads operations, each with its row, members in any order', () => {
    const entries = [
      '{"operation":"UPSERT","row":{"k":1}}',
      '{"row":{"k":2},"operation":"update"}',
      '{"row":{"k":3}}',
      ' { "operation" : "DELETE" , "row" : { "k" : 4 } } ',
      '{"operation":"UPSERT","row":5}',
    ]

    expect(shown(`{"operations":[${entries.join(',')}]}`)).toEqual([
      `0: ${UPSERT} k=1`,
      `1: ${UPDATE} k=2`,
      `2: ${INSERT} k=3`,
      `3: ${DELETE} k=4`,
      '4: row is not an object',
    ])
    expect(shown('{"operations":[]}')).toEqual([])
  })

  test('refuses rows one by one, and keeps the others', () => {
    expect(shown('{"rows":[{"k":1},7,{"k":"x"},{"k":2,"v":1000},{"k":3}]}')).toEqual([
      '0: 1 k=1',
      '1: row is not an object',
      '2: column "k": "x" is not a value of INT32, which takes an integer',
      '3: column "v": 1000 is out of range for INT8',
      '4: 1 k=3',
    ])
  })

  test('lets the last of repeated members count', () => {
    expect(shown('{"rows":[{"k":1}],"rows":[{"k":2}]}')).toEqual(['0: 1 k=2'])
    expect(shown('{"rows":5,"rows":[{"k":2}]}')).toEqual(['0: 1 k=2'])
    expect(shown('{"operation":"X","operation":"UPSERT","rows":[]}')).toEqual([])
    expect(shown('{"operation":"UPSERT","operation":"X","rows":[]}')).toMatch(
      'unknown operation "X"',
    )
    expect(shown('{"rows":[{"k":1}],"rows":5}')).toBe('member "rows" is not an array')
    expect(shown('{"operations":[{"operation":"X","operation":"UPDATE","row":{"k":1}}]}')).toEqual([
      `0: ${UPDATE} k=1`,
    ])
    expect(shown('{"operations":[{"row":{"k":1,"v":1},"row":{"k":2}}]}')).toEqual(['0: 1 k=2'])
    expect(shown('{"operations":[{"row":{"k":1},"row":7}]}')).toEqual(['0: row is not an object'])
    expect(shown('{"operations":[7],"operations":[{"row":{"k":1}}]}')).toEqual(['0: 1 k=1'])
  })

  test.each([
    ['5', 'body is not a JSON object'],
    ['[]', 'body is not a JSON object'],
    ['{}', 'body has neither "rows" nor "operations"'],
    ['{"operation":"UPSERT"}', 'body has neither "rows" nor "operations"'],
    ['{"rows":[],"operations":[]}', 'body has both "rows" and "operations"'],
    ['{"operations":[],"operation":"UPSERT"}', 'body has both "operation" and "operations"'],
    ['{"rows":{}}', 'member "rows" is not an array'],
    ['{"operations":null}', 'member "operations" is not an array'],
    ['{"rows":[],"Rows":[]}', 'unknown member "Rows"'],
    ['{"rows":[],"__proto__":[]}', 'unknown member "__proto__"'],
    ['{"operation":"TRUNCATE","rows":[]}', 'unknown operation "TRUNCATE"'],
    ['{"operation":1,"rows":[]}', 'member "operation" is not a string'],
    ['{"operations":[{"row":{"k":1}},5]}', 'operations[1] is not an object'],
    ['{"operations":[{"operation":"INSERT"}]}', 'operations[0] has no "row"'],
    ['{"operations":[{"row":{"k":1},"rows":1}]}', 'unknown member "rows" of operations[0]'],
    ['{"operations":[{"operation":"X","row":{"k":1}}]}', 'unknown operation "X"'],
    [
      '{"operations":[{"operation":null,"row":{"k":1}}]}',
      'operation of operations[0] is not a string',
    ],
    ['', 'body is not JSON: unexpected end of JSON at byte 0'],
    ['{"rows":[{"k":1}', 'body is not JSON: unexpected end of JSON at byte 16'],
    ['{"rows":[{"k":1},]}', 'body is not JSON: not a value at byte 17'],
    ['{"rows":[{"k":1}]} x', 'body is not JSON: unexpected text behind the value at byte 19'],
    ['{"rows":[{"k":1} {"k":2}]}', 'body is not JSON: expected , or ] at byte 17'],
  ])('refuses %s', (body, message) => {
    expect(shown(body)).toBe(message)
  })

  test('refuses all of a body that is malformed behind many good rows', () => {
    const rows = Array.from({ length: 20_000 }, (_, k) => `{"k":${k}}`).join(',')

    expect(shown(`{"rows":[${rows},{"k":1x}]}`)).toMatch('body is not JSON: expected , or }')
    expect(shown(`{"rows":[${rows}]}]`)).toMatch('body is not JSON: unexpected text')
    expect(shown(`{"rows":[${rows}],"operation":"X"}`)).toBe('unknown operation "X"')
    const entries = rows.replaceAll('{"k":', '{"row":{"k":').replaceAll('}', '}}')
    expect(shown(`{"operations":[${entries},{"operation":"X","row":{"k":1}}]}`)).toBe(
      'unknown operation "X"',
    )
  })

  test('takes values nested as deep as the limit in any row, and no deeper', () => {
    const nested = (depth: number) => `{"k":1,"s":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const rows = (row: string, before: number) => `{"rows":[${'{"k":1},'.repeat(before)}${row}]}`
    const entries = (row: string, before: number) => {
      return `{"operations":[${'{"row":{"k":1}},'.repeat(before)}{"row":${row}}]}`
    }

    for (const before of [0, 10_000]) {
      expect(decodeJson(SCHEMA, rows(nested(29), before)).problems).toHaveLength(1)
      expect(shown(rows(nested(30), before))).toMatch('nested deeper than the limit of 32')
      expect(decodeJson(SCHEMA, entries(nested(28), before)).problems).toHaveLength(1)
      expect(shown(entries(nested(29), before))).toMatch('nested deeper than the limit of 32')
    }
  })

  test('takes as many rows as the limit, and no more', () => {
    const body = (count: number) => `{"rows":[${'{"k":1},'.repeat(count - 1)}{"k":1}]}`

    const decoder = started(body(JSON_ROW_COUNT_MAX))
    let count = decoder.rows.builder.rowCount
    for (decoder.rows.clear(); decoder.next(); decoder.rows.clear()) {
      count += decoder.rows.builder.rowCount
    }
    expect(count).toBe(JSON_ROW_COUNT_MAX)
    expect(() => started(body(JSON_ROW_COUNT_MAX + 1))).toThrow(
      new StatusError('PAYLOAD_TOO_LARGE', 'body has more rows than the limit of 100000', {
        limit: JSON_ROW_COUNT_MAX,
      }),
    )
  })

  test('gives a large body in batches, with the operations of all of it known at once', () => {
    const entries = Array.from({ length: 20_000 }, (_, k) => {
      const operation = k === 19_000 ? '"operation":"DELETE",' : ''
      return `{${operation}"row":{"k":${k}${k % 1000 === 7 ? ',"v":999' : ''}}}`
    })
    const decoder = started(`{"operations":[${entries.join(',')}]}`)

    expect([...decoder.operations].sort()).toEqual([INSERT, DELETE])
    let rowCount = 0
    let failedCount = 0
    let batchCount = 0
    do {
      const { builder, rowIndexes } = decoder.rows
      expect(builder.rowCount).toBeLessThan(SHARE_ROW_COUNT_MAX + 300)
      const keys = builder.view().columns[0].lanes
      expect(keys).toEqual(Int32Array.from(rowIndexes.subarray(0, builder.rowCount)))
      rowCount += builder.rowCount
      failedCount += decoder.rows.failedCount
      batchCount++
      decoder.rows.clear()
    } while (decoder.next())
    expect({ rowCount, failedCount }).toEqual({ rowCount: 19_980, failedCount: 20 })
    expect(batchCount).toBe(3)
  })

  test('gives the rows of later batches the operation that stands behind them', () => {
    const rows = Array.from({ length: 10_000 }, (_, k) => `{"k":${k}}`).join(',')
    const { rows: decoded } = decodeJson(SCHEMA, `{"rows":[${rows}],"operation":"UPSERT"}`)

    expect(decoded).toHaveLength(10_000)
    expect(new Set(decoded.map(({ operation }) => operation))).toEqual(new Set([UPSERT]))
  })

  test('decodes a body as the platform and the rules for values read it', () => {
    for (let seed = 2000; seed < 2120; seed++) {
      const prng = new Prng(seed)
      const style = { isRegular: prng.chance(0.7), hasSpace: prng.chance(0.3) }
      const space = () => (style.hasSpace ? randomSpace(prng) : '')
      const rows = Array.from({ length: prng.below(12) }, () => {
        return `${space()}${randomRow(prng, EVERY_TYPE, style)}${space()}`
      })
      const text = `${space()}{${space()}"rows"${space()}:${space()}[${rows.join(',')}]${space()}}`
      const body = prng.chance(0.5) ? utf8Encode(text) : mutated(prng, text)
      const plain = plainBody(EVERY_TYPE, body)
      const { rows: decoded, problems, failure } = decodeJson(EVERY_TYPE, body)
      const got: string[] = []
      for (const { index, cells } of decoded) got[index] = shownRow(cells)
      for (const [index] of problems) got[index] = 'refused'
      const want = plain?.map((cells) => (cells === null ? 'refused' : shownRow(cells)))

      expect(failure === null ? got : null, `seed ${seed}: ${text}`).toEqual(want ?? null)
    }
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type DuckDBDateValue, type DuckDBDecimalValue, DuckDBInstance } from '@duckdb/node-api'
import * as arrow from 'apache-arrow'
import { beforeEach, describe, expect, test } from 'vitest'
import { ROW_ERROR_COUNT_MAX } from '../../../src/common/limits.ts'
import { concatBytes, utf8Encode } from '../../../src/util/bytes.ts'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp, type LocalRequest } from '../../support/local-app.ts'
import {
  type PlainArrowField,
  plainBatch,
  plainMessage,
  plainSchema,
} from '../../support/plain-arrow.ts'
import { wordsOf } from '../../support/scalars.ts'

const ARROW = { 'content-type': 'application/vnd.apache.arrow.stream' }
const COLUMNS = ['id INT64 KEY', 'name STRING', 'n INT8 NULL']
const FIELDS: PlainArrowField[] = [
  { name: 'id', type: { name: 'Int', bits: 64, isSigned: true } },
  { name: 'name', type: { name: 'Utf8' } },
  { name: 'n', type: { name: 'Int', bits: 32, isSigned: true } },
]

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', COLUMNS, 4))
})

function write(body: Uint8Array, query = '', request: LocalRequest = {}): Promise<LocalAnswer> {
  const headers = { ...ARROW, ...request.headers }
  return app.send('POST', `/api/v1/tables/t/rows${query}`, { body, headers })
}

async function stored(): Promise<object[]> {
  return (await app.must('POST', '/t/scan', { body: { order: 'ORDERED' } })).rows
}

/** A batch of rows whose n is their id. */
function batch(first: number, end: number): Uint8Array {
  const ids = Array.from({ length: end - first }, (_, i) => BigInt(first + i))
  return plainBatch(FIELDS, [ids, ids.map((id) => utf8Encode(`row ${id}`)), ids])
}

const SCHEMA = plainSchema(FIELDS)
const row = (id: number) => ({ id, name: `row ${id}`, n: id })
const rows = (count: number) => Array.from({ length: count }, (_, id) => row(id))

describe('POST rows of Arrow', () => {
  test('inserts unless told otherwise, and counts rows and row errors over batches', async () => {
    const answer = await write(concatBytes(SCHEMA, batch(0, 100), batch(99, 130)))

    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ rows: 131, inserted: 128, failed: 3 })
    expect(answer.json.row_errors).toEqual([
      { row_index: 100, code: 'ALREADY_PRESENT', message: 'key already present' },
      ...[129, 130].map((index) => ({
        row_index: index,
        code: 'INVALID_ARGUMENT',
        message: `column "n": ${index - 1} is out of range for INT8`,
        column: 'n',
      })),
    ])
    expect(answer.headers.get('Nyala-Rows-Failed')).toBe('3')
    expect(await stored()).toEqual(rows(128))
  })

  test('leaves columns unset that the stream does not have', async () => {
    await write(concatBytes(SCHEMA, batch(0, 3)))
    const fields = [FIELDS[2], FIELDS[0]]
    const body = concatBytes(
      plainSchema(fields),
      plainBatch(fields, [
        [7n, null],
        [1n, 2n],
      ]),
    )
    const answer = await write(body, '?operation=update')

    expect(answer.json).toMatchObject({ rows: 2, updated: 2, failed: 0 })
    expect(await stored()).toEqual([row(0), { ...row(1), n: 7 }, { ...row(2), n: null }])
    const keys = [FIELDS[0]]
    const deleted = concatBytes(plainSchema(keys), plainBatch(keys, [[0n, 2n, 5n]]))
    expect((await write(deleted, '?operation=DELETE_IGNORE')).json).toMatchObject({
      deleted: 2,
      ignored: 1,
    })
    expect((await write(body)).json.row_errors[0].message).toBe(
      'no value provided for required column "name"',
    )
  })

  test('cuts shares by rows alone, however the stream is cut into batches', async () => {
    const headers = { 'Idempotency-Key': 'k1' }
    const first = await write(concatBytes(SCHEMA, batch(0, 50), batch(50, 100)), '', { headers })
    const again = await write(concatBytes(SCHEMA, batch(0, 7), batch(7, 100)), '', { headers })

    expect(first.json).toMatchObject({ inserted: 100 })
    expect(again.json).toEqual(first.json)
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    const other = await write(concatBytes(SCHEMA, batch(1, 100)), '', { headers })
    expect(other.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
  })

  test('takes a body as it comes, zipped or not', async () => {
    const body = concatBytes(SCHEMA, batch(0, 100))
    let at = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= body.length) controller.close()
        else controller.enqueue(body.slice(at, at + 100))
        at += 100
      },
    })
    const streamed = await app.send('POST', '/api/v1/tables/t/rows', {
      body: stream,
      headers: ARROW,
    })
    expect(streamed.json).toMatchObject({ inserted: 100 })
    const headers = { 'content-encoding': 'gzip' }
    const zipped = await write(gzipSync(body), '?operation=UPSERT', { headers })
    expect(zipped.json).toMatchObject({ upserted: 100 })
  })

  test('applies the batches before one that is broken, and none of it', async () => {
    const whole = concatBytes(SCHEMA, batch(0, 20), batch(20, 40))
    const cut = await write(whole.subarray(0, whole.length - 3))

    expect(cut.json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      detail: 'message 3 of the stream: the stream is cut off inside a message',
      rows_applied: 20,
      row_errors: [],
    })
    expect(await stored()).toEqual(rows(20))
  })

  test('applies nothing of a stream with a column that the table does not have', async () => {
    const fields: PlainArrowField[] = [...FIELDS, { name: 'x"y', type: { name: 'Bool' } }]
    const ids = [1n, 2n]
    const body = concatBytes(
      plainSchema(fields),
      plainBatch(fields, [ids, ids.map(() => utf8Encode('a')), ids, [true, false]]),
    )
    const answer = await write(body)

    expect(answer.json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      detail: 'message 1 of the stream: unknown column "x"y"',
      column: 'x"y',
      rows_applied: 0,
    })
    expect(await stored()).toEqual([])
  })

  test('answers 415 to the file format', async () => {
    const file = arrow.tableToIPC(arrow.tableFromArrays({ id: [1] }), 'file')
    const answer = await write(file)
    expect(answer.json).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(answer.json.detail).toContain('send the Arrow IPC streaming format')
    const asFile = await write(file, '', {
      headers: { 'content-type': 'application/vnd.apache.arrow.file' },
    })
    expect(asFile.status).toBe(415)
  })

  test('tells the first row errors and counts all, past many wrong rows', async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => BigInt(i))
    const body = plainBatch(FIELDS, [
      ids,
      ids.map(() => utf8Encode('a')),
      ids.map((id) => (id % 10n === 0n ? 1n : 1000n)),
    ])
    const answer = await write(concatBytes(SCHEMA, body))

    expect(answer.json).toMatchObject({ rows: 20_000, inserted: 2000, failed: 18_000 })
    expect(answer.json.row_errors).toHaveLength(ROW_ERROR_COUNT_MAX)
    expect(answer.json.row_errors_truncated).toBe(true)
    expect(answer.json.row_errors.at(-1).row_index).toBe(1111)
  })

  test('gives back what it held of a message, whatever became of it', async () => {
    const padding = new Uint8Array(6_000_000)
    const cut = concatBytes(SCHEMA, plainMessage(3, [], padding)).subarray(0, -1)
    const details: string[] = []
    for (let i = 0; i < 12; i++) details.push((await write(cut)).json.detail)

    expect(new Set(details)).toEqual(
      new Set(['message 2 of the stream: the stream is cut off inside a message']),
    )
  })
})

// Every type that a table has, as another implementation writes it.
const TYPES = [
  ['b', 'BOOL', new arrow.Bool(), [true, false, null]],
  ['i8', 'INT8', new arrow.Int8(), [-128, 127, null]],
  ['i16', 'INT16', new arrow.Int16(), [-32768, 32767, null]],
  ['i32', 'INT32', new arrow.Int32(), [-(2 ** 31), 2 ** 31 - 1, null]],
  ['i64', 'INT64', new arrow.Int64(), [-(2n ** 63n), 2n ** 63n - 1n, null]],
  ['u8', 'INT16', new arrow.Uint8(), [0, 255, null]],
  ['u32', 'INT64', new arrow.Uint32(), [0, 2 ** 32 - 1, null]],
  ['f32', 'FLOAT', new arrow.Float32(), [0.1, Number.NaN, null]],
  ['f64', 'DOUBLE', new arrow.Float64(), [-0, Number.POSITIVE_INFINITY, null]],
  ['s', 'STRING', new arrow.Utf8(), ['', 'é水😀\u0000', null]],
  ['ls', 'VARCHAR(9)', new arrow.LargeUtf8(), ['', 'nine char', null]],
  ['vs', 'STRING', new arrow.Utf8View(), ['in the view', 'longer than a view itself', null]],
  ['bin', 'BINARY', new arrow.Binary(), [new Uint8Array(0), Uint8Array.of(0, 255), null]],
  ['day', 'DATE', new arrow.DateDay(), [new Date(0), new Date('1969-12-31'), null]],
  ['ms', 'DATE', new arrow.DateMillisecond(), [new Date(0), new Date('9999-12-31'), null]],
  ['time', 'UNIXTIME_MICROS', new arrow.TimestampMicrosecond('UTC'), [-1, 1.5e12, null]],
  ['s_time', 'UNIXTIME_MICROS', new arrow.TimestampSecond(), [-1000, 1.5e12, null]],
] as const

const SHOWN: Readonly<Record<string, readonly unknown[]>> = {
  i64: ['-9223372036854775808', '9223372036854775807'],
  f32: [0.1, 'NaN'],
  f64: [-0, 'Infinity'],
  bin: ['', 'AP8='],
  day: ['1970-01-01', '1969-12-31'],
  ms: ['1970-01-01', '9999-12-31'],
  time: ['1969-12-31T23:59:59.999000Z', '2017-07-14T02:40:00.000000Z'],
  s_time: ['1969-12-31T23:59:59.000000Z', '2017-07-14T02:40:00.000000Z'],
  u32: ['0', '4294967295'],
}

function tableOfTypes(): arrow.Table {
  const id = arrow.vectorFromArray([1n, 2n, 3n], new arrow.Int64())
  const vectors = TYPES.map(([name, , type, values]) => {
    return [name, arrow.vectorFromArray(values as unknown as unknown[], type as arrow.DataType)]
  })
  return new arrow.Table(Object.fromEntries([['id', id], ...vectors]))
}

describe('POST rows of Arrow that others wrote', () => {
  const columns = TYPES.map(([name, type]) => `${name} ${type} NULL`)

  async function read(format: string): Promise<LocalAnswer> {
    const query = `?format=${format}&int64=string`
    return app.send('POST', `/api/v1/tables/all/scan${query}`, { body: { order: 'ORDERED' } })
  }

  test('takes every type, and gives its values as JSON', async () => {
    app.makeTable(aNewTable('all', ['id INT64 KEY', ...columns], 3))
    const body = arrow.tableToIPC(tableOfTypes(), 'stream')
    const answer = await app.send('POST', '/api/v1/tables/all/rows', { body, headers: ARROW })

    expect(answer.json).toMatchObject({ inserted: 3, failed: 0 })
    const got = (await read('json')).json.rows
    for (const [name, , , values] of TYPES) {
      const want = [...(SHOWN[name] ?? values.slice(0, 2)), null]
      expect(
        got.map((it: Record<string, unknown>) => it[name]),
        name,
      ).toEqual(want)
    }
  })

  test('takes what it gives as Arrow itself', async () => {
    app.makeTable(aNewTable('all', ['id INT64 KEY', ...columns], 3))
    app.makeTable(aNewTable('copy', ['id INT64 KEY', ...columns], 2))
    const send = async (table: string, body: Uint8Array) => {
      const answer = await app.send('POST', `/api/v1/tables/${table}/rows`, {
        body,
        headers: ARROW,
      })
      expect(answer.json).toMatchObject({ inserted: 3, failed: 0 })
    }
    await send('all', arrow.tableToIPC(tableOfTypes(), 'stream'))
    for (const dictionary of ['true', 'false']) {
      const path = `/api/v1/tables/all/scan?format=arrow&dictionary=${dictionary}`
      const response = await app.app.request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      await send('copy', new Uint8Array(await response.arrayBuffer()))
      const copied = await app.must('POST', '/copy/scan', { body: { order: 'ORDERED' } })
      expect(copied.rows).toEqual(
        (await app.must('POST', '/all/scan', { body: { order: 'ORDERED' } })).rows,
      )
      await app.must('POST', '/copy/rows?operation=DELETE', {
        body: concatBytes(plainSchema([FIELDS[0]]), plainBatch([FIELDS[0]], [[1n, 2n, 3n]])),
        headers: ARROW,
      })
    }
  })

  test('takes dictionaries that grow from batch to batch', async () => {
    const builder = arrow.makeBuilder({
      type: new arrow.Dictionary(new arrow.Utf8(), new arrow.Int16()),
      nullValues: [null],
    })
    const words = Array.from({ length: 1000 }, (_, i) => `word ${i % (7 + (i >> 7))}`)
    const batches = [0, 300, 600].map((start) => {
      const part = words.slice(start, start === 600 ? 1000 : start + 300)
      const ids = part.map((_, i) => BigInt(start + i))
      for (const word of part) builder.append(word)
      return new arrow.Table({
        id: arrow.vectorFromArray(ids, new arrow.Int64()),
        name: new arrow.Vector([builder.flush()]),
      }).batches[0]
    })
    const writer = arrow.RecordBatchStreamWriter.writeAll(batches)
    const answer = await write(await writer.toUint8Array())

    expect(answer.json).toMatchObject({ inserted: 1000, failed: 0 })
    expect(await stored()).toEqual(words.map((name, id) => ({ id, name, n: null })))
  })

  test('takes what DuckDB read from a Parquet file that it wrote', async () => {
    const duckColumns = [
      'id INT64 KEY',
      'day DATE NULL',
      'price DECIMAL(12,2) NULL',
      'word STRING NULL',
      'moment UNIXTIME_MICROS NULL',
      'huge DECIMAL(38,0) NULL',
      'share FLOAT NULL',
    ]
    app.makeTable(aNewTable('duck', duckColumns, 2))
    const folder = await mkdtemp(join(tmpdir(), 'nyala-arrow-'))
    try {
      const connection = await (await DuckDBInstance.create(':memory:')).connect()
      const file = join(folder, 'rows.parquet')
      await connection.run(`COPY (SELECT range AS id, DATE '1992-01-01' + range::INT AS day,
        CASE WHEN range % 5 = 0 THEN NULL ELSE (range * 1.25 - 500)::DECIMAL(12,2) END AS price,
        'w' || (range % 10) AS word, make_timestamp(range * 1000000007 - 500000000) AS moment,
        range::HUGEINT * 170141183460469231731::HUGEINT AS huge, (range / 8)::FLOAT AS share
        FROM range(3000)) TO '${file}' (FORMAT parquet)`)
      const reader = await connection.runAndReadAll(`SELECT id, day, price, word,
        epoch_us(moment) AS moment, huge::DECIMAL(38,0) AS huge, share FROM '${file}' ORDER BY id`)
      const body = arrow.tableToIPC(duckTable(reader.getColumnsObject()), 'stream')
      const answer = await app.send('POST', '/api/v1/tables/duck/rows', { body, headers: ARROW })
      expect(answer.json).toMatchObject({ inserted: 3000, failed: 0 })

      const text = await connection.runAndReadAll(`SELECT id, day::VARCHAR AS day,
        price::VARCHAR AS price, word, strftime(moment, '%Y-%m-%dT%H:%M:%S.%fZ') AS moment,
        huge::HUGEINT::VARCHAR AS huge, share FROM '${file}' ORDER BY id`)
      const query = '?format=ndjson'
      const scan = { body: { order: 'ORDERED' } }
      const got = (await app.send('POST', `/api/v1/tables/duck/scan${query}`, scan)).text
      const want = text.getRowObjects().map((it) => ({ ...it, id: Number(it.id) }))
      expect(
        got
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(want)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

/** Columns as DuckDB gives them, as Arrow. */
function duckTable(columns: Record<string, readonly unknown[]>): arrow.Table {
  const days = columns.day as DuckDBDateValue[]
  const micros = columns.moment as bigint[]
  const decimals = (name: string, precision: number, scale: number) => {
    const type = new arrow.Decimal(scale, precision, 128)
    const values = columns[name] as (DuckDBDecimalValue | null)[]
    return arrow.vectorFromArray(
      values.map((it) => (it === null ? null : Uint32Array.from(wordsOf(it.value, 4)))),
      type,
    )
  }
  return new arrow.Table({
    id: arrow.vectorFromArray(columns.id as bigint[], new arrow.Int64()),
    day: arrow.makeVector(
      arrow.makeData({
        type: new arrow.DateDay(),
        data: Int32Array.from(days, ({ days: it }) => it),
      }),
    ),
    price: decimals('price', 12, 2),
    word: arrow.vectorFromArray(columns.word as string[], new arrow.Utf8()),
    moment: arrow.makeVector(
      arrow.makeData({ type: new arrow.TimestampMicrosecond(), data: BigInt64Array.from(micros) }),
    ),
    huge: decimals('huge', 38, 0),
    share: arrow.vectorFromArray(columns.share as number[], new arrow.Float32()),
  })
}

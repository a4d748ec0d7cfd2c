import { afterEach, describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import { COLUMN_COUNT_MAX, NAME_BYTES_MAX } from '../../../src/common/limits.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { boundaryCells } from '../../support/boundary-cells.ts'
import { shownCell } from '../../support/decode-rows.ts'
import { streamed } from '../../support/encode-stream.ts'
import { randomRows } from '../../support/random-cells.ts'
import { EVERY_TYPE } from '../../support/random-rows.ts'
import { ParquetFile } from '../../support/read-parquet.ts'

type Rows = readonly (readonly (Cell | null)[])[]

const TYPES = [
  ['BOOL', 'BOOLEAN'],
  ['INT8', 'TINYINT'],
  ['INT16', 'SMALLINT'],
  ['INT32', 'INTEGER'],
  ['INT64', 'BIGINT'],
  ['FLOAT', 'FLOAT'],
  ['DOUBLE', 'DOUBLE'],
  ['STRING', 'VARCHAR'],
  ['VARCHAR(3)', 'VARCHAR'],
  ['BINARY', 'BLOB'],
  ['UNIXTIME_MICROS', 'TIMESTAMP WITH TIME ZONE'],
  ['DATE', 'DATE'],
  ['DECIMAL(1)', 'DECIMAL(1,0)'],
  ['DECIMAL(9,4)', 'DECIMAL(9,4)'],
  ['DECIMAL(18,18)', 'DECIMAL(18,18)'],
  ['DECIMAL(38,3)', 'DECIMAL(38,3)'],
] as const

const shown = (rows: Rows) => rows.map((row) => row.map(shownCell).join(' '))
const s = utf8Encode

describe('ParquetRowEncoder', () => {
  const files: ParquetFile[] = []
  const open = async (bytes: Uint8Array) => {
    const file = await ParquetFile.open(bytes)
    files.push(file)
    return file
  }

  afterEach(async () => {
    for (const file of files.splice(0)) await file.close()
  })

  test('writes a full group a column at a time, the same bytes as at once', () => {
    const { columns } = aSchema('k INT32 KEY', 'a INT64', 'b STRING NULL')
    const rows = randomRows(new Prng(5), columns, 65_536)
    const whole = streamed('parquet', columns, rows)
    let partCount = 0

    const inParts = streamed('parquet', columns, rows, {
      onRows: (encoder, out) => {
        while ((encoder.catchUp?.(out) ?? 0) > 0) partCount++
      },
    })

    expect(partCount).toBe(3)
    expect(inParts).toEqual(whole)
  })

  test.each(TYPES)('writes the ends of %s and nulls as %s', async (type, duckType) => {
    const { columns } = aSchema('k INT8 KEY', `v ${type} NULL`)
    const cells = boundaryCells(columns[1])
    const rows = [null, ...cells, null, null, ...cells].map((cell, k) => [k, cell])

    const file = await open(streamed('parquet', columns, rows))

    expect(await file.types()).toEqual([
      ['k', 'TINYINT'],
      ['v', duckType],
    ])
    expect(shown(await file.cells(columns))).toEqual(shown(rows))
  })

  test('writes a file with columns of a result without rows', async () => {
    const file = await open(streamed('parquet', EVERY_TYPE.columns, []))

    expect((await file.types()).map(([name]) => name)).toEqual(
      EVERY_TYPE.columns.map(({ name }) => name),
    )
    expect(await file.query('SELECT count(*) FROM file')).toEqual([[0n]])
  })

  test('refuses to write rows without columns', () => {
    expect(() => streamed('parquet', [], [[]])).toThrow(
      'columns: a Parquet file has one column at least',
    )
  })

  test('says which columns are nullable', async () => {
    const { columns } = aSchema('k INT64 KEY', 'a INT8', 'b STRING NULL')

    const file = await open(streamed('parquet', columns, [[1n, 2, null]]))

    expect(
      await file.query('SELECT name, repetition_type FROM parquet_schema(file) OFFSET 1'),
    ).toEqual([
      ['k', 'REQUIRED'],
      ['a', 'REQUIRED'],
      ['b', 'OPTIONAL'],
    ])
  })

  test('writes as many columns with names as long as there can be', async () => {
    const names = Array.from({ length: COLUMN_COUNT_MAX }, (_, i) => {
      return `水${String(i).padStart(NAME_BYTES_MAX - 3, '_')}`
    })
    const types = names.map((name, i) => `${name} ${i === 0 ? 'INT32 KEY' : 'STRING NULL'}`)
    const { columns } = aSchema(...types)
    const rows = [1, 2, 3].map((k) => {
      return names.map((_, i) => (i === 0 ? k : i % 3 === k % 3 ? null : s(`${i}`)))
    })

    const file = await open(streamed('parquet', columns, rows))

    expect((await file.types()).map(([name]) => name)).toEqual(names)
    expect(shown(await file.cells(columns))).toEqual(shown(rows))
  })

  test('writes what it was given, in whatever runs', async () => {
    const { columns } = EVERY_TYPE
    for (let seed = 0; seed < 12; seed++) {
      const prng = new Prng(seed)
      const rows = randomRows(prng, columns, prng.pick([1, 9, 300, 2500]))

      const file = await open(streamed('parquet', columns, rows, { prng }))

      expect(shown(await file.cells(columns)), `seed ${seed}`).toEqual(shown(rows))
    }
  })

  test('cuts row groups at 65,536 rows and at four mebibytes', async () => {
    const { columns } = aSchema('k INT32 KEY', 'v BINARY')
    const small = Array.from({ length: 70_000 }, (_, k) => [k, s(`${k % 7}`)])
    const large = Array.from({ length: 90 }, (_, k) => [k, new Uint8Array(60_000).fill(k)])
    const sizes = 'SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(file)'

    const ofSmall = await open(streamed('parquet', columns, small, { prng: new Prng(1) }))
    const ofLarge = await open(streamed('parquet', columns, large, { prng: new Prng(2) }))

    expect(await ofSmall.query(`${sizes} ORDER BY 1`)).toEqual([
      [0n, 65_536n],
      [1n, 4464n],
    ])
    expect(shown(await ofSmall.cells(columns))).toEqual(shown(small))
    expect((await ofLarge.query(sizes)).length).toBe(2)
    expect(shown(await ofLarge.cells(columns))).toEqual(shown(large))
  })

  test('writes values that come again once', async () => {
    const { columns } = aSchema('k INT32 KEY', 'a STRING NULL', 'b DECIMAL(38,2)', 'c STRING')
    const rows = Array.from({ length: 5000 }, (_, k) => [
      k,
      k % 5 === 0 ? null : s(`value ${k % 9}`),
      BigInt(k % 100) - 50n,
      s(`${k}`),
    ])

    const file = await open(streamed('parquet', columns, rows))

    expect(
      await file.query('SELECT path_in_schema, encodings FROM parquet_metadata(file)'),
    ).toEqual([
      ['k', 'PLAIN, RLE'],
      ['a', 'PLAIN, RLE, RLE_DICTIONARY'],
      ['b', 'PLAIN, RLE, RLE_DICTIONARY'],
      ['c', 'PLAIN, RLE'],
    ])
    expect(shown(await file.cells(columns))).toEqual(shown(rows))
  })

  test.each([
    ['INT32', [3, -7, null, 5], '-7', '5'],
    ['INT64', [3n, -(2n ** 40n), null, 2n ** 40n + 1n], '-1099511627776', '1099511627777'],
    ['DECIMAL(5,2)', [3, -701, null, 5], '-7.01', '0.05'],
    [
      'DECIMAL(38,2)',
      [3n, -(10n ** 30n), null, 10n ** 25n],
      `-1${'0'.repeat(28)}.00`,
      `1${'0'.repeat(23)}.00`,
    ],
    ['DOUBLE', [Number.NaN, 0, null, -1.5, -0], '-1.5', '0.0'],
    ['DOUBLE', [Number.NaN, 0, null, 1.5, -0], '-0.0', '1.5'],
    ['FLOAT', [Number.NaN, null, Number.NaN], null, null],
    ['STRING', [s('b'), s(''), null, s('ÿ')], '', 'ÿ'],
    ['BOOL', [1, null, 0], 'false', 'true'],
    ['DATE', [0, -1, 1], '1969-12-31', '1970-01-02'],
    ['STRING', [null, null], null, null],
  ] as const)('tells the least and the greatest %s of %s', async (type, cells, least, greatest) => {
    const { columns } = aSchema('k INT32 KEY', `v ${type} NULL`)
    const rows = cells.map((cell, k) => [k, cell])

    const file = await open(streamed('parquet', columns, rows))

    const nulls = BigInt(cells.filter((cell) => cell === null).length)
    expect(
      await file.query(`SELECT stats_min_value, stats_max_value, stats_null_count
        FROM parquet_metadata(file) WHERE path_in_schema = 'v'`),
    ).toEqual([[least, greatest, nulls]])
  })

  test('tells bounds that hide no row from a reader who goes by them', async () => {
    const { columns } = EVERY_TYPE
    for (let seed = 0; seed < 3; seed++) {
      const prng = new Prng(seed)
      const rows = randomRows(prng, columns, 200)
      const file = await open(streamed('parquet', columns, rows, { prng }))
      for (const { name } of columns) {
        const column = `"${name.replaceAll('"', '""')}"`
        const [[wrong]] = await file.query(`SELECT count(*) FROM (SELECT DISTINCT ${column} AS v
          FROM file WHERE ${column} IS NOT NULL) d
          WHERE NOT EXISTS (SELECT 1 FROM file WHERE ${column} = d.v)`)
        expect(wrong, `seed ${seed} ${name}`).toBe(0n)
      }
    }
  })
})

import { describe, expect, test } from 'vitest'
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
import { type PlainTable, readArrow } from '../../support/read-arrow.ts'

type Rows = readonly (readonly (Cell | null)[])[]

const TYPES = [
  ['BOOL', 'Bool'],
  ['INT8', 'Int8'],
  ['INT16', 'Int16'],
  ['INT32', 'Int32'],
  ['INT64', 'Int64'],
  ['FLOAT', 'Float32'],
  ['DOUBLE', 'Float64'],
  ['STRING', 'Utf8'],
  ['VARCHAR(3)', 'Utf8'],
  ['BINARY', 'Binary'],
  ['UNIXTIME_MICROS', 'Timestamp<MICROSECOND, UTC>'],
  ['DATE', 'Date32<DAY>'],
  ['DECIMAL(1)', 'Decimal[1e0]'],
  ['DECIMAL(9,4)', 'Decimal[9e+4]'],
  ['DECIMAL(18,18)', 'Decimal[18e+18]'],
  ['DECIMAL(38,3)', 'Decimal[38e+3]'],
] as const

const shown = (rows: Rows) => rows.map((row) => row.map(shownCell).join(' '))
const s = utf8Encode

describe('ArrowRowEncoder', () => {
  test.each(TYPES)('writes the ends of %s and nulls as %s', (type, arrowType) => {
    const { columns } = aSchema('k INT8 KEY', `v ${type} NULL`)
    const cells = boundaryCells(columns[1])
    const rows = [null, ...cells, null, null, ...cells].map((cell, k) => [k, cell])

    const table = readArrow(streamed('arrow', columns, rows))

    expect(table.types).toEqual(['Int8', arrowType])
    expect(shown(table.rows)).toEqual(shown(rows))
  })

  test('names columns and says which are nullable', () => {
    const { columns } = aSchema('key INT64 KEY', 'a INT8', '__proto__ STRING NULL', 'naïve_水 DATE')

    const table = readArrow(streamed('arrow', columns, []))

    expect(table.names).toEqual(['key', 'a', '__proto__', 'naïve_水'])
    expect(table.nullable).toEqual([false, false, true, false])
  })

  test('writes schema and end of a result without rows', () => {
    for (const hasDictionaries of [false, true]) {
      const bytes = streamed('arrow', EVERY_TYPE.columns, [], { hasDictionaries })

      const table = readArrow(bytes)
      expect(table.names).toEqual(EVERY_TYPE.columns.map(({ name }) => name))
      expect(table.rowCount).toBe(0)
      expect([...bytes.subarray(-8)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0])
    }
  })

  test('tells of rows without columns how many they are', () => {
    const table = readArrow(streamed('arrow', [], [[], [], []]))

    expect(table.names).toEqual([])
    expect(table.batchRowCounts).toEqual([3])
  })

  test('writes as many columns with names as long as there can be', () => {
    const names = Array.from({ length: COLUMN_COUNT_MAX }, (_, i) => {
      return `水${String(i).padStart(NAME_BYTES_MAX - 3, '_')}`
    })
    const types = names.map((name, i) => `${name} ${i === 0 ? 'INT32 KEY' : 'STRING NULL'}`)
    const { columns } = aSchema(...types)
    const rows = [1, 2, 3].map((k) => {
      return names.map((_, i) => (i === 0 ? k : i % 3 === k % 3 ? null : s(`${i}`)))
    })

    const table = readArrow(streamed('arrow', columns, rows))

    expect(table.names).toEqual(names)
    expect(shown(table.rows)).toEqual(shown(rows))
  })

  test('leaves validity out of columns without nulls', () => {
    const { columns } = aSchema('k INT8 KEY', 'v INT8 NULL')
    const without = streamed('arrow', columns, [
      [1, 2],
      [3, 4],
    ])
    const having = streamed('arrow', columns, [
      [1, 2],
      [3, null],
    ])

    expect(having.length - without.length).toBe(64)
  })

  test('cuts batches at 32,768 rows and at a mebibyte', () => {
    const { columns } = aSchema('k INT32 KEY', 'v BINARY')
    const small = Array.from({ length: 70_000 }, (_, k) => [k, s('')])
    const large = Array.from({ length: 40 }, (_, k) => [k, new Uint8Array(60_000).fill(k)])

    const ofSmall = readArrow(streamed('arrow', columns, small, { prng: new Prng(1) }))
    const ofLarge = readArrow(streamed('arrow', columns, large, { prng: new Prng(2) }))

    expect(ofSmall.batchRowCounts).toEqual([32_768, 32_768, 4464])
    expect(ofLarge.batchRowCounts.reduce((sum, count) => sum + count)).toBe(40)
    expect(Math.max(...ofLarge.batchRowCounts)).toBeLessThan(32)
    expect(shown(ofLarge.rows)).toEqual(shown(large))
  })

  test('begins every message and buffer at a multiple of 64', () => {
    const prng = new Prng(3)
    const rows = randomRows(prng, EVERY_TYPE.columns, 1000)
    for (const hasDictionaries of [false, true]) {
      const bytes = streamed('arrow', EVERY_TYPE.columns, rows, { prng, hasDictionaries })
      const view = new DataView(bytes.buffer)
      let at = 0
      let messages = 0
      while (view.getInt32(at + 4, true) !== 0) {
        expect(view.getUint32(at, true)).toBe(0xffffffff)
        expect((at + 8 + view.getInt32(at + 4, true)) % 64).toBe(0)
        at += 8 + view.getInt32(at + 4, true) + bodyBytes(view, at + 8)
        expect(at % 64).toBe(0)
        messages++
      }
      expect(at + 8).toBe(bytes.length)
      expect(messages).toBeGreaterThan(1)
    }
  })

  test('writes what it was given, in whatever runs, with and without dictionaries', () => {
    const { columns } = EVERY_TYPE
    for (let seed = 0; seed < 40; seed++) {
      const prng = new Prng(seed)
      const rows = randomRows(prng, columns, prng.pick([0, 1, 9, 300, 900]))
      const hasDictionaries = prng.chance(0.5)

      const table = readArrow(streamed('arrow', columns, rows, { prng, hasDictionaries }))

      expect(shown(table.rows), `seed ${seed}`).toEqual(shown(rows))
    }
  })
})

describe('dictionaries', () => {
  const { columns } = aSchema('k INT32 KEY', 'v STRING NULL')
  const read = (rows: Rows): PlainTable => {
    return readArrow(streamed('arrow', columns, rows, { hasDictionaries: true }))
  }

  test('are for values that come again', () => {
    const rows = Array.from({ length: 100 }, (_, k) => [k, k % 9 === 0 ? null : s(`v${k % 5}`)])

    const table = read(rows)

    expect(table.types[1]).toBe('Dictionary<Int32, Utf8>')
    expect(shown(table.rows)).toEqual(shown(rows))
  })

  test('are not for values that do not, nor for nulls alone', () => {
    const different = Array.from({ length: 100 }, (_, k) => [k, s(`v${k}`)])
    const nulls = Array.from({ length: 100 }, (_, k) => [k, null])

    expect(read(different).types[1]).toBe('Utf8')
    expect(read(nulls).types[1]).toBe('Utf8')
  })

  test('are not there unless they are asked for', () => {
    const rows = Array.from({ length: 100 }, (_, k) => [k, s('same')])

    expect(readArrow(streamed('arrow', columns, rows)).types[1]).toBe('Utf8')
  })

  test('grow with the values that come later', () => {
    const rows = Array.from({ length: 70_000 }, (_, k) => [k, s(`${k >> 11}`)])

    const table = read(rows)

    expect(table.types[1]).toBe('Dictionary<Int32, Utf8>')
    expect(table.batchRowCounts).toHaveLength(3)
    expect(shown(table.rows)).toEqual(shown(rows))
  })

  test('begin anew when they are large', () => {
    const long = (k: number) => s(`${k}`.padEnd(2000, '.'))
    const rows = Array.from({ length: 2800 }, (_, k) => [k, long(k < 600 ? k % 3 : k >> 1)])

    const table = read(rows)

    expect(table.types[1]).toBe('Dictionary<Int32, Utf8>')
    expect(shown(table.rows)).toEqual(shown(rows))
  })
})

/** The length of a message's body, from field 3 of its metadata. */
function bodyBytes(view: DataView, metadata: number): number {
  const table = metadata + view.getUint32(metadata, true)
  const vtable = table - view.getInt32(table, true)
  const field = view.getUint16(vtable + 4 + 3 * 2, true)
  return field === 0 ? 0 : Number(view.getBigInt64(table + field, true))
}

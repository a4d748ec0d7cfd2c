import { describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import { COLUMN_COUNT_MAX, NAME_BYTES_MAX } from '../../../src/common/limits.ts'
import { equalBytes, utf8Encode } from '../../../src/util/bytes.ts'
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

  test('begins every message at a multiple of 64 and ends behind the last', () => {
    const prng = new Prng(3)
    const rows = randomRows(prng, EVERY_TYPE.columns, 1000)
    for (const hasDictionaries of [false, true]) {
      const bytes = streamed('arrow', EVERY_TYPE.columns, rows, { prng, hasDictionaries })
      const messages = messagesOf(bytes)

      expect(messages.length).toBeGreaterThan(1)
      for (const { start, bodyStart, end } of messages) {
        expect([start % 64, bodyStart % 64, end % 64]).toEqual([0, 0, 0])
      }
    }
  })

  test('writes the same bytes in whatever runs rows come, nothing of others between them', () => {
    for (let seed = 0; seed < 10; seed++) {
      const prng = new Prng(seed)
      const rows = randomRows(prng, EVERY_TYPE.columns, 200)
      const hasDictionaries = prng.chance(0.5)
      const whole = streamed('arrow', EVERY_TYPE.columns, rows, { hasDictionaries })
      const inRuns = streamed('arrow', EVERY_TYPE.columns, rows, { hasDictionaries, prng })

      expect(equalBytes(whole, 0, whole.length, inRuns, 0, inRuns.length), `seed ${seed}`).toBe(
        true,
      )
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

  test('grow with the values that come later, each of which is sent once', () => {
    const rows = Array.from({ length: 70_000 }, (_, k) => [k, s(`${k >> 11}`)])
    const bytes = streamed('arrow', columns, rows, { hasDictionaries: true })

    const table = readArrow(bytes)
    expect(table.types[1]).toBe('Dictionary<Int32, Utf8>')
    expect(shown(table.rows)).toEqual(shown(rows))
    expect(shownMessages(bytes)).toEqual(['1', '2', '3', '2+', '3', '2+', '3'])
  })

  test('are not sent again when there is nothing new', () => {
    const rows = Array.from({ length: 70_000 }, (_, k) => [k, s(`${k % 9}`)])

    const bytes = streamed('arrow', columns, rows, { hasDictionaries: true })
    expect(shownMessages(bytes)).toEqual(['1', '2', '3', '3', '3'])
  })

  test('begin anew when they are large', () => {
    const long = (k: number) => s(`${k}`.padEnd(2000, '.'))
    const rows = Array.from({ length: 2400 }, (_, k) => [k, long(k < 600 ? k % 3 : k)])
    const bytes = streamed('arrow', columns, rows, { hasDictionaries: true, prng: new Prng(4) })

    const table = readArrow(bytes)
    expect(table.types[1]).toBe('Dictionary<Int32, Utf8>')
    expect(shown(table.rows)).toEqual(shown(rows))
    const messages = shownMessages(bytes)
    expect(messages.filter((message) => message === '2')).toHaveLength(2)
    expect(messages.filter((message) => message === '2+').length).toBeGreaterThan(2)
  })
})

/** Kinds of messages, 1 schema, 2 dictionary, 3 record batch; `+` adds to a dictionary. */
function shownMessages(bytes: Uint8Array): string[] {
  return messagesOf(bytes).map(({ kind, isDelta }) => `${kind}${isDelta ? '+' : ''}`)
}

/** A message of a stream: where it is, and what it is. */
interface Message {
  readonly start: number
  readonly bodyStart: number
  readonly end: number
  /** 1 schema, 2 dictionary batch, 3 record batch. */
  readonly kind: number
  /** Of a dictionary batch. */
  readonly isDelta: boolean
}

function messagesOf(bytes: Uint8Array): Message[] {
  const view = new DataView(bytes.buffer)
  const messages: Message[] = []
  let start = 0
  while (view.getInt32(start + 4, true) !== 0) {
    expect(view.getUint32(start, true)).toBe(0xffffffff)
    const message = tableAt(view, start + 8)
    const bodyStart = start + 8 + view.getInt32(start + 4, true)
    const kind = view.getUint8(fieldAt(view, message, 1))
    const length = fieldAt(view, message, 3)
    const end = bodyStart + (length === 0 ? 0 : Number(view.getBigInt64(length, true)))
    const delta = fieldAt(view, tableAt(view, fieldAt(view, message, 2)), 2)
    const isDelta = kind === 2 && delta > 0 && view.getUint8(delta) === 1
    messages.push({ start, bodyStart, end, kind, isDelta })
    start = end
  }
  expect(start + 8).toBe(bytes.length)
  return messages
}

function tableAt(view: DataView, reference: number): number {
  return reference + view.getUint32(reference, true)
}

function fieldAt(view: DataView, table: number, index: number): number {
  const vtable = table - view.getInt32(table, true)
  const slot = 4 + index * 2
  if (slot >= view.getUint16(vtable, true)) return 0
  const offset = view.getUint16(vtable + slot, true)
  return offset === 0 ? 0 : table + offset
}

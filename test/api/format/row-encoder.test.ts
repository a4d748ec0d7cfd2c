import { describe, expect, test } from 'vitest'
import { createRowEncoder } from '../../../src/api/format/row-encoder.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { ByteArena } from '../../../src/util/arena.ts'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { aBlock, encoded } from '../../support/encode-rows.ts'

const { columns } = aSchema('k INT32 KEY', 's STRING NULL')
const s = (text: string) => utf8Encode(text)

describe('createRowEncoder', () => {
  test('writes JSON objects alone, commas between the rows of one call', () => {
    expect(encoded('json', columns, [[1, s('a')]])).toBe('{"k":1,"s":"a"}')
    expect(
      encoded('json', columns, [
        [1, s('a')],
        [-2, null],
      ]),
    ).toBe('{"k":1,"s":"a"},{"k":-2,"s":null}')
    expect(encoded('json', columns, [])).toBe('')
  })

  test('writes an NDJSON line a row', () => {
    expect(
      encoded('ndjson', columns, [
        [1, s('a')],
        [2, null],
      ]),
    ).toBe('{"k":1,"s":"a"}\n{"k":2,"s":null}\n')
  })

  test('writes a CSV header and a record a row', () => {
    expect(
      encoded('csv', columns, [
        [1, s('a')],
        [2, null],
      ]),
    ).toBe('k,s\n1,a\n2,\n')
    expect(encoded('csv', columns, [])).toBe('k,s\n')
  })

  test('writes rows one at a time as it does many', () => {
    const block = aBlock(columns, [
      [1, s('a')],
      [2, s('b')],
      [3, s('c')],
    ])
    for (const format of ['json', 'ndjson', 'csv'] as const) {
      const encoder = createRowEncoder(format, columns, { ...DEFAULT_VALUE_OPTIONS, nullText: '' })
      const single = new ByteArena(1)
      encoder.appendRow(block, 1, single)
      const run = new ByteArena(1)
      encoder.appendRows(block, 1, 2, run)

      expect(utf8Decode(single.bytes.subarray(0, single.length))).toBe(
        utf8Decode(run.bytes.subarray(0, run.length)),
      )
    }
  })

  test('writes into arenas in turn, also when they grow', () => {
    const encoder = createRowEncoder('ndjson', columns, { ...DEFAULT_VALUE_OPTIONS, nullText: '' })
    const block = aBlock(columns, [[7, null]])
    const arenas = [new ByteArena(1), new ByteArena(0), new ByteArena(64)]
    for (let round = 0; round < 20; round++) {
      for (const arena of arenas) encoder.appendRow(block, 0, arena)
    }

    for (const arena of arenas) {
      const text = utf8Decode(arena.bytes.subarray(0, arena.length))
      expect(text).toBe('{"k":7,"s":null}\n'.repeat(20))
    }
  })

  test('writes empty objects and empty records of no columns', () => {
    expect(encoded('json', [], [[], []])).toBe('{},{}')
    expect(encoded('ndjson', [], [[], []])).toBe('{}\n{}\n')
    expect(encoded('csv', [], [[], []])).toBe('\n\n\n')
  })

  test('escapes names of members as JSON needs, whatever they are', () => {
    const odd = ['__proto__', 'quo"te', 'back\\slash', 'naïve', 'tab\there', 'a'.repeat(256)]
    const { columns: named } = aSchema(...odd.map((_, i) => `c${i} INT8${i === 0 ? ' KEY' : ''}`))
    const renamed = named.map((column, i) => ({ ...column, name: odd[i] }))
    const text = encoded('json', renamed, [odd.map((_, i) => i)])

    expect(Object.entries(JSON.parse(text))).toEqual(odd.map((name, i) => [name, i]))
  })

  test('escapes of a string only what JSON cannot hold', () => {
    const text = 'a"b\\c/\u0000\b\f\n\r\t\u001f\u007f\u2028é水😀'

    expect(encoded('ndjson', columns, [[1, s(text)]])).toBe(
      `{"k":1,"s":"a\\"b\\\\c/\\u0000\\b\\f\\n\\r\\t\\u001f\u007f\u2028é水😀"}\n`,
    )
    expect(JSON.parse(encoded('json', columns, [[1, s(text)]])).s).toBe(text)
  })

  test.each([
    ['', '""'],
    [' ', ' '],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['"', '""""'],
    ['é水😀', 'é水😀'],
    ['NULL', 'NULL'],
  ])('writes the string %j as the CSV field %s', (text, field) => {
    expect(encoded('csv', columns, [[1, s(text)]])).toBe(`k,s\n1,${field}\n`)
  })

  test('puts in quotes what equals the text for null, of any type and in the header', () => {
    const rows = [
      [0, s('0')],
      [1, null],
      [10, s('')],
    ] as const

    expect(encoded('csv', columns, rows, { nullText: '0' })).toBe('k,s\n"0","0"\n1,0\n10,""\n')
    expect(encoded('csv', columns, [[1, null]], { nullText: 's' })).toBe('k,"s"\n1,s\n')
  })

  test('puts names in quotes where CSV needs it, or a byte order mark would be seen', () => {
    const names = ['\ufeffa', 'b,c', 'd"e', 'f\ng', 'h']
    const { columns: named } = aSchema(...names.map((_, i) => `c${i} INT8${i === 0 ? ' KEY' : ''}`))
    const renamed = named.map((column, i) => ({ ...column, name: names[i] }))

    expect(encoded('csv', renamed, [])).toBe('"\ufeffa","b,c","d""e","f\ng",h\n')
  })

  test('refuses a text for null that CSV cannot hold unquoted', () => {
    for (const nullText of ['"', ',', '\n', '\r', '\udc00']) {
      expect(() => encoded('csv', columns, [], { nullText })).toThrow('null text')
    }
  })
})

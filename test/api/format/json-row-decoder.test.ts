import { describe, expect, test } from 'vitest'
import { JsonCursor, JsonSyntaxError } from '../../../src/api/format/json-cursor.ts'
import { JsonRowDecoder } from '../../../src/api/format/json-row-decoder.ts'
import { RowBlockBuilder } from '../../../src/common/row-block-builder.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../../src/common/value-options.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'

const SCHEMA = aSchema('k INT32 KEY', 'l STRING KEY', 's STRING NULL', 'v INT8 NULL')

function decode(json: string, requiresKey: boolean) {
  const bytes = utf8Encode(`${json}\n`)
  const cursor = new JsonCursor()
  cursor.reset(bytes, 0, bytes.length - 1)
  const builder = new RowBlockBuilder(SCHEMA.columns, false)
  const decoder = new JsonRowDecoder(SCHEMA, cursor, builder, DEFAULT_VALUE_OPTIONS)
  const isRight = decoder.decodeRow(1, requiresKey)
  cursor.expectEnd()
  return { isRight, problem: decoder.problem, members: [...decoder.members], builder }
}

describe('JsonRowDecoder', () => {
  test('leaves the cells of a right row pending', () => {
    const { isRight, builder } = decode('{"v":-7,"k":1,"l":"a"}', true)
    builder.endRow()

    expect(isRight).toBe(true)
    const block = builder.view()
    expect(block.columns.map((column) => column.cell(0))).toEqual([1, utf8Encode('a'), null, -7])
    expect(block.columns.map((column) => column.hasCell(0))).toEqual([true, true, false, true])
  })

  test('lets key columns be missing or null where they come from elsewhere', () => {
    expect(decode('{"v":1}', false).isRight).toBe(true)
    expect(decode('{}', false).isRight).toBe(true)
    expect(decode('{"k":null}', false).isRight).toBe(true)
    expect(decode('{"v":1}', true).problem).toEqual({
      message: 'no value provided for key column "k"',
      column: 'k',
    })
    expect(decode('{"k":1,"l":null}', true).problem.column).toBe('l')
  })

  test('has nothing pending after a wrong row', () => {
    const { isRight, builder } = decode('{"k":1,"l":"abc","s":"def","v":1.5}', true)

    expect(isRight).toBe(false)
    expect(SCHEMA.columns.some(({ index }) => builder.hasPending(index))).toBe(false)
    builder.setNumber(0, 2)
    builder.endRow()
    expect(builder.view().columns.map((column) => column.cell(0))).toEqual([2, null, null, null])
  })

  test('reports the first member that is wrong, whatever comes behind it', () => {
    const json = '{"k":1,"l":2,"x":1,"y":2,"v":{"a":[1,"b"]}}'

    expect(decode(json, true).problem.column).toBe('l')
    expect(decode('{"x":1,"l":2}', true).problem).toEqual({
      message: 'unknown column "x"',
      column: 'x',
    })
  })

  test('forgets what was wrong with a member that comes again', () => {
    expect(decode('{"k":"x","l":[],"k":1,"l":"a"}', true).isRight).toBe(true)
    expect(decode('{"k":1,"l":"a","x":1,"x":2}', true).isRight).toBe(false)
  })

  test('remembers the columns of its members in their order, each once', () => {
    expect(decode('{"v":1,"k":1,"l":"a","v":2}', true).members).toEqual([3, 0, 1])
  })

  test('reads all of a wrong row, so that what is not JSON is found', () => {
    expect(() => decode('{"k":"x","l":tru}', true)).toThrow(JsonSyntaxError)
    expect(() => decode('{"x":{"a":[}}', true)).toThrow(JsonSyntaxError)
  })

  test('keeps one problem of however many unknown members', () => {
    const members = Array.from({ length: 20_000 }, (_, i) => `"x${i}":1`).join(',')

    expect(decode(`{${members}}`, true).problem.column).toBe('x0')
  })
})

import { describe, expect, test } from 'vitest'
import { canonicalJson, readJsonTree } from '../../src/api/json-tree.ts'
import { JSON_VALUE_COUNT_MAX } from '../../src/common/limits.ts'
import { NumberLiteral } from '../../src/common/number-literal.ts'

function read(text: string): unknown {
  const bytes = new TextEncoder().encode(`${text}\n`)
  return readJsonTree(bytes, bytes.length - 1)
}

describe('readJsonTree', () => {
  test.each([
    'null',
    'true',
    '"a\\u00e9\\n\\"\\ud83d\\ude00"',
    '[]',
    '{}',
    ' { "a" : [ null , false , { "b" : "c" } ] } ',
    '{"":{"":""}}',
  ])('reads %s as JSON.parse does', (text) => {
    expect(read(text)).toEqual(JSON.parse(text))
  })

  test.each(['0', '-0', '9007199254740993', '1.0', '1e999999999', '-1.5E-3'])(
    'keeps the number %s as it was written',
    (text) => {
      expect(read(text)).toEqual(new NumberLiteral(text))
      expect(read(`[${text},{"a":${text}}]`)).toEqual([
        new NumberLiteral(text),
        { a: new NumberLiteral(text) },
      ])
    },
  )

  test('of repeated members keeps the last', () => {
    expect(read('{"a":1,"b":2,"a":"x"}')).toEqual({ a: 'x', b: new NumberLiteral('2') })
  })

  test('takes names of built-in members for ordinary ones', () => {
    const tree = read('{"__proto__":{"x":true},"constructor":"c","toString":null}') as object

    expect(Object.getPrototypeOf(tree)).toBe(Object.prototype)
    expect(Object.keys(tree)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getOwnPropertyDescriptor(tree, '__proto__')?.value).toEqual({ x: true })
  })

  test('marks a string with half a character, so that nothing takes it for another', () => {
    expect((read('"a\\ud800b"') as string).isWellFormed()).toBe(false)
  })

  test.each([
    ['', 'unexpected end of JSON at byte 0'],
    ['{"a":1,}', 'expected a member name at byte 7'],
    ['[1,]', 'not a value at byte 3'],
    ['{"a" 1}', 'expected a colon at byte 5'],
    ['[01]', 'number has a leading zero at byte'],
    ["{'a':1}", 'expected a member name at byte 1'],
    ['NaN', 'not a value at byte 0'],
    ['{} x', 'unexpected text behind the value at byte 3'],
    ['"\\x"', 'unknown escape in a string at byte 1'],
  ])('refuses %s', (text, detail) => {
    expect(() => read(text)).toThrow(`body is not JSON: ${detail}`)
  })

  test('refuses what is nested deeper than the limit, and takes what is not', () => {
    expect(() => read(`${'['.repeat(32)}${']'.repeat(32)}`)).not.toThrow()
    expect(() => read(`${'[{"a":'.repeat(17)}`)).toThrow('nested deeper than the limit of 32')
    expect(() => read('['.repeat(1_000_000))).toThrow('nested deeper than the limit of 32')
  })

  test('refuses more values than the limit', () => {
    const text = `[${'0,'.repeat(JSON_VALUE_COUNT_MAX)}0]`

    expect(() => read(text)).toThrow('more values than the limit of 1000000')
  })
})

describe('canonicalJson', () => {
  test('is the same for members in another order, and for white space', () => {
    const a = read('{"b":[1,{"y":null,"x":"é"}],"a":{}}')
    const b = read('{ "a": {}, "b": [ 1, { "x": "\\u00e9", "y": null } ] }')

    expect(canonicalJson(a)).toBe(canonicalJson(b))
    expect(canonicalJson(a)).toBe('{"a":{},"b":[1,{"x":"é","y":null}]}')
  })

  test('is another for every other request', () => {
    const texts = ['{}', '[]', '{"a":1}', '{"a":"1"}', '{"a":null}', '[1,2]', '[2,1]', '"a"', '1']
    const canonical = texts.map((text) => canonicalJson(read(text)))

    expect(new Set(canonical).size).toBe(texts.length)
  })
})

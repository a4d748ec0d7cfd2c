import { describe, expect, test } from 'vitest'
import { JsonCursor, JsonSyntaxError } from '../../../src/api/format/json-cursor.ts'
import { JSON_DEPTH_MAX } from '../../../src/common/limits.ts'
import { concatBytes, utf8Decode, utf8DecodeStrict, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import {
  depthOf,
  mutated,
  randomJson,
  randomJsonString,
  randomSpace,
} from '../../support/random-json.ts'

/** A cursor over a text inside other bytes that would continue it. */
function cursorOver(text: Uint8Array): JsonCursor {
  const cursor = new JsonCursor()
  const before = utf8Encode('[1,')
  const bytes = concatBytes(before, text, Uint8Array.of(0), utf8Encode('9"}]'))
  cursor.reset(bytes, before.length, before.length + text.length)
  return cursor
}

/** What is wrong with a text, or null. */
function complaintOf(text: Uint8Array): string | null {
  const cursor = cursorOver(text)
  try {
    cursor.skipValue(0)
    cursor.expectEnd()
    return null
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return `${error.message} @${error.offset}`
  }
}

/** Whether the platform takes a text, and it is not too deep. */
function isJson(bytes: Uint8Array): boolean {
  const text = utf8DecodeStrict(bytes)
  if (text === undefined) return false
  try {
    return depthOf(JSON.parse(text)) <= JSON_DEPTH_MAX
  } catch {
    return false
  }
}

describe('JsonCursor', () => {
  test('accepts every text of the grammar', () => {
    const prng = new Prng(41)
    for (let round = 0; round < 1500; round++) {
      const text = randomSpace(prng) + randomJson(prng, 5) + randomSpace(prng)

      expect(complaintOf(utf8Encode(text)), `seed 41: ${text}`).toBeNull()
      expect(isJson(utf8Encode(text))).toBe(true)
    }
  })

  test('accepts a changed text exactly if JSON.parse accepts it', () => {
    const prng = new Prng(42)
    let accepted = 0
    for (let round = 0; round < 6000; round++) {
      const bytes = mutated(prng, randomJson(prng, 3))
      const complaint = complaintOf(bytes)
      if (complaint === null) accepted++

      expect(complaint === null, `seed 42: ${utf8Decode(bytes)} ${complaint}`).toBe(isJson(bytes))
    }
    expect(accepted).toBeGreaterThan(600)
    expect(accepted).toBeLessThan(5400)
  })

  test('reads strings as JSON.parse does, and says when half a surrogate pair is in one', () => {
    const prng = new Prng(43)
    for (let round = 0; round < 2500; round++) {
      const text = randomJsonString(prng)
      const cursor = cursorOver(utf8Encode(text))
      cursor.readString()
      const { stringBytes, stringStart, stringEnd } = cursor
      const read = utf8DecodeStrict(stringBytes.subarray(stringStart, stringEnd))
      const meant: string = JSON.parse(text)

      expect(cursor.hasLoneSurrogate, `seed 43: ${text}`).toBe(!meant.isWellFormed())
      expect(read, `seed 43: ${text}`).toBe(meant.toWellFormed())
    }
  })

  test('takes objects and arrays nested as deep as the limit, and no deeper', () => {
    const nested = (depth: number) =>
      utf8Encode(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`)

    expect(complaintOf(nested(JSON_DEPTH_MAX))).toBeNull()
    expect(complaintOf(nested(JSON_DEPTH_MAX + 2))).toMatch('nested deeper than the limit of 32')
  })

  test.each([
    ['{"a":1', 'unexpected end of JSON @6'],
    ['{"a" 1}', 'expected a colon @5'],
    ['{"a":1,}', 'expected a member name @7'],
    ['[1 2]', 'expected , or ] @3'],
    ['[-01]', 'number has a leading zero @2'],
    ['1.', 'unexpected end of JSON @2'],
    ['1.x', 'digits must follow the point of a number @2'],
    ['tru', 'not a value @0'],
    ['"\\x"', 'unknown escape in a string @1'],
    ['"\\u12g4"', 'bad \\u escape in a string @1'],
    ['"a\nb"', 'control character in a string @2'],
    ['1 1', 'unexpected text behind the value @2'],
    ['', 'unexpected end of JSON @0'],
  ])('says what is wrong with %s, and where', (text, complaint) => {
    expect(complaintOf(utf8Encode(text))).toBe(complaint)
  })

  test.each([
    [[0xff], 'a byte that UTF-8 never has'],
    [[0xc0, 0x80], 'an overlong form'],
    [[0xe0, 0x9f, 0x80], 'an overlong form of three bytes'],
    [[0xed, 0xa0, 0x80], 'half a surrogate pair'],
    [[0xf0, 0x8f, 0x80, 0x80], 'an overlong form of four bytes'],
    [[0xf4, 0x90, 0x80, 0x80], 'a code point above all'],
    [[0xe2, 0x82], 'a cut sequence'],
    [[0x80], 'a byte that only continues'],
  ])('refuses the bytes %j inside a string: %s', (bytes) => {
    const text = concatBytes(utf8Encode('"a'), Uint8Array.from(bytes), utf8Encode('"'))

    expect(complaintOf(text)).toBe('not UTF-8 @2')
  })
})

import { describe, expect, test } from 'vitest'
import { appendJsonString } from '../../src/common/json-string.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { framed, printed } from '../support/scalars.ts'

function jsonString(text: string): string {
  const { bytes, start, end } = framed(text)
  return printed((arena) => appendJsonString(arena, bytes, start, end))
}

describe('appendJsonString', () => {
  test('escapes as JSON.stringify does', () => {
    const every = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
    for (const text of ['', ...every, every.join(''), 'é😀"\\\u2028', '\\'.repeat(100)]) {
      expect(jsonString(text)).toBe(JSON.stringify(text))
    }
  })

  test('escapes as JSON.stringify does, at random', () => {
    const prng = new Prng(73)
    for (let round = 0; round < 500; round++) {
      const length = prng.below(80)
      const parts = Array.from({ length }, () =>
        prng.pick(['a', 'bcdef', '"', '\\', '\n', '\u0000', '😀']),
      )

      expect(jsonString(parts.join('')), `seed 73 round ${round}`).toBe(
        JSON.stringify(parts.join('')),
      )
    }
  })

  test('copies a long string in one run', () => {
    const text = 'x'.repeat(100_000)
    const bytes = utf8Encode(text)

    expect(printed((arena) => appendJsonString(arena, bytes, 0, bytes.length))).toBe(`"${text}"`)
  })

  test('writes UTF-8 whatever it is given, and reads nothing behind the end', () => {
    const source = Uint8Array.of(0xa9, 0x61, 0xff, 0x62, 0xc3, 0x22, 0xed, 0xa0, 0x80, 0xc3, 0xa9)
    const string = (start: number, end: number) => {
      return printed((arena) => appendJsonString(arena, source, start, end))
    }

    expect(string(1, 4)).toBe('"a\ufffdb"')
    expect(string(4, 6)).toBe('"\ufffd\\""')
    expect(string(6, 9)).toBe('"\ufffd\ufffd\ufffd"')
    expect(string(9, 10)).toBe('"\ufffd"')
    expect(string(9, 11)).toBe('"é"')
    expect(string(0, 2)).toBe('"\ufffda"')
  })
})

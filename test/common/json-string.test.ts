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
})

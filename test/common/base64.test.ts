import { describe, expect, test } from 'vitest'
import { appendBase64, decodeBase64 } from '../../src/common/base64.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { Prng } from '../../src/util/prng.ts'
import { framed, printed } from '../support/scalars.ts'

/** The bytes as numbers, or undefined when the text is no base64. */
function decode(text: string): number[] | undefined {
  const { bytes, start, end } = framed(text)
  const arena = new ByteArena(1)
  arena.append(Uint8Array.of(77), 0, 1)
  const isBase64 = decodeBase64(bytes, start, end, arena)
  if (!isBase64) expect(arena.length, text).toBe(1)
  return isBase64 ? [...arena.bytes.subarray(1, arena.length)] : undefined
}

function randomBytes(prng: Prng): Uint8Array {
  return Uint8Array.from({ length: prng.below(70) }, () => prng.below(256))
}

describe('decodeBase64', () => {
  test('reads what the platform writes, in both alphabets, padded or not', () => {
    const prng = new Prng(71)
    for (let round = 0; round < 500; round++) {
      const bytes = randomBytes(prng)
      const standard = Buffer.from(bytes).toString('base64')
      const url = standard.replaceAll('+', '-').replaceAll('/', '_')
      for (const text of [standard, url, standard.replaceAll('=', ''), url.replaceAll('=', '')]) {
        expect(decode(text), `seed 71 round ${round}: ${text}`).toEqual([...bytes])
      }
    }
  })

  test('refuses other characters, wrong lengths and wrong padding', () => {
    const characters = ['a b=', 'ab\n=', 'ab.c', 'äbcd', 'abc*', 'a=bc', '=abc', 'ab=c']
    const lengths = [
      'a',
      'abcde',
      'a=',
      'a==',
      'a===',
      'abc==',
      'ab=',
      'abcd=',
      'abcd==',
      '=',
      '====',
    ]
    for (const text of [...characters, ...lengths]) expect(decode(text), text).toBeUndefined()
  })

  test('refuses bits that no encoder leaves behind', () => {
    expect(decode('aGk=')).toEqual([0x68, 0x69])
    expect(decode('aGl=')).toBeUndefined()
    expect(decode('aGl')).toBeUndefined()
    expect(decode('aA==')).toEqual([0x68])
    expect(decode('aB==')).toBeUndefined()
    expect(decode('aB')).toBeUndefined()
  })

  test('refuses both alphabets in one value', () => {
    expect(decode('+/+/')).toEqual(decode('-_-_'))
    expect(decode('+_+_')).toBeUndefined()
    expect(decode('-aaaaaa/')).toBeUndefined()
  })

  test('reads nothing as no bytes', () => {
    expect(decode('')).toEqual([])
  })
})

describe('appendBase64', () => {
  test('writes the standard alphabet with padding', () => {
    const prng = new Prng(72)
    for (let round = 0; round < 500; round++) {
      const bytes = randomBytes(prng)
      const start = prng.below(bytes.length + 1)
      const slice = bytes.subarray(start)

      expect(
        printed((arena) => appendBase64(arena, bytes, start, bytes.length)),
        `seed 72 round ${round}`,
      ).toBe(Buffer.from(slice).toString('base64'))
    }
  })
})

import { describe, expect, test } from 'vitest'
import { fromHex, toHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { compressSnappy, decompressSnappy } from '../../src/util/snappy.ts'
import { randomText } from '../support/random-text.ts'

describe('compressSnappy', () => {
  test('keeps bytes of every kind and length', () => {
    for (let seed = 1; seed <= 80; seed++) {
      const plain = randomText(new Prng(seed))
      const target = new Uint8Array(plain.length)
      expect(decompressSnappy(compressSnappy(plain), target), `seed ${seed}`).toBe(true)
      expect(toHex(target) === toHex(plain), `seed ${seed}`).toBe(true)
    }
  })

  test('writes literals and a copy for a repeated word', () => {
    const plain = utf8Encode('abcabcabcabcabcabcabcabc')

    // 24 bytes: 3 literals, then 21 bytes from 3 back.
    expect(toHex(compressSnappy(plain))).toBe('1808616263520300')
  })
})

describe('decompressSnappy', () => {
  test('reads copies of all three sizes', () => {
    const target = new Uint8Array(16)

    // 4 literals, 4 bytes from 4 back, 4 from 4, 4 from 4.
    expect(decompressSnappy(fromHex('100c616263640104' + '0e0400' + '0f04000000'), target)).toBe(
      true,
    )
    expect(new TextDecoder().decode(target)).toBe('abcdabcdabcdabcd')
  })

  test('refuses copies from before the beginning, and blocks too short or too long', () => {
    expect(decompressSnappy(fromHex('010061'), new Uint8Array(1))).toBe(true)
    expect(decompressSnappy(fromHex('010061'), new Uint8Array(2))).toBe(false)
    expect(decompressSnappy(fromHex('020061'), new Uint8Array(2))).toBe(false)
    expect(decompressSnappy(fromHex('0500610102'), new Uint8Array(5))).toBe(false)
    expect(decompressSnappy(fromHex('0500610100'), new Uint8Array(5))).toBe(false)
    expect(decompressSnappy(fromHex('ffffffffff'), new Uint8Array(5))).toBe(false)
    expect(decompressSnappy(new Uint8Array(0), new Uint8Array(0))).toBe(false)
  })

  test('reads changed blocks without leaving its target', () => {
    let refusedCount = 0
    for (let seed = 1; seed <= 500; seed++) {
      const prng = new Prng(seed)
      const plain = randomText(prng).subarray(0, 200)
      const block = compressSnappy(plain)
      block[prng.below(block.length)] = prng.below(256)
      if (!decompressSnappy(block, new Uint8Array(plain.length))) refusedCount++
    }
    expect(refusedCount).toBeGreaterThan(50)
  })
})

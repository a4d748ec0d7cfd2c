import { describe, expect, test } from 'vitest'
import { compressZstd, decompressZstd } from '../../../src/cfile/codec/zstd.ts'
import { toHex } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { randomText } from '../../support/random-text.ts'

describe('compressZstd', () => {
  test('keeps bytes of every kind and length', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const plain = randomText(new Prng(seed))
      const target = new Uint8Array(plain.length)
      expect(decompressZstd(compressZstd(plain), target), `seed ${seed}`).toBe(true)
      expect(toHex(target) === toHex(plain), `seed ${seed}`).toBe(true)
    }
  })
})

describe('decompressZstd', () => {
  test('refuses bytes that hold more or less than the target', () => {
    const source = compressZstd(new Uint8Array(1000).fill(5))

    expect(decompressZstd(source, new Uint8Array(1001))).toBe(false)
    expect(decompressZstd(source.subarray(0, 2), new Uint8Array(1000))).toBe(false)
    expect(decompressZstd(source.slice(0, source.length - 1), new Uint8Array(1000))).toBe(false)
  })
})

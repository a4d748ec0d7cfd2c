import { describe, expect, test } from 'vitest'
import { compressLz4, decompressLz4 } from '../../../src/cfile/codec/lz4.ts'
import { fromHex, toHex, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { randomText } from '../../support/random-text.ts'

describe('compressLz4', () => {
  test('keeps bytes of every kind and length', () => {
    for (let seed = 1; seed <= 80; seed++) {
      const plain = randomText(new Prng(seed))
      const target = new Uint8Array(plain.length)
      expect(decompressLz4(compressLz4(plain), target), `seed ${seed}`).toBe(true)
      expect(toHex(target) === toHex(plain), `seed ${seed}`).toBe(true)
    }
  })

  test('writes one sequence with a copy and one of literals for a repeated word', () => {
    const plain = utf8Encode('abcabcabcabcabcabcabcabc')

    // 3 literals, then 16 bytes from 3 back, then the last 5 as literals.
    expect(toHex(compressLz4(plain))).toBe('3c6162630300506263616263')
  })
})

describe('decompressLz4', () => {
  test('reads a block with long literals and a copy that overlaps itself', () => {
    const literals = '61'.repeat(20)
    const block = fromHex(`f005${literals}1400${'10'}62`)
    const target = new Uint8Array(25)

    expect(decompressLz4(block, target)).toBe(true)
    expect(new TextDecoder().decode(target)).toBe(`${'a'.repeat(24)}b`)
  })

  test('refuses copies from before the beginning, and blocks too short or too long', () => {
    expect(decompressLz4(fromHex('1061'), new Uint8Array(1))).toBe(true)
    expect(decompressLz4(fromHex('1061'), new Uint8Array(2))).toBe(false)
    expect(decompressLz4(fromHex('2061'), new Uint8Array(2))).toBe(false)
    expect(decompressLz4(fromHex('10610200100062'), new Uint8Array(6))).toBe(false)
    expect(decompressLz4(fromHex('10610000100062'), new Uint8Array(6))).toBe(false)
    expect(decompressLz4(new Uint8Array(0), new Uint8Array(0))).toBe(false)
  })

  test('reads changed blocks without leaving its target', () => {
    let refusedCount = 0
    for (let seed = 1; seed <= 500; seed++) {
      const prng = new Prng(seed)
      const plain = randomText(prng).subarray(0, 200)
      const block = compressLz4(plain)
      block[prng.below(block.length)] = prng.below(256)
      if (!decompressLz4(block, new Uint8Array(plain.length))) refusedCount++
    }
    expect(refusedCount).toBeGreaterThan(50)
  })
})

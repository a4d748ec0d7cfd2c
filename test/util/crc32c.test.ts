import { describe, expect, test } from 'vitest'
import { utf8Encode } from '../../src/util/bytes.ts'
import { crc32c } from '../../src/util/crc32c.ts'
import { Prng } from '../../src/util/prng.ts'

/** Bit by bit, by the definition of the polynomial division. */
function slowCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = ((crc ^ (byte >>> bit)) & 1) === 1
      crc = (crc >>> 1) ^ (isOdd ? 0x82f63b78 : 0)
    }
  }
  return ~crc >>> 0
}

function randomBytes(prng: Prng, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => prng.below(256))
}

describe('crc32c', () => {
  test('gives the check value of the catalogue of CRCs', () => {
    expect(crc32c(utf8Encode('123456789'))).toBe(0xe3069283)
  })

  test('gives the values that RFC 3720 lists', () => {
    const ascending = Uint8Array.from({ length: 32 }, (_, index) => index)

    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
    expect(crc32c(ascending)).toBe(0x46dd794e)
    expect(crc32c(ascending.toReversed())).toBe(0x113fdb5c)
  })

  test('of no bytes is zero', () => {
    expect(crc32c(new Uint8Array(0))).toBe(0)
  })

  test('equals division bit by bit at every length and offset', () => {
    const seed = 1
    const prng = new Prng(seed)
    for (let length = 0; length < 70; length++) {
      const bytes = randomBytes(prng, length + 6)
      const start = prng.below(6)
      const slice = bytes.subarray(start, start + length)

      expect(crc32c(bytes, start, start + length), `seed ${seed}`).toBe(slowCrc32c(slice))
    }
  })

  test('of joined slices is taken slice by slice', () => {
    const seed = 2
    const prng = new Prng(seed)
    for (let round = 0; round < 50; round++) {
      const bytes = randomBytes(prng, prng.below(100))
      const cut = prng.below(bytes.length + 1)
      const whole = crc32c(bytes)

      const joined = crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut))

      expect(joined, `seed ${seed}`).toBe(whole)
    }
  })
})

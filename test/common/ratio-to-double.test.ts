import { describe, expect, test } from 'vitest'
import { ratioToDouble } from '../../src/common/ratio-to-double.ts'
import { Prng } from '../../src/util/prng.ts'

describe('ratioToDouble', () => {
  test('is the double nearest to a decimal, as reading its text is', () => {
    const prng = new Prng(11)
    for (let i = 0; i < 5000; i++) {
      const scale = prng.below(39)
      const digits = BigInt(prng.uint32()) * 10n ** BigInt(prng.below(29)) + BigInt(prng.uint32())
      const value = prng.chance(0.5) ? digits : -digits

      const text = `${value}e-${scale}`
      expect(ratioToDouble(value, 10n ** BigInt(scale)), text).toBe(Number(text))
    }
  })

  test('rounds a tie to even, and what is just beside it away from it', () => {
    const tie = 2n ** 53n + 1n

    expect(ratioToDouble(tie, 1n)).toBe(2 ** 53)
    expect(ratioToDouble(tie * 10n ** 30n + 1n, 10n ** 30n)).toBe(2 ** 53 + 2)
    expect(ratioToDouble(tie * 10n ** 30n - 1n, 10n ** 30n)).toBe(2 ** 53)
    expect(ratioToDouble(-tie * 10n ** 30n - 1n, 10n ** 30n)).toBe(-(2 ** 53) - 2)
  })

  test('is 0 of 0', () => {
    expect(ratioToDouble(0n, 7n)).toBe(0)
  })
})

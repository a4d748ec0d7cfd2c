import { describe, expect, test } from 'vitest'
import { keyFraction } from '../../../src/tablet/disk/key-fraction.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

describe('keyFraction', () => {
  test('says which part of a range is below a key', () => {
    const part = (key: number[]) => keyFraction(bytes(1, 0), bytes(1, 200), bytes(...key))

    expect(
      [
        [1, 0],
        [1, 50],
        [1, 100, 0],
        [1, 200],
      ].map(part),
    ).toEqual([0, 0.25, 0.5, 1])
  })

  test('is 0 below the range and 1 above it, whatever the prefix', () => {
    const part = (text: string) =>
      keyFraction(utf8Encode('key 100'), utf8Encode('key 900'), utf8Encode(text))

    expect(['', 'a', 'key', 'key 0', 'key 100'].map(part)).toEqual([0, 0, 0, 0, 0])
    expect(['key 900', 'key 9000', 'key a', 'kez', 'z'].map(part)).toEqual([1, 1, 1, 1, 1])
  })

  test('takes an empty upper bound as above all keys', () => {
    expect(keyFraction(EMPTY_BYTES, EMPTY_BYTES, bytes(128))).toBe(0.5)
    expect(keyFraction(bytes(128), EMPTY_BYTES, bytes(192))).toBe(0.5)
  })

  test('tells keys apart that differ far behind their beginning', () => {
    const long = (last: number) => bytes(...new Array<number>(100).fill(7), last)

    expect(keyFraction(long(0), long(16), long(4))).toBe(0.25)
  })

  test('places keys of the greatest bytes below one', () => {
    const last = bytes(...new Array<number>(8).fill(0xff))

    expect(keyFraction(EMPTY_BYTES, EMPTY_BYTES, last)).toBeLessThan(1)
    expect(keyFraction(bytes(0), EMPTY_BYTES, last)).toBeGreaterThan(0.999)
    expect(keyFraction(bytes(0xfe), last, bytes(0xff))).toBeCloseTo(0.5)
  })

  test('does not fail on bounds that differ only by zero bytes', () => {
    expect(keyFraction(bytes(5), bytes(5, 0), bytes(5))).toBe(0)
    expect(keyFraction(bytes(5), bytes(5, 0), bytes(6))).toBe(1)
  })
})

import { describe, expect, test } from 'vitest'
import { appendSized, appendVarint, VarintReader } from '../../src/cfile/varint.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { toHex } from '../../src/util/bytes.ts'

const VALUES = [0, 1, 127, 128, 300, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 49, 2 ** 53 - 1]

describe('appendVarint', () => {
  test.each([
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
    [2 ** 53 - 1, 'ffffffffffffff0f'],
  ])('writes %d as %s', (value, hex) => {
    const arena = new ByteArena(0)

    appendVarint(arena, value)

    expect(toHex(arena.bytes.slice(0, arena.length))).toBe(hex)
  })

  test.each([-1, 0.5, 2 ** 53, Number.NaN])('refuses %d', (value) => {
    expect(() => appendVarint(new ByteArena(), value)).toThrow(AssertionError)
  })
})

describe('VarintReader', () => {
  test('reads what was written', () => {
    const arena = new ByteArena()
    for (const value of VALUES) appendVarint(arena, value)
    appendSized(arena, Uint8Array.of(7, 8, 9))
    const reader = new VarintReader(arena.bytes.slice(0, arena.length), 0, 'here')

    expect(VALUES.map(() => reader.next())).toEqual(VALUES)
    expect([...reader.nextSized()]).toEqual([7, 8, 9])
    expect(reader.offset).toBe(arena.length)
  })

  test.each([
    ['that does not end', [0x80, 0x80], 'here: ends within a number'],
    ['of too many bytes', new Array(9).fill(0x80), 'here: has a number too long'],
    ['above 2^53 − 1', [...new Array(7).fill(0x80), 0x10], 'here: has a number too large'],
  ])('tells a number %s', (_, bytes, message) => {
    const reader = new VarintReader(Uint8Array.from(bytes), 0, 'here')

    expect(() => reader.next()).toThrow(new CorruptionError(message))
  })

  test('tells a number above what is possible, and bytes that are missing', () => {
    const reader = new VarintReader(Uint8Array.of(9, 3, 1, 2), 0, 'here')

    expect(() => reader.nextUpTo(8)).toThrow('here: has a number above 8')
    expect(() => reader.nextSized()).toThrow('here: ends too early')
  })
})

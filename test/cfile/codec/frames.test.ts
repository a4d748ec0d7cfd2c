import { describe, expect, test } from 'vitest'
import {
  compressFrames,
  decompressFrames,
  type FrameLibrary,
} from '../../../src/cfile/codec/frames.ts'
import { toHex } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { randomText } from '../../support/random-text.ts'

const LIBRARIES: readonly FrameLibrary[] = ['zlib', 'zstd']

describe.each(LIBRARIES)('compressFrames %s', (library) => {
  test('keeps bytes of every kind and length', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const plain = randomText(new Prng(seed))
      const target = new Uint8Array(plain.length)
      const isWhole = decompressFrames(library, compressFrames(library, plain), target)
      expect(isWhole, `seed ${seed}`).toBe(true)
      expect(toHex(target) === toHex(plain), `seed ${seed}`).toBe(true)
    }
  })
})

describe.each(LIBRARIES)('decompressFrames %s', (library) => {
  test('refuses bytes that hold less than the target, or lack their end', () => {
    const source = compressFrames(library, new Uint8Array(1000).fill(5))

    expect(decompressFrames(library, source, new Uint8Array(1001))).toBe(false)
    expect(decompressFrames(library, source.subarray(0, 2), new Uint8Array(1000))).toBe(false)
    expect(decompressFrames(library, source.slice(0, -1), new Uint8Array(1000))).toBe(false)
  })

  test('does not make more bytes than the target has', () => {
    const source = compressFrames(library, new Uint8Array(1000).fill(5))

    expect(() => decompressFrames(library, source, new Uint8Array(999))).toThrow()
  })
})

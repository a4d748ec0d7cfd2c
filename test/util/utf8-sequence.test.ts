import { describe, expect, test } from 'vitest'
import { utf8DecodeStrict } from '../../src/util/bytes.ts'
import { utf8LengthOf, utf8SequenceBytes } from '../../src/util/utf8-sequence.ts'

const SECOND_BYTES = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]

/** Bytes of the sequence at the start, by the platform's decoder; 0 when there is none. */
function lengthByPlatform(bytes: Uint8Array): number {
  for (let length = 2; length <= 4; length++) {
    const text = utf8DecodeStrict(bytes.subarray(0, length))
    if (text !== undefined && [...text].length === 1) return length
  }
  return 0
}

describe('utf8SequenceBytes', () => {
  test('agrees with the platform on every first and second byte at an edge', () => {
    const wrong: string[] = []
    for (let first = 0x80; first <= 0xff; first++) {
      for (const second of SECOND_BYTES) {
        for (const third of [0x41, 0x80, 0xbf, 0xc0]) {
          for (const fourth of [0x41, 0x80]) {
            const bytes = Uint8Array.of(first, second, third, fourth, 0)
            if (utf8SequenceBytes(bytes, 0) !== lengthByPlatform(bytes)) wrong.push(String(bytes))
          }
        }
      }
    }

    expect(wrong).toEqual([])
  })
})

describe('utf8LengthOf', () => {
  test('is what a sequence that begins so has, and 0 where none does', () => {
    const lengths = [0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xef, 0xf0, 0xf4, 0xf5, 0xff]

    expect(lengths.map(utf8LengthOf)).toEqual([0, 0, 0, 0, 2, 2, 3, 3, 4, 4, 0, 0])
  })
})

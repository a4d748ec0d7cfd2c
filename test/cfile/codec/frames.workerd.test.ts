import { describe, expect, test } from 'vitest'
import { compressFrames, decompressFrames } from '../../../src/cfile/codec/frames.ts'
import { decodePage, encodePage } from '../../../src/cfile/page.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { COMPRESSIONS } from '../../../src/common/schema.ts'
import { Prng } from '../../../src/util/prng.ts'
import { cellsOf } from '../../support/page-cells.ts'

// Both libraries fail in one call for more than 40 KiB, depending on the bytes.
describe('compressFrames', () => {
  test.each(['zlib', 'zstd'] as const)('keeps bytes of any length in workerd: %s', (library) => {
    for (const length of [1, 16_384, 32_767, 32_768, 32_769, 40_960, 65_536, 131_072, 300_000]) {
      for (const below of [1, 4, 200, 256]) {
        const prng = new Prng(length + below)
        const plain = Uint8Array.from({ length }, () => prng.below(below))
        const target = new Uint8Array(length)

        const isWhole = decompressFrames(library, compressFrames(library, plain), target)

        const isSame = target.every((byte, i) => byte === plain[i])
        expect(isWhole && isSame, `${length} ${below}`).toBe(true)
      }
    }
  })
})

describe('encodePage', () => {
  test('keeps a page of texts in every compression in workerd', () => {
    const prng = new Prng(1)
    const texts = Array.from({ length: 4096 }, () => `${prng.below(1000)} of ${prng.below(1000)}`)
    const cells = cellsOf(PHYSICAL.binary, texts)
    for (const compression of COMPRESSIONS) {
      const page = encodePage(cells, { encoding: 'PLAIN_ENCODING', compression })
      const decoded = decodePage(page, PHYSICAL.binary, 'page')
      expect(
        decoded.bytes.every((byte, i) => byte === cells.bytes[i]),
        compression,
      ).toBe(true)
    }
  })
})

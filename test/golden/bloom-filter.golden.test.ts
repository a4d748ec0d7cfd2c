import { describe, expect, test } from 'vitest'
import { BlockPacker } from '../../src/cfile/block-packer.ts'
import { BloomReader, BloomWriter, readBloomMeta } from '../../src/cfile/bloom-filter.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { VarintReader } from '../../src/cfile/varint.ts'
import { fromHex, toHex } from '../../src/util/bytes.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

const HASHES = Uint32Array.of(0, 1, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, 0xffff_ffff)

// These bytes are in storages out there: none of them may ever change.
const GOLDEN: readonly (readonly [offset: number, hex: string, meaning: string])[] = [
  [0, '4e424631', 'magic NBF1'],
  [4, '113b32ad', 'crc of what follows'],
  [8, '05111808000120004880018088040000', 'bits 0 to 127'],
  [24, '00000800040810020000000540000080', 'bits 128 to 255'],
  [40, '082000000800001c2008010000000000', 'bits 256 to 383'],
  [56, '01080001040000400c20000000000810', 'bits 384 to 511'],
]

describe('Bloom filter', () => {
  test('writes the golden bytes', () => {
    const blocks = new MemoryBlocks()
    const packer = new BlockPacker(blocks.createFile(7))
    const writer = new BloomWriter()
    writer.add(HASHES, 0, HASHES.length)
    const { pageBitsLog } = writer.finish(packer)
    packer.flush()

    expect(pageBitsLog).toBe(9)
    expect(toHex(blocks.readBlock(7, 1))).toBe(GOLDEN.map(([, hex]) => hex).join(''))
  })

  test('knows its hashes in the golden bytes', () => {
    const blocks = new MemoryBlocks()
    blocks.createFile(7).append(fromHex(GOLDEN.map(([, hex]) => hex).join('')))
    const meta = readBloomMeta(new VarintReader(fromHex('09070101010901010000'), 0, 'meta'))
    const reader = new BloomReader(meta, blocks, new PageCache(0), 1, 'golden')

    expect([...HASHES].map((hash) => reader.mayContain(hash))).toEqual(new Array(6).fill(true))
    expect([2, 3, 4, 5, 6, 7].map((hash) => reader.mayContain(hash))).toEqual(
      new Array(6).fill(false),
    )
  })
})

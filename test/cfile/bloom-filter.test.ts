import { describe, expect, test } from 'vitest'
import { BlockPacker } from '../../src/cfile/block-packer.ts'
import {
  appendBloomMeta,
  BloomReader,
  BloomWriter,
  readBloomMeta,
} from '../../src/cfile/bloom-filter.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { pageBytesOf } from '../../src/cfile/page-list.ts'
import { VarintReader } from '../../src/cfile/varint.ts'
import { hashKeys } from '../../src/common/hash-keys.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { ByteArena, KeyArena } from '../../src/util/arena.ts'
import { Prng } from '../../src/util/prng.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

const SEED = 0xb1003
const KEY_HASH_SEED = 123_456_789_012

/** Hashes of the keys of the numbers `[start, end)`, 8 bytes each, big-endian. */
function hashesOf(start: number, end: number): Uint32Array {
  const keys = new KeyArena(end - start, (end - start) * 8)
  for (let key = start; key < end; key++) {
    keys.append(Uint8Array.of(0, 0, 0, 0, key >>> 24, key >>> 16, key >>> 8, key), 0, 8)
    keys.endKey()
  }
  const hashes = new Uint32Array(end - start)
  hashKeys(keys, 0, KEY_HASH_SEED, hashes)
  return hashes
}

function aFilter(hashes: Uint32Array, cacheBytes = 8 * 1024 * 1024) {
  const blocks = new MemoryBlocks()
  const packer = new BlockPacker(blocks.createFile(7))
  const writer = new BloomWriter()
  const half = hashes.length >>> 1
  writer.add(hashes, 0, half)
  writer.add(hashes, half, hashes.length)
  const meta = writer.finish(packer)
  packer.flush()
  const cache = new PageCache(cacheBytes)
  return { blocks, cache, meta, reader: new BloomReader(meta, blocks, cache, 1, 'rowset 3, Bloom') }
}

function countOf(reader: BloomReader, hashes: Uint32Array): number {
  const indexes = Uint32Array.from(hashes, (_, i) => i)
  return reader.filter(hashes, indexes, 0, indexes.length, new Uint32Array(indexes.length))
}

describe('BloomReader', () => {
  test.each([1, 2, 43, 300, 2731, 5000, 70_000, 300_000])('knows all of %d keys', (count) => {
    const hashes = hashesOf(0, count)
    const { reader } = aFilter(hashes)

    expect(countOf(reader, hashes)).toBe(count)
    expect(reader.mayContain(hashes[count - 1])).toBe(true)
  })

  test.each([1000, 3000, 70_000, 1_000_000])(
    'takes fewer than 1 in 1000 absent keys for one of %d',
    (count) => {
      const { reader, meta } = aFilter(hashesOf(0, count))
      const absentCount = 300_000
      const rate = countOf(reader, hashesOf(count, count + absentCount)) / absentCount

      expect(rate).toBeLessThan(0.001)
      expect((pageBytesOf(meta.pages) * 8) / count).toBeLessThan(19)
      process.stdout.write(`Bloom filter of ${count} keys: ${(rate * 100).toFixed(3)} % false\n`)
    },
  )

  test('filters in order, in place, and within bounds', () => {
    const hashes = hashesOf(0, 2000)
    const { reader } = aFilter(hashes.subarray(0, 1000))
    const indexes = Uint32Array.from({ length: 2000 }, (_, i) => 1999 - i)
    const single = [...indexes].filter((index) => reader.mayContain(hashes[index]))
    const count = reader.filter(hashes, indexes, 0, 2000, indexes)

    expect([...indexes.subarray(0, count)]).toEqual(single)
    expect(count).toBeGreaterThanOrEqual(1000)
    const out = new Uint32Array(4)
    const order = Uint32Array.of(5, 6, 7, 8)
    expect(reader.filter(hashes, order, 1, 3, out)).toBe(2)
    expect([...out]).toEqual([6, 7, 0, 0])
  })

  test('reads one page for one probe, and none for a second', () => {
    const hashes = hashesOf(0, 70_000)
    const { reader, blocks } = aFilter(hashes)
    reader.mayContain(hashes[5])
    reader.mayContain(hashes[5])

    expect(blocks.rowsRead).toBe(1)
  })

  test('reads itself whole for a large batch, and nothing for the next or for a probe', () => {
    const hashes = hashesOf(0, 40_000)
    const { reader, blocks } = aFilter(hashes)
    countOf(reader, hashes.subarray(0, 1000))
    const rowsRead = blocks.rowsRead
    countOf(reader, hashes.subarray(1000, 2000))
    reader.mayContain(hashes[2001])

    expect(rowsRead).toBe(1)
    expect(blocks.rowsRead).toBe(rowsRead)
  })

  test('is kept by the page where the whole would take much of the cache', () => {
    const hashes = hashesOf(0, 70_000)
    const { reader, meta, cache } = aFilter(hashes, 1024 * 1024)

    expect(countOf(reader, hashes)).toBe(70_000)
    expect(pageBytesOf(meta.pages)).toBeGreaterThan((1024 * 1024) / 8)
    expect(cache.get(1, 7, meta.pages.blocks[0], meta.pages.offsets[0] + 1)).toBeUndefined()
    expect(cache.get(1, 7, meta.pages.blocks[9], meta.pages.offsets[9])).toBeDefined()
  })

  test('gives the same answers when the cache keeps nothing', () => {
    const hashes = hashesOf(0, 20_000)
    const { reader } = aFilter(hashes.subarray(0, 10_000))
    const { reader: uncached } = aFilter(hashes.subarray(0, 10_000), 0)

    expect(countOf(uncached, hashes)).toBe(countOf(reader, hashes))
  })

  test('tells every flipped bit of a page, and answers from the other pages', () => {
    const prng = new Prng(SEED)
    const hashes = hashesOf(0, 20_000)
    const { blocks, meta } = aFilter(hashes)
    const id = { file: 7, block: meta.pages.blocks[3] }
    for (let round = 0; round < 50; round++) {
      const bit = (meta.pages.offsets[3] + prng.below(meta.pages.lengths[3])) * 8 + prng.below(8)
      blocks.flipBit(id, bit)
      const reader = new BloomReader(meta, blocks, new PageCache(1e6), 1, 'rowset 3, Bloom')
      let told = 0
      let answered = 0
      for (let i = 0; i < 100; i++) {
        try {
          if (reader.mayContain(hashes[i])) answered++
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError)
          expect(String(error)).toContain('rowset 3, Bloom: file 7, block 1, page 3: ')
          told++
        }
      }
      expect(told, `seed ${SEED}, round ${round}`).toBeGreaterThan(0)
      expect(told + answered).toBe(100)
      blocks.flipBit(id, bit)
    }
  })
})

describe('BloomMeta', () => {
  test('is read as it was written', () => {
    const { meta } = aFilter(hashesOf(0, 5000))
    const arena = new ByteArena()
    appendBloomMeta(arena, meta)
    const reader = new VarintReader(arena.bytes.slice(0, arena.length), 0, 'here')

    expect(readBloomMeta(reader)).toEqual(meta)
  })

  test('with pages of another size is corrupt', () => {
    const { meta } = aFilter(hashesOf(0, 5000))
    const arena = new ByteArena()
    appendBloomMeta(arena, { ...meta, pageBitsLog: meta.pageBitsLog + 1 })
    const reader = new VarintReader(arena.bytes.slice(0, arena.length), 0, 'here')

    expect(() => readBloomMeta(reader)).toThrow('here: has Bloom pages of another size')
  })
})

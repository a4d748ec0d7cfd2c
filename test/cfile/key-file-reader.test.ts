import { describe, expect, test } from 'vitest'
import { BlockPacker } from '../../src/cfile/block-packer.ts'
import {
  appendKeyFileMeta,
  type KeyFileMeta,
  readKeyFileMeta,
} from '../../src/cfile/key-file-meta.ts'
import { KeyFileReader } from '../../src/cfile/key-file-reader.ts'
import { KeyFileWriter } from '../../src/cfile/key-file-writer.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { VarintReader } from '../../src/cfile/varint.ts'
import { KEY_BYTES_MAX, KEY_PAGE_ROWS } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { ByteArena, KeyArena } from '../../src/util/arena.ts'
import { compareWhole } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'
import { keyArenaOf, keysOf, randomSortedKeys } from '../support/sorted-keys.ts'

const SEED = 0x6e75
const WHERE = 'rowset 7, keys'

function aFile(keys: readonly Uint8Array[], cacheBytes = 8 * 1024 * 1024) {
  const blocks = new MemoryBlocks()
  const packer = new BlockPacker(blocks.createFile(7))
  const writer = new KeyFileWriter(packer)
  const arena = keyArenaOf(keys)
  const third = Math.floor(arena.count / 3)
  writer.append(arena, 0, third)
  writer.append(arena, third, arena.count)
  const written = writer.finish()
  packer.flush()
  const meta = restored(written)
  const reader = new KeyFileReader(meta, blocks, new PageCache(cacheBytes), 1, WHERE)
  return { blocks, meta, reader, writer }
}

/** What is read back of the stored form. */
function restored(meta: KeyFileMeta): KeyFileMeta {
  const arena = new ByteArena()
  appendKeyFileMeta(arena, meta)
  return readKeyFileMeta(new VarintReader(arena.bytes.slice(0, arena.length), 0, WHERE))
}

/** Ordinals of probes, −7 where there is none. */
function find(reader: KeyFileReader, probes: readonly Uint8Array[]): number[] {
  const arena = keyArenaOf(probes)
  const order = Uint32Array.from(probes, (_, i) => i)
  order.sort((a, b) => compareWhole(probes[a], probes[b]))
  const out = new Int32Array(probes.length).fill(-7)
  reader.findSorted(arena, order, 0, order.length, out)
  return [...out]
}

/** Probes around the keys: themselves, shorter, longer, and others. */
function probesAround(prng: Prng, keys: readonly Uint8Array[], count: number): Uint8Array[] {
  return Array.from({ length: count }, () => {
    const key = prng.pick(keys)
    switch (prng.below(4)) {
      case 0:
        return key.slice(0, prng.below(key.length + 1))
      case 1:
        return Uint8Array.from([...key, prng.below(2)])
      case 2:
        return Uint8Array.from({ length: prng.below(6) }, () => prng.below(256))
      default:
        return key
    }
  })
}

describe('KeyFileReader', () => {
  test.each([1, 5, 1024, 1025, 20_000])('finds each of %d keys and no other', (count) => {
    const prng = new Prng(SEED + count)
    const keys = randomSortedKeys(prng, count, 30)
    const { reader } = aFile(keys)
    const ordinals = new Map(keys.map((key, i) => [key.join(), i]))
    for (const probeCount of [1, 3, 200, 5000]) {
      const probes = probesAround(prng, keys, probeCount)
      const expected = probes.map((probe) => ordinals.get(probe.join()) ?? -7)

      expect(find(reader, probes), `seed ${SEED + count}`).toEqual(expected)
    }
    expect(find(reader, keys)).toEqual(keys.map((_, i) => i))
  })

  test('looks only for the keys it is asked for', () => {
    const keys = randomSortedKeys(new Prng(SEED), 10, 5)
    const { reader } = aFile(keys)
    const out = new Int32Array(10).fill(-1)
    reader.findSorted(keyArenaOf(keys), Uint32Array.of(0, 2, 4, 6, 8), 1, 4, out)

    expect([...out]).toEqual([-1, -1, 2, -1, 4, -1, 6, -1, -1, -1])
  })

  test('gives the first ordinal at or above a key', () => {
    const prng = new Prng(SEED)
    const keys = randomSortedKeys(prng, 5000, 12)
    const { reader } = aFile(keys)
    for (const probe of probesAround(prng, keys, 1000)) {
      const expected = keys.findIndex((key) => compareWhole(key, probe) >= 0)
      expect(reader.lowerBound(probe), `seed ${SEED}`).toBe(expected < 0 ? 5000 : expected)
    }
    expect(reader.lowerBound(new Uint8Array(0))).toBe(0)
    expect(reader.lowerBound(Uint8Array.of(255, 255, 255, 255, 255, 255))).toBe(5000)
  })

  test('knows the gaps between keys of a page', () => {
    const prng = new Prng(SEED)
    const keys = randomSortedKeys(prng, 5000, 12)
    const { reader, meta } = aFile(keys)
    const pageOf = (probe: Uint8Array) => {
      const { separators } = meta
      let page = 0
      while (page + 1 < separators.count && compareWhole(keysOf(separators)[page + 1], probe) <= 0)
        page++
      return page
    }
    let gapCount = 0
    for (let round = 0; round < 1000; round++) {
      const near = prng.below(5000)
      const probes = probesAround(prng, keys.slice(near, near + 3), 2).sort(compareWhole)
      const [first, last] = probes
      const isEmpty = !keys.some(
        (key) => compareWhole(key, first) >= 0 && compareWhole(key, last) <= 0,
      )
      const isGap = reader.isGap(keyArenaOf(probes), 0, 1)
      if (isGap) gapCount++

      expect(isGap, `seed ${SEED}, round ${round}`).toBe(isEmpty && pageOf(first) === pageOf(last))
    }
    expect(gapCount).toBeGreaterThan(50)
  })

  test('reads any stretch of keys, with and without a cursor', () => {
    const prng = new Prng(SEED)
    const keys = randomSortedKeys(prng, 5000, 12)
    const { reader } = aFile(keys)
    for (const isDescending of [false, true]) {
      const cursor = reader.openCursor(isDescending)
      for (let round = 0; round < 50; round++) {
        const start = prng.below(5000)
        const end = prng.between(start, Math.min(5000, start + 3000))
        const alone = new KeyArena()
        reader.appendKeys(start, end, alone)
        const scanned = new KeyArena()
        cursor.appendKeys(start, end, scanned)

        expect(keysOf(alone), `seed ${SEED}, round ${round}`).toEqual(keys.slice(start, end))
        expect(keysOf(scanned)).toEqual(keys.slice(start, end))
      }
      cursor.clear()
      expect(cursor.heldBytes).toBe(0)
    }
  })

  test('reads one page for one key, and few times for many', () => {
    const keys = randomSortedKeys(new Prng(SEED), 30_000, 12)
    const { reader, blocks } = aFile(keys, 0)
    find(reader, [keys[7000]])
    expect(blocks.rowsRead).toBe(1)
    reader.lowerBound(keys[100])
    expect(blocks.rowsRead).toBe(2)
    find(reader, keys)
    expect(blocks.rowsRead).toBeLessThan(10)
    const rowsRead = blocks.rowsRead
    reader.openCursor().appendKeys(0, 30_000, new KeyArena())
    expect(blocks.rowsRead - rowsRead).toBeLessThan(8)
  })

  test('leaves keys in the cache for the next scan, unless told not to', () => {
    const keys = randomSortedKeys(new Prng(SEED), 5000, 12)
    const { reader, blocks } = aFile(keys)
    const scan = (isCached: boolean): number => {
      const rowsRead = blocks.rowsRead
      reader.openCursor(false, isCached).appendKeys(0, 5000, new KeyArena())
      return blocks.rowsRead - rowsRead
    }

    expect([scan(false), scan(true), scan(true), scan(false)]).toEqual([1, 1, 0, 0])
  })

  test('cuts pages of the largest keys by their bytes', () => {
    const keys = Array.from({ length: 64 }, (_, i) => {
      const key = new Uint8Array(KEY_BYTES_MAX).fill(i)
      key[KEY_BYTES_MAX - 1] = 9
      return key
    })
    const { reader, meta } = aFile(keys)

    expect(reader.pageCount).toBe(8)
    expect(meta.separators.length).toBe(7)
    expect(find(reader, keys)).toEqual(keys.map((_, i) => i))
  })

  test('has separators as short as can be, without what they share', () => {
    const keys = Array.from({ length: KEY_PAGE_ROWS * 50 }, (_, i) => {
      return Uint8Array.of(1, 2, 3, 4, 5, 6, i >>> 16, i >>> 8, i)
    })
    const { meta } = aFile(keys)
    const arena = new ByteArena()
    appendKeyFileMeta(arena, meta)

    expect(meta.separators.count).toBe(50)
    expect(meta.separators.key(0).length).toBe(0)
    expect(meta.separators.key(1).length).toBe(8)
    expect(arena.length).toBeLessThan(50 * 7)
  })

  test('names the least and the greatest key', () => {
    const keys = randomSortedKeys(new Prng(SEED), 3000, 12)
    const { writer } = aFile(keys)

    expect(writer.firstKey).toEqual(keys[0])
    expect(writer.lastKey).toEqual(keys[2999])
    expect(writer.rowCount).toBe(3000)
  })

  test('refuses keys that do not ascend, within a page and from page to page', () => {
    const keys = randomSortedKeys(new Prng(SEED), KEY_PAGE_ROWS + 1, 12)
    const twice = [...keys.slice(0, 10), keys[9]]
    const back = [...keys.slice(1), keys[0]]
    const again = [...keys.slice(0, KEY_PAGE_ROWS), keys[KEY_PAGE_ROWS - 1]]

    for (const wrong of [twice, back, again]) expect(() => aFile(wrong)).toThrow(/ascend/)
    expect(() => aFile([])).toThrow('a rowset has a key')
  })

  test('tells every flipped bit of a page, and finds keys of the others', () => {
    const prng = new Prng(SEED)
    const keys = randomSortedKeys(prng, 3000, 12)
    const { blocks, meta } = aFile(keys)
    for (let round = 0; round < 100; round++) {
      const byte = meta.pages.offsets[1] + prng.below(meta.pages.lengths[1])
      const bit = byte * 8 + prng.below(8)
      blocks.flipBit({ file: 7, block: 1 }, bit)
      const reader = new KeyFileReader(meta, blocks, new PageCache(1e7), 1, WHERE)

      expect(() => find(reader, [keys[1500]]), `seed ${SEED}, round ${round}`).toThrow(
        CorruptionError,
      )
      expect(() => reader.lowerBound(keys[1500])).toThrow(`${WHERE}: file 7, block 1, page 1`)
      expect(find(reader, [keys[5], keys[2500]])).toEqual([5, 2500])
      blocks.flipBit({ file: 7, block: 1 }, bit)
    }
  })
})

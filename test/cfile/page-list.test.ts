import { describe, expect, test } from 'vitest'
import {
  appendPageList,
  blocksOf,
  type PageList,
  PageListBuilder,
  pageBytesOf,
  pageIndexOf,
  pageText,
  readPage,
  readPageList,
  rowCountOf,
} from '../../src/cfile/page-list.ts'
import { VarintReader } from '../../src/cfile/varint.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { Prng } from '../../src/util/prng.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

const SEED = 0x9a6e

function storedForm(pages: PageList): Uint8Array {
  const arena = new ByteArena()
  appendPageList(arena, pages)
  return arena.bytes.slice(0, arena.length)
}

function plain({ file, rowEnds, blocks, offsets, lengths }: PageList) {
  return { file, rowEnds, blocks, offsets, lengths }
}

function randomPages(prng: Prng): PageList {
  const pages = new PageListBuilder(prng.below(1000))
  const uniform = prng.chance(0.5)
  let rowEnd = 0
  let block = 1
  let offset = prng.below(10) * 8
  const count = prng.below(30)
  for (let i = 0; i < count; i++) {
    rowEnd += uniform && i < count - 1 ? 4096 : prng.between(1, 5000)
    const bytes = prng.between(1, 9000) * 8
    pages.place(pages.add(rowEnd, bytes), block, offset)
    offset += bytes
    if (prng.chance(0.2)) {
      block += prng.between(1, 3)
      offset = prng.below(3) * 8
    }
  }
  return pages
}

describe('PageList', () => {
  test('is read as it was written', () => {
    const prng = new Prng(SEED)
    for (let round = 0; round < 500; round++) {
      const pages = randomPages(prng)
      const reader = new VarintReader(storedForm(pages), 0, 'list')

      expect(plain(readPageList(reader)), `seed ${SEED}, round ${round}`).toEqual(plain(pages))
      expect(reader.offset).toBe(reader.bytes.length)
    }
  })

  test('takes three bytes a page when pages have equal rows', () => {
    const pages = new PageListBuilder(7)
    for (let i = 0; i < 100; i++) pages.place(pages.add((i + 1) * 4096, 16_000), 3, i * 16_000)

    expect(storedForm(pages).length).toBeLessThan(220)
  })

  test('of random bytes is a list or a corruption', () => {
    const prng = new Prng(SEED + 1)
    let told = 0
    for (let round = 0; round < 2000; round++) {
      const bytes = storedForm(randomPages(prng))
      for (let i = 0; i < 3; i++) bytes[prng.below(bytes.length)] = prng.below(256)
      try {
        readPageList(new VarintReader(bytes, 0, 'list'))
      } catch (error) {
        expect(error, `seed ${SEED + 1}, round ${round}`).toBeInstanceOf(CorruptionError)
        told++
      }
    }
    expect(told).toBeGreaterThan(100)
  })

  test('knows the page of a row, its rows, bytes and blocks', () => {
    const pages = new PageListBuilder(7)
    pages.place(pages.add(10, 16), 1, 0)
    pages.place(pages.add(11, 24), 1, 16)
    pages.place(pages.add(30, 8), 2, 0)

    expect([0, 9, 10, 11, 29].map((row) => pageIndexOf(pages.rowEnds, row))).toEqual([
      0, 0, 1, 2, 2,
    ])
    expect(rowCountOf(pages)).toBe(30)
    expect(pageBytesOf(pages)).toBe(48)
    expect(blocksOf(pages)).toEqual([1, 2])
    expect(pageText('rowset 5, column 11', pages, 2)).toBe(
      'rowset 5, column 11: file 7, block 2, page 2',
    )
    expect(() => pageIndexOf(pages.rowEnds, 30)).toThrow('the row is in a page')
  })

  test('reads a page alone', () => {
    const blocks = new MemoryBlocks()
    blocks.createFile(7).append(Uint8Array.from({ length: 40 }, (_, i) => i))
    const pages = new PageListBuilder(7)
    pages.place(pages.add(10, 8), 1, 0)
    pages.place(pages.add(20, 16), 1, 8)

    expect([...readPage(pages, 1, blocks)]).toEqual(Array.from({ length: 16 }, (_, i) => i + 8))
    expect(blocks.rowsRead).toBe(1)
  })
})

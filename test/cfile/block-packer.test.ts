import { describe, expect, test } from 'vitest'
import { BlockPacker } from '../../src/cfile/block-packer.ts'
import { PageListBuilder, readPage } from '../../src/cfile/page-list.ts'
import { BLOCK_BYTES_TARGET, STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

function aPage(bytes: number, fill: number): Uint8Array {
  return new Uint8Array(bytes).fill(fill)
}

function aPacker() {
  const blocks = new MemoryBlocks()
  return { blocks, packer: new BlockPacker(blocks.createFile(7)) }
}

describe('BlockPacker', () => {
  test('puts pages behind each other until a block has its size', () => {
    const { blocks, packer } = aPacker()
    const pages = new PageListBuilder(packer.file)
    const bytes = BLOCK_BYTES_TARGET / 4
    for (let i = 0; i < 6; i++) packer.add(pages, (i + 1) * 10, aPage(bytes, i))
    packer.flush()

    expect(pages.blocks).toEqual([1, 1, 1, 1, 2, 2])
    expect(pages.offsets).toEqual([0, bytes, 2 * bytes, 3 * bytes, 0, bytes])
    expect(pages.lengths.map((_, i) => readPage(pages, i, blocks)[0])).toEqual([0, 1, 2, 3, 4, 5])
    expect(packer.writtenBytes).toBe(blocks.bytes)
    expect(packer.heldBytes).toBe(0)
  })

  test('lets small columns share a block, and gives a large one blocks of its own', () => {
    const { blocks, packer } = aPacker()
    const columns = [[800], [1600], [50_000, 60_000, 70_000], [400], [8]].map((pageBytes, i) => {
      const pages = new PageListBuilder(packer.file)
      pageBytes.forEach((bytes, page) => {
        packer.add(pages, (page + 1) * 10, aPage(bytes, i))
      })
      packer.endColumn()
      return pages
    })
    packer.flush()

    expect(columns.map(({ blocks }) => blocks)).toEqual([[1], [1], [2, 2, 2], [3], [3]])
    expect(columns.map(({ offsets }) => offsets)).toEqual([
      [0],
      [800],
      [0, 50_000, 110_000],
      [0],
      [400],
    ])
    expect(columns.map((pages) => readPage(pages, 0, blocks)[0])).toEqual([0, 1, 2, 3, 4])
    expect(blocks.rowsWritten).toBe(3)
    expect(packer.writtenBytes).toBe(blocks.bytes)
  })

  test('never makes a block longer than a stored row', () => {
    const { blocks, packer } = aPacker()
    const pages = new PageListBuilder(packer.file)
    packer.add(pages, 1, aPage(BLOCK_BYTES_TARGET - 8, 1))
    packer.add(pages, 2, aPage(STORED_ROW_BYTES_MAX, 2))
    packer.flush()

    expect(pages.blocks).toEqual([1, 2])
    expect(blocks.sizeOf({ file: 7, block: 2 })).toBe(STORED_ROW_BYTES_MAX)
    expect(() => packer.add(pages, 3, aPage(STORED_ROW_BYTES_MAX + 8, 3))).toThrow(
      'a page fits one stored row',
    )
  })

  test('writes nothing when nothing was added', () => {
    const { blocks, packer } = aPacker()
    packer.endColumn()
    packer.flush()

    expect(blocks.rowsWritten).toBe(0)
  })
})

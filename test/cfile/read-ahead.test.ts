import { describe, expect, test } from 'vitest'
import { PageListBuilder } from '../../src/cfile/page-list.ts'
import { ReadAhead } from '../../src/cfile/read-ahead.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

/** Pages 0 to 2 in block 1 and 3 to 5 in block 2, of 8 bytes, each filled with its index. */
function aCase() {
  const blocks = new MemoryBlocks()
  const writer = blocks.createFile(7)
  const pages = new PageListBuilder(7)
  for (let block = 1; block <= 2; block++) {
    // Block 2 has bytes of another list in front, just as many as block 1 has pages of this one.
    const before = block === 1 ? 0 : 24
    const bytes = new Uint8Array(before + 24).fill(255)
    for (let i = 0; i < 3; i++) {
      const index = (block - 1) * 3 + i
      bytes.fill(index, before + i * 8, before + i * 8 + 8)
      pages.place(pages.add(index + 1, 8), block, before + i * 8)
    }
    writer.append(bytes)
  }
  return { blocks, pages }
}

describe('ReadAhead', () => {
  test.each([
    ['forwards', false, [0, 1, 2, 3, 4, 5], 2],
    ['backwards', true, [5, 4, 3, 2, 1, 0], 2],
    ['forwards from the middle of a block', false, [1, 2, 3], 2],
    ['against its direction', false, [2, 1, 0], 3],
    ['to pages at hand', false, [0, 2, 1, 0], 1],
  ])('goes %s, block by block', (_, isDescending, indexes, rowsRead) => {
    const { blocks, pages } = aCase()
    const ahead = new ReadAhead(pages, blocks, 1000, isDescending)

    expect(indexes.map((index) => [...new Set(ahead.page(index))])).toEqual(
      indexes.map((index) => [index]),
    )
    expect(blocks.rowsRead).toBe(rowsRead)
  })

  test('reads no more than it may, but a page at least', () => {
    const { blocks, pages } = aCase()
    const two = new ReadAhead(pages, blocks, 23, false)
    for (let index = 0; index < 3; index++) two.page(index)
    expect(blocks.rowsRead).toBe(2)
    expect(two.heldBytes).toBe(8)
    const none = new ReadAhead(pages, blocks, 0, true)
    for (let index = 2; index >= 0; index--) none.page(index)

    expect(blocks.rowsRead).toBe(5)
  })

  test('reads nothing ahead that will not be asked for', () => {
    const { blocks, pages } = aCase()
    const forwards = new ReadAhead(pages, blocks, 1000, false, 0, 2)
    forwards.page(1)
    expect(forwards.heldBytes).toBe(8)
    const backwards = new ReadAhead(pages, blocks, 1000, true, 4, 6)
    backwards.page(5)

    expect(backwards.heldBytes).toBe(16)
  })

  test('lets go of what is at hand', () => {
    const { blocks, pages } = aCase()
    const ahead = new ReadAhead(pages, blocks, 1000, false)
    ahead.page(0)
    ahead.clear()

    expect(ahead.heldBytes).toBe(0)
    expect(ahead.page(1)[0]).toBe(1)
    expect(blocks.rowsRead).toBe(2)
  })
})

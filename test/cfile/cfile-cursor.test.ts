import { describe, expect, test } from 'vitest'
import { CFileCursor } from '../../src/cfile/cfile-cursor.ts'
import { CFileReader } from '../../src/cfile/cfile-reader.ts'
import { CFileWriter } from '../../src/cfile/cfile-writer.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { PAGE_ROWS, READ_AHEAD_BYTES } from '../../src/common/limits.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'

const PAGE_COUNT = 40

/** Forty pages of about 16 KiB; row r has the value r. */
function aFile(cacheBytes = 0) {
  const blocks = new MemoryBlocks()
  const writer = new CFileWriter({
    column: {
      physical: PHYSICAL.int32,
      encoding: 'PLAIN_ENCODING',
      compression: 'NO_COMPRESSION',
    },
    blocks: blocks.createFile(7),
  })
  const builder = new ColumnBuilder(PHYSICAL.int32)
  for (let row = 0; row < PAGE_COUNT * PAGE_ROWS; row++) builder.appendCell(row)
  writer.append(builder.view())
  const cache = new PageCache(cacheBytes)
  return { blocks, cache, reader: new CFileReader(writer.finish(), blocks, cache, 1, 'column') }
}

describe('CFileCursor', () => {
  test.each([false, true])('reads several pages at a time, backwards: %s', (isDescending) => {
    const { blocks, reader } = aFile()
    const cursor = new CFileCursor(reader, { isDescending })
    for (let step = 0; step < PAGE_COUNT; step++) {
      const index = isDescending ? PAGE_COUNT - 1 - step : step
      const cells = cursor.page(index)
      expect(cells.lanes[0]).toBe(index * PAGE_ROWS)
      expect(cursor.page(index)).toBe(cells)
      expect(cursor.heldBytes).toBeLessThanOrEqual(READ_AHEAD_BYTES)
    }

    expect(blocks.rowsRead).toBeLessThanOrEqual(Math.ceil(PAGE_COUNT / 5) + 2)
  })

  test('gives borrowed cells until the next page, and keeps none', () => {
    const { cache, reader } = aFile(1 << 20)
    const cursor = new CFileCursor(reader, { isBorrowed: true })

    const firsts = [0, 1, 7, 7].map((index) => {
      const cells = cursor.page(index)
      return [cells.lanes[0], cells.lanes[PAGE_ROWS - 1], cells.rowCount]
    })

    const expected = [0, 1, 7, 7].map((index) => {
      return [index * PAGE_ROWS, (index + 1) * PAGE_ROWS - 1, PAGE_ROWS]
    })
    expect(firsts).toEqual(expected)
    expect(cache.heldBytes).toBe(0)
  })

  test('jumps over pages', () => {
    const { blocks, reader } = aFile()
    const cursor = new CFileCursor(reader)

    expect([3, 5, 30, 4].map((index) => cursor.page(index).lanes[1])).toEqual(
      [3, 5, 30, 4].map((index) => index * PAGE_ROWS + 1),
    )
    expect(blocks.rowsRead).toBe(3)
  })

  test('reads a page at a time when it may not hold more', () => {
    const { blocks, reader } = aFile()
    const cursor = new CFileCursor(reader, { readAheadBytes: 0 })
    for (let index = 0; index < 5; index++) cursor.page(index)

    expect(blocks.rowsRead).toBe(5)
  })

  test('leaves pages in the cache for the next scan, which reads nothing', () => {
    const { blocks, reader, cache } = aFile(8 * 1024 * 1024)
    const first = new CFileCursor(reader)
    for (let index = 0; index < PAGE_COUNT; index++) first.page(index)
    const rowsRead = blocks.rowsRead
    const second = new CFileCursor(reader)
    for (let index = 0; index < PAGE_COUNT; index++) second.page(index)

    expect(blocks.rowsRead).toBe(rowsRead)
    expect(cache.heldBytes).toBeGreaterThan(PAGE_COUNT * PAGE_ROWS * 4)
  })

  test('keeps no page alive beside the one that is kept', () => {
    const { reader } = aFile(8 * 1024 * 1024)
    const { bytes } = new CFileCursor(reader).page(0)

    expect(bytes.buffer.byteLength).toBeLessThan(PAGE_ROWS * 4 + 1000)
  })

  test('leaves nothing in the cache when told so', () => {
    const { reader, cache } = aFile(8 * 1024 * 1024)
    const cursor = new CFileCursor(reader, { isCached: false })
    for (let index = 0; index < PAGE_COUNT; index++) cursor.page(index)

    expect(cache.heldBytes).toBe(0)
  })

  test('lets go of what it holds, and can go on', () => {
    const { reader } = aFile()
    const cursor = new CFileCursor(reader)
    cursor.page(0)
    cursor.clear()

    expect(cursor.heldBytes).toBe(0)
    expect(cursor.page(1).lanes[0]).toBe(PAGE_ROWS)
  })
})

import { describe, expect, test } from 'vitest'
import { CFileReader } from '../../src/cfile/cfile-reader.ts'
import { CFileWriter } from '../../src/cfile/cfile-writer.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { BLOCK_BYTES_TARGET, PAGE_ROWS, PAGE_TEXT_BYTES } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { MemoryBlocks } from '../support/memory-blocks.ts'
import { COLUMN_TEXTS } from '../support/random-cell.ts'
import { randomVector } from '../support/random-vector.ts'

const SEED = 0xcf11e
const WHERE = 'rowset 7, column 10'

function aFile(text: string, parts: readonly ColumnVector[], cacheBytes = 8 * 1024 * 1024) {
  const blocks = new MemoryBlocks()
  const writer = new CFileWriter({ column: aColumn(text), blocks: blocks.createFile(7) })
  for (const part of parts) writer.append(part)
  const meta = writer.finish()
  const cache = new PageCache(cacheBytes)
  return { blocks, meta, cache, reader: new CFileReader(meta, blocks, cache, 1, WHERE) }
}

function cellsOf(cells: ColumnVector): unknown[] {
  return Array.from({ length: cells.rowCount }, (_, row) => cells.cell(row))
}

function randomBytes(prng: Prng, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => prng.below(256))
}

function allCells(reader: CFileReader): unknown[] {
  return Array.from({ length: reader.pageCount }, (_, i) => cellsOf(reader.page(i))).flat()
}

describe('CFileReader', () => {
  test.each(COLUMN_TEXTS)('reads what was appended in parts of any size: %s', (text) => {
    const prng = new Prng(SEED)
    const parts = Array.from({ length: 8 }, () => {
      const rowCount = prng.pick([0, 1, 7, 1000, 4096, 4097, 6000])
      return randomVector(prng, aColumn(text), rowCount, prng.pick([0, 0, 0.3, 1]))
    })
    const { reader, meta } = aFile(text, parts)

    expect(allCells(reader), `seed ${SEED}`).toEqual(parts.flatMap(cellsOf))
    expect(reader.rowCount).toBe(parts.reduce((sum, part) => sum + part.rowCount, 0))
    const nulls = parts.flatMap(cellsOf).filter((cell) => cell === null).length
    expect(meta.nullCount).toBe(nulls)
    expect(meta.forms.reduce((sum, form) => sum + form.pageCount, 0)).toBe(reader.pageCount)
  })

  test('appends stretches of a vector', () => {
    const prng = new Prng(SEED)
    const cells = randomVector(prng, aColumn('value STRING NULL'), 9000, 0.2)
    const blocks = new MemoryBlocks()
    const column = aColumn('value STRING NULL')
    const writer = new CFileWriter({ column, blocks: blocks.createFile(7) })
    writer.append(cells, 3, 4500)
    writer.append(cells, 4500, 8999)
    const reader = new CFileReader(writer.finish(), blocks, new PageCache(1e7), 1, WHERE)

    expect(allCells(reader)).toEqual(cellsOf(cells).slice(3, 8999))
  })

  test('knows pages, rows and zone maps without reading a page', () => {
    const prng = new Prng(SEED)
    const { reader, blocks } = aFile('value INT32', [
      randomVector(prng, aColumn('value INT32'), PAGE_ROWS * 2 + 10, 0),
    ])

    expect(reader.pageCount).toBe(3)
    expect([0, 1, 2].map((i) => [reader.pageStart(i), reader.pageEnd(i)])).toEqual([
      [0, PAGE_ROWS],
      [PAGE_ROWS, PAGE_ROWS * 2],
      [PAGE_ROWS * 2, PAGE_ROWS * 2 + 10],
    ])
    expect([0, 4095, 4096, 8201].map((row) => reader.pageIndexOf(row))).toEqual([0, 0, 1, 2])
    expect([0, 1, 2].map((i) => reader.zone(i).rowCount)).toEqual([PAGE_ROWS, PAGE_ROWS, 10])
    expect(blocks.rowsRead).toBe(0)
    for (let i = 0; i < 3; i++) {
      const values = cellsOf(reader.page(i)) as number[]
      expect(reader.zone(i).min).toBe(Math.min(...values))
      expect(reader.zone(i).max).toBe(Math.max(...values))
    }
  })

  test.each([
    ['long values', (prng: Prng) => randomBytes(prng, prng.pick([0, 10, 1000, 20_000]))],
    ['text', (prng: Prng) => randomBytes(prng, 100)],
  ])('ends a page of %s after 32 KiB of them', (_, value) => {
    const prng = new Prng(SEED)
    const builder = new ColumnBuilder(PHYSICAL.binary)
    for (let row = 0; row < 2000; row++) builder.appendCell(value(prng))
    const { reader } = aFile('value BINARY', [builder.view()])

    expect(reader.pageCount).toBeGreaterThan(5)
    for (let i = 0; i < reader.pageCount; i++) {
      const { offsets, rowCount } = reader.page(i)
      expect(offsets[rowCount - 1], `seed ${SEED}`).toBeLessThan(PAGE_TEXT_BYTES)
      if (i < reader.pageCount - 1) {
        expect(offsets[rowCount]).toBeGreaterThanOrEqual(PAGE_TEXT_BYTES)
      }
    }
  })

  test('goes on to 128 KiB where the same values come again and again', () => {
    const prng = new Prng(SEED)
    const values = Array.from({ length: 4 }, () => randomBytes(prng, 100))
    const builder = new ColumnBuilder(PHYSICAL.binary)
    for (let row = 0; row < 5000; row++) builder.appendCell(prng.pick(values))
    const { reader } = aFile('value BINARY', [builder.view()])
    const rowCounts = Array.from({ length: reader.pageCount }, (_, i) => reader.page(i).rowCount)

    expect(rowCounts).toEqual([328, 1311, 1311, 1311, 739])
  })

  test('fills blocks, and starts the next one', () => {
    const prng = new Prng(SEED)
    const column = { ...aColumn('value DECIMAL(38)'), encoding: 'PLAIN_ENCODING' as const }
    const blocks = new MemoryBlocks()
    const file = blocks.createFile(7)
    const writer = new CFileWriter({
      column: { ...column, compression: 'NO_COMPRESSION' },
      blocks: file,
    })
    const cells = randomVector(prng, column, PAGE_ROWS, 0)
    for (let i = 0; i < 20; i++) writer.append(cells)
    const { pages } = writer.finish()

    expect(new Set(pages.blocks).size).toBe(10)
    for (const id of blocks.blockIds.slice(0, -1)) {
      expect(blocks.sizeOf(id)).toBeGreaterThanOrEqual(BLOCK_BYTES_TARGET)
    }
  })

  test('reads a page asked for twice once', () => {
    const prng = new Prng(SEED)
    const cells = randomVector(prng, aColumn('value INT64'), 10_000, 0)
    const { reader, blocks } = aFile('value INT64', [cells])

    expect(reader.page(1)).toBe(reader.page(1))
    expect(blocks.rowsRead).toBe(1)
  })

  test('keeps pages of few values as codes, which a reader that joins them does not change', () => {
    const builder = new ColumnBuilder(PHYSICAL.binary)
    const long = new Uint8Array(7)
    for (let row = 0; row < PAGE_ROWS; row++) builder.appendCell(long.fill(row % 5))
    const { reader, cache } = aFile('value STRING', [builder.view()])

    const cells = reader.page(0)
    const held = cache.heldBytes
    expect(cells.bytes.length).toBe(PAGE_ROWS * 7)

    expect(held).toBeLessThan(3 * PAGE_ROWS)
    const again = reader.page(0)
    expect(again.dictionary).toBe(cells.dictionary)
    expect(reader.page(0)).not.toBe(again)
    expect(cache.heldBytes).toBe(held)
  })

  test('tells every flipped bit of a page, and reads the others', () => {
    const prng = new Prng(SEED)
    const cells = randomVector(prng, aColumn('value STRING NULL'), 10_000, 0.1)
    const { meta, blocks } = aFile('value STRING NULL', [cells])
    for (let round = 0; round < 100; round++) {
      const bytes = meta.pages.offsets[1] + prng.below(meta.pages.lengths[1])
      const bit = bytes * 8 + prng.below(8)
      blocks.flipBit({ file: 7, block: meta.pages.blocks[1] }, bit)
      const reader = new CFileReader(meta, blocks, new PageCache(1e7), 1, WHERE)

      expect(() => reader.page(1), `seed ${SEED}, round ${round}`).toThrow(CorruptionError)
      expect(() => reader.page(1)).toThrow(
        `${WHERE}: file 7, block ${meta.pages.blocks[1]}, page 1`,
      )
      expect(reader.page(0).rowCount).toBe(reader.pageEnd(0))
      blocks.flipBit({ file: 7, block: meta.pages.blocks[1] }, bit)
    }
  })

  test('tells a page that has other rows than the directory says', () => {
    const prng = new Prng(SEED)
    const cells = randomVector(prng, aColumn('value INT32'), PAGE_ROWS + 5, 0)
    const { meta, blocks } = aFile('value INT32', [cells])
    const pages = { ...meta.pages, rowEnds: [PAGE_ROWS, PAGE_ROWS + 6] }
    const reader = new CFileReader({ ...meta, pages }, blocks, new PageCache(1e7), 1, WHERE)

    expect(() => reader.page(1)).toThrow('page 1: has 5 rows, not 6')
  })
})

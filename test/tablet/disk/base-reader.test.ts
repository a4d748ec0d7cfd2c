import { describe, expect, test } from 'vitest'
import { PageCache } from '../../../src/cfile/page-cache.ts'
import type { ColumnVector } from '../../../src/common/column-vector.ts'
import { CorruptionError } from '../../../src/common/status.ts'
import type { BaseReader } from '../../../src/tablet/disk/base-reader.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aBase, baseReader, writeBase } from '../../support/a-base.ts'
import { aSchema } from '../../support/a-schema.ts'
import { EVERY_TYPE } from '../../support/random-rows.ts'
import { keysOf } from '../../support/sorted-keys.ts'

const SEED = 0xba5e2
const SMALL = aSchema('key INT64 KEY', 'name STRING NULL', 'price DOUBLE')

function cellsOf(cells: ColumnVector): unknown[] {
  return Array.from({ length: cells.rowCount }, (_, row) => cells.cell(row))
}

function columnCells(reader: BaseReader, columnId: number): unknown[] {
  const file = reader.column(columnId)
  if (file === null) return []
  return Array.from({ length: file.pageCount }, (_, i) => cellsOf(file.page(i))).flat()
}

describe('BaseReader', () => {
  test.each([1, 100, 4500])('reads every column and key of %d rows', (rowCount) => {
    const sample = aBase(new Prng(SEED), EVERY_TYPE, rowCount)
    const reader = baseReader(sample)

    expect(reader.rowCount, `seed ${SEED}`).toBe(rowCount)
    expect(reader.columnIds).toEqual(EVERY_TYPE.columns.map(({ id }) => id))
    EVERY_TYPE.columns.forEach(({ id }, index) => {
      expect(columnCells(reader, id)).toEqual(cellsOf(sample.cells[index]))
    })
    const keys = new KeyArena()
    reader.keys.appendKeys(0, rowCount, keys)
    expect(keysOf(keys)).toEqual(sample.keys)
    expect([...sample.hashes].every((hash) => reader.mayContain(hash))).toBe(true)
    expect(reader.baseBytes).toBe(sample.meta.baseBytes)
  })

  test('reads the same whatever the sizes of pages and blocks', () => {
    const prng = new Prng(SEED)
    const sample = aBase(prng, EVERY_TYPE, 700)
    for (const [file, pageRows] of [1, 3, 8, 64, 4096].entries()) {
      const layout = {
        pageRows,
        pageValueBytes: prng.between(1, 1000),
        pageTextBytes: prng.between(1, 1000),
        keyPageRows: prng.between(1, 100),
        blockBytes: prng.between(1, 10_000),
        deltaBlockRecords: 1,
      }
      const meta = writeBase(sample, sample.blocks.createFile(file), prng, layout)
      const reader = baseReader({ blocks: sample.blocks, meta })
      EVERY_TYPE.columns.forEach(({ id }, index) => {
        expect(columnCells(reader, id), `seed ${SEED}`).toEqual(cellsOf(sample.cells[index]))
      })
      const keys = new KeyArena()
      reader.keys.appendKeys(0, 700, keys)
      expect(keysOf(keys)).toEqual(sample.keys)
      expect(sample.keys.map((key) => reader.keys.lowerBound(key))).toEqual(
        sample.keys.map((_, ordinal) => ordinal),
      )
    }
  })

  test('reads nothing before it is needed, and one row for the directory', () => {
    const sample = aBase(new Prng(SEED), SMALL, 5000)
    const reader = baseReader(sample)
    const { blocks } = sample

    expect(blocks.rowsRead).toBe(0)
    expect(reader.rowCount).toBe(5000)
    expect(reader.column(10)?.zone(0).rowCount).toBe(4096)
    expect(reader.column(99)).toBeNull()
    expect(blocks.rowsRead).toBe(1)
  })

  test('reads a row by its key with a row read for each of directory, Bloom, keys, columns', () => {
    const sample = aBase(new Prng(SEED), SMALL, 5000)
    const reader = baseReader(sample)
    expect(reader.mayContain(sample.hashes[4500])).toBe(true)
    const out = Int32Array.of(-1)
    const arena = new KeyArena()
    arena.append(sample.keys[4500], 0, sample.keys[4500].length)
    arena.endKey()
    reader.keys.findSorted(arena, Uint32Array.of(0), 0, 1, out)
    for (const { id } of SMALL.columns) {
      const file = reader.column(id)
      file?.page(file.pageIndexOf(out[0]))
    }

    expect(out[0]).toBe(4500)
    expect(sample.blocks.rowsRead).toBe(3 + SMALL.columns.length)
  })

  test('holds nothing that the cache does not: without one it reads again', () => {
    const sample = aBase(new Prng(SEED), SMALL, 500)
    const reader = baseReader(sample, new PageCache(0))

    expect(reader.rowCount).toBe(500)
    expect(reader.rowCount).toBe(500)
    expect(sample.blocks.rowsRead).toBe(2)
  })

  test('decodes of a directory what is asked for, column by column', () => {
    const names = Array.from({ length: 290 }, (_, i) => `c${i} INT64 NULL`)
    const sample = aBase(new Prng(SEED), aSchema('key INT64 KEY', ...names), 100)
    const cache = new PageCache(8 * 1024 * 1024)
    const reader = baseReader(sample, cache)
    expect(reader.rowCount).toBe(100)
    const opened = cache.heldBytes
    expect(reader.column(15)).toBe(reader.column(15))
    expect(cache.heldBytes - opened).toBeLessThan(2000)

    expect(sample.blocks.rowsRead).toBe(1)
    cache.checkInvariants()
  })

  test('describes what a base is made of', () => {
    const sample = aBase(new Prng(SEED), SMALL, 9000)
    const report = baseReader(sample).describe()
    const columnBytes = report.columns.reduce((sum, { bytes }) => sum + bytes, 0)

    expect(report.rowCount).toBe(9000)
    expect(report.bytes).toBe(sample.blocks.bytes)
    expect(columnBytes + report.keyBytes + report.bloomBytes + report.directoryBytes).toBe(
      report.bytes,
    )
    expect(report.columns.map(({ columnId, pageCount }) => [columnId, pageCount])).toEqual([
      [10, 3],
      [11, 3],
      [12, 3],
    ])
    expect(report.columns[0].nullCount).toBe(0)
    expect(report.columns[1].nullCount).toBeGreaterThan(1000)
    for (const { forms } of report.columns) expect(forms[0].pageCount).toBeGreaterThan(0)
  })

  test('names the blocks of a column', () => {
    const sample = aBase(new Prng(SEED), SMALL, 20_000)
    const reader = baseReader(sample)
    const all = SMALL.columns.flatMap(({ id }) => reader.blockIdsOf(id))

    expect(reader.blockIdsOf(12).every(({ file }) => file === 7)).toBe(true)
    expect(new Set(all.map(({ block }) => block)).size).toBeGreaterThan(2)
    expect(reader.blockIdsOf(99)).toEqual([])
  })

  test('tells any flipped bit, in whatever needs its page and nothing else', () => {
    const prng = new Prng(SEED)
    const sample = aBase(prng, SMALL, 9000)
    const { blocks } = sample
    const failures = { directory: 0, page: 0 }
    for (let round = 0; round < 100; round++) {
      const id = prng.pick(blocks.blockIds)
      const bit = prng.below(blocks.sizeOf(id) * 8)
      blocks.flipBit(id, bit)
      const told = whatFails(sample)
      blocks.flipBit(id, bit)

      const where = `seed ${SEED}, round ${round}, block ${id.block}, bit ${bit}`
      expect(told.length, where).toBeGreaterThan(0)
      for (const message of told) {
        expect(message, where).toContain(`file ${id.file}, block ${id.block}`)
      }
      if (id.block === sample.meta.directory.block) failures.directory++
      else {
        expect(told, where).toHaveLength(1)
        failures.page++
      }
    }
    expect(failures.directory).toBeGreaterThan(10)
    expect(failures.page).toBeGreaterThan(10)
  })

  test('tells a block that is missing or cut off', () => {
    for (const spoil of ['drop', 'cut'] as const) {
      const sample = aBase(new Prng(SEED), SMALL, 9000)
      for (const id of [...sample.blocks.blockIds].reverse()) {
        if (spoil === 'drop') sample.blocks.dropBlock(id)
        else sample.blocks.cutBlock(id, 8)

        expect(whatFails(sample).length, `${spoil} ${id.block}`).toBeGreaterThan(0)
      }
    }
  })
})

/** What a new reader fails to read, page by page: the messages. */
function whatFails(sample: Parameters<typeof baseReader>[0]): string[] {
  const reader = baseReader(sample)
  const told: string[] = []
  const attempt = (read: () => unknown): void => {
    try {
      read()
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error
      told.push(error.message)
    }
  }
  attempt(() => reader.rowCount)
  if (told.length > 0) return told
  for (const id of reader.columnIds) {
    const file = reader.column(id)
    for (let i = 0; i < (file?.pageCount ?? 0); i++) {
      attempt(() => file?.zone(i))
      attempt(() => file?.page(i))
    }
  }
  const { keys, bloom } = reader
  keys.meta.pages.rowEnds.forEach((end) => {
    attempt(() => keys.appendKeys(end - 1, end, new KeyArena()))
  })
  const pageCount = bloom.meta.pages.rowEnds.length
  for (let page = 0; page < pageCount; page++) {
    attempt(() => bloom.mayContain(Math.ceil((page / pageCount) * 2 ** 32)))
  }
  return told
}

import { describe, expect, test } from 'vitest'
import { CFileWriter } from '../../../src/cfile/cfile-writer.ts'
import type { ColumnVector } from '../../../src/common/column-vector.ts'
import type { Column } from '../../../src/common/schema.ts'
import type { BaseReader } from '../../../src/tablet/disk/base-reader.ts'
import { DirectoryEditor } from '../../../src/tablet/disk/directory-editor.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aBase, baseReader } from '../../support/a-base.ts'
import { aSchema } from '../../support/a-schema.ts'
import { randomVector } from '../../support/random-vector.ts'

const SEED = 0xed17
const SCHEMA = aSchema('key INT64 KEY', 'name BINARY', 'price DOUBLE', 'late INT32')
const ROW_COUNT = 20_000

/** A base without the last column of the schema, and another file. */
function aCase() {
  const prng = new Prng(SEED)
  const sample = aBase(prng, aSchema('key INT64 KEY', 'name BINARY', 'price DOUBLE'), ROW_COUNT)
  const blocks = sample.blocks.createFile(9)
  const write = (column: Column) => {
    const cells = randomVector(prng, column, ROW_COUNT, 0.1)
    const writer = new CFileWriter({ column, blocks })
    writer.append(cells)
    return { cells, meta: writer.finish() }
  }
  return { sample, base: baseReader(sample), blocks, write }
}

function expectCells(reader: BaseReader, columnId: number, cells: ColumnVector): void {
  const file = reader.column(columnId)
  expect(file?.rowCount).toBe(cells.rowCount)
  for (let row = 0; row < cells.rowCount; row += 97) {
    const index = file?.pageIndexOf(row) ?? 0
    const page = file?.page(index)
    expect(page?.cell(row - (file?.pageStart(index) ?? 0))).toEqual(cells.cell(row))
  }
}

describe('DirectoryEditor', () => {
  test('leaves other columns where they are, and adds one that is younger', () => {
    const { sample, base, blocks, write } = aCase()
    const name = write(SCHEMA.columns[1])
    const late = write(SCHEMA.columns[3])
    const editor = new DirectoryEditor(base)
    editor.setColumn(11, name.meta)
    editor.setColumn(13, late.meta)
    const edited = editor.finish(blocks)
    const reader = baseReader({
      blocks: sample.blocks,
      meta: { ...sample.meta, directory: edited.directory },
    })

    expect(reader.columnIds).toEqual([10, 11, 12, 13])
    expectCells(reader, 10, sample.cells[0])
    expectCells(reader, 11, name.cells)
    expectCells(reader, 12, sample.cells[2])
    expectCells(reader, 13, late.cells)
    expect(reader.keys.lowerBound(sample.keys[777])).toBe(777)
    expect(reader.mayContain(sample.hashes[777])).toBe(true)
    expect(edited.baseFiles).toEqual([7, 9])
    expect(reader.baseBytes).toBe(edited.baseBytes)
  })

  test('names the blocks that are no longer needed, which can go', () => {
    const { sample, base, blocks, write } = aCase()
    const name = write(SCHEMA.columns[1])
    const editor = new DirectoryEditor(base)
    editor.setColumn(11, name.meta)
    const edited = editor.finish(blocks)
    for (const id of edited.replacedBlocks) sample.blocks.dropBlock(id)
    const reader = baseReader({
      blocks: sample.blocks,
      meta: { ...sample.meta, directory: edited.directory },
    })

    expect(edited.replacedBlocks.length).toBeGreaterThan(1)
    expect(edited.replacedBlocks).toContainEqual(sample.meta.directory)
    expectCells(reader, 10, sample.cells[0])
    expectCells(reader, 11, name.cells)
    expectCells(reader, 12, sample.cells[2])
    expect(reader.baseBytes).toBe(sample.blocks.bytes)
  })

  test('keeps a block as long as a column of it is left', () => {
    const { sample, base, blocks } = aCase()
    const editor = new DirectoryEditor(base)
    editor.dropColumn(10)
    editor.dropColumn(11)
    editor.dropColumn(12)
    const edited = editor.finish(blocks)
    for (const id of edited.replacedBlocks) sample.blocks.dropBlock(id)
    const reader = baseReader({
      blocks: sample.blocks,
      meta: { ...sample.meta, directory: edited.directory },
    })

    expect(reader.columnIds).toEqual([])
    expect(reader.keys.lowerBound(sample.keys[19_000])).toBe(19_000)
    expect(reader.baseBytes).toBe(sample.blocks.bytes)
  })

  test('counts a shared block as a whole when the column at its end is replaced', () => {
    const prng = new Prng(SEED)
    const sample = aBase(prng, aSchema('key INT64 KEY', 'name BINARY'), 100)
    const blocks = sample.blocks.createFile(9)
    const writer = new CFileWriter({ column: SCHEMA.columns[1], blocks })
    writer.append(randomVector(prng, SCHEMA.columns[1], 100, 0))
    const editor = new DirectoryEditor(baseReader(sample))
    editor.setColumn(11, writer.finish())
    const edited = editor.finish(blocks)
    for (const id of edited.replacedBlocks) sample.blocks.dropBlock(id)

    expect(edited.replacedBlocks).toEqual([sample.meta.directory])
    expect(edited.baseBytes).toBe(sample.blocks.bytes)
  })

  test('refuses a column of other rows', () => {
    const { base, blocks } = aCase()
    const column = SCHEMA.columns[1]
    const writer = new CFileWriter({ column, blocks })
    writer.append(randomVector(new Prng(SEED), column, 5, 0))

    expect(() => new DirectoryEditor(base).setColumn(11, writer.finish())).toThrow(
      'a column has a cell for every key',
    )
  })
})

import { describe, expect, test } from 'vitest'
import { BlockSource } from '../../src/api/block-source.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { RowBlock } from '../../src/common/row-block.ts'

const KIB = 1024

/** Rows with a number and as many bytes as are told. */
function aBlock(sizes: readonly number[]): RowBlock {
  const numbers = new ColumnBuilder(PHYSICAL.int32)
  const texts = new ColumnBuilder(PHYSICAL.binary)
  sizes.forEach((size, row) => {
    numbers.appendCell(row)
    texts.appendCell(new Uint8Array(size).fill(row))
  })
  return new RowBlock(sizes.length, [7, 8], [numbers.view(), texts.view()], null)
}

/** Numbers of the rows of each batch. */
async function batchesOf(source: BlockSource): Promise<number[][]> {
  const batches: number[][] = []
  while (await source.more()) {
    const run = source.take()
    if (run === null) throw new Error('there are no rows at hand')
    const { block } = run.batch
    expect(run).toMatchObject({ start: 0, end: block.rowCount })
    batches.push(Array.from({ length: run.end }, (_, row) => Number(block.columns[0].cell(row))))
  }
  return batches
}

describe('BlockSource', () => {
  test('hands rows out in the order that it is given, as far as it is told', async () => {
    const block = aBlock([1, 2, 3, 4, 5])
    const source = new BlockSource(block, Uint32Array.of(4, 0, 2, 1, 3), 3, () => undefined)

    expect(await batchesOf(source)).toEqual([[4, 0, 2]])
    expect(source.take()).toBeNull()
  })

  test('keeps cells and ids of columns', () => {
    const source = new BlockSource(aBlock([0, 2]), Uint32Array.of(1, 0), 2, () => undefined)
    const block = source.take()?.batch.block

    expect(block?.columnIds).toEqual([7, 8])
    expect(block?.columns[1].cell(0)).toEqual(Uint8Array.of(1, 1))
    expect(block?.columns[1].cell(1)).toEqual(new Uint8Array(0))
  })

  test('ends a batch with the row that makes it large', async () => {
    const sizes = [100 * KIB, 100 * KIB, 60 * KIB, 1, 300 * KIB, 1, 1]
    const order = Uint32Array.from(sizes.keys())
    const source = new BlockSource(aBlock(sizes), order, sizes.length, () => undefined)

    expect(await batchesOf(source)).toEqual([
      [0, 1, 2],
      [3, 4],
      [5, 6],
    ])
  })

  test('ends a batch at 4,096 rows', async () => {
    const order = Uint32Array.from({ length: 5000 }, (_, row) => row)
    const source = new BlockSource(aBlock(Array(5000).fill(0)), order, 5000, () => undefined)

    expect((await batchesOf(source)).map((batch) => batch.length)).toEqual([4096, 904])
  })

  test('makes the next batch in the memory of one that was given back', () => {
    const sizes = [300 * KIB, 300 * KIB, 2, 300 * KIB, 5]
    const order = Uint32Array.from(sizes.keys())
    const source = new BlockSource(aBlock(sizes), order, sizes.length, () => undefined)
    const first = source.take()?.batch.block
    source.recycle()
    const second = source.take()?.batch.block
    const third = source.take()?.batch.block
    source.recycle()
    source.recycle()
    const fourth = source.take()?.batch.block

    expect(second?.columns[1].bytes.buffer).toBe(first?.columns[1].bytes.buffer)
    expect(third?.columns[1].bytes.buffer).not.toBe(second?.columns[1].bytes.buffer)
    expect(second?.columns[1].cell(0)).toEqual(new Uint8Array(300 * KIB).fill(1))
    expect(fourth?.columns[0].cell(0)).toBe(4)
    expect(fourth?.columns[1].cell(0)).toEqual(new Uint8Array(5).fill(4))
  })

  test('has no rows once it is closed, and tells', async () => {
    let closedCount = 0
    const source = new BlockSource(aBlock([1, 1]), Uint32Array.of(0, 1), 2, () => closedCount++)
    await source.close()

    expect(closedCount).toBe(1)
    expect(await source.more()).toBe(false)
    expect(source.take()).toBeNull()
  })
})

import { describe, expect, test } from 'vitest'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { CHUNK_ROW_COUNT } from '../../../src/tablet/memory/chunk.ts'
import { ChunkedColumn } from '../../../src/tablet/memory/chunked-column.ts'
import { gatherCells } from '../../../src/tablet/memory/gather-cells.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aColumn } from '../../support/a-schema.ts'
import { boundaryCells } from '../../support/boundary-cells.ts'

const TYPES = ['BOOL', 'INT16', 'INT32', 'INT64', 'FLOAT', 'DOUBLE', 'DECIMAL(38)', 'STRING']

function cellsOf(builder: ColumnBuilder): (Cell | null)[] {
  const vector = builder.view()
  return Array.from({ length: vector.rowCount }, (_, row) => vector.cell(row)?.valueOf() ?? null)
}

describe('ChunkedColumn', () => {
  test.each(TYPES)('keeps %s cells in their order, over the ends of chunks', (type) => {
    const column = aColumn(`c ${type} NULL`)
    const prng = new Prng(11)
    const domain = [...boundaryCells(column), null]
    const source = new ColumnBuilder(column.physical)
    for (let i = 0; i < 5000; i++) {
      if (prng.chance(0.1)) source.appendNull(false)
      else source.appendCell(prng.pick(domain))
    }
    const vector = source.view()
    const unset = boundaryCells(column)[0]
    const cellAt = (row: number) => (vector.hasCell(row) ? vector.cell(row) : unset)
    const chunked = new ChunkedColumn(column.physical)
    const model: (Cell | null)[] = []

    while (model.length < CHUNK_ROW_COUNT * 2 + 100) {
      const start = prng.below(3000)
      const end = start + prng.pick([0, 1, 20, 2000])
      if (prng.chance(0.2)) {
        chunked.appendRepeated(unset, end - start)
        for (let i = start; i < end; i++) model.push(unset)
      } else {
        const rows = Uint32Array.from({ length: 5000 }, () => prng.below(5000))
        chunked.appendSet(vector, rows, start, end, unset)
        for (let i = start; i < end; i++) model.push(cellAt(rows[i]))
      }
      chunked.checkInvariants()
    }
    const positions = Int32Array.from({ length: 3000 }, () => prng.below(model.length))
    const shuffled = new ColumnBuilder(column.physical)
    gatherCells(chunked, null, positions, 1, 3000, shuffled)
    const straight = new ColumnBuilder(column.physical)
    gatherCells(chunked, null, Int32Array.from(model.keys()), 10, model.length, straight)

    expect(cellsOf(shuffled)).toEqual([...positions.subarray(1)].map((it) => model[it]))
    expect(cellsOf(straight)).toEqual(model.slice(10))
    expect(shuffled.nullCount).toBe(cellsOf(shuffled).filter((it) => it === null).length)
  })

  test.each(TYPES)('gathers %s cells from two columns at once', (type) => {
    const column = aColumn(`c ${type} NULL`)
    const cells = boundaryCells(column)
    const [a, b, c] = [cells[0], cells[1], cells[2] ?? cells[1]]
    const kept = new ChunkedColumn(column.physical)
    kept.appendRepeated(a, 2)
    const changed = new ChunkedColumn(column.physical)
    for (const cell of [b, null, c]) changed.appendRepeated(cell, 1)
    const target = new ColumnBuilder(column.physical)
    target.appendCell(c)

    gatherCells(kept, changed, Int32Array.of(99, 1, ~0, ~2, 0, ~1), 1, 6, target)

    expect(cellsOf(target)).toEqual([c, a, b, c, a, null])
    expect(target.nullCount).toBe(1)
  })

  test('holds a few bytes when it is small and no spare bytes in full chunks', () => {
    const column = new ChunkedColumn(aColumn('c STRING').physical)
    expect(column.heldBytes).toBe(0)
    const text = new Uint8Array(100)

    column.appendRepeated(text, 1)
    expect(column.heldBytes).toBeLessThan(1600)
    for (let i = 0; i < CHUNK_ROW_COUNT * 3; i++) column.appendRepeated(text, 1)

    const payload = (CHUNK_ROW_COUNT * 3 + 1) * 105
    expect(column.heldBytes).toBeLessThan(payload + 3 * 1300 + 60_000)
  })
})

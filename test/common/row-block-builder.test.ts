import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { utf8Encode } from '../../src/util/bytes.ts'

const COLUMNS = [
  { id: 10, physical: PHYSICAL.int32 },
  { id: 11, physical: PHYSICAL.binary },
  { id: 12, physical: PHYSICAL.int64 },
  { id: 13, physical: PHYSICAL.int128 },
] as const
const TEXT = utf8Encode('text')

function cellsOf(builder: RowBlockBuilder) {
  const { columns, rowCount } = builder.view()
  return Array.from({ length: rowCount }, (_, row) => {
    return columns.map((column) => (column.hasCell(row) ? column.cell(row) : 'unset'))
  })
}

describe('RowBlockBuilder', () => {
  test('lets the last setting of a cell count, null after a value and a value after null', () => {
    const builder = new RowBlockBuilder(COLUMNS, false)
    builder.setNumber(0, 1)
    builder.setNull(0)
    builder.setBytes(1, TEXT, 0, 4)
    builder.setNull(1)
    builder.setNull(2)
    builder.setPair(2, 7, 0)
    builder.endRow()
    builder.setBytes(1, TEXT, 0, 4)
    builder.setBytes(1, TEXT, 1, 2)
    builder.endRow()

    expect(cellsOf(builder)).toEqual([
      [null, null, 7n, 'unset'],
      ['unset', utf8Encode('e'), 'unset', 'unset'],
    ])
    expect(builder.columns[0].lanes[0]).toBe(0)
    expect(builder.columns[1].values.length).toBe(1)
  })

  test('leaves no trace of a row that was dropped', () => {
    const builder = new RowBlockBuilder(COLUMNS, false)
    builder.setNumber(0, 1)
    builder.setBytes(1, TEXT, 0, 4)
    builder.setPair(2, -1, -1)
    builder.setQuad(3, 1, 2, 3, 4)
    builder.dropRow()
    builder.setNumber(0, 2)
    builder.endRow()

    expect(cellsOf(builder)).toEqual([[2, 'unset', 'unset', 'unset']])
    expect([...builder.columns[2].lanes.subarray(0, 2)]).toEqual([0, 0])
    expect([...builder.columns[3].lanes.subarray(0, 4)]).toEqual([0, 0, 0, 0])
    expect(builder.columns[1].values.length).toBe(0)
  })

  test('says what is pending', () => {
    const builder = new RowBlockBuilder(COLUMNS, false)
    builder.setNull(0)
    builder.setPair(2, 1, 0)

    expect([0, 1, 2].map((index) => builder.hasPending(index))).toEqual([true, false, true])
    expect([0, 1, 2].map((index) => builder.isPendingNull(index))).toEqual([true, false, false])
    builder.endRow()
    expect(builder.hasPending(0)).toBe(false)
  })

  test('completes rows whose cells were appended column by column', () => {
    const builder = new RowBlockBuilder(COLUMNS.slice(0, 2), true)
    builder.columns[0].appendRepeated(5, 20)
    builder.columns[1].appendRepeated(TEXT, 20)
    const operations = Uint8Array.from({ length: 30 }, (_, row) => row)
    builder.endRows(operations, 20)
    builder.setNumber(0, 6)
    builder.endRow(99)

    const block = builder.view()
    expect(block.rowCount).toBe(21)
    expect([...(block.operations ?? [])]).toEqual([...operations.subarray(0, 20), 99])
    expect(cellsOf(builder)[19]).toEqual([5, TEXT])
    expect(cellsOf(builder)[20]).toEqual([6, 'unset'])
  })

  test('refuses to complete rows that some column lacks', () => {
    const builder = new RowBlockBuilder(COLUMNS.slice(0, 2), false)
    builder.columns[0].appendRepeated(5, 2)
    builder.columns[1].appendRepeated(null, 1)

    expect(() => builder.endRows(new Uint8Array(2), 2)).toThrow('columns end together')
  })

  test('forgets all rows and reuses their room', () => {
    const builder = new RowBlockBuilder(COLUMNS, true)
    for (let row = 0; row < 100; row++) {
      builder.setNumber(0, row)
      builder.endRow(1)
    }
    const { lanes } = builder.columns[0]
    builder.setNumber(0, 7)
    builder.clear()
    builder.endRow(2)

    expect(builder.columns[0].lanes).toBe(lanes)
    expect(cellsOf(builder)).toEqual([['unset', 'unset', 'unset', 'unset']])
    expect([...lanes].every((lane) => lane === 0)).toBe(true)
  })
})

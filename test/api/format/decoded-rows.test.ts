import { describe, expect, test } from 'vitest'
import { DecodedRows } from '../../../src/api/format/decoded-rows.ts'
import { COLUMN_COUNT_MAX, SHARE_ROW_COUNT_MAX } from '../../../src/common/limits.ts'
import { aSchema } from '../../support/a-schema.ts'

const NARROW = aSchema('k INT32 KEY', 's STRING NULL')

function fill(rows: DecodedRows, count: number): void {
  for (let i = 0; i < count; i++) {
    rows.builder.setNumber(0, i)
    rows.endRow(1)
  }
}

describe('DecodedRows', () => {
  test('numbers right and wrong rows alike, also across batches', () => {
    const rows = new DecodedRows(NARROW)
    fill(rows, 1)
    rows.failRow({ message: 'wrong', column: 's' })
    fill(rows, 1)

    expect([...rows.rowIndexes.subarray(0, 2)]).toEqual([0, 2])
    expect(rows.problems).toEqual([{ message: 'wrong', column: 's', rowIndex: 1 }])
    rows.clear()
    expect(rows).toMatchObject({ failedCount: 0, problems: [], nextRowIndex: 3 })
    fill(rows, 1)
    expect(rows.rowIndexes[0]).toBe(3)
    rows.reset()
    expect(rows.nextRowIndex).toBe(0)
  })

  test('is full at the rows of a share, earlier when rows are wide or texts long', () => {
    const rows = new DecodedRows(NARROW)
    expect(rows.isFull).toBe(false)
    fill(rows, SHARE_ROW_COUNT_MAX - 1)
    expect(rows.isFull).toBe(false)
    fill(rows, 1)
    expect(rows.isFull).toBe(true)

    const names = Array.from({ length: COLUMN_COUNT_MAX - 1 }, (_, i) => `c${i} INT64 NULL`)
    const wide = new DecodedRows(aSchema('k INT32 KEY', ...names))
    fill(wide, 2000)
    expect(wide.isFull).toBe(true)

    const long = new DecodedRows(NARROW)
    const text = new Uint8Array(64 * 1024)
    for (let i = 0; i < 64; i++) {
      long.builder.setBytes(1, text, 0, text.length)
      fill(long, 1)
    }
    expect(long.isFull).toBe(true)
  })

  test('gives back the room of long texts when they would add up', () => {
    const names = Array.from({ length: 12 }, (_, i) => `c${i} STRING NULL`)
    const rows = new DecodedRows(aSchema('k INT32 KEY', ...names))
    const text = new Uint8Array(1024 * 1024)
    let heldBytes = 0
    for (let column = 1; column <= 12; column++) {
      for (let i = 0; i < 8; i++) {
        rows.builder.setBytes(column, text, 0, text.length)
        fill(rows, 1)
      }
      rows.clear()
      heldBytes = rows.builder.columns.reduce((sum, { values }) => sum + values.bytes.length, 0)
      expect(heldBytes).toBeLessThan(40 * 1024 * 1024)
    }
    fill(rows, 1)
    expect(rows.builder.view().columns[0].cell(0)).toBe(0)
  })
})

import { describe, expect, test } from 'vitest'
import { encodeFoundRows } from '../../src/api/found-rows.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import { aSchema } from '../support/a-schema.ts'

describe('encodeFoundRows', () => {
  test('writes the same columns as each request wants them, in turns', () => {
    const { columns } = aSchema('id INT64 KEY', 'at UNIXTIME_MICROS NULL')
    const builder = new RowBlockBuilder(columns, false)
    builder.columns[0].appendCell(7n)
    builder.columns[1].appendCell(1_000_000n)
    builder.rowCount = 1
    const rows = [{ block: builder.view(), row: 0 }, null]
    const text = (options: object) => {
      const values = { ...DEFAULT_VALUE_OPTIONS, ...options }
      return encodeFoundRows(rows, columns, values).map((row) => row?.text)
    }
    for (let round = 0; round < 2; round++) {
      expect(text({})).toEqual(['{"id":7,"at":"1970-01-01T00:00:01.000000Z"}', undefined])
      expect(text({ int64: 'string' })[0]).toBe('{"id":"7","at":"1970-01-01T00:00:01.000000Z"}')
      expect(text({ timestamps: 'micros' })[0]).toBe('{"id":7,"at":1000000}')
    }
  })
})

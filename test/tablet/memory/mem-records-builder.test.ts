import { describe, expect, test } from 'vitest'
import { DELTA_KINDS } from '../../../src/tablet/delta/delta-records.ts'
import { historyColumns } from '../../../src/tablet/memory/history-columns.ts'
import { MemRecordsBuilder } from '../../../src/tablet/memory/mem-records-builder.ts'
import { MemRowStore } from '../../../src/tablet/memory/mem-row-store.ts'
import { REDO_KINDS } from '../../../src/tablet/memory/redo-log.ts'
import { aWriteBlock } from '../../support/a-write-block.ts'
import { plainRecords } from '../../support/plain-history.ts'
import { keysOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k INT32 KEY', 'v INT32 NULL', 't STRING NULL')
const { UPDATE, DELETE } = DELTA_KINDS

/** Rows 1 'one' and 2 'two'; changed cells of v: 100, null; of t: 'changed'. */
function aBuilder(): MemRecordsBuilder {
  const rows = new MemRowStore(schema)
  const block = aWriteBlock(schema, [
    ['INSERT', { k: 1, v: 1, t: 'one' }],
    ['INSERT', { k: 2, v: 2, t: 'two' }],
  ])
  rows.append(keysOf(schema, block), block, Uint32Array.of(0, 1), 0, 2, 3)
  rows.redos.append(4, REDO_KINDS.UPDATE, -1)
  rows.redos.addValue(1, 100)
  rows.redos.addValue(2, new TextEncoder().encode('changed'))
  rows.redos.append(5, REDO_KINDS.UPDATE, 0)
  rows.redos.addValue(1, null)
  return new MemRecordsBuilder(historyColumns(rows))
}

describe('MemRecordsBuilder', () => {
  test('takes cells as inserted by slot, and changed ones by position', () => {
    const records = aBuilder()
    records.add(0, 4, UPDATE)
    records.addCell(2, 1)
    records.addCell(1, ~0)
    records.add(0, 5, DELETE)
    records.add(7, 4, UPDATE)
    records.addCell(1, ~1)
    records.addCell(2, ~0)

    expect(plainRecords(schema.columns, records.finish())).toEqual([
      { ordinal: 0, at: 4, kind: 'UPDATE', cells: { t: 'two', v: 100 } },
      { ordinal: 0, at: 5, kind: 'DELETE', cells: {} },
      { ordinal: 7, at: 4, kind: 'UPDATE', cells: { v: null, t: 'changed' } },
    ])
  })

  test('has only the columns that some record has', () => {
    const records = aBuilder()
    records.add(0, 4, DELETE)
    expect(records.finish().columns).toEqual([])

    records.add(1, 4, UPDATE)
    records.addCell(2, 0)
    expect(records.finish().columns.map(({ columnId }) => columnId)).toEqual([12])
  })

  test('forgets everything when cleared', () => {
    const records = aBuilder()
    records.add(0, 4, UPDATE)
    records.addCell(1, 0)
    records.addCell(2, 0)
    records.clear()
    expect([records.count, records.bytes]).toEqual([0, 0])

    records.add(3, 9, UPDATE)
    records.addCell(2, 1)
    expect(plainRecords(schema.columns, records.finish())).toEqual([
      { ordinal: 3, at: 9, kind: 'UPDATE', cells: { t: 'two' } },
    ])
  })

  test('grows to any number of records and cells', () => {
    const records = aBuilder()
    for (let i = 0; i < 1000; i++) {
      records.add(i, 4, UPDATE)
      records.addCell(1, i % 2)
      records.addCell(2, ~0)
    }

    const plain = plainRecords(schema.columns, records.finish())
    expect(plain).toHaveLength(1000)
    expect(plain[999]).toMatchObject({ ordinal: 999, cells: { v: 2, t: 'changed' } })
    expect(records.bytes).toBeGreaterThan(30_000)
  })
})

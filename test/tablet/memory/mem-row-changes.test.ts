import { describe, expect, test } from 'vitest'
import { MemRecordsBuilder } from '../../../src/tablet/memory/mem-records-builder.ts'
import type { MemRowHistory } from '../../../src/tablet/memory/mem-row-history.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { type PlainRecord, plainRecords, resolved } from '../../support/plain-history.ts'
import { schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY', 'v INT32 NULL', 't STRING NULL')
const youngerSchema = schemaWith('k STRING KEY', 'v INT32 NULL', 't STRING NULL', 'late INT8 NULL')

function aFrozen(): { writer: MemRowWriter; history: MemRowHistory } {
  const writer = new MemRowWriter(schema)
  writer.insert(3, { k: 'd', v: 4 }, { k: 'a', v: 1 }, { k: 'x' }, { k: 'b', v: 2 })
  writer.delete(3, { k: 'x' })
  writer.update(4, { k: 'b', v: 5 })
  writer.rowSet.freeze()
  writer.update(5, { k: 'd', v: 6 })
  return { writer, history: resolved(writer.rowSet) }
}

function changes(writer: MemRowWriter, history: MemRowHistory, start = 0, end = 3): PlainRecord[] {
  const since = writer.rowSet.changesSince(history)
  const records = new MemRecordsBuilder(since.cells)
  since.addTo(records, start, end, start)
  return plainRecords(youngerSchema.columns, records.finish())
}

describe('MemRowChanges', () => {
  test('has nothing of what the history has', () => {
    const { writer, history } = aFrozen()

    expect(changes(writer, history)).toEqual([])
    expect(writer.rowSet.changesSince(history).count).toBe(0)
  })

  test('has what came later, by row and then by time and place in the op', () => {
    const { writer, history } = aFrozen()
    writer.update(7, { k: 'd', v: 7 })
    writer.update(7, { k: 'a', t: 'x' })
    writer.update(7, { k: 'd', v: 8, t: 'y' })
    writer.update(9, { k: 'a', v: null })
    writer.delete(9, { k: 'a' })
    writer.update(9, { k: 'b', late: 1 }, false, youngerSchema)

    expect(changes(writer, history)).toEqual([
      { ordinal: 0, at: 7, kind: 'UPDATE', cells: { t: 'x' } },
      { ordinal: 0, at: 9, kind: 'UPDATE', cells: { v: null } },
      { ordinal: 0, at: 9, kind: 'DELETE', cells: {} },
      { ordinal: 1, at: 9, kind: 'UPDATE', cells: { late: 1 } },
      { ordinal: 2, at: 7, kind: 'UPDATE', cells: { v: 7 } },
      { ordinal: 2, at: 7, kind: 'UPDATE', cells: { v: 8, t: 'y' } },
    ])
    expect(writer.rowSet.changesSince(history).count).toBe(6)
    expect(writer.rowSet.changesSince(history).deleteCount).toBe(1)
  })

  test('tells the changes to some rows, by ordinals of their own', () => {
    const { writer, history } = aFrozen()
    for (const k of ['d', 'a', 'b']) writer.delete(7, { k })

    expect(changes(writer, history, 1, 2)).toEqual([
      { ordinal: 0, at: 7, kind: 'DELETE', cells: {} },
    ])
    expect(changes(writer, history, 1, 3)).toHaveLength(2)
    expect(changes(writer, history, 2, 2)).toEqual([])
  })
})

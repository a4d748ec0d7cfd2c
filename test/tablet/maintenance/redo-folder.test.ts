import { describe, expect, test } from 'vitest'
import { RedoFolder } from '../../../src/tablet/maintenance/redo-folder.ts'
import { type PlainRecord, plainRecords } from '../../support/plain-history.ts'
import { deltaRecordsOf } from '../../support/plain-lives.ts'
import { schemaWith } from '../../support/row-data.ts'

const SCHEMA = schemaWith('k STRING KEY', 'a INT32 NULL', 'b STRING NULL')
const [, A, B] = SCHEMA.columns

function anUpdate(ordinal: number, at: number, cells: PlainRecord['cells']): PlainRecord {
  return { ordinal, at, kind: 'UPDATE', cells }
}

function aDelete(ordinal: number, at: number): PlainRecord {
  return { ordinal, at, kind: 'DELETE', cells: {} }
}

function folded(records: readonly PlainRecord[], mark: number, columns = [A, B]): PlainRecord[] {
  const folder = new RedoFolder(columns, mark)
  return plainRecords(SCHEMA.columns, folder.fold(deltaRecordsOf(SCHEMA, records)))
}

describe('RedoFolder', () => {
  test('keeps all records above the mark', () => {
    const records = [anUpdate(1, 5, { a: 1 }), anUpdate(1, 6, { a: 2, b: 'x' }), aDelete(3, 7)]

    expect(folded(records, 4)).toEqual(records)
  })

  test('keeps of each column the last cell at or below the mark', () => {
    const records = [
      anUpdate(1, 2, { a: 1, b: 'x' }),
      anUpdate(1, 3, { a: null }),
      anUpdate(1, 4, { a: 3 }),
      anUpdate(1, 5, { a: 4 }),
      anUpdate(2, 3, { a: 5 }),
    ]

    expect(folded(records, 4)).toEqual([
      anUpdate(1, 2, { b: 'x' }),
      anUpdate(1, 4, { a: 3 }),
      anUpdate(1, 5, { a: 4 }),
      anUpdate(2, 3, { a: 5 }),
    ])
  })

  test('keeps nothing of a row that was deleted by the mark but that', () => {
    const records = [
      anUpdate(0, 2, { a: 1 }),
      aDelete(0, 4),
      anUpdate(7, 2, { a: 1 }),
      aDelete(7, 5),
    ]

    expect(folded(records, 4)).toEqual([aDelete(0, 4), anUpdate(7, 2, { a: 1 }), aDelete(7, 5)])
  })

  test('leaves out other columns, and updates that have no cell left', () => {
    const records = [anUpdate(0, 5, { a: 1 }), anUpdate(0, 6, { a: 2, b: 'y' }), aDelete(0, 8)]

    expect(folded(records, 0, [B])).toEqual([anUpdate(0, 6, { b: 'y' }), aDelete(0, 8)])
  })

  test('is used again for the rows behind', () => {
    const folder = new RedoFolder([A], 10)
    for (const ordinal of [3, 4]) {
      const records = [anUpdate(ordinal, 2, { a: 1 }), anUpdate(ordinal, 3, { a: 2 })]
      const found = folder.fold(deltaRecordsOf(SCHEMA, records))
      expect(plainRecords(SCHEMA.columns, found)).toEqual([anUpdate(ordinal, 3, { a: 2 })])
    }
  })
})

/** The history of a MemRowSet as plain values, and what it says a row was at a time. */

import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import type { Schema } from '../../src/common/schema.ts'
import { DELTA_KINDS, type DeltaRecords } from '../../src/tablet/delta/delta-records.ts'
import { MemRecordsBuilder } from '../../src/tablet/memory/mem-records-builder.ts'
import type { MemRowHistory } from '../../src/tablet/memory/mem-row-history.ts'
import type { MemRowSet } from '../../src/tablet/memory/mem-row-set.ts'
import { assert } from '../../src/util/assert.ts'
import type { PlainCell, PlainRow } from './a-write-block.ts'
import { toPlain } from './row-data.ts'

const NAMES = Object.fromEntries(Object.entries(DELTA_KINDS).map(([name, kind]) => [kind, name]))

/** A delta record as tests write it. */
export interface PlainRecord {
  readonly ordinal: number
  readonly at: Timestamp
  readonly kind: string
  readonly cells: PlainRow
}

/** What a rowset made of a MemRowSet is. */
export interface PlainHistory {
  readonly base: readonly PlainRow[]
  readonly undos: readonly PlainRecord[]
  readonly redos: readonly PlainRecord[]
}

/** Resolves a history `stepRows` rows at a time. */
export function resolved(rowSet: MemRowSet, stepRows = 1000): MemRowHistory {
  const history = rowSet.history()
  while (!history.isResolved) history.resolve(stepRows)
  return history
}

/** Rows `[start, end)` of a history, all read `stepRows` or bytes at a time. */
export function plainHistory(
  history: MemRowHistory,
  start = 0,
  end = history.rowCount,
  stepRows = 1000,
): PlainHistory {
  const undos: PlainRecord[] = []
  const records = new MemRecordsBuilder(history.cells)
  for (let row = start; row < end; ) {
    records.clear()
    row = history.addUndos(row, end, start, records, stepRows)
    undos.push(...plainRecords(history.columns, records.finish()))
  }
  records.clear()
  history.addDeletes(start, end, start, records)
  const redos = plainRecords(history.columns, records.finish())
  return { base: plainBase(history, start, end, stepRows), undos, redos }
}

function plainBase(
  history: MemRowHistory,
  start: number,
  end: number,
  stepRows: number,
): PlainRow[] {
  const rows = Array.from({ length: end - start }, (): Record<string, PlainCell> => ({}))
  history.columns.forEach(({ name, physical }, index) => {
    const cells = new ColumnBuilder(physical)
    for (let row = start; row < end; ) {
      row = history.gather(index, row, Math.min(end, row + stepRows), cells, 1e9)
    }
    const vector = cells.view()
    rows.forEach((row, i) => {
      row[name] = toPlain(vector.cell(i))
    })
  })
  return rows
}

/** Records as tests write them. */
export function plainRecords(columns: Schema['columns'], records: DeltaRecords): PlainRecord[] {
  return Array.from({ length: records.count }, (_, i) => {
    const cells: Record<string, PlainCell> = {}
    for (let cell = i === 0 ? 0 : records.cellEnds[i - 1]; cell < records.cellEnds[i]; cell++) {
      const { columnId, cells: vector } = records.columns[records.cellColumns[cell]]
      const { name } = columns.find(({ id }) => id === columnId)!
      assert(!(name in cells), 'a record has one cell of a column')
      cells[name] = toPlain(vector.cell(records.cellPositions[cell]))
    }
    const kind = NAMES[records.kinds[i]]
    return { ordinal: records.ordinals[i], at: records.timestamps[i], kind, cells }
  })
}

/** The rows that a history says were there at a time, by ascending key. */
export function rowsAt({ base, undos, redos }: PlainHistory, time: Timestamp): PlainRow[] {
  return base.flatMap((cells, ordinal) => {
    const row: Record<string, PlainCell> = { ...cells }
    let isThere = true
    for (const record of redos) {
      if (record.ordinal !== ordinal || record.at > time) continue
      Object.assign(row, record.cells)
      if (record.kind === 'DELETE') isThere = false
    }
    const later = undos.filter((record) => record.ordinal === ordinal && record.at > time)
    for (const record of later.reverse()) {
      Object.assign(row, record.cells)
      if (record.kind !== 'UPDATE') isThere = record.kind === 'REINSERT'
    }
    return isThere ? [row] : []
  })
}

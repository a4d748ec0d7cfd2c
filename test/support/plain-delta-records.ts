/** Delta records as plain objects, and what they mean by the book. */

import type { Cell, Physical } from '../../src/common/data-type.ts'
import type { DeltaKind, DeltaRecords } from '../../src/tablet/delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../../src/tablet/delta/delta-records-builder.ts'
import type { PlainCell } from './a-write-block.ts'

/** A record with its cells by column id; texts as in tests. */
export interface PlainDelta {
  readonly ordinal: number
  readonly at: number
  readonly kind: 'UPDATE' | 'DELETE' | 'REINSERT'
  readonly cells: Readonly<Record<number, Cell | null>>
}

const KINDS = ['', 'UPDATE', 'DELETE', 'REINSERT'] as const

/** All records, cells copied. */
export function plainDeltas(records: DeltaRecords): PlainDelta[] {
  return Array.from({ length: records.count }, (_, i) => {
    const cells: Record<number, Cell | null> = {}
    for (let cell = i === 0 ? 0 : records.cellEnds[i - 1]; cell < records.cellEnds[i]; cell++) {
      const column = records.columns[records.cellColumns[cell]]
      const value = column.cells.cell(records.cellPositions[cell])
      cells[column.columnId] = value instanceof Uint8Array ? value.slice() : value
    }
    const kind = KINDS[records.kinds[i]] as PlainDelta['kind']
    return { ordinal: records.ordinals[i], at: records.timestamps[i], kind, cells }
  })
}

/** Records of plain ones, in their order. */
export function deltaRecordsOf(
  deltas: readonly PlainDelta[],
  physicalOf: (columnId: number) => Physical,
): DeltaRecords {
  const builder = new DeltaRecordsBuilder()
  for (const { ordinal, at, kind, cells } of deltas) {
    builder.append(ordinal, at, KINDS.indexOf(kind) as DeltaKind)
    for (const [id, cell] of Object.entries(cells)) {
      builder.addValue(Number(id), physicalOf(Number(id)), cell)
    }
  }
  return builder.finish()
}

/** Orders records as a store does: by row, then time; equals stay as they are. */
export function sortDeltas(deltas: readonly PlainDelta[]): PlainDelta[] {
  return [...deltas].sort((a, b) => a.ordinal - b.ordinal || a.at - b.at)
}

/** Whether a row is there at a time, by the book. */
export function isThereAt(
  undos: readonly PlainDelta[],
  redos: readonly PlainDelta[],
  ordinal: number,
  time: number,
): boolean {
  const undo = sortDeltas(undos).find((it) => {
    return it.ordinal === ordinal && it.at > time && it.kind !== 'UPDATE'
  })
  if (undo !== undefined) return undo.kind === 'REINSERT'
  return !redos.some((it) => it.ordinal === ordinal && it.at <= time && it.kind === 'DELETE')
}

/** The changed cell of a row at a time, or undefined when it is the base's, by the book. */
export function cellAt(
  undos: readonly PlainDelta[],
  redos: readonly PlainDelta[],
  ordinal: number,
  columnId: number,
  time: number,
): PlainCell | undefined {
  const has = (it: PlainDelta) => it.ordinal === ordinal && columnId in it.cells
  const undo = sortDeltas(undos).find((it) => has(it) && it.at > time)
  if (undo !== undefined) return undo.cells[columnId]
  return sortDeltas(redos).findLast((it) => has(it) && it.at <= time)?.cells[columnId]
}

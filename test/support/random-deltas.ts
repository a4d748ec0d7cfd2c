/** Random delta records that a rowset could have. */

import type { Cell } from '../../src/common/data-type.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import type { Prng } from '../../src/util/prng.ts'
import { aSchema } from './a-schema.ts'
import { type PlainDelta, sortDeltas } from './plain-delta-records.ts'
import { randomCell } from './random-cell.ts'

/** A key and columns of every layout. */
export const DELTA_SCHEMA: Schema = aSchema(
  'key INT32 KEY',
  'flag BOOL NULL',
  'small INT16 NULL',
  'day DATE NULL',
  'long INT64 NULL',
  'real FLOAT NULL',
  'double DOUBLE NULL',
  'money DECIMAL(30,2) NULL',
  'text STRING NULL',
)
/** The columns that can change. */
export const CHANGING: readonly Column[] = DELTA_SCHEMA.columns.slice(1)

/** Some cells, of some of the columns that can change. */
export function randomCells(prng: Prng, columns = CHANGING): Record<number, Cell | null> {
  const cells: Record<number, Cell | null> = {}
  const share = prng.pick([0.1, 0.5, 1])
  const least = prng.pick(columns)
  for (const column of columns) {
    if (column !== least && !prng.chance(share)) continue
    cells[column.id] = prng.chance(0.2) ? null : randomCell(prng, column)
  }
  return cells
}

/** REDO records of `rowCount` rows with times of `[from, to]`, in the order of their times. */
export function randomRedos(
  prng: Prng,
  options: { rowCount: number; count: number; from: number; to: number },
  deleted = new Set<number>(),
): PlainDelta[] {
  const { rowCount, count, from, to } = options
  const times = Array.from({ length: count }, () => prng.between(from, to)).sort((a, b) => a - b)
  return times.flatMap((at): PlainDelta[] => {
    const ordinal = prng.below(rowCount)
    if (deleted.has(ordinal)) return []
    if (!prng.chance(0.1)) return [{ ordinal, at, kind: 'UPDATE', cells: randomCells(prng) }]
    deleted.add(ordinal)
    return [{ ordinal, at, kind: 'DELETE', cells: {} }]
  })
}

/** UNDO records of `rowCount` rows with times of `[from, to]`, in the order of the file. */
export function randomUndos(
  prng: Prng,
  options: { rowCount: number; from: number; to: number; only?: readonly Column[] },
): PlainDelta[] {
  const { rowCount, from, to, only = CHANGING } = options
  const isWhole = only.length === CHANGING.length
  const deltas: PlainDelta[] = []
  for (let ordinal = 0; ordinal < rowCount; ordinal++) {
    if (prng.chance(0.2)) continue
    const count = prng.below(6)
    for (let i = 0; i < count; i++) {
      const at = prng.between(from, to)
      const kind = isWhole ? prng.pick(['UPDATE', 'DELETE', 'REINSERT'] as const) : 'UPDATE'
      let cells: Record<number, Cell | null> = {}
      if (kind === 'UPDATE') cells = randomCells(prng, only)
      if (kind === 'REINSERT') {
        for (const column of CHANGING) {
          cells[column.id] = prng.chance(0.2) ? null : randomCell(prng, column)
        }
      }
      deltas.push({ ordinal, at, kind, cells })
    }
  }
  return sortDeltas(deltas)
}

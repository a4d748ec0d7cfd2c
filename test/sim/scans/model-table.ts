/** A table of a script: columns, partitions, and how its tablets cut what they store. */

import type { SimLayout } from '../sim-event.ts'
import { compareTuples, jsonText, type ModelColumn, type Value } from './model-value.ts'

/** A hash dimension. */
export interface ModelDimension {
  readonly columns: readonly string[]
  readonly buckets: number
  readonly seed: number
}

/** A bound of a range: cells of the range columns, and whether they themselves lie inside. */
export interface ModelBound {
  readonly cells: readonly Value[]
  readonly isInclusive: boolean
}

/** A range; null is no bound, and no hash schema of its own. */
export interface ModelRange {
  readonly lower: ModelBound | null
  readonly upper: ModelBound | null
  readonly hash: readonly ModelDimension[] | null
}

/** A table. */
export interface ModelTable {
  readonly columns: readonly ModelColumn[]
  readonly hash: readonly ModelDimension[]
  readonly rangeColumns: readonly string[]
  /** None: one range without bounds. */
  readonly ranges: readonly ModelRange[]
  readonly historySec: number
  /** null: as tablets cut by themselves. */
  readonly layout: SimLayout | null
}

/** Name that every table of a script has. */
export const TABLE_NAME = 't'

const OPTIONS = { int64: 'number', timestamps: 'micros' } as const

/** The body that makes a table. */
export function createTableBody(table: ModelTable): string {
  const ranges = table.ranges.map(({ lower, upper, hash }) => {
    const members = [
      ...boundMembers(table, 'lower', lower, false),
      ...boundMembers(table, 'upper', upper, true),
      ...(hash === null ? [] : [`"hash_schema":${JSON.stringify(hash.map(dimension))}`]),
    ]
    return `{${members.join(',')}}`
  })
  const columns = table.columns.map(columnSpec).join(',')
  const range = `"columns":${JSON.stringify(table.rangeColumns)},"ranges":[${ranges.join(',')}]`
  const hash = JSON.stringify(table.hash.map(dimension))
  const configs = JSON.stringify({ 'kudu.table.history_max_age_sec': String(table.historySec) })
  return (
    `{"name":"${TABLE_NAME}","schema":{"columns":[${columns}]},"extra_configs":${configs},` +
    `"partition_schema":{"hash_schema":${hash},"range_schema":{${range}}}}`
  )
}

/** Whether a key lies in a range of its table. */
export function isCovered(table: ModelTable, key: readonly Value[]): boolean {
  if (table.ranges.length === 0) return true
  const keyNames = table.columns.filter(({ isKey }) => isKey).map(({ name }) => name)
  const columns = rangeColumnsOf(table)
  const cells = columns.map(({ name }) => key[keyNames.indexOf(name)])
  return table.ranges.some(({ lower, upper }) => {
    const above = lower === null ? 1 : compareTuples(columns, cells, lower.cells)
    const below = upper === null ? -1 : compareTuples(columns, cells, upper.cells)
    if (above < 0 || (above === 0 && lower?.isInclusive === false)) return false
    return below < 0 || (below === 0 && upper?.isInclusive === true)
  })
}

/** The columns of a table's ranges. */
export function rangeColumnsOf({ columns, rangeColumns }: ModelTable): ModelColumn[] {
  return rangeColumns.map((name) => {
    const column = columns.find((known) => known.name === name)
    if (column === undefined) throw new Error(`there is no column ${name}`)
    return column
  })
}

function dimension({ columns, buckets, seed }: ModelDimension): object {
  return { columns, num_buckets: buckets, seed }
}

function boundMembers(
  table: ModelTable,
  name: string,
  bound: ModelBound | null,
  isUpper: boolean,
): string[] {
  if (bound === null) return []
  const columns = rangeColumnsOf(table)
  const cells = columns.map((column, i) => {
    return `${JSON.stringify(column.name)}:${jsonText(column, bound.cells[i], OPTIONS)}`
  })
  const members = [`"${name}":{${cells.join(',')}}`]
  if (bound.isInclusive !== isUpper) return members
  return [...members, `"${name}_bound_type":"${isUpper ? 'INCLUSIVE' : 'EXCLUSIVE'}"`]
}

function columnSpec(column: ModelColumn): string {
  const { name, type, precision, scale, length, isKey, isNullable, encoding } = column
  const attributes =
    type === 'DECIMAL' ? { precision, scale } : type === 'VARCHAR' ? { length } : undefined
  const members = JSON.stringify({
    name,
    type,
    type_attributes: attributes,
    is_key: isKey,
    is_nullable: isNullable,
    encoding,
    compression: column.compression,
  })
  if (column.defaultValue === null) return members
  return `${members.slice(0, -1)},"default":${jsonText(column, column.defaultValue, OPTIONS)}}`
}

/** Which rows a selection finds, and which changed between two times. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import { satisfies } from './model-literal.ts'
import { compareTuples, type ModelColumn } from './model-value.ts'
import type { ModelSelection } from './scan-script.ts'
import type { FoundRow, VersionModel } from './version-model.ts'

/** A selection, and how its literals are read. */
export type ReadSelection = ModelSelection & { readonly options: ValueOptions }

/** The rows that a selection finds at a time, by ascending key. */
export function selectRows(
  model: VersionModel,
  selection: ReadSelection,
  time: number,
): FoundRow[] {
  const isSelected = selector(model, selection, () => true)
  return model.rowsAt(time).filter(isSelected)
}

/**
 * Rows that changed above `from` and at or below `to`, by ascending key, each with whether it is
 * deleted as its last cell. Deleted rows were there at `from`; of them only the key is known, so
 * only what is asked of it counts.
 */
export function diffRows(
  model: VersionModel,
  selection: ReadSelection,
  from: number,
  to: number,
): FoundRow[] {
  const { columns } = model.table
  const isSelected = selector(model, selection, () => true)
  const hasSelectedKey = selector(model, selection, ({ isKey }) => isKey)
  return model.changesIn(from, to).flatMap(({ keyName, key, before, after, isUnseen }) => {
    if (after !== null) {
      if (!isSelected({ keyName, row: after })) return []
      return [{ keyName, row: [...after, false], isOptional: isUnseen }]
    }
    if (before === null) return []
    const row = columns.map(({ isKey }, i) => (isKey ? key[i] : null))
    return hasSelectedKey({ keyName, row }) ? [{ keyName, row: [...row, true] }] : []
  })
}

function selector(
  { table, keyColumns }: VersionModel,
  { lower, upper, predicates, options }: ReadSelection,
  counts: (column: ModelColumn) => boolean,
): (found: FoundRow) => boolean {
  const { columns } = table
  const asked = predicates
    .map((predicate) => {
      return { predicate, index: columns.findIndex(({ name }) => name === predicate.column) }
    })
    .filter(({ index }) => counts(columns[index]))
  return ({ row }) => {
    if (lower !== null && compareTuples(keyColumns, row, lower) < 0) return false
    if (upper !== null && compareTuples(keyColumns, row, upper) >= 0) return false
    return asked.every(({ predicate, index }) => {
      return satisfies(columns[index], predicate, row[index], options)
    })
  }
}

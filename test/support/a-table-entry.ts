/** Tables of one tablet, for tests of the engine. */

import type { Cell } from '../../src/common/data-type.ts'
import type { ColumnDefinition, Schema } from '../../src/common/schema.ts'
import type { TableEntry } from '../../src/common/table.ts'

/** Id of every table that `aTableEntry` makes. */
export const TABLE_ID = '00000000000000000000000000000001'
/** Id of its only tablet. */
export const TABLET_ID = '00000000000000000000000000000002'

/** A table of one unbounded tablet with the columns of a schema, at version 1. */
export function aTableEntry(schema: Schema, extraConfigs: Record<string, string> = {}): TableEntry {
  return {
    id: TABLE_ID,
    name: 'metrics',
    version: 1,
    state: 'RUNNING',
    columns: schema.columns.map(({ index: _index, physical: _physical, ...column }) => column),
    nextColumnId: 1000,
    partitionSchema: {
      hashSchema: [],
      rangeColumnIds: [],
      ranges: [{ lowerKey: '', upperKey: '', hashSchema: null }],
    },
    tablets: [
      {
        tabletId: TABLET_ID,
        partition: {
          hashBuckets: [],
          rangeKeyStart: '',
          rangeKeyEnd: '',
          partitionKeyStart: '',
          partitionKeyEnd: '',
        },
      },
    ],
    owner: '',
    comment: '',
    extraConfigs,
    createdAt: 0,
    tokenSecret: '00000000000000000000000000000000',
  }
}

/** The definition with a default, for old and for new rows. */
export function withDefault(definition: ColumnDefinition, cell: Cell): ColumnDefinition {
  return { ...definition, writeDefault: cell, readDefault: cell }
}

/** The definition as immutable. */
export function asImmutable(definition: ColumnDefinition): ColumnDefinition {
  return { ...definition, isImmutable: true }
}

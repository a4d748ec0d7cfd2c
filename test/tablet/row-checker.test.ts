import { describe, expect, test } from 'vitest'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { describeRowError } from '../../src/common/row-error.ts'
import type { RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { withDefault } from '../support/a-table-entry.ts'
import { aWriteBlock, type PlainRow } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface ProjectionCase {
  readonly schema: string
  readonly op: RowOperationName
  readonly set: PlainRow
  readonly result: string
}

const FILE = readVectors<{ row_operation_projection: { cases: ProjectionCase[] } }>(
  'row-operations',
)

// The vectors describe their schemas in prose. "client …" names the columns that the sender knows.
const SCHEMAS: Readonly<Record<string, { schema: Schema; sent?: string[] }>> = {
  [[
    'key INT32, nullable_with_default INT32 NULLABLE default 123',
    'non_null_with_default INT32 default 456',
  ].join(', ')]: {
    schema: new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      withDefault(aColumnDefinition('nullable_with_default INT32 NULL', 2), 123),
      withDefault(aColumnDefinition('non_null_with_default INT32', 3), 456),
    ]),
  },
  'client key,int_val ; server adds new_int_with_default default 123, new_nullable_int': {
    schema: new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      aColumnDefinition('int_val INT32', 2),
      withDefault(aColumnDefinition('new_int_with_default INT32', 3), 123),
      aColumnDefinition('new_nullable_int INT32 NULL', 4),
    ]),
    sent: ['key', 'int_val'],
  },
  'key INT32, int_val INT32, string_val STRING NULLABLE': {
    schema: new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      aColumnDefinition('int_val INT32', 2),
      aColumnDefinition('string_val STRING NULL', 3),
    ]),
  },
  'client order key,string_val,int_val ; server order key,int_val,string_val': {
    schema: new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      aColumnDefinition('int_val INT32', 2),
      aColumnDefinition('string_val STRING NULL', 3),
    ]),
    sent: ['key', 'string_val', 'int_val'],
  },
  'keys key INT32,key_2 INT32 ; int_val INT32, string_val STRING NULLABLE': {
    schema: new Schema([
      aColumnDefinition('key INT32 KEY', 1),
      aColumnDefinition('key_2 INT32 KEY', 2),
      aColumnDefinition('int_val INT32', 3),
      aColumnDefinition('string_val STRING NULL', 4),
    ]),
  },
}

// Kudu's texts and ours for the same failure: ours are lower case and leave out the column's type.
const OUR_ERRORS: readonly [kudu: RegExp, ours: string][] = [
  [/No value provided for required column: (\w+)/, 'no value provided for required column "$1"'],
  [/No value provided for key column: (\w+)/, 'no value provided for key column "$1"'],
  [/No fields updated/, 'no fields updated'],
  [
    /NULL value not allowed for non-nullable column: (\w+)/,
    'column "$1": null is not allowed for a column that is not nullable',
  ],
]

/** What Kudu's text of a good result says the row is afterwards. */
function expectedRow(testCase: ProjectionCase, schema: Schema): PlainRow | null {
  if (testCase.result.endsWith('DELETE')) return null
  if (testCase.result === 'values as given') return testCase.set
  const row: Record<string, number | string | null> = {}
  for (const column of schema.columns) {
    const match = new RegExp(`\\b${column.name}=("[^"]*"|\\w+)`).exec(testCase.result)
    if (match === null) continue
    const text = match[1]
    if (text === 'NULL') row[column.name] = null
    else row[column.name] = text.startsWith('"') ? text.slice(1, -1) : Number(text)
  }
  return row
}

function ourError(kudu: string): string {
  for (const [pattern, ours] of OUR_ERRORS) {
    const match = pattern.exec(kudu)
    if (match !== null) return ours.replace('$1', match[1] ?? '')
  }
  throw new Error(`no counterpart of ${kudu}`)
}

describe('checkColumns', () => {
  test('accepts and refuses rows as Kudu does, with our texts', () => {
    const { cases } = FILE.row_operation_projection
    let known = ''
    for (const testCase of cases) {
      if (testCase.schema !== 'same') known = testCase.schema
      const { schema, sent } = SCHEMAS[known]
      const harness = new TabletHarness(schema)
      if (testCase.op !== 'INSERT') {
        const old = { key: 12345, key_2: 54321, int_val: 1, string_val: 'old' }
        const names = schema.columns.map(({ name }) => name)
        harness.write([
          ['INSERT', Object.fromEntries(Object.entries(old).filter(([n]) => names.includes(n)))],
        ])
      }
      const block = aWriteBlock(schema, [[testCase.op, testCase.set]], sent)
      const result = harness.writeBlock(encodeRowBlock(block))

      if (testCase.result.startsWith('row error')) {
        const column = schema.byId(result.errors.columnIds[0])?.name
        const { message } = describeRowError(result.errors.codes[0], column)
        expect(message).toBe(ourError(testCase.result))
      } else {
        const row = expectedRow(testCase, schema)
        expect(result.failed, testCase.result).toBe(0)
        if (row === null) expect(harness.rows()).toEqual([])
        else expect(harness.rows()[0]).toMatchObject(row)
      }
    }
    reportVectors('row_operation_projection', cases.length)
  })
})

import { describe, expect, test } from 'vitest'
import { CELL_BYTES_MAX, KEY_BYTES_MAX } from '../../src/common/limits.ts'
import { describeRowError } from '../../src/common/row-error.ts'
import type { RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import type { WriteResult } from '../../src/tablet/tablet-request.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable, withDefault } from '../support/a-table-entry.ts'
import type { PlainOperation, PlainRow } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('s STRING KEY', 11),
  aColumnDefinition('v INT32 NULL', 12),
  withDefault(aColumnDefinition('d INT32', 13), 7),
  asImmutable(aColumnDefinition('i INT32 NULL', 14)),
])
const KEY = { k: 1, s: 'a' }
const OLD = { ...KEY, v: 5, d: 6, i: 9 }

/** A tablet where the key is absent, deleted, or live. */
function aTabletWhere(key: 'absent' | 'deleted' | 'live'): TabletHarness {
  const harness = new TabletHarness(SCHEMA)
  if (key !== 'absent') harness.write([['INSERT', OLD]])
  if (key === 'deleted') harness.write([['DELETE', KEY]])
  return harness
}

/** The counts that are not zero, and the errors as texts. */
function summary(result: WriteResult): string {
  const counts = (['inserted', 'upserted', 'updated', 'deleted', 'ignored', 'failed'] as const)
    .filter((name) => result[name] > 0)
    .map((name) => `${name} ${result[name]}`)
  const errors = [...result.errors.codes].map((code, index) => {
    const column = SCHEMA.byId(result.errors.columnIds[index])?.name
    return `row ${result.errors.rows[index]}: ${describeRowError(code, column).message}`
  })
  return [...counts, ...errors].join(', ')
}

function outcome(harness: TabletHarness, ...operations: PlainOperation[]): string {
  return summary(harness.write(operations))
}

interface SemanticsCase {
  readonly operation: RowOperationName
  readonly row: PlainRow
  readonly whenGone: string
  readonly rowAfterGone: PlainRow | null
  readonly whenLive: string
  readonly rowAfterLive: PlainRow | null
}

const SET = { ...KEY, v: 50 }
const INSERTED = { ...KEY, v: 50, d: 7, i: null }
const CHANGED = { ...OLD, v: 50 }

// One for each line of Kudu's table of operations, whose two texts are Kudu's as well.
const CASES: readonly SemanticsCase[] = [
  {
    operation: 'INSERT',
    row: SET,
    whenGone: 'inserted 1',
    rowAfterGone: INSERTED,
    whenLive: 'failed 1, row 0: key already present',
    rowAfterLive: OLD,
  },
  {
    operation: 'INSERT_IGNORE',
    row: SET,
    whenGone: 'inserted 1',
    rowAfterGone: INSERTED,
    whenLive: 'ignored 1',
    rowAfterLive: OLD,
  },
  {
    operation: 'UPSERT',
    row: SET,
    whenGone: 'upserted 1',
    rowAfterGone: INSERTED,
    whenLive: 'upserted 1',
    rowAfterLive: CHANGED,
  },
  {
    operation: 'UPSERT_IGNORE',
    row: { ...SET, i: 1 },
    whenGone: 'upserted 1',
    rowAfterGone: { ...INSERTED, i: 1 },
    whenLive: 'upserted 1',
    rowAfterLive: CHANGED,
  },
  {
    operation: 'UPDATE',
    row: SET,
    whenGone: 'failed 1, row 0: key not found',
    rowAfterGone: null,
    whenLive: 'updated 1',
    rowAfterLive: CHANGED,
  },
  {
    operation: 'UPDATE_IGNORE',
    row: { ...SET, i: 1 },
    whenGone: 'ignored 1',
    rowAfterGone: null,
    whenLive: 'updated 1',
    rowAfterLive: CHANGED,
  },
  {
    operation: 'DELETE',
    row: KEY,
    whenGone: 'failed 1, row 0: key not found',
    rowAfterGone: null,
    whenLive: 'deleted 1',
    rowAfterLive: null,
  },
  {
    operation: 'DELETE_IGNORE',
    row: KEY,
    whenGone: 'ignored 1',
    rowAfterGone: null,
    whenLive: 'deleted 1',
    rowAfterLive: null,
  },
]

describe('decideRows', () => {
  for (const { operation, row, ...expected } of CASES) {
    test(`${operation} of an absent key: ${expected.whenGone}`, () => {
      const harness = aTabletWhere('absent')

      expect(outcome(harness, [operation, row])).toBe(expected.whenGone)
      expect(harness.rows()).toEqual(expected.rowAfterGone ? [expected.rowAfterGone] : [])
    })

    test(`${operation} of a deleted key: ${expected.whenGone}, and nothing of old`, () => {
      const harness = aTabletWhere('deleted')

      expect(outcome(harness, [operation, row])).toBe(expected.whenGone)
      expect(harness.rows()).toEqual(expected.rowAfterGone ? [expected.rowAfterGone] : [])
    })

    test(`${operation} of a live key: ${expected.whenLive}`, () => {
      const harness = aTabletWhere('live')

      expect(outcome(harness, [operation, row])).toBe(expected.whenLive)
      expect(harness.rows()).toEqual(expected.rowAfterLive ? [expected.rowAfterLive] : [])
    })
  }

  test('an upsert of a live row with its key alone counts, and leaves defaults alone', () => {
    const harness = aTabletWhere('live')

    expect(outcome(harness, ['UPSERT', KEY])).toBe('upserted 1')
    expect(outcome(harness, ['UPSERT_IGNORE', KEY])).toBe('upserted 1')
    expect(harness.rows()).toEqual([OLD])
  })

  test('an upsert that sets an immutable column of a live row fails as a whole', () => {
    const harness = aTabletWhere('live')

    expect(outcome(harness, ['UPSERT', { ...SET, i: 9 }])).toBe(
      'failed 1, row 0: column "i" is immutable',
    )
    expect(outcome(harness, ['UPSERT', { ...SET, i: null }])).toBe(
      'failed 1, row 0: column "i" is immutable',
    )
    expect(harness.rows()).toEqual([OLD])
  })

  test('an upsert of an absent key may set an immutable column', () => {
    const harness = aTabletWhere('absent')

    expect(outcome(harness, ['UPSERT', { ...SET, i: 9 }])).toBe('upserted 1')
    expect(harness.rows()).toEqual([{ ...INSERTED, i: 9 }])
  })

  test('UPSERT_IGNORE of a live row with immutable columns alone is ignored', () => {
    const harness = aTabletWhere('live')

    expect(outcome(harness, ['UPSERT_IGNORE', { ...KEY, i: 1 }])).toBe('ignored 1')
    expect(harness.rows()).toEqual([OLD])
  })

  test('rows with one key see what the rows before them left', () => {
    const harness = aTabletWhere('absent')

    const text = outcome(
      harness,
      ['UPDATE', SET],
      ['INSERT', SET],
      ['INSERT', { ...KEY, v: 51 }],
      ['UPDATE', { ...KEY, v: 52 }],
      ['DELETE', KEY],
      ['DELETE', KEY],
      ['UPSERT', { ...KEY, v: 53 }],
      ['UPDATE', { ...KEY, d: 8 }],
    )

    expect(text).toBe(
      'inserted 1, upserted 1, updated 2, deleted 1, failed 3, row 0: key not found, ' +
        'row 2: key already present, row 5: key not found',
    )
    expect(harness.rows()).toEqual([{ ...KEY, v: 53, d: 8, i: null }])
  })

  test('a row inserted and deleted within one op is visible at no time', () => {
    const harness = aTabletWhere('absent')
    const { timestamp } = harness.write([
      ['INSERT', SET],
      ['DELETE', KEY],
    ])

    expect(harness.rows(timestamp)).toEqual([])
    harness.crash()
    expect(harness.rows(timestamp)).toEqual([])
    expect(outcome(harness, ['INSERT', SET])).toBe('inserted 1')
  })

  test('a failed row with the same key as a good one does not count as that key', () => {
    const harness = new TabletHarness(SCHEMA)

    const text = outcome(
      harness,
      ['INSERT', { s: '' }],
      ['INSERT', { k: 0, s: '' }],
      ['INSERT', { k: null, s: '' }],
    )

    expect(text).toBe(
      'inserted 1, failed 2, row 0: no value provided for key column "k", ' +
        'row 2: column "k": null is not allowed for a key column',
    )
    expect(harness.rows()).toHaveLength(1)
  })

  test('the same keys in different order of columns are different keys', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write([
      ['INSERT', { k: 1, s: 'b' }],
      ['INSERT', { k: 1, s: 'a\0b' }],
      ['INSERT', { k: 1, s: 'a' }],
      ['INSERT', { k: -1, s: 'a' }],
    ])

    expect(harness.rows().map(({ k, s }) => [k, s])).toEqual([
      [-1, 'a'],
      [1, 'a'],
      [1, 'a\0b'],
      [1, 'b'],
    ])
  })
})

describe('checkColumns', () => {
  const LONG_KEY = { k: 1, s: 'x'.repeat(KEY_BYTES_MAX - 3) }

  test('the first column at fault, in the order of the schema, names the error', () => {
    const harness = aTabletWhere('absent')

    expect(outcome(harness, ['INSERT', { s: null, d: null }])).toBe(
      'failed 1, row 0: no value provided for key column "k"',
    )
    expect(outcome(harness, ['UPDATE', { ...KEY, d: null, i: 1 }])).toBe(
      'failed 1, row 0: column "d": null is not allowed for a column that is not nullable',
    )
  })

  test('an update that touches an immutable column fails, whether or not its row is there', () => {
    for (const harness of [aTabletWhere('absent'), aTabletWhere('live')]) {
      expect(outcome(harness, ['UPDATE', { ...SET, i: null }])).toBe(
        'failed 1, row 0: column "i" is immutable',
      )
    }
  })

  test('an update without a column to change fails', () => {
    const harness = aTabletWhere('live')

    expect(outcome(harness, ['UPDATE', KEY])).toBe('failed 1, row 0: no fields updated')
    expect(outcome(harness, ['UPDATE_IGNORE', KEY])).toBe('failed 1, row 0: no fields updated')
    expect(outcome(harness, ['UPDATE_IGNORE', { ...KEY, i: 1 }])).toBe(
      'failed 1, row 0: no fields updated',
    )
  })

  test('a delete with a value fails, even with null', () => {
    const harness = aTabletWhere('live')

    expect(outcome(harness, ['DELETE', { ...KEY, d: 1, v: null }])).toBe(
      'failed 1, row 0: delete should not have a value for column "v"',
    )
  })

  test('an explicit null beats the default and is refused where null is', () => {
    const harness = aTabletWhere('absent')

    expect(outcome(harness, ['INSERT', { ...KEY, v: null }])).toBe('inserted 1')
    expect(outcome(harness, ['INSERT', { ...KEY, s: 'b', d: null }])).toBe(
      'failed 1, row 0: column "d": null is not allowed for a column that is not nullable',
    )
    expect(harness.rows()).toEqual([{ ...KEY, v: null, d: 7, i: null }])
  })

  test('an encoded key may be as long as its limit and no longer, but for deletes', () => {
    const harness = new TabletHarness(SCHEMA)
    // k takes 4 bytes and s, as the last key column, none but its own: one byte over.
    expect(outcome(harness, ['INSERT', LONG_KEY])).toBe(
      'failed 1, row 0: encoded primary key is larger than the limit of 16384 bytes',
    )
    expect(outcome(harness, ['DELETE', LONG_KEY])).toBe('failed 1, row 0: key not found')
    expect(outcome(harness, ['DELETE_IGNORE', LONG_KEY])).toBe('ignored 1')
    expect(outcome(harness, ['INSERT', { k: 1, s: LONG_KEY.s.slice(1) }])).toBe('inserted 1')
  })

  test('a cell may be as large as its limit and no larger', () => {
    const schema = new Schema([
      aColumnDefinition('k INT32 KEY', 10),
      aColumnDefinition('v STRING NULL', 11),
      aColumnDefinition('w STRING NULL', 12),
    ])
    const harness = new TabletHarness(schema)
    const limit = 'x'.repeat(CELL_BYTES_MAX)

    const result = harness.write([
      ['INSERT', { k: 1, v: limit, w: limit }],
      ['INSERT', { k: 2, v: 'small', w: `${limit}y` }],
      ['UPSERT', { k: 3, v: `${limit}y` }],
      ['UPDATE', { k: 1, v: `${limit}y` }],
    ])

    expect([...result.errors.rows]).toEqual([1, 2, 3])
    expect([...result.errors.columnIds]).toEqual([12, 11, 11])
    expect(harness.rows()).toHaveLength(1)
  })
})

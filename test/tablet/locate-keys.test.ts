import { describe, expect, test } from 'vitest'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable, withDefault } from '../support/a-table-entry.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 12),
  withDefault(aColumnDefinition('d INT32', 13), 7),
  asImmutable(aColumnDefinition('i INT32 NULL', 14)),
])
const KEY = { k: 1 }
const OLD = { ...KEY, v: 5, d: 6, i: 9 }
const OPERATIONS = Object.keys(ROW_OPERATIONS) as RowOperationName[]
const SETS = [{}, { v: 50 }, { v: 50, i: 1 }, { i: 1 }]

type Step = 'insert' | 'delete' | 'flush' | 'freeze'

/** A tablet in which one key was brought to its place by steps, among others around it. */
function aTabletAfter(steps: readonly Step[]): TabletHarness {
  const harness = new TabletHarness(SCHEMA)
  harness.write([
    ['INSERT', { k: 0 }],
    ['INSERT', { k: 2 }],
  ])
  for (const step of steps) {
    if (step === 'insert') harness.write([['INSERT', OLD]])
    else if (step === 'delete') harness.write([['DELETE', KEY]])
    else if (step === 'flush') harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
    else harness.tablet.maintain((parts) => parts.transact(() => parts.swapMemRowSet()))
    // So that there is something to flush each time.
    if (step === 'flush') harness.write([['INSERT', { k: 100 + harness.store.committedCount }]])
  }
  return harness
}

/** What an op comes to, and what the key then shows, before and after a restart. */
function outcomeOf(harness: TabletHarness, operations: readonly PlainOperation[]): unknown {
  const { timestamp, ...result } = harness.write(operations)
  const rows = harness.rows().filter(({ k }) => k === 1)
  checkTablet(harness.tablet)
  harness.evict()
  expect(harness.rows().filter(({ k }) => k === 1)).toEqual(rows)
  return { ...result, hasTimestamp: timestamp !== null, rows }
}

const LIVE_PLACES: readonly (readonly Step[])[] = [
  ['insert', 'freeze'],
  ['insert', 'flush'],
  ['insert', 'flush', 'freeze'],
  ['insert', 'flush', 'delete', 'insert'],
  ['insert', 'flush', 'delete', 'insert', 'freeze'],
  ['insert', 'flush', 'delete', 'insert', 'flush'],
  ['insert', 'flush', 'delete', 'flush', 'insert', 'flush', 'flush'],
  ['insert', 'delete', 'flush', 'insert', 'flush'],
  ['insert', 'delete', 'insert', 'freeze', 'delete', 'insert'],
]
const GONE_PLACES: readonly (readonly Step[])[] = [
  [],
  ['insert', 'delete'],
  ['insert', 'delete', 'freeze'],
  ['insert', 'freeze', 'delete'],
  ['insert', 'delete', 'flush'],
  ['insert', 'flush', 'delete'],
  ['insert', 'flush', 'delete', 'insert', 'delete'],
  ['insert', 'flush', 'delete', 'insert', 'freeze', 'delete'],
  ['insert', 'flush', 'delete', 'insert', 'flush', 'delete'],
  ['insert', 'freeze', 'delete', 'insert', 'delete'],
]

describe.each([
  ['live', ['insert'] as const, LIVE_PLACES],
  ['gone', ['insert', 'delete'] as const, GONE_PLACES],
])('A key that is %s', (_, reference, places) => {
  const cases = OPERATIONS.flatMap((operation) =>
    SETS.filter((set) => !operation.startsWith('DELETE') || Object.keys(set).length === 0).map(
      (set): PlainOperation => [operation, { ...KEY, ...set }],
    ),
  )

  test.each(places.map((steps) => [steps.join(', ') || 'nothing', steps] as const))(
    'is to every operation what it is in memory, after %s',
    (_name, steps) => {
      for (const operation of cases) {
        const expected = outcomeOf(aTabletAfter(reference), [operation])
        expect(outcomeOf(aTabletAfter(steps), [operation]), operation[0]).toEqual(expected)
      }
    },
    60_000,
  )

  test.each(places.map((steps) => [steps.join(', ') || 'nothing', steps] as const))(
    'is to rows of one op what the rows before them left, after %s',
    (_name, steps) => {
      const operations: PlainOperation[] = [
        ['UPDATE', { ...KEY, v: 1 }],
        ['INSERT', { ...KEY, v: 2 }],
        ['DELETE', KEY],
        ['DELETE', KEY],
        ['UPSERT', { ...KEY, v: 3, i: 3 }],
        ['UPDATE', { ...KEY, v: 4 }],
        ['DELETE_IGNORE', KEY],
        ['INSERT_IGNORE', { ...KEY, d: 5 }],
        ['UPSERT_IGNORE', { ...KEY, v: 6, i: 6 }],
      ]

      const expected = outcomeOf(aTabletAfter(reference), operations)
      expect(outcomeOf(aTabletAfter(steps), operations)).toEqual(expected)
    },
  )
})

describe('Many rows in the order of their keys', () => {
  const GAP = { first: 4000, count: 1000 }
  const rowsFrom = (first: number, count: number): PlainOperation[] =>
    Array.from({ length: count }, (_, i) => ['INSERT', { k: first + i }])

  test.each([
    ['within a gap', GAP.first, 0],
    ['up to the key behind a gap', GAP.first + 1, 1],
    ['from the key before a gap on', GAP.first - 1, 1],
    ['across the keys behind a gap', GAP.first + 500, 500],
    ['of which all are there', 2000, 1000],
  ])('%s are told from those that are there', (_name, first, knownCount) => {
    const harness = new TabletHarness(SCHEMA)
    harness.write(rowsFrom(0, GAP.first))
    harness.write(rowsFrom(GAP.first + GAP.count, GAP.first))
    harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
    const { errors } = harness.write(rowsFrom(first, GAP.count))

    expect(errors.rows).toHaveLength(knownCount)
    expect(harness.rows()).toHaveLength(2 * GAP.first + GAP.count - knownCount)
    checkTablet(harness.tablet)
  })
})

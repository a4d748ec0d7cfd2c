import { describe, expect, test } from 'vitest'
import { FlushDeltaTask } from '../../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import {
  averageRowSetHeight,
  chooseAskedCompaction,
  chooseCompaction,
  chooseGarbage,
  chooseMajor,
  chooseMinor,
} from '../../../src/tablet/maintenance/row-set-picks.ts'
import { aSchema } from '../../support/a-schema.ts'
import { TabletHarness } from '../../support/tablet-harness.ts'

const NONE: ReadonlySet<number> = new Set()
const SECOND = 1_000_000

function aTablet(): TabletHarness {
  return new TabletHarness(aSchema('k INT64 KEY', 'v STRING NULL', 'n INT32 NULL'))
}

/** Inserts keys `[start, end)`, each a step apart, and flushes them. */
function flush(harness: TabletHarness, start: number, end: number, step = 1): void {
  harness.write(
    Array.from({ length: end - start }, (_, i) => {
      return ['INSERT', { k: (start + i) * step, v: 'x', n: 1 }]
    }),
  )
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

function flushDeltas(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushDeltaTask(parts, now))
}

describe('chooseCompaction', () => {
  test('chooses rowsets that overlap, and neighbours that are small', () => {
    const harness = aTablet()
    flush(harness, 0, 100, 2)
    expect(chooseCompaction(harness.parts, NONE)).toBe(null)
    flush(harness, 100, 200, 2)
    // Every second of these keys is there already.
    flush(harness, 150, 250)
    const choice = chooseAskedCompaction(harness.parts)

    expect(averageRowSetHeight(harness.parts.rowSets)).toBeGreaterThan(1)
    expect(choice?.rowSets).toEqual(harness.parts.rowSets)
  })

  test('leaves rowsets alone that are busy, or that cannot be read', () => {
    const harness = aTablet()
    for (let i = 0; i < 3; i++) flush(harness, i * 100, i * 100 + 100)
    const [first, second, third] = harness.parts.rowSets
    first.isBusy = true

    expect(chooseAskedCompaction(harness.parts)?.rowSets).toEqual([second, third])
    expect(chooseCompaction(harness.parts, new Set([second.id]))).toBe(null)
  })
})

describe('chooseMinor', () => {
  test('chooses the rowset with the most REDO files', () => {
    const harness = aTablet()
    flush(harness, 0, 100)
    flush(harness, 100, 200)
    for (const keys of [[1, 101], [101], [101]]) {
      harness.write(keys.map((k) => ['UPDATE', { k, v: 'y' }]))
      flushDeltas(harness)
    }
    const { rowSets } = harness.parts

    expect(chooseMinor(rowSets, NONE, 2)).toEqual({ rowSet: rowSets[1], fileCount: 3 })
    expect(chooseMinor(rowSets, NONE, 4)).toBe(null)
    expect(chooseMinor(rowSets, new Set([rowSets[1].id]), 1)?.rowSet).toBe(rowSets[0])
  })
})

describe('chooseMajor', () => {
  test('chooses columns that were changed, of the rowset with the most changes', () => {
    const harness = aTablet()
    flush(harness, 0, 100)
    flush(harness, 100, 200)
    harness.write([
      ['UPDATE', { k: 1, v: 'y' }],
      ...Array.from({ length: 50 }, (_, i) => ['UPDATE', { k: 100 + i, n: i }] as const),
    ])
    flushDeltas(harness)
    const { rowSets } = harness.parts

    expect(chooseMajor(rowSets, NONE, 0)).toMatchObject({ rowSet: rowSets[1], columnIds: [12] })
    expect(chooseMajor(rowSets, new Set([rowSets[1].id]), 0)).toMatchObject({ columnIds: [11] })
    expect(chooseMajor(rowSets, NONE, 1e6)).toBe(null)
  })

  test('does not choose a rowset that has deletes only', () => {
    const harness = aTablet()
    flush(harness, 0, 100)
    harness.write(Array.from({ length: 90 }, (_, k) => ['DELETE', { k }]))
    flushDeltas(harness)

    expect(chooseMajor(harness.parts.rowSets, NONE, 0)).toBe(null)
  })
})

describe('chooseGarbage', () => {
  test('tells when history becomes ancient, and then how many bytes it is', () => {
    const harness = aTablet()
    flush(harness, 0, 100)
    const age = 7 * 86_400 * SECOND
    const now = harness.clock.nowMicros()
    const [{ meta }] = harness.parts.rowSets
    const undoBytes = meta.undos.reduce((sum, { bytes }) => sum + bytes, 0)
    const { newest } = meta.undos[0]

    expect(chooseGarbage(harness.parts, now, age)).toEqual({ bytes: 0, nextAt: newest + age })
    expect(chooseGarbage(harness.parts, newest + age, age)).toEqual({
      bytes: undoBytes,
      nextAt: null,
    })
  })

  test('counts a rowset whose rows are all deleted, once the deletes are durable', () => {
    const harness = aTablet()
    flush(harness, 0, 100)
    harness.write(Array.from({ length: 100 }, (_, k) => ['DELETE', { k }]))
    const age = 7 * 86_400 * SECOND
    const later = harness.clock.nowMicros() + 2 * age
    // Replay would ask for the history of rows whose changes are in the WAL only.
    expect(chooseGarbage(harness.parts, later, age).bytes).toBeLessThan(
      harness.parts.rowSets[0].meta.baseBytes,
    )
    flushDeltas(harness)

    expect(chooseGarbage(harness.parts, later, age).bytes).toBeGreaterThan(
      harness.parts.rowSets[0].meta.baseBytes,
    )
  })
})

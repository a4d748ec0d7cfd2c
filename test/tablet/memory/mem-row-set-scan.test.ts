import { describe, expect, test } from 'vitest'
import { Schema } from '../../../src/common/schema.ts'
import { FlushMemRowSetTask } from '../../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { TabletScanner } from '../../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aColumnDefinition } from '../../support/a-schema.ts'
import type { PlainRow } from '../../support/a-write-block.ts'
import { okValue, plainRowsOf, TabletHarness } from '../../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT64 KEY', 10),
  aColumnDefinition('v STRING NULL', 11),
])
const IDS = [10, 11]
type Order = 'ORDERED' | 'DESCENDING'

function aTablet(...keys: readonly number[]): TabletHarness {
  const harness = new TabletHarness(SCHEMA)
  harness.write(keys.map((k) => ['INSERT', { k, v: `${k}` }]))
  return harness
}

function flush(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

function openScan(harness: TabletHarness, order: Order = 'ORDERED'): TabletScanner {
  return okValue(
    harness.tablet.openScan({
      ...harness.request(),
      columnIds: IDS,
      predicates: [],
      lowerKey: EMPTY_BYTES,
      upperKey: EMPTY_BYTES,
      order,
      snapshot: null,
      withKeys: false,
    }),
  ).scanner
}

function take(scanner: TabletScanner, rowCountMax: number): PlainRow[] {
  const batch = scanner.nextBatch(rowCountMax, 1 << 20)
  return batch === null ? [] : plainRowsOf(SCHEMA, batch.block)
}

function takeKeys(scanner: TabletScanner, rowCountMax: number): unknown[] {
  return take(scanner, rowCountMax).map(({ k }) => Number(k))
}

describe('MemRowSetScan', () => {
  test('goes on behind the last row that it gave when its MemRowSet was flushed', () => {
    const harness = aTablet(1, 2, 3, 4, 5)
    const scanner = openScan(harness)
    expect(takeKeys(scanner, 2)).toEqual([1, 2])
    flush(harness)

    expect(takeKeys(scanner, 10)).toEqual([3, 4, 5])
    expect(takeKeys(scanner, 10)).toEqual([])
  })

  test('goes on downwards in a descending scan', () => {
    const harness = aTablet(1, 2, 3, 4, 5)
    const scanner = openScan(harness, 'DESCENDING')
    expect(takeKeys(scanner, 2)).toEqual([5, 4])
    flush(harness)

    expect(takeKeys(scanner, 10)).toEqual([3, 2, 1])
  })

  test('shows all rows when none was asked for before the flush', () => {
    const harness = aTablet(1, 2, 3)
    const scanner = openScan(harness)
    flush(harness)

    expect(takeKeys(scanner, 10)).toEqual([1, 2, 3])
  })

  test('has nothing left when all rows were given before the flush', () => {
    const harness = aTablet(1, 2, 3)
    const scanner = openScan(harness)
    expect(takeKeys(scanner, 10)).toEqual([1, 2, 3])
    flush(harness)

    expect(takeKeys(scanner, 10)).toEqual([])
  })

  test('leaves no memory behind after the flush, whoever still reads', () => {
    const harness = aTablet(...Array.from({ length: 1000 }, (_, k) => k))
    const scanners = [openScan(harness), openScan(harness), openScan(harness)]
    take(scanners[1], 10)
    const before = harness.parts.heldBytes
    flush(harness)

    expect(harness.parts.heldBytes).toBeLessThan(before / 10)
    for (const scanner of scanners) scanner.close()
    expect(harness.parts.pins.fileCount).toBe(0)
  })

  test('never shows a key behind those of its own time as the last one looked at', () => {
    const harness = aTablet(1, 2, 3)
    const scanner = openScan(harness)
    harness.write([['INSERT', { k: 1000 }]])
    flush(harness)
    const last: string[] = []
    for (;;) {
      const batch = scanner.nextBatch(10, 1 << 20)
      if (batch === null) break
      last.push(Buffer.from(batch.lastKeyScanned).toString('hex'))
    }

    expect(last).toEqual(['8000000000000003'])
  })

  test('shows its snapshot whatever is written, flushed or deleted between two batches', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const prng = new Prng(seed)
      const harness = aTablet(...Array.from({ length: 60 }, (_, i) => i * 2))
      const change = () => {
        const k = prng.below(140)
        const dice = prng.below(3)
        if (dice === 0) harness.write([['UPSERT', { k, v: `${prng.below(1000)}` }]])
        else if (dice === 1) harness.write([['DELETE_IGNORE', { k }]])
        else harness.write([['UPDATE_IGNORE', { k, v: `${prng.below(1000)}` }]])
      }
      for (let i = prng.below(30); i > 0; i--) change()
      if (prng.chance(0.3)) flush(harness)
      for (let i = prng.below(30); i > 0; i--) change()
      const order: Order = prng.chance(0.5) ? 'ORDERED' : 'DESCENDING'
      const expected = harness.rows()
      if (order === 'DESCENDING') expected.reverse()
      const scanner = openScan(harness, order)
      const rows: PlainRow[] = []
      const flushAt = prng.below(expected.length)
      let isFlushed = false
      for (let batch = take(scanner, 7); batch.length > 0; batch = take(scanner, 7)) {
        rows.push(...batch)
        for (let i = 0; i < 3; i++) change()
        if (isFlushed || rows.length < flushAt) continue
        isFlushed = true
        flush(harness)
      }

      expect(rows, `seed ${seed}`).toEqual(expected)
    }
  })
})

import { describe, expect, test } from 'vitest'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { onDiskBytes, reportOf } from '../../src/tablet/tablet-report.ts'
import { aSchema } from '../support/a-schema.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT64 KEY', 'v STRING NULL')

function flush(harness: TabletHarness): void {
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
}

describe('reportOf', () => {
  test('adds up to what is held in memory, also while rows are flushed and read', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write([['INSERT', { k: 1, v: 'a' }]])
    flush(harness)
    harness.write([
      ['UPDATE', { k: 1, v: 'b' }],
      ['INSERT', { k: 2, v: 'c' }],
    ])
    harness.parts.transact(() => harness.parts.swapMemRowSet())
    harness.write([['INSERT', { k: 3, v: 'd' }]])
    const { memory, memRowSetRowCount, flushingRowCount } = reportOf(harness.parts)
    const { total, ...kinds } = memory

    expect(Object.values(kinds).reduce((sum, bytes) => sum + bytes)).toBe(total)
    expect(total).toBe(harness.tablet.figures().memoryBytes)
    expect(kinds.deltas).toBeGreaterThan(0)
    expect(kinds.flushing).toBeGreaterThan(0)
    expect({ memRowSetRowCount, flushingRowCount }).toEqual({
      memRowSetRowCount: 1,
      flushingRowCount: 1,
    })
  })

  test('counts rowsets, their files and the changes to them', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write([
      ['INSERT', { k: 1, v: 'a' }],
      ['INSERT', { k: 2, v: 'b' }],
    ])
    harness.write([['UPDATE', { k: 2, v: 'c' }]])
    flush(harness)
    harness.write([['DELETE', { k: 1 }]])
    const { rowSets, liveRowCount, averageRowSetHeight, wal } = reportOf(harness.parts)

    expect(liveRowCount).toBe(1)
    expect(averageRowSetHeight).toBe(1)
    expect(wal).toMatchObject({ rowCount: 1, generationCount: 1 })
    expect(rowSets).toMatchObject([
      {
        rowCount: 2,
        liveRowCount: 1,
        undos: { fileCount: 1, recordCount: 3, deleteCount: 2 },
        redos: { fileCount: 0 },
        memoryRecordCount: 1,
      },
    ])
  })
})

describe('onDiskBytes', () => {
  test('is of rowsets and WAL', () => {
    const harness = new TabletHarness(SCHEMA)
    harness.write([['INSERT', { k: 1, v: 'a' }]])
    expect(onDiskBytes(harness.parts)).toBe(harness.parts.wal.bytes)
    flush(harness)

    const [{ bytes }] = reportOf(harness.parts).rowSets
    expect(onDiskBytes(harness.parts)).toBe(bytes)
  })
})

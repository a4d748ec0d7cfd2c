import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { mustValue } from '../../src/common/status.ts'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import { aStoredTable, mustOk, type PlainRow, type StoredTable } from '../support/a-stored-table.ts'

function rowsFrom(start: number, end: number, text = 'x'): PlainRow[] {
  return Array.from({ length: end - start }, (_, index) => [BigInt(start + index), text])
}

/** Writes a little more WAL than a tablet keeps when it is left alone. */
async function load(table: StoredTable): Promise<void> {
  const large = 'x'.repeat(60_000)
  for (let part = 0; part < 3; part++) {
    mustOk(await table.write(rowsFrom(part * 8, part * 8 + 8, large)))
  }
}

function alarmOf(table: StoredTable): Promise<number | null> {
  return runInDurableObject(table.object(), (_instance, { storage }) => storage.getAlarm())
}

async function report(table: StoredTable) {
  const status = mustValue(await table.tablet().status(table.tabletId()))
  if (status === null) throw new Error('the tablet is initialized')
  return status.report
}

function maintain(table: StoredTable, op: 'FLUSH_MRS' | 'COMPACT', requestId: string = op) {
  const call = { wire: WIRE_VERSION, tabletId: table.tabletId(), op, requestId }
  return table.tablet().maintain(call)
}

/** Files in a tablet's storage. */
function filesOf(table: StoredTable): Promise<unknown[]> {
  return runInDurableObject(table.object(), (_instance, { storage }) => {
    const text = "SELECT name FROM sqlite_master WHERE name LIKE 'file_%' ORDER BY name"
    return storage.sql.exec(text).toArray()
  })
}

describe('the alarm of a tablet', () => {
  test('is not set by a small write, and once by a load', async () => {
    const table = await aStoredTable('loaded')
    mustOk(await table.write(rowsFrom(1000, 1010)))
    expect(await alarmOf(table)).toBe(null)
    await load(table)
    const first = await alarmOf(table)

    expect(first).toBeGreaterThan(Date.now() + 20_000)
    mustOk(await table.write(rowsFrom(2000, 2010)))
    expect(await alarmOf(table)).toBe(first)
  })

  test('that goes off too early is set anew, also by an object that has just woken', async () => {
    const table = await aStoredTable('early')
    await load(table)
    await evictDurableObject(table.object())

    expect(await runDurableObjectAlarm(table.object())).toBe(true)
    expect((await report(table)).rowsets).toEqual([])
    expect(await alarmOf(table)).toBeGreaterThan(Date.now() + 20_000)
  })

  test('flushes what fills memory, whatever vanishes in between', async () => {
    const table = await aStoredTable('full')
    const large = 'x'.repeat(60_000)
    for (let part = 0; part < 5; part++) {
      mustOk(await table.write(rowsFrom(part * 30, part * 30 + 30, large)))
    }
    await evictDurableObject(table.object())
    const before = await report(table)
    expect(before.maintenance.next_at).not.toBe(null)
    await runDurableObjectAlarm(table.object())
    await evictDurableObject(table.object())
    // Twice is as good as once.
    await runDurableObjectAlarm(table.object())
    const after = await report(table)

    expect(after.rowsets.length).toBeGreaterThan(0)
    expect(after.mem_row_set_rows).toBe(0)
    expect(after.wal.rows).toBe(0)
    expect(after.live_row_count).toBe(150)
    expect(await table.lookupRows([[0n], [149n], [150n]])).toEqual([
      [0n, large],
      [149n, large],
      null,
    ])
  })

  test('does nothing for a tablet that was dropped', async () => {
    const table = await aStoredTable('dropped early')
    await load(table)
    mustValue(await table.tablet().refuse(table.entry.id))
    await runDurableObjectAlarm(table.object())

    expect(await alarmOf(table)).toBe(null)
    expect(await maintain(table, 'FLUSH_MRS')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await table.tablet().status(table.tabletId())).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('TabletObject.maintain', () => {
  test('runs an op to its end, and tells again what it did', async () => {
    const table = await aStoredTable('by hand')
    mustOk(await table.write(rowsFrom(0, 100)))
    const done = mustValue(await maintain(table, 'FLUSH_MRS'))

    expect(done).toMatchObject({ isDone: true, runCount: 1, rowsIn: 100, rowsOut: 100 })
    expect(mustValue(await maintain(table, 'FLUSH_MRS'))).toEqual(done)
    expect(await table.readRows()).toEqual(rowsFrom(0, 100))
  })

  test('begins again what an eviction made forget, and finds it done', async () => {
    const table = await aStoredTable('forgotten')
    mustOk(await table.write(rowsFrom(0, 100)))
    await maintain(table, 'FLUSH_MRS')
    await evictDurableObject(table.object())

    expect(mustValue(await maintain(table, 'FLUSH_MRS'))).toMatchObject({ runCount: 0 })
    expect(await table.readRows()).toEqual(rowsFrom(0, 100))
  })

  test('gives back the storage of what it merges', async () => {
    const table = await aStoredTable('merged')
    for (let flush = 0; flush < 3; flush++) {
      const rows = Array.from({ length: 50 }, (_, i): PlainRow => [BigInt(i * 3 + flush), 'x'])
      mustOk(await table.write(rows))
      await maintain(table, 'FLUSH_MRS', `flush ${flush}`)
    }
    const before = await filesOf(table)
    const merged = mustValue(await maintain(table, 'COMPACT'))
    await evictDurableObject(table.object())

    expect(merged).toMatchObject({ isDone: true, rowSetsIn: 3, rowSetsOut: 1, rowsOut: 150 })
    expect((await filesOf(table)).length).toBeLessThan(before.length)
    expect(await table.readRows()).toEqual(rowsFrom(0, 150))
    expect((await report(table)).average_rowset_height).toBeCloseTo(1)
  })

  test('finds nothing in a tablet that no write ever reached, and writes nothing', async () => {
    const table = await aStoredTable('untouched')

    expect(await maintain(table, 'FLUSH_MRS')).toEqual({ ok: true, value: null })
    expect(await table.tablet().status(table.tabletId())).toEqual({ ok: true, value: null })
    expect(await alarmOf(table)).toBe(null)
    expect(await table.counters()).toMatchObject({ rowsRead: 0, rowsWritten: 0 })
  })

  test('refuses calls for another tablet', async () => {
    const table = await aStoredTable('mistaken', undefined, 2)
    const call = {
      wire: WIRE_VERSION,
      tabletId: table.tabletId(1),
      op: 'GC',
      requestId: 'r',
    } as const

    expect(await table.tablet(0).maintain(call)).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await table.tablet(0).status(table.tabletId(1))).toMatchObject({ ok: false })
  })
})

describe('TabletObject.status', () => {
  test('shows what a tablet holds before and after a flush', async () => {
    const table = await aStoredTable('shown')
    mustOk(await table.write(rowsFrom(0, 100)))
    const before = await report(table)
    await maintain(table, 'FLUSH_MRS')
    mustOk(await table.write(rowsFrom(0, 10, 'new'), 'UPDATE'))
    mustOk(await table.write([[99n]], 'DELETE'))
    const after = await report(table)

    expect(before).toMatchObject({ mem_row_set_rows: 100, rowsets: [], average_rowset_height: 0 })
    expect(before.memory.total).toBe(before.memory.mem_row_set)
    expect(before.billed_rows_written).toBeGreaterThan(0)
    expect(after).toMatchObject({
      live_row_count: 99,
      mem_row_set_rows: 0,
      wal: { rows: 2 },
      rowsets: [
        {
          rows: 100,
          live_rows: 99,
          undos: { files: 1, records: 100 },
          redos: { files: 0 },
          memory_deltas: { records: 11 },
          is_busy: false,
        },
      ],
      average_rowset_height: 1,
      mvcc: { in_flight_ops: 0 },
      locks: { held: 0, waited_for: 0, waiting_ops: 0 },
    })
    expect(after.memory.deltas).toBeGreaterThan(0)
    expect(after.maintenance.last_runs[0]).toMatchObject({ op: 'FLUSH_MRS', is_requested: true })
    expect(after.maintenance.ops.map(({ op }) => op)).toContain('COMPACT')
    expect(after.on_disk_size).toBeGreaterThan(after.rowsets[0].bytes)
  })
})

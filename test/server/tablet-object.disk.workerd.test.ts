import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MAINTENANCE_OPS, type MaintenanceOp } from '../../src/common/maintenance-op.ts'
import type { RowOperationName } from '../../src/common/row-operation.ts'
import { mustValue } from '../../src/common/status.ts'
import { Prng } from '../../src/util/prng.ts'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import { aStoredTable, mustOk, type PlainRow, type StoredTable } from '../support/a-stored-table.ts'
import { storedFilesOf } from '../support/damage.ts'

const SEED = 20_261_202
const COLUMNS = ['id INT64 KEY', 'value STRING NULL', 'number INT32 NULL', 'note STRING NULL']
const KEYS = 300

let requestCount = 0

/** Runs an op to its end; without one it goes on, if need be in a second call. */
async function maintain(table: StoredTable, op: MaintenanceOp): Promise<number> {
  const requestId = `request ${++requestCount}`
  const call = { wire: WIRE_VERSION, tabletId: table.tabletId(), op, requestId }
  for (;;) {
    const answer = mustValue(await table.tablet().maintain(call))
    if (answer?.isDone === true) return answer.runCount
  }
}

function report(table: StoredTable) {
  return table
    .tablet()
    .status(table.tabletId())
    .then((status) => mustValue(status)!.report)
}

/** A tablet, and what must be in it. */
class Checked {
  readonly table: StoredTable
  readonly rows = new Map<bigint, PlainRow>()
  readonly #moments: { readonly at: number; readonly rows: readonly PlainRow[] }[] = []

  constructor(table: StoredTable) {
    this.table = table
  }

  /** Writes to rows that are there, or not, as the operation wants them. */
  async write(operation: RowOperationName, prng: Prng): Promise<void> {
    const wantsRows = operation === 'UPDATE' || operation === 'DELETE'
    const written = new Map<bigint, PlainRow>()
    for (let i = 0; i < 60; i++) {
      const id = BigInt(prng.below(KEYS))
      if (operation !== 'UPSERT' && this.rows.has(id) !== wantsRows) continue
      written.set(id, [id, `value ${prng.below(1000)}`, prng.below(100), null])
    }
    const rows = [...written.values()].map((row) => (operation === 'DELETE' ? [row[0]] : row))
    if (rows.length === 0) return
    const result = mustOk(await this.table.write(rows, operation))
    expect(result.failed).toBe(0)
    for (const [id, row] of written) {
      if (operation === 'DELETE') this.rows.delete(id)
      else this.rows.set(id, row)
    }
    if (result.timestamp !== null) this.#moments.push({ at: result.timestamp, rows: this.sorted() })
  }

  sorted(): PlainRow[] {
    return [...this.rows.values()].sort((a, b) => Number(a[0]) - Number(b[0]))
  }

  /** Everything is right: now, at a moment remembered, by key, and in number. */
  async check(prng: Prng, where: string): Promise<void> {
    const { table } = this
    expect(await table.readRows(), where).toEqual(this.sorted())
    const keys = Array.from({ length: 20 }, () => BigInt(prng.below(KEYS)))
    const found = keys.map((id) => this.rows.get(id) ?? null)
    expect(await table.lookupRows(keys.map((id) => [id])), where).toEqual(found)
    expect((await table.counters()).liveRowCount, where).toBe(this.rows.size)
    if (this.#moments.length === 0) return
    const moment = prng.pick(this.#moments)
    expect(await table.scanRows({ snapshot: moment.at }), where).toEqual(moment.rows)
  }
}

/** Leaves two REDO files with changes to rows on disk, which delta compactions are for. */
async function flushUpdates(checked: Checked, prng: Prng): Promise<void> {
  await maintain(checked.table, 'FLUSH_MRS')
  for (let file = 0; file < 2; file++) {
    await checked.write('UPDATE', prng)
    await maintain(checked.table, 'FLUSH_DMS')
  }
}

const WRITES: readonly RowOperationName[] = ['INSERT', 'UPDATE', 'DELETE', 'INSERT', 'UPSERT']

afterEach(() => {
  vi.useRealTimers()
})

describe('TabletObject with rows in files', () => {
  test(`reads, writes and counts right whenever it is evicted (seed ${SEED})`, {
    timeout: 120_000,
  }, async () => {
    const prng = new Prng(SEED)
    const checked = new Checked(await aStoredTable('evicted on disk', COLUMNS))
    const { table } = checked
    const runs = new Map<MaintenanceOp, number>()
    await checked.write('INSERT', prng)
    for (let step = 0; step < 40; step++) {
      for (const operation of WRITES) if (prng.chance(0.5)) await checked.write(operation, prng)
      const op = prng.pick(MAINTENANCE_OPS)
      if (op.endsWith('DELTA_COMPACT')) await flushUpdates(checked, prng)
      runs.set(op, (runs.get(op) ?? 0) + (await maintain(table, op)))
      if (prng.chance(0.6)) await evictDurableObject(table.object())
      await checked.check(prng, `seed ${SEED}, step ${step} after ${op}`)
    }

    for (const op of MAINTENANCE_OPS) if (op !== 'GC') expect(runs.get(op), op).toBeGreaterThan(0)
  })

  test('goes on when it is evicted amidst an op', { timeout: 120_000 }, async () => {
    const prng = new Prng(SEED + 1)
    const checked = new Checked(await aStoredTable('evicted amidst', COLUMNS))
    const { table } = checked
    await checked.write('INSERT', prng)
    for (let step = 0; step < 24; step++) {
      for (const operation of WRITES) await checked.write(operation, prng)
      const op = prng.pick(MAINTENANCE_OPS)
      const working = maintain(table, op).catch(() => 0)
      for (let wait = prng.below(4); wait > 0; wait--) await table.counters()
      await evictDurableObject(table.object())
      await working
      await checked.check(prng, `seed ${SEED}, step ${step} amidst ${op}`)
    }
    await maintain(table, 'GC')

    const { orphans } = await storedFilesOf(table.object())
    expect(orphans).toEqual([])
  })

  test('bills few rows for waking, and few for a point read behind it', async () => {
    const table = await aStoredTable('cold', COLUMNS)
    for (let part = 0; part < 5; part++) {
      const rows = Array.from({ length: 2000 }, (_, i): PlainRow => {
        const id = part * 2000 + i
        return [BigInt(id), `value ${id}`, id, `note ${id % 7}`]
      })
      mustOk(await table.write(rows))
      await maintain(table, 'FLUSH_MRS')
      const changed = rows.slice(0, 100).map(([id]): PlainRow => [id, 'changed'])
      mustOk(await table.write(changed, 'UPDATE'))
      await maintain(table, 'FLUSH_DMS')
    }
    const billed: number[] = []
    for (const id of [1n, 1999n, 5000n, 8050n, 9999n, 20_000n]) {
      await evictDurableObject(table.object())
      const woken = (await table.counters()).rowsRead
      const [row] = await table.lookupRows([[id]])
      billed.push((await table.counters()).rowsRead - woken)

      expect(woken).toBeLessThanOrEqual(10)
      expect(row === null).toBe(id === 20_000n)
    }

    expect(Math.max(...billed)).toBeLessThanOrEqual(5 + COLUMNS.length)
    expect(billed.at(-1)).toBeLessThanOrEqual(2)
  })

  test('comes to rest by its alarms alone: flushed, merged, and nothing left to do', {
    timeout: 60_000,
  }, async () => {
    const table = await aStoredTable('by itself')
    const large = 'x'.repeat(50_000)
    let now = Date.now()
    for (let part = 0; part < 4; part++) {
      const rows = Array.from({ length: 40 }, (_, i): PlainRow => [BigInt(i * 4 + part), large])
      mustOk(await table.write(rows))
      // A tablet that is left alone is flushed after a while.
      now += 40_000
      vi.useFakeTimers({ toFake: ['Date'], now })
      for (let rings = 0; rings < 20 && (await isDue(table)); rings++) {
        await runDurableObjectAlarm(table.object())
        if (rings === part) await evictDurableObject(table.object())
      }
    }
    const { rowsets, wal, mem_row_set_rows, live_row_count, maintenance } = await report(table)

    expect({ wal: wal.rows, mem_row_set_rows, live_row_count }).toEqual({
      wal: 0,
      mem_row_set_rows: 0,
      live_row_count: 160,
    })
    expect(rowsets.length).toBeGreaterThan(0)
    expect(rowsets.length).toBeLessThan(4)
    expect(maintenance.running).toEqual([])
    expect(maintenance.ops.filter(({ performance }) => performance > 0)).toEqual([])
    expect(await table.lookupRows([[0n], [159n], [160n]])).toEqual([
      [0n, large],
      [159n, large],
      null,
    ])
  })
})

/** Whether an alarm is set for now. */
function isDue(table: StoredTable): Promise<boolean> {
  return runInDurableObject(table.object(), async (_instance, { storage }) => {
    const alarm = await storage.getAlarm()
    return alarm !== null && alarm < Date.now() + 60_000
  })
}

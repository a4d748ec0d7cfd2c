import { describe, expect, test } from 'vitest'
import type { TableEntry } from '../../src/common/table.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import { OpenTable } from '../../src/router/open-table.ts'
import { ReadSession, TableReplaced } from '../../src/router/read-session.ts'
import { TableCache } from '../../src/router/table-cache.ts'
import { callContext } from '../../src/router/tablet-caller.ts'
import type { TabletAnswer } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'

const REF = { name: 't' }
const OK: TabletAnswer<string> = { kind: 'ok', clock: 1, value: 'rows' }
const STALE: TabletAnswer<string> = { kind: 'stale', clock: 1, tableVersion: 2 }
const UNINITIALIZED: TabletAnswer<string> = { kind: 'uninitialized', clock: 5 }

/** A read of a table, and what the catalog says of it when it is asked. */
class Reading {
  readonly session: ReadSession
  readonly table: TableEntry
  /** Ids of the tablets that were called, with the version they were told. */
  readonly calls: string[] = []
  catalogSays: TableEntry
  askedCount = 0

  constructor(isConfirmed = false) {
    const service = new LocalService({ seed: 2 })
    this.table = service.createTable(aNewTable('t', ['id INT64 KEY'], 3))
    this.catalogSays = this.table
    service.catalogStub.getTable = async () => {
      this.askedCount++
      return { ok: true, value: { table: this.catalogSays, initializedTabletIds: [] } }
    }
    const ports = service.front()
    const context = callContext(ports, new CallBudget())
    const table = new OpenTable(this.table)
    this.session = new ReadSession(context, new TableCache(ports), REF, table, isConfirmed)
  }

  call(index: number, ...answers: TabletAnswer<string>[]) {
    return this.session.call(index, async (_, { tabletId, tableVersion }) => {
      this.calls.push(
        `${this.table.tablets.findIndex((it) => it.tabletId === tabletId)} v${tableVersion}`,
      )
      return answers.shift() ?? OK
    })
  }
}

describe('ReadSession', () => {
  test('needs no word of the catalog once a tablet accepted the version', async () => {
    const reading = new Reading()

    expect((await reading.call(1)).value).toBe('rows')
    await reading.session.confirm()
    expect(reading.askedCount).toBe(0)
  })

  test('asks the catalog, once, when no tablet knows of the table', async () => {
    const reading = new Reading()

    expect(await reading.call(0, UNINITIALIZED)).toEqual({ value: null, clock: 5 })
    await reading.session.confirm()
    await reading.session.confirm()
    expect(reading.askedCount).toBe(1)
  })

  test('begins again when the table was altered before it began', async () => {
    const reading = new Reading()
    reading.catalogSays = { ...reading.table, version: 2 }

    await expect(reading.call(0, STALE)).rejects.toThrow(TableReplaced)
    await expect(new Promise((_, no) => reading.session.confirm().catch(no))).rejects.toThrow(
      TableReplaced,
    )
  })

  test('begins again when another table has the name', async () => {
    const reading = new Reading(true)
    reading.catalogSays = { ...reading.table, id: 'f'.repeat(32) }

    await expect(reading.call(0, { kind: 'dropped', clock: 1 })).rejects.toThrow(TableReplaced)
  })

  test('goes on when the table is altered while it runs, and finds tablets by id', async () => {
    const reading = new Reading()
    const [, ...left] = reading.table.tablets
    await reading.call(2)
    const partitionSchema = {
      ...reading.table.partitionSchema,
      hashSchema: [{ columnIds: [0], bucketCount: 2, seed: 0 }],
    }
    const tablets = left.map((tablet, bucket) => ({
      ...tablet,
      partition: { ...tablet.partition, hashBuckets: [bucket] },
    }))
    reading.catalogSays = { ...reading.table, version: 2, partitionSchema, tablets }

    expect((await reading.call(2, STALE)).value).toBe('rows')
    expect((await reading.call(1)).value).toBe('rows')
    expect(reading.calls).toEqual(['2 v1', '2 v1', '2 v2', '1 v2'])
    await expect(reading.call(0)).rejects.toMatchObject({ code: 'ILLEGAL_STATE' })
  })

  test('gives up on a table that changes all the time', async () => {
    const reading = new Reading(true)

    await expect(reading.call(0, STALE, STALE, STALE, STALE)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(reading.calls).toHaveLength(3)
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService, type LocalTablet } from '../support/local-service.ts'
import { RouterClient } from '../support/router-client.ts'

const SECOND = 1_000_000

describe('TabletMaintenance', () => {
  let service: LocalService
  let client: RouterClient
  let tablet: LocalTablet
  let tabletId: string

  beforeEach(async () => {
    service = new LocalService({ seed: 3 })
    const [entry] = service.createTable(aNewTable('t')).tablets
    tabletId = entry.tabletId
    tablet = service.tablet(tabletId)
    client = new RouterClient(service.front(), 't')
    await client.write('INSERT', rowsFrom(0, 1))
  })

  function rowsFrom(start: number, end: number, value = 'x') {
    return Array.from({ length: end - start }, (_, i) => ({ id: BigInt(start + i), value }))
  }

  function maintain(op: 'FLUSH_MRS' | 'COMPACT', requestId: string) {
    return tablet.maintain({ wire: WIRE_VERSION, tabletId, op, requestId })
  }

  async function counters() {
    const outcome = await tablet.counters()
    if (!outcome.ok) throw new Error(outcome.message)
    return outcome.value
  }

  test('sets no alarm while there is little to do', async () => {
    for (let op = 1; op < 200; op++) await client.write('INSERT', rowsFrom(op, op + 1))

    expect(tablet.alarmsSet).toBe(0)
  })

  test('sets one alarm for a load, and flushes when that is over', async () => {
    for (let op = 1; op < 300; op++) await client.write('INSERT', rowsFrom(op, op + 1))
    expect(tablet.alarmsSet).toBe(1)
    expect((await counters()).rowSetCount).toBe(0)
    await service.runAlarms(100 * SECOND)

    expect(await counters()).toMatchObject({ rowSetCount: 1, walBytes: 0, liveRowCount: 300 })
    expect((await client.scan()).rows).toHaveLength(300)
  })

  test('goes on after memory vanished, with the alarm that was set', async () => {
    for (let op = 1; op < 300; op++) await client.write('INSERT', rowsFrom(op, op + 1))
    tablet.evict()
    await service.runAlarms(100 * SECOND)

    expect(await counters()).toMatchObject({ rowSetCount: 1, liveRowCount: 300 })
  })

  test('lets writes in between the steps of an alarm', async () => {
    const large = 'x'.repeat(40_000)
    for (let part = 0; part < 5; part++) {
      await client.write('INSERT', rowsFrom(1000 + part * 20, 1020 + part * 20, large))
    }
    const ringing = service.runAlarms(100 * SECOND)
    for (let op = 1; op < 20; op++) await client.write('INSERT', rowsFrom(op, op + 1))
    await ringing

    expect((await client.scan({ columnIds: [0] })).rows).toHaveLength(120)
    expect(await counters()).toMatchObject({ rowSetCount: 1, liveRowCount: 120 })
  })

  test('answers who asked for an op when it is done', async () => {
    const done = await maintain('FLUSH_MRS', 'a')

    expect(done).toMatchObject({ ok: true, value: { isDone: true, runCount: 1, rowsOut: 1 } })
    expect(await maintain('FLUSH_MRS', 'a')).toEqual(done)
    expect(await maintain('FLUSH_MRS', 'b')).toMatchObject({ ok: true, value: { runCount: 0 } })
  })

  test('an op that was asked for is done by the alarm when the caller goes away', async () => {
    const pending = maintain('FLUSH_MRS', 'a')
    expect(tablet.alarmMs).toBe(null)
    await pending
    expect(tablet.alarmsSet).toBe(1)
  })

  test('does nothing in a tablet that was dropped, and sets no alarm', async () => {
    for (let op = 1; op < 300; op++) await client.write('INSERT', rowsFrom(op, op + 1))
    service.dropTable('t')
    await service.runAlarms(100 * SECOND)

    expect(tablet.alarmMs).toBe(null)
    expect(await maintain('COMPACT', 'a')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
  })
})

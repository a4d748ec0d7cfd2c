import { beforeEach, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/common/status.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import { type CallContext, callContext } from '../../src/router/tablet-caller.ts'
import { maintainTablet, tabletCounters, tabletStatus } from '../../src/router/tablet-care.ts'
import type { TabletStub } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { RouterClient } from '../support/router-client.ts'

describe('tablet care', () => {
  let service: LocalService
  let context: CallContext
  let written: string
  let empty: string

  beforeEach(async () => {
    service = new LocalService({ seed: 5 })
    const table = service.createTable(aNewTable('t', undefined, 2))
    const ports = service.front()
    context = callContext(ports, new CallBudget())
    await new RouterClient(ports, 't').write('INSERT', [{ id: 1n, value: 'x' }])
    const ids = table.tablets.map(({ tabletId }) => tabletId)
    written = ids.find((id) => service.tablets.has(id)) as string
    empty = ids.find((id) => id !== written) as string
  })

  /** The same calls, to a tablet that answers maintenance as told. */
  function answering(maintain: TabletStub['maintain']): CallContext {
    const stub = Object.assign(Object.create(service.tablet(written)), { maintain }) as TabletStub
    return callContext({ ...context.ports, tablet: () => stub }, new CallBudget())
  }

  test('maintainTablet runs an op and tells what it did', async () => {
    const did = { isDone: true, runCount: 1, rowSetsIn: 1, rowSetsOut: 1, rowsIn: 1, rowsOut: 1 }

    expect(await maintainTablet(context, written, 'FLUSH_MRS')).toMatchObject(did)
    expect(await maintainTablet(context, written, 'FLUSH_MRS')).toMatchObject({ runCount: 0 })
  })

  test('maintainTablet repeats its call until the op is done', async () => {
    const ids: string[] = []
    const patient = answering(async ({ requestId }) => {
      ids.push(requestId)
      const none = { rowSetsIn: 0, rowSetsOut: 0, rowsIn: 0, rowsOut: 0, bytesIn: 0, bytesOut: 0 }
      return { ok: true, value: { ...none, isDone: ids.length === 3, runCount: 1 } }
    })

    expect(await maintainTablet(patient, written, 'COMPACT')).toMatchObject({ isDone: true })
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
  })

  test('maintainTablet gives up on an op that takes too long', async () => {
    const patient = answering(async () => {
      service.time.micros += 100_000_000
      const none = { rowSetsIn: 0, rowSetsOut: 0, rowsIn: 0, rowsOut: 0, bytesIn: 0, bytesOut: 0 }
      return { ok: true, value: { ...none, isDone: false, runCount: 0 } }
    })

    await expect(maintainTablet(patient, written, 'COMPACT')).rejects.toMatchObject({
      code: 'TIMED_OUT',
      details: { tablet_id: written },
    })
  })

  test('goes on with an op when the object is reset in the middle', async () => {
    service.tablet(written).evict()

    expect(await maintainTablet(context, written, 'FLUSH_MRS')).toMatchObject({ runCount: 1 })
  })

  test('finds nothing where nothing was written', async () => {
    expect(await maintainTablet(context, empty, 'GC')).toBe(null)
    expect(await tabletStatus(context, empty)).toBe(null)
    expect(await tabletCounters(context, empty)).toMatchObject({ liveRowCount: 0, onDiskBytes: 0 })
  })

  test('tells the failure of a tablet with its id', async () => {
    service.dropTable('t')
    const failed = await tabletCounters(context, written).catch((error: StatusError) => error)

    expect(failed).toBeInstanceOf(StatusError)
    expect(failed).toMatchObject({ code: 'NOT_FOUND', details: { tablet_id: written } })
  })
})

import { describe, expect, test } from 'vitest'
import { StatusError } from '../../src/common/status.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { RouterClient } from '../support/router-client.ts'

const MIB = 1024 * 1024
const SECOND = 1_000_000
const ROW_BYTES = 2000

function aService(memoryBytesMax: number): LocalService {
  return new LocalService({ seed: 5, memoryBytesMax })
}

function aClient(service: LocalService, name: string, bucketCount = 1): RouterClient {
  service.createTable(aNewTable(name, undefined, bucketCount))
  return new RouterClient(service.front(), name)
}

/** Writes rows from `start` on that take about so many bytes. Returns: how many. */
async function fill(client: RouterClient, bytes: number, start = 0): Promise<number> {
  const value = 'x'.repeat(ROW_BYTES)
  const count = Math.ceil(bytes / ROW_BYTES)
  for (let row = 0; row < count; row += 100) {
    const length = Math.min(100, count - row)
    await client.write(
      'INSERT',
      Array.from({ length }, (_, i) => ({ id: BigInt(start + row + i), value })),
    )
  }
  return count
}

async function rowCountOf(client: RouterClient): Promise<number> {
  return (await client.scan({ columnIds: [0] })).rows.length
}

describe('Writes without a pause', () => {
  test('are not refused by one tablet, though its alarm never goes off', async () => {
    const service = aService(4 * MIB)
    const client = aClient(service, 't')
    const count = await fill(client, 12 * MIB)

    expect(service.accountant.heldBytes).toBeLessThan(4 * MIB)
    expect(await rowCountOf(client)).toBe(count)
  }, 60_000)

  test('are not refused by several tablets', async () => {
    const service = aService(6 * MIB)
    const client = aClient(service, 't', 5)
    const count = await fill(client, 16 * MIB)

    expect(service.accountant.heldBytes).toBeLessThan(6 * MIB)
    expect(await rowCountOf(client)).toBe(count)
  }, 60_000)

  test('go on where other tablets hold the memory, which are then asked to flush', async () => {
    const service = aService(6 * MIB)
    for (let other = 0; other < 7; other++) await fill(aClient(service, `idle${other}`), MIB / 2)
    const client = aClient(service, 't')
    const count = await fill(client, 8 * MIB)

    expect(service.reliefCount).toBeGreaterThan(0)
    expect(service.reliefCount).toBeLessThan(100)
    expect(service.accountant.heldBytes).toBeLessThan(4 * MIB)
    expect(await rowCountOf(client)).toBe(count)
  }, 60_000)

  test('go on where many tablets hold little each', async () => {
    const service = aService(2 * MIB)
    const value = 'x'.repeat(20_000)
    for (let other = 0; other < 60; other++) {
      await aClient(service, `idle${other}`).write('INSERT', [{ id: 1n, value }])
    }
    const client = aClient(service, 't')
    const count = await fill(client, 4 * MIB)

    expect(service.accountant.heldBytes).toBeLessThan(2 * MIB)
    expect(await rowCountOf(client)).toBe(count)
  }, 60_000)

  test('are refused for now when nothing can be flushed, and taken again when it can', async () => {
    const service = aService(3 * MIB)
    const client = aClient(service, 't')
    await client.write('INSERT', [{ id: 1_000_000n }])
    const [tablet] = service.tablets.values()
    const { store } = tablet
    const appendBlock = store.appendBlock.bind(store)
    store.appendBlock = () => {
      throw new StatusError('SERVICE_UNAVAILABLE', 'storage is full')
    }
    const refusal = await fill(client, 20 * MIB).catch((error: unknown) => error)

    expect(refusal).toBeInstanceOf(StatusError)
    expect(refusal).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { retryable: true } })
    const before = await rowCountOf(client)
    expect(before).toBeGreaterThan(500)
    store.appendBlock = appendBlock
    await service.runAlarms(120 * SECOND)
    const count = await fill(client, 6 * MIB, 100_000)
    expect(await rowCountOf(client)).toBe(before + count)
  }, 60_000)
})

describe('A tablet that wakes', () => {
  async function aTabletWithWork(opCount: number) {
    const service = aService(64 * MIB)
    const client = aClient(service, 't')
    for (let op = 0; op < opCount; op++) await client.write('INSERT', [{ id: BigInt(op) }])
    const [tablet] = service.tablets.values()
    return { service, client, tablet }
  }

  test('sets its alarm at the first read when its object fell before it did', async () => {
    const { service, client, tablet } = await aTabletWithWork(300)
    expect(tablet.alarmsSet).toBe(1)
    tablet.alarmMs = null
    tablet.evict()
    await client.scan()
    await client.scan()

    expect(tablet.alarmsSet).toBe(2)
    await service.runAlarms(100 * SECOND)
    const counters = await tablet.counters()
    expect(counters).toMatchObject({ ok: true, value: { rowSetCount: 1, walBytes: 0 } })
  })

  test('sets none when one is set, or nothing is due', async () => {
    const withWork = await aTabletWithWork(300)
    withWork.tablet.evict()
    await withWork.client.scan()
    const idle = await aTabletWithWork(3)
    idle.tablet.evict()
    await idle.client.scan()

    expect([withWork.tablet.alarmsSet, idle.tablet.alarmsSet]).toEqual([1, 0])
  })
})

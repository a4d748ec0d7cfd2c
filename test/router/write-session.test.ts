import { describe, expect, test } from 'vitest'
import { SHARE_ROW_COUNT_MAX } from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { type PlainRow, RouterClient } from '../support/router-client.ts'

const COLUMNS = ['id INT32 KEY', 'value STRING NULL']

function aService(buckets = 4): { service: LocalService; client: RouterClient } {
  const service = new LocalService({ seed: 7 })
  service.createTable(aNewTable('t', COLUMNS, buckets))
  return { service, client: new RouterClient(service.front(), 't') }
}

function rowsFrom(start: number, count: number, value = 'v'): PlainRow[] {
  return Array.from({ length: count }, (_, i) => ({ id: start + i, value }))
}

async function ids(client: RouterClient): Promise<number[]> {
  const { rows } = await client.scan({ order: 'ORDERED' })
  return rows.map((row) => Number(row.id))
}

describe('WriteSession', () => {
  test('adds up what all tablets say, and maps row numbers back', async () => {
    const { client } = aService()
    await client.write('INSERT', rowsFrom(10, 3))

    const session = await client.session()
    await session.add(await client.source('INSERT', rowsFrom(8, 8), 100))
    const summary = await session.finish()

    expect(summary).toMatchObject({ rows: 8, inserted: 5, failed: 3 })
    const errors = session.errors.errors()
    expect(errors.map((error) => error.row_index)).toEqual([102, 103, 104])
    expect(errors[0]).toMatchObject({ code: 'ALREADY_PRESENT', message: 'key already present' })
  })

  test('keeps the order of ops on one key over many shares', async () => {
    const { client } = aService(2)
    const session = await client.session()
    const count = SHARE_ROW_COUNT_MAX * 3
    for (let round = 0; round < 4; round++) {
      const rows = Array.from({ length: count / 4 }, (_, i) => ({
        id: i % 50,
        value: `${round} ${i}`,
      }))
      await session.add(await client.source('UPSERT', rows, (round * count) / 4))
    }
    const summary = await session.finish()

    expect(summary.upserted).toBe(count)
    const { rows } = await client.scan({ order: 'ORDERED' })
    const last = count / 4 - 1
    const expected = Array.from({ length: 50 }, (_, id) => `3 ${last - ((last - id) % 50)}`)
    expect(rows.map((row) => row.value)).toEqual(expected)
  })

  test('cuts the same shares however rows arrive, so that a keyed repeat is known', async () => {
    const { client } = aService(3)
    const rows = rowsFrom(0, SHARE_ROW_COUNT_MAX * 4, 'x'.repeat(90))
    const sizes = [rows.length, 1000, 77]
    const summaries = []
    for (const size of sizes) {
      const session = await client.session('table caller key')
      for (let from = 0; from < rows.length; from += size) {
        const piece = rows.slice(from, from + size)
        await session.add(await client.source('INSERT', piece, from))
      }
      summaries.push(await session.finish())
      expect(session.failure).toBeNull()
      expect(session.isReplayed).toBe(size !== rows.length)
    }

    expect(summaries[0]).toMatchObject({ inserted: rows.length, failed: 0 })
    expect(summaries[1]).toEqual(summaries[0])
    expect(summaries[2]).toEqual(summaries[0])
  })

  test('refuses the same key for other rows', async () => {
    const { client } = aService(1)
    await client.write('INSERT', rowsFrom(0, 2), 'key')

    const again = client.write('INSERT', rowsFrom(5, 2), 'key')

    await expect(again).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await ids(client)).toEqual([0, 1])
  })

  test.each(['before', 'after'] as const)(
    'applies a share once when the object is reset %s it was done',
    async (moment) => {
      const { service, client } = aService(1)
      await client.write('INSERT', rowsFrom(0, 1))
      for (const tablet of service.tablets.values()) tablet.resets = [moment]

      const summary = await client.write('INSERT', rowsFrom(1, 5))

      expect(summary).toMatchObject({ inserted: 5, failed: 0 })
      expect(await ids(client)).toEqual([0, 1, 2, 3, 4, 5])
    },
  )

  test('fails with INTERNAL when the object is always reset, says what is unknown', async () => {
    const { service, client } = aService(1)
    await client.write('INSERT', rowsFrom(0, 1))
    for (const tablet of service.tablets.values()) tablet.resets = ['before', 'before', 'after']

    const session = await client.session()
    await session.add(await client.source('INSERT', rowsFrom(1, 5)))
    await session.finish()

    expect(session.failure).toMatchObject({ code: 'INTERNAL' })
    expect(session.unknownCount).toBe(5)
    expect(session.appliedCount).toBe(0)
  })

  test('applies the shares of siblings when one tablet fails', async () => {
    const { service, client } = aService(4)
    await client.write('INSERT', rowsFrom(0, 40))
    const [failing] = service.tablets.values()
    failing.resets = ['before', 'before', 'before']

    const session = await client.session()
    await session.add(await client.source('INSERT', rowsFrom(40, 400)))
    await session.finish()

    expect(session.failure).toBeInstanceOf(StatusError)
    expect(session.appliedCount + session.unknownCount).toBe(400)
    expect(await ids(client)).toHaveLength(40 + session.appliedCount)
  })

  test('takes a refusal for lack of memory as it is: nothing of the share is unknown', async () => {
    const service = new LocalService({ seed: 3, memoryBytesMax: 100 })
    service.createTable(aNewTable('t', COLUMNS, 1))
    const client = new RouterClient(service.front(), 't')

    const session = await client.session()
    await session.add(await client.source('INSERT', rowsFrom(0, 100)))
    await session.finish()

    expect(session.failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(session.unknownCount).toBe(0)
  })

  test('says NOT_FOUND when the table is gone, ABORTED when another has its name', async () => {
    const { service, client } = aService(1)
    await client.write('INSERT', rowsFrom(0, 1))
    service.dropTable('t')

    await expect(client.write('INSERT', rowsFrom(1, 1))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })

    service.createTable(aNewTable('t', COLUMNS, 1))
    const late = await client.session()
    service.dropTable('t')
    service.createTable(aNewTable('t', COLUMNS, 1))
    await late.add(await client.source('INSERT', rowsFrom(1, 1)))
    await late.finish()
    expect(late.failure).toMatchObject({ code: 'ABORTED' })
  })

  test('reports rows that lie in no range and goes on with the rest', async () => {
    const service = new LocalService({ seed: 9 })
    const { columns, partitionSchema, ...rest } = aNewTable('t', COLUMNS, 1)
    const range = { lowerKey: '80000000', upperKey: '80000064', hashSchema: null }
    service.createTable({
      ...rest,
      columns,
      partitionSchema: { ...partitionSchema, rangeColumnIds: [0], ranges: [range] },
    })
    const client = new RouterClient(service.front(), 't')
    const session = await client.session()
    await session.add(await client.source('INSERT', rowsFrom(98, 4)))
    const summary = await session.finish()

    expect(summary).toMatchObject({ rows: 4, inserted: 2, failed: 2 })
    expect(session.errors.errors().map((error) => error.code)).toEqual(['NOT_FOUND', 'NOT_FOUND'])
  })
})

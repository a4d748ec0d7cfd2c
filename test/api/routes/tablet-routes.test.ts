import { beforeEach, describe, expect, test } from 'vitest'
import { LocalApp } from '../../support/local-app.ts'

const TABLE = {
  name: 't',
  schema: {
    columns: [
      { name: 'k', type: 'INT64', is_key: true },
      { name: 'v', type: 'STRING', is_nullable: true },
    ],
  },
  partition_schema: { hash_schema: [{ columns: ['k'], num_buckets: 4 }] },
}

describe('tablet routes', () => {
  let app: LocalApp

  beforeEach(async () => {
    app = new LocalApp()
    await app.must('POST', '', { body: TABLE })
  })

  function write(start: number, end: number) {
    const rows = Array.from({ length: end - start }, (_, i) => ({ k: start + i, v: 'x' }))
    return app.must('POST', '/t/rows', { body: { rows } })
  }

  async function tabletOf(k: number): Promise<string> {
    return (await app.must('POST', '/t/locate_row', { body: { row: { k } } })).tablet_id
  }

  async function tabletAt(path: string) {
    return (await app.send('GET', `/api/v1/tablets/${path}`)).json
  }

  describe('GET /tables/{table}/statistics', () => {
    test('counts nothing, and wakes no tablet, where nothing was written', async () => {
      const statistics = await app.must('GET', '/t/statistics')

      expect(statistics).toMatchObject({ live_row_count: 0, on_disk_size: 0 })
      expect(statistics.tablets).toHaveLength(4)
      expect(app.service.tablets.size).toBe(0)
    })

    test('counts the rows that are there, in memory and on disk', async () => {
      await write(0, 100)
      await app.must('POST', '/t/maintenance', { body: { op: 'FLUSH_MRS' } })
      await write(100, 120)
      await app.must('POST', '/t/rows', {
        body: { operation: 'DELETE', rows: [{ k: 0 }, { k: 110 }] },
      })
      const statistics = await app.must('GET', '/t/statistics')

      expect(statistics.live_row_count).toBe(118)
      expect(statistics.on_disk_size).toBeGreaterThan(1000)
      const { tablets } = statistics
      expect(tablets.map(({ rowset_count }: { rowset_count: number }) => rowset_count)).toEqual([
        1, 1, 1, 1,
      ])
      const { json } = await app.send('GET', '/api/v1/tables/t/tablets')
      expect(tablets.map((tablet: { tablet_id: string }) => tablet.tablet_id)).toEqual(
        json.tablets.map((tablet: { tablet_id: string }) => tablet.tablet_id),
      )
    })

    test('of a table that is not there is NOT_FOUND', async () => {
      expect((await app.send('GET', '/api/v1/tables/none/statistics')).status).toBe(404)
    })
  })

  describe('POST /tables/{table}/maintenance', () => {
    test('runs an op on every tablet, and tells what it did to each', async () => {
      await write(0, 100)
      const done = await app.must('POST', '/t/maintenance', { body: { op: 'flush_mrs' } })

      expect(done.op).toBe('FLUSH_MRS')
      expect(done.tablets).toHaveLength(4)
      const sum = done.tablets.reduce((n: number, it: { rows_out: number }) => n + it.rows_out, 0)
      expect(sum).toBe(100)
      for (const tablet of done.tablets) expect(tablet).toMatchObject({ op: 'FLUSH_MRS', runs: 1 })
      const { rows } = await app.must('POST', '/t/scan', { body: { order: 'ORDERED' } })
      expect(rows).toHaveLength(100)
    })

    test('does nothing to tablets that hold nothing', async () => {
      await write(0, 1)
      const done = await app.must('POST', '/t/maintenance', { body: { op: 'FLUSH_MRS' } })

      const runs = done.tablets.map((tablet: { runs: number }) => tablet.runs)
      expect(runs.toSorted()).toEqual([0, 0, 0, 1])
      expect(app.service.tablets.size).toBe(1)
    })

    test.each([
      [{}, 'op'],
      [{ op: 'VACUUM' }, 'FLUSH_MRS'],
      [{ op: 'GC', force: true }, 'force'],
    ])('refuses %j', async (body, named) => {
      const { status, json } = await app.send('POST', '/api/v1/tables/t/maintenance', { body })

      expect(status).toBe(400)
      expect(json.detail).toContain(named)
    })

    test('without a body is refused', async () => {
      expect((await app.send('POST', '/api/v1/tables/t/maintenance')).status).toBe(400)
    })
  })

  describe('GET /tablets/{tablet_id}', () => {
    test('shows what a tablet holds', async () => {
      await write(0, 100)
      const id = await tabletOf(0)
      const before = await tabletAt(id)
      await app.must('POST', '/t/maintenance', { body: { op: 'FLUSH_MRS' } })
      const after = await tabletAt(id)

      expect(before).toMatchObject({ tablet_id: id, version: 1, rowsets: [] })
      expect(before.partition.hash_buckets).toHaveLength(1)
      expect(before.mem_row_set_rows).toBe(before.live_row_count)
      expect(after).toMatchObject({
        live_row_count: before.live_row_count,
        mem_row_set_rows: 0,
        average_rowset_height: 1,
        wal: { rows: 0 },
      })
      expect(after.rowsets[0].lower_key).toMatch(/^[0-9a-f]{16}$/)
      expect(after.maintenance.last_runs[0]).toMatchObject({ op: 'FLUSH_MRS', failure: null })
    })

    test('takes an id in capitals', async () => {
      await write(0, 100)
      const id = await tabletOf(0)

      expect((await tabletAt(id.toUpperCase())).tablet_id).toBe(id)
    })

    test('of a tablet that nothing was written to is NOT_FOUND', async () => {
      const { status, json } = await app.send('GET', `/api/v1/tablets/${await tabletOf(0)}`)

      expect(status).toBe(404)
      expect(json.detail).toContain('nothing was ever written')
    })

    test.each(['x', '%ff', '0'.repeat(33)])('with %s for an id is refused', async (id) => {
      expect((await app.send('GET', `/api/v1/tablets/${id}`)).status).toBe(400)
      expect(app.service.tablets.size).toBe(0)
    })

    test('of a dropped table is NOT_FOUND', async () => {
      await write(0, 100)
      const id = await tabletOf(0)
      await app.send('DELETE', '/api/v1/tables/t')

      expect((await app.send('GET', `/api/v1/tablets/${id}`)).status).toBe(404)
    })
  })

  describe('POST /tablets/{tablet_id}/maintenance', () => {
    test('runs an op on one tablet', async () => {
      await write(0, 100)
      const id = await tabletOf(0)
      const path = `/api/v1/tablets/${id}/maintenance`
      const { json } = await app.send('POST', path, { body: { op: 'FLUSH_MRS' } })
      const statistics = await app.must('GET', '/t/statistics')

      expect(json).toMatchObject({ tablet_id: id, op: 'FLUSH_MRS', runs: 1, rowsets_out: 1 })
      const flushed = statistics.tablets.filter(
        ({ rowset_count }: { rowset_count: number }) => rowset_count > 0,
      )
      expect(flushed).toMatchObject([{ tablet_id: id }])
    })

    test('makes one rowset of several, and leaves the rows as they are', async () => {
      const id = await tabletOf(0)
      const path = `/api/v1/tablets/${id}/maintenance`
      for (let flush = 0; flush < 3; flush++) {
        const rows = Array.from({ length: 40 }, (_, i) => ({ k: i * 3 + flush, v: 'x' }))
        await app.must('POST', '/t/rows', { body: { rows } })
        await app.send('POST', path, { body: { op: 'FLUSH_MRS' } })
      }
      const { json } = await app.send('POST', path, { body: { op: 'COMPACT' } })
      const { rowsets } = await tabletAt(id)

      expect(json).toMatchObject({ op: 'COMPACT', rowsets_in: 3, rowsets_out: 1 })
      expect(rowsets).toHaveLength(1)
      expect((await app.must('POST', '/t/scan', { body: {} })).rows).toHaveLength(120)
    })
  })

  test('are for the administrator', async () => {
    const guarded = new LocalApp({ adminToken: 'secret', isAuthDisabled: false })
    for (const [method, path] of [
      ['GET', '/api/v1/tables/t/statistics'],
      ['GET', `/api/v1/tablets/${'0'.repeat(32)}`],
      ['POST', `/api/v1/tablets/${'0'.repeat(32)}/maintenance`],
      ['POST', '/api/v1/tables/t/maintenance'],
    ]) {
      const body = method === 'POST' ? { body: { op: 'GC' } } : {}
      expect((await guarded.send(method, path, body)).status).toBe(401)
    }
  })
})

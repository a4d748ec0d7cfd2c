import { beforeEach, describe, expect, test } from 'vitest'
import { PAGE_SKIPS } from '../../src/common/scan-stats.ts'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalApp } from '../support/local-app.ts'
import { LocalService } from '../support/local-service.ts'

interface ColumnJson {
  readonly column: string
  readonly pages: number
  readonly pages_read: number
  readonly pages_from_cache: number
  readonly pages_skipped: Record<string, number>
  readonly bytes_decoded: number
}

const ROW_COUNT = 12_000
let app: LocalApp
let flushCount = 0

async function insert(start: number, end: number, hosts = ['a']): Promise<void> {
  const rows = Array.from({ length: end - start }, (_, i) => {
    const id = start + i
    return { host: hosts[id % hosts.length], id, v: id, text: `t${id % 3}` }
  })
  await app.must('POST', '/t/rows', { body: { rows } })
}

/** Flushes what every tablet has in memory. */
async function flush(): Promise<void> {
  for (const [tabletId, tablet] of app.service.tablets) {
    const requestId = `flush ${++flushCount}`
    const call = { wire: WIRE_VERSION, tabletId, op: 'FLUSH_MRS', requestId } as const
    for (;;) {
      const outcome = await tablet.maintain(call)
      if (!outcome.ok) throw new Error(outcome.message)
      if (outcome.value?.isDone !== false) break
    }
  }
}

const analyze = (body: object = {}) => {
  return app.must('POST', '/t/scan', { body: { ...body, analyze: true } })
}

function columnOf(tablet: { columns: ColumnJson[] }, name: string): ColumnJson {
  const column = tablet.columns.find((it) => it.column === name)
  if (column === undefined) throw new Error(`no statistics of ${name}`)
  const skipped = PAGE_SKIPS.reduce((sum, skip) => sum + column.pages_skipped[skip], 0)
  expect(column.pages_read + skipped).toBe(column.pages)
  return column
}

beforeEach(() => {
  app = new LocalApp({}, new LocalService({ seed: 1 }))
})

function makeTable(bucketCount: number): void {
  const columns = ['host STRING KEY', 'id INT32 KEY', 'v INT32', 'text STRING']
  app.makeTable(aNewTable('t', columns, bucketCount))
}

describe('analyze', () => {
  test('tells what was read and what was left out', async () => {
    makeTable(1)
    await insert(0, ROW_COUNT)
    await flush()
    await insert(ROW_COUNT, ROW_COUNT + 10)

    const predicates = [{ column: 'v', op: '<', value: 100 }]
    const answer = await analyze({ columns: ['id'], predicates })

    expect(answer.tablets.length).toBe(1)
    const [tablet] = answer.tablets
    expect(tablet).toMatchObject({
      tablet_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      rowsets: {
        total: 2,
        read: 2,
        skipped: { key_bounds: 0, bloom_filter: 0, key_list: 0, unchanged: 0 },
      },
      rows_returned: 100,
      rows_scanned: 4096 + 10,
    })
    expect(columnOf(tablet, 'v')).toMatchObject({
      pages: 3,
      pages_read: 1,
      pages_skipped: { key_bounds: 0, zone_map: 2, no_rows_left: 0 },
    })
    expect(columnOf(tablet, 'id')).toMatchObject({ pages: 3, pages_read: 1 })
    expect(tablet.billed_rows_read).toBeGreaterThan(0)
    expect(tablet.bytes_decoded).toBeGreaterThan(0)
    const { tablets: _, snapshot_timestamp, ...rest } = answer
    const explained = await app.must('POST', '/t/scan', {
      body: { columns: ['id'], predicates, explain: true },
    })
    const { tablets: __, ...explanation } = explained
    expect(rest).toEqual(explanation)
    expect(snapshot_timestamp).toBeGreaterThan(0)
  })

  test('takes the token of a page of the same rows, and no other', async () => {
    makeTable(2)
    await insert(0, 100)
    const scan = { columns: ['id'], order: 'ORDERED' }
    const { next_page_token: token } = await app.must('POST', '/t/scan', {
      body: { ...scan, page_size: 10 },
    })
    const explained = await app.must('POST', '/t/scan', {
      body: { ...scan, page_token: token, explain: true },
    })
    expect(explained).toMatchObject({ tablets_total: 2 })
    for (const body of [
      { ...scan, page_token: 'a', explain: true },
      { columns: ['text'], order: 'ORDERED', page_token: token, explain: true },
    ]) {
      const answer = await app.send('POST', '/api/v1/tables/t/scan', { body })
      expect(answer.status).toBe(400)
    }
  })

  test('tells of key bounds, and of pages of rowsets that are left out by them', async () => {
    makeTable(1)
    await insert(0, ROW_COUNT)
    await flush()
    await insert(2 * ROW_COUNT, 2 * ROW_COUNT + 5000)
    await flush()
    const key = (id: number) => ({ host: 'a', id })
    const bounds = { primary_key_lower: key(5000), primary_key_upper: key(5010) }

    const [tablet] = (await analyze({ ...bounds, columns: ['text'] })).tablets

    expect(tablet).toMatchObject({
      rowsets: { total: 2, read: 1, skipped: { key_bounds: 1 } },
      rows_returned: 10,
      key_pages_read: 2,
    })
    expect(columnOf(tablet, 'text')).toMatchObject({
      pages: 5,
      pages_read: 1,
      pages_skipped: { key_bounds: 4, zone_map: 0, no_rows_left: 0 },
    })
  })

  test('tells of one key, of Bloom filters and of lists on later key columns', async () => {
    makeTable(1)
    await insert(0, 3000)
    await flush()
    await insert(3001, 6000)
    await flush()
    const one = (id: number) => [
      { column: 'host', op: '=', value: 'a' },
      { column: 'id', op: '=', value: id },
    ]

    const [there] = (await analyze({ predicates: one(17) })).tablets
    expect(there).toMatchObject({
      rowsets: { total: 2, read: 1, skipped: { key_bounds: 1 } },
      rows_scanned: 1,
      rows_returned: 1,
      key_pages_read: 1,
    })
    expect(there.columns.map((it: ColumnJson) => [it.column, it.pages_read])).toEqual([
      ['host', 1],
      ['id', 1],
      ['v', 1],
      ['text', 1],
    ])
    await insert(2500, 2501)
    const [absent] = (await analyze({ predicates: one(3000) })).tablets
    expect(absent.rows_returned).toBe(0)
    const list = [{ column: 'id', op: 'IN', values: [1, 2, 2999] }]
    expect((await analyze({ predicates: list })).tablets[0]).toMatchObject({
      rowsets: { total: 2, read: 1, skipped: { key_list: 1 } },
      rows_returned: 3,
    })
  })

  test('tells of every tablet at one snapshot', async () => {
    makeTable(4)
    const hosts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    await insert(0, 800, hosts)
    await flush()

    const answer = await app.send('POST', '/api/v1/tables/t/scan', { body: { analyze: true } })
    const { tablets, snapshot_timestamp } = answer.json
    await insert(800, 1600, hosts)
    const body = { analyze: true, snapshot_timestamp }
    const again = await app.must('POST', '/t/scan', { body })

    const returned = (all: { rows_returned?: number }[]) => {
      return all.reduce((sum, it) => sum + (it.rows_returned ?? 0), 0)
    }
    expect(tablets.length).toBe(4)
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(snapshot_timestamp))
    expect([returned(tablets), returned(again.tablets)]).toEqual([800, 800])
    expect(again.snapshot_timestamp).toBe(snapshot_timestamp)
    expect(returned((await analyze()).tablets)).toBe(1600)
  })

  test('stops at the limit, as the scan would', async () => {
    makeTable(4)
    await insert(0, 800, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])

    const returned = async (body: object) => {
      const { tablets } = await analyze(body)
      return tablets.map((it: { rows_returned?: number }) => it.rows_returned)
    }
    const all: number[] = await returned({})
    expect(await returned({ limit: all[0] + 3 })).toEqual([all[0], 3, undefined, undefined])
    expect(await returned({ limit: 0 })).toEqual([])
    const merged = await returned({ limit: 5, order: 'DESCENDING' })
    expect(merged).toEqual(all.map((count) => Math.min(count, 5)))
  })

  test('tells nothing of tablets that no write ever reached', async () => {
    makeTable(4)
    await insert(0, 10)

    const { tablets } = await analyze()

    expect(tablets.length).toBe(4)
    const totals = tablets.map((it: { rowsets?: { total: number } }) => it.rowsets?.total ?? 0)
    expect(totals.sort()).toEqual([0, 0, 0, 1])
  })

  test('works with diffs', async () => {
    makeTable(1)
    await insert(0, 100)
    await flush()
    const { snapshot_timestamp } = await analyze()
    await insert(100, 103)

    const [tablet] = (await analyze({ diff_from: snapshot_timestamp })).tablets

    expect(tablet.rows_returned).toBe(3)
  })

  test('lets writes in, goes on after resets, and reads what its snapshot shows', async () => {
    const service = new LocalService({ seed: 5, evictChance: 0.2 })
    app = new LocalApp({}, service)
    makeTable(1)
    await insert(0, ROW_COUNT)
    await flush()

    const [answers] = await Promise.all([
      Promise.all([analyze(), analyze(), analyze()]),
      insert(ROW_COUNT, ROW_COUNT + 50),
    ])

    for (const { tablets } of answers) {
      expect([ROW_COUNT, ROW_COUNT + 50]).toContain(tablets[0].rows_returned)
    }
  })
})

import { exports } from 'cloudflare:workers'
import { tableFromArrays, tableFromIPC, tableToIPC, utf8 } from '@uwdata/flechette'
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, describe, expect, test } from 'vitest'
import { MAINTENANCE_OPS } from '../../src/common/maintenance-op.ts'
import { Prng } from '../../src/util/prng.ts'
import { RestClient } from '../support/rest-client.ts'

const SEED = 20_261_114
const ARROW = 'application/vnd.apache.arrow.stream'
const PARQUET = 'application/vnd.apache.parquet'
const ROW_COUNT = 600

interface Row {
  readonly id: number
  readonly kind: string
  readonly amount: number | null
}

const client = new RestClient('http://localhost', {}, (url, init) =>
  exports.default.fetch(url, init),
)

function rowOf(id: number): Row {
  return { id, kind: `kind ${id % 7}`, amount: id % 5 === 0 ? null : id * 1000 }
}

function rowsOf(start: number, end: number): Row[] {
  return Array.from({ length: end - start }, (_, i) => rowOf(start + i))
}

/** A table of three tablets. */
async function makeTable(name: string): Promise<void> {
  await client.must('POST', '/tables', {
    name,
    schema: {
      columns: [
        { name: 'id', type: 'INT32', is_key: true },
        { name: 'kind', type: 'STRING' },
        { name: 'amount', type: 'INT64', is_nullable: true },
      ],
    },
    partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: 3 }] },
  })
}

function maintain(table: string, op: string): Promise<unknown> {
  return client.must('POST', `/tables/${table}/maintenance`, { op })
}

// biome-ignore lint/suspicious/noExplicitAny: answers have the shape of their request.
function post(path: string, body: object): Promise<any> {
  return client.must('POST', `/tables/${path}`, body)
}

async function scanAs(accept: string): Promise<Response> {
  const body = { order: 'ORDERED', columns: ['id', 'kind', 'amount'] }
  const response = await client.open('POST', '/tables/filled/scan', body, { accept })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain(accept)
  return response
}

/** Rows as they are where INT64 is a bigint. */
function plainRows(rows: readonly Record<string, unknown>[]): Row[] {
  return rows.map(({ id, kind, amount }) => {
    return { id: Number(id), kind: String(kind), amount: amount === null ? null : Number(amount) }
  })
}

/** Half of the rows are in files, a quarter in another file, and the rest in memory. */
beforeAll(async () => {
  await makeTable('filled')
  await post('filled/rows', { rows: rowsOf(0, 300) })
  await maintain('filled', 'FLUSH_MRS')
  await post('filled/rows', { rows: rowsOf(300, 450) })
  await maintain('filled', 'FLUSH_MRS')
  await post('filled/rows', { rows: rowsOf(450, ROW_COUNT) })
}, 60_000)

describe('REST on real objects', () => {
  test('scans in every format, what is in files and in memory', async () => {
    const rows = rowsOf(0, ROW_COUNT)
    const lines = (await (await scanAs('application/x-ndjson')).text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)

    const csv = await (await scanAs('text/csv')).text()
    const texts = rows.map(({ id, kind, amount }) => `${id},${kind},${amount ?? ''}\n`)
    expect(csv).toBe(`id,kind,amount\n${texts.join('')}`)

    const arrow = tableFromIPC(await (await scanAs(ARROW)).arrayBuffer())
    expect(plainRows(arrow.toArray() as Record<string, unknown>[])).toEqual(rows)

    const file = await (await scanAs(PARQUET)).arrayBuffer()
    expect(plainRows(await parquetReadObjects({ file }))).toEqual(rows)
    expect((await post('filled/scan', { order: 'ORDERED' })).rows).toEqual(rows)
  })

  test('aggregates, in every format', async () => {
    const body = {
      group_by: ['kind'],
      aggregates: [{ op: 'COUNT' }, { op: 'SUM', column: 'amount', as: 'total' }],
      predicates: [{ column: 'id', op: '>=', value: 100 }],
    }
    const groups = new Map<string, { kind: string; count: number; total: number }>()
    for (const { kind, amount } of rowsOf(100, ROW_COUNT)) {
      const group = groups.get(kind) ?? { kind, count: 0, total: 0 }
      groups.set(kind, group)
      group.count++
      group.total += amount ?? 0
    }
    const expected = [...groups.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1))

    expect((await post('filled/aggregate', body)).rows).toEqual(expected)
    const send = (accept: string) =>
      client.open('POST', '/tables/filled/aggregate', body, { accept })
    const arrow = tableFromIPC(await (await send(ARROW)).arrayBuffer())
    const file = await (await send(PARQUET)).arrayBuffer()
    for (const found of [arrow.toArray(), await parquetReadObjects({ file })]) {
      const shown = (found as Record<string, unknown>[]).map(({ kind, count, total }) => {
        return { kind, count: Number(count), total: Number(total) }
      })
      expect(shown).toEqual(expected)
    }
  })

  test('analyzes a scan', async () => {
    const predicates = [{ column: 'id', op: '<', value: 100 }]
    const answer = await post('filled/scan', { predicates, analyze: true })

    expect(answer.tablets).toHaveLength(3)
    expect(JSON.stringify(answer)).toContain('pages')
  })

  test('cuts a scan into tokens, which together give its rows', async () => {
    const { tokens } = await post('filled/scan_tokens', { target_bytes: 1024 })
    expect(tokens.length).toBeGreaterThan(3)
    const rows: Row[] = []
    for (const { scan_token: token } of tokens) {
      rows.push(...(await post('filled/scan', { scan_token: token, page_size: 10_000 })).rows)
    }

    expect(rows.sort((a, b) => a.id - b.id)).toEqual(rowsOf(0, ROW_COUNT))
  })

  test('takes Arrow, deletes by predicates, and tells what has changed since', async () => {
    await makeTable('changed')
    const ids = Array.from({ length: 300 }, (_, id) => id)
    const sent = tableFromArrays(
      {
        id: Int32Array.from(ids),
        kind: ids.map((id) => rowOf(id).kind),
        amount: ids.map((id) => rowOf(id).amount),
      },
      { types: { kind: utf8() } },
    )
    const body = tableToIPC(sent, { format: 'stream' })
    if (body === null) throw new Error('the table was not encoded')
    const headers = { 'content-type': ARROW }
    const written = await client.send('POST', '/tables/changed/rows', body, headers)
    expect(written.json).toMatchObject({ rows: 300, inserted: 300, failed: 0 })
    await maintain('changed', 'FLUSH_MRS')
    const { snapshot_timestamp: before } = await post('changed/scan', { limit: 1 })

    const predicates = [{ column: 'id', op: '<', value: 40 }]
    const deleted = await post('changed/rows/delete', { predicates })
    expect(deleted.deleted).toBe(40)
    await post('changed/rows', {
      operations: [{ operation: 'UPDATE', row: { id: 50, kind: 'new' } }],
    })
    await maintain('changed', 'FLUSH_DMS')
    await post('changed/rows', { rows: [rowOf(900)] })
    const diff = { diff_from: before, columns: ['id', 'kind'] }
    const expected = [
      ...ids.slice(0, 40).map((id) => ({ id, kind: null, is_deleted: true })),
      { id: 50, kind: 'new', is_deleted: false },
      { id: 900, kind: rowOf(900).kind, is_deleted: false },
    ]
    expect((await post('changed/scan', diff)).rows).toEqual(expected)
    expect(await client.scanStream('changed', diff)).toEqual(expected)
    expect((await post('changed/scan', { order: 'ORDERED', page_size: 1000 })).rows).toHaveLength(
      261,
    )
  })

  for (const order of ['UNORDERED', 'ORDERED', 'DESCENDING']) {
    test(`walks 100 pages of one snapshot whatever happens between, ${order} (seed ${SEED})`, {
      timeout: 60_000,
    }, async () => {
      const table = `walked ${order}`
      const path = encodeURIComponent(table)
      const prng = new Prng(SEED)
      await makeTable(table)
      await post(`${path}/rows`, { rows: rowsOf(0, 500) })
      await maintain(path, 'FLUSH_MRS')
      await post(`${path}/rows`, { rows: rowsOf(500, ROW_COUNT) })
      const scan = { order, page_size: ROW_COUNT / 100 }
      let page = await post(`${path}/scan`, scan)
      const found: Row[] = [...page.rows]
      let pageCount = 1
      for (; page.next_page_token !== undefined; pageCount++) {
        const id = prng.below(ROW_COUNT + 100)
        const changes = [
          { operation: 'UPSERT', row: { ...rowOf(id), kind: `changed ${pageCount}` } },
          { operation: 'DELETE_IGNORE', row: { id: prng.below(ROW_COUNT) } },
        ]
        await post(`${path}/rows`, { operations: changes })
        if (pageCount % 6 === 0)
          await maintain(path, MAINTENANCE_OPS[(pageCount / 6) % MAINTENANCE_OPS.length])
        const { snapshot_timestamp: snapshot } = page
        page = await post(`${path}/scan`, { ...scan, page_token: page.next_page_token })
        expect(page.snapshot_timestamp).toBe(snapshot)
        found.push(...page.rows)
      }

      expect(pageCount).toBeGreaterThanOrEqual(100)
      const expected = rowsOf(0, ROW_COUNT)
      if (order === 'DESCENDING') expected.reverse()
      if (order === 'UNORDERED') found.sort((a, b) => a.id - b.id)
      expect(found, `seed ${SEED}`).toEqual(expected)
    })
  }
})

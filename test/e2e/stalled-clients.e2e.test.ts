import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BenchService, startService } from '../../bench/support/service.ts'
import { RestClient } from '../support/rest-client.ts'

const MIB = 2 ** 20
const NDJSON = 'application/x-ndjson'
const ROW_COUNT = 60_000
const WRITE_ROW_COUNT = 20_000
const TABLET_COUNT = 4
/** Rows of about 700 bytes, more than 40 MB in all. */
const TEXT = 'wide '.repeat(130)
const HEAP_GROWTH_MAX = 32 * MIB

let service: BenchService
let client: RestClient

beforeAll(async () => {
  service = await startService()
  client = new RestClient(service.address)
  await client.must('POST', '/tables', {
    name: 'wide',
    schema: {
      columns: [
        { name: 'id', type: 'INT32', is_key: true },
        { name: 'text', type: 'STRING', encoding: 'PLAIN_ENCODING', compression: 'NO_COMPRESSION' },
      ],
    },
    partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: TABLET_COUNT }] },
  })
  for (let start = 0; start < ROW_COUNT; start += WRITE_ROW_COUNT) {
    const lines = Array.from({ length: WRITE_ROW_COUNT }, (_, i) => {
      return `{"id":${start + i},"text":"${start + i} ${TEXT}"}`
    })
    const headers = { 'content-type': NDJSON }
    const answer = await client.send('POST', '/tables/wide/rows', lines.join('\n'), headers)
    expect(answer.json).toMatchObject({ inserted: WRITE_ROW_COUNT })
  }
  await client.must('POST', '/tables/wide/maintenance', { op: 'FLUSH_MRS' })
}, 120_000)

afterAll(async () => {
  await service.close()
})

/** Rows of storage that the table's tablets have read. */
async function rowsRead(): Promise<number> {
  const { tablets } = await client.must('GET', '/tables/wide/tablets')
  let count = 0
  for (const { tablet_id: id } of tablets) {
    count += (await client.must('GET', `/tablets/${id}`)).billed_rows_read
  }
  return count
}

/** Waits until no tablet reads any more. */
async function untilAtRest(): Promise<number> {
  let last = await rowsRead()
  await vi.waitUntil(
    async () => {
      const before = last
      last = await rowsRead()
      return last === before
    },
    { interval: 150, timeout: 15_000 },
  )
  return last
}

/** Opens a scan of everything and reads its first bytes. */
async function openScan(order: string): Promise<IncomingMessage> {
  const url = `${service.address}/api/v1/tables/wide/rows?order=${order}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: NDJSON }, agent: false }, resolve).on('error', reject)
  })
  expect(response.statusCode).toBe(200)
  await new Promise((resolve) => response.once('readable', resolve))
  return response
}

async function countLines(response: IncomingMessage): Promise<number> {
  let count = 0
  for await (const chunk of response) for (const byte of chunk) if (byte === 10) count++
  return count
}

describe('a client that stops reading', () => {
  for (const order of ['UNORDERED', 'ORDERED']) {
    test(`halts the tablets of a scan, ${order}, and all rows come once it goes on`, async () => {
      const [before, heapBefore] = [await untilAtRest(), await service.heapBytes()]
      const response = await openScan(order)
      const stalled = (await untilAtRest()) - before
      const heapGrowth = (await service.heapBytes()) - heapBefore
      const count = await countLines(response)
      const whole = (await untilAtRest()) - before

      expect(count).toBe(ROW_COUNT)
      expect(stalled).toBeGreaterThan(0)
      expect(stalled / whole).toBeLessThan(0.3)
      expect(heapGrowth, `${heapGrowth / MIB} MiB`).toBeLessThan(HEAP_GROWTH_MAX)
    })
  }
})

describe('a client that goes away', () => {
  test('amidst scans leaves nothing in memory', async () => {
    const heapBefore = await service.heapBytes()
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, i) => openScan(i % 2 === 0 ? 'ORDERED' : 'UNORDERED')),
    )
    await untilAtRest()
    const during = (await service.heapBytes()) - heapBefore
    expect(during).toBeGreaterThan(10 * MIB)
    for (const response of responses) response.destroy()
    await vi.waitFor(
      async () => {
        const growth = (await service.heapBytes()) - heapBefore
        expect(growth).toBeLessThan(2 * MIB)
      },
      { interval: 100, timeout: 15_000 },
    )
  })
})

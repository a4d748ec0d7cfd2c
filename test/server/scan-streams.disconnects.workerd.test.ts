import { exports } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AggregateRun } from '../../src/tablet/aggregate/aggregate-run.ts'
import { NOTHING_HELD, ResourceWatch } from '../support/resource-watch.ts'
import { RestClient } from '../support/rest-client.ts'

const ROW_COUNT = 12_000
const TEXT = 'x'.repeat(1000)
const ACCEPTS = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
}

const client = new RestClient('http://localhost', {}, (url, init) =>
  exports.default.fetch(url, init),
)
let watch: ResourceWatch

/** A table of several megabytes in each of three tablets, in files. */
beforeAll(async () => {
  await client.must('POST', '/tables', {
    name: 'wide',
    schema: {
      columns: [
        { name: 'id', type: 'INT32', is_key: true },
        { name: 'text', type: 'STRING' },
      ],
    },
    partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: 3 }] },
  })
  const lines = Array.from({ length: ROW_COUNT }, (_, id) => `{"id":${id},"text":"${id}${TEXT}"}`)
  const headers = { 'content-type': 'application/x-ndjson' }
  const written = await client.send('POST', '/tables/wide/rows', lines.join('\n'), headers)
  expect(written.json).toMatchObject({ inserted: ROW_COUNT })
  await client.must('POST', '/tables/wide/maintenance', { op: 'FLUSH_MRS' })
  watch = new ResourceWatch()
}, 60_000)

afterAll(() => {
  vi.restoreAllMocks()
})

function untilFree(): Promise<void> {
  return vi.waitFor(() => expect(watch.held).toEqual(NOTHING_HELD), { timeout: 5000 })
}

/** Reads until a tablet has opened a stream, and leaves what else there is. */
async function beginReading(response: Response): Promise<ReadableStreamDefaultReader> {
  const reader = response.body!.getReader()
  const before = watch.streamCount
  const isOpen = () => watch.held.streams > 0 || watch.streamCount > before
  const pump = async () => {
    while (!isOpen() && !(await reader.read()).done);
  }
  pump().catch(() => undefined)
  await vi.waitFor(() => expect(isOpen()).toBe(true), { interval: 1, timeout: 5000 })
  return reader
}

/** Sends a request, and goes away as soon as `isAmidst`. */
async function abandon(path: string, body: object, isAmidst: () => boolean): Promise<void> {
  const leave = new AbortController()
  const answer = client.open('POST', path, body, {}, leave.signal)
  answer.catch(() => undefined)
  await vi.waitFor(() => expect(isAmidst()).toBe(true), { interval: 1, timeout: 5000 })
  expect(watch.held.files).toBeGreaterThan(0)
  leave.abort()
  await expect(answer).rejects.toThrow()
}

describe('a client that goes away', () => {
  for (const [format, accept] of Object.entries(ACCEPTS)) {
    for (const order of ['UNORDERED', 'ORDERED', 'DESCENDING']) {
      test(`amidst ${format}, ${order}, leaves nothing held`, async () => {
        const response = await client.open('POST', '/tables/wide/scan', { order }, { accept })
        expect(response.status).toBe(200)
        const reader = await beginReading(response)
        if (format !== 'parquet') expect(watch.held.files).toBeGreaterThan(0)
        if (format === 'arrow') expect(watch.held.frontBytes).toBeGreaterThan(0)
        await reader.cancel('enough')
        await untilFree()
      })
    }
  }

  test('behind a page leaves nothing held', async () => {
    const page = await client.must('POST', '/tables/wide/scan', { page_size: 10 })
    expect(page.rows).toHaveLength(10)
    expect(watch.held).toEqual(NOTHING_HELD)
  })

  test('amidst an aggregation leaves nothing held', async () => {
    const { step } = AggregateRun.prototype
    let isHeld = true
    const steps = vi.spyOn(AggregateRun.prototype, 'step').mockImplementation(function (
      this: AggregateRun,
    ) {
      return isHeld || step.call(this)
    })
    const sum = { aggregates: [{ op: 'MAX', column: 'text' }] }
    await abandon('/tables/wide/aggregate', sum, () => steps.mock.calls.length > 10)
    isHeld = false
    await untilFree()
    steps.mockRestore()
  })

  test('amidst an analysis leaves nothing held', async () => {
    const wait = scheduler.wait.bind(scheduler)
    let isHeld = true
    const waits = vi.spyOn(scheduler, 'wait').mockImplementation(async () => {
      do await wait(1)
      while (isHeld)
    })
    await abandon('/tables/wide/scan', { analyze: true }, () => waits.mock.calls.length > 0)
    isHeld = false
    await untilFree()
    waits.mockRestore()
  })
})

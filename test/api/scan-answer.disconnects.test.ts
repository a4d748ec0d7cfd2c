import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MAINTENANCE_OPS } from '../../src/common/maintenance-op.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalApp } from '../support/local-app.ts'
import { NUMBERED_COLUMNS, numberedRows } from '../support/numbered-rows.ts'
import { NOTHING_HELD, ResourceWatch } from '../support/resource-watch.ts'

const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet']
const ORDERS = ['UNORDERED', 'ORDERED', 'DESCENDING']

let app: LocalApp
let watch: ResourceWatch

beforeEach(async () => {
  watch = new ResourceWatch()
  app = new LocalApp()
  app.makeTable(aNewTable('t', NUMBERED_COLUMNS, 4))
  await app.must('POST', '/t/rows', { body: { rows: numberedRows(0, 1000) } })
  await app.must('POST', '/t/maintenance', { body: { op: 'FLUSH_MRS' } })
})

afterEach(() => {
  expect(app.logged).toEqual([])
  vi.restoreAllMocks()
})

function open(path: string, body: object): Promise<Response> {
  return Promise.resolve(
    app.app.request(`http://localhost/api/v1/tables/t/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
}

describe('an answer that is not read to its end', () => {
  for (const format of FORMATS) {
    test(`in ${format} gives back what it held, begun or not`, async () => {
      for (const order of ORDERS) {
        for (const readCount of [0, 1]) {
          const response = await open(`scan?format=${format}`, { order })
          expect(response.status).toBe(200)
          const reader = response.body!.getReader()
          for (let i = 0; i < readCount; i++) await reader.read()
          await reader.cancel('enough')
          expect(watch.held).toEqual(NOTHING_HELD)
        }
      }
    })

    test(`of an aggregation in ${format} gives back what it held`, async () => {
      const body = { group_by: ['id'], aggregates: [{ op: 'COUNT' }] }
      const response = await open(`aggregate?format=${format}`, body)
      expect(response.status).toBe(200)
      expect(watch.held.frontBytes).toBeGreaterThan(0)
      await response.body!.cancel('enough')
      expect(watch.held).toEqual(NOTHING_HELD)
    })
  }
})

describe('an answer that is whole', () => {
  test('has given back what it held, whatever was asked', async () => {
    const bounds = { predicates: [{ column: 'id', op: '<', value: 500 }] }
    const asked: [path: string, body: object][] = [
      ['scan', { page_size: 10 }],
      ['scan', { page_size: 10, order: 'ORDERED' }],
      ['scan', { ...bounds, limit: 3 }],
      ['scan', { ...bounds, analyze: true }],
      ['scan', { analyze: true, limit: 3 }],
      ['scan', { explain: true }],
      ['scan?format=ndjson', { limit: 5 }],
      ['scan?format=arrow', {}],
      ['scan_tokens', { target_bytes: 1024 }],
      ['aggregate', { ...bounds, aggregates: [{ op: 'MAX', column: 'name' }] }],
      ['rows/get', { keys: [{ id: 5 }, { id: 5000 }] }],
      ['rows/delete', bounds],
    ]
    for (const [path, body] of asked) {
      const response = await open(path, body)
      expect(response.status, path).toBe(200)
      await response.arrayBuffer()
      expect(watch.held, path).toEqual(NOTHING_HELD)
    }
    expect(watch.pinCount).toBeGreaterThan(asked.length)
    for (const op of MAINTENANCE_OPS) await app.must('POST', '/t/maintenance', { body: { op } })
    expect(watch.held).toEqual(NOTHING_HELD)
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { SHORT_STREAM_BYTES_MAX } from '../../../src/common/limits.ts'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp } from '../../support/local-app.ts'

let app: LocalApp
/** Another front of the same service. */
let other: LocalApp

beforeEach(() => {
  app = new LocalApp()
  other = new LocalApp({}, app.service)
  app.makeTable(aNewTable('t', ['id INT32 KEY', 'v INT32 NULL'], 2))
})

function write(body: string, type = 'application/x-ndjson', query = ''): Promise<LocalAnswer> {
  const headers = { 'content-type': type }
  return app.send('POST', `/api/v1/tables/t/rows${query}`, { body, headers })
}

describe('a short stream of rows', () => {
  test('is written by what the front remembers of the table', async () => {
    await write('{"id":0}')
    const before = app.service.getTableCount
    for (let id = 1; id <= 10; id++) {
      expect((await write(`{"id":${id}}`)).json).toMatchObject({ inserted: 1, failed: 0 })
    }
    expect(app.service.getTableCount).toBe(before)
  })

  test('is refused row by row, or from a row on, as a long one is', async () => {
    await write('{"id":0}')
    const { json } = await write('{"id":1}\n{"id":"a"}\n{"id":0}\n{"id":2,"x":1}\n')
    expect(json).toMatchObject({ inserted: 1, failed: 3 })
    expect(json.row_errors.map((error: { row_index: number }) => error.row_index)).toEqual([
      1, 2, 3,
    ])
    const broken = await write('{"id":5}\n{"id":6')
    expect(broken.status).toBe(400)
    expect(broken.json).toMatchObject({ code: 'INVALID_ARGUMENT', rows_applied: 1 })
    const column = await write('id,x\n7,1\n', 'text/csv')
    expect(column.status).toBe(400)
  })

  test.each([
    ['NDJSON', '{"id":1,"w":"a"}', 'application/x-ndjson'],
    ['CSV', 'id,w\n1,a\n', 'text/csv'],
  ])('goes to the table that has the name now: %s', async (_name, body, type) => {
    await write('{"id":0}')
    await other.send('DELETE', '/api/v1/tables/t')
    app.makeTable(aNewTable('t', ['id INT32 KEY', 'w STRING'], 1))
    expect((await write(body, type)).json).toMatchObject({ inserted: 1, failed: 0 })
    const { rows } = await app.must('POST', '/t/scan', { body: {} })
    expect(rows).toEqual([{ id: 1, w: 'a' }])
  })

  test('is one up to a limit, and what is longer is written all the same', async () => {
    const line = (id: number) => `{"id":${id}}`.padEnd(64)
    const count = SHORT_STREAM_BYTES_MAX / 65
    const lines = Array.from({ length: Math.ceil(count) + 1 }, (_, id) => line(id))
    expect((await write('{"id":-1}')).status).toBe(200)
    const before = app.service.getTableCount
    const short = await write(`${lines.slice(0, Math.floor(count)).join('\n')}\n`)
    expect(short.json).toMatchObject({ inserted: Math.floor(count), failed: 0 })
    expect(app.service.getTableCount).toBe(before)
    const long = await write(lines.join('\n'), 'application/x-ndjson', '?operation=UPSERT')
    expect(long.json).toMatchObject({ failed: 0, rows: lines.length })
    expect(app.service.getTableCount).toBe(before + 1)
  })
})

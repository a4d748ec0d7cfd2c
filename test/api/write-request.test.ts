import { beforeEach, describe, expect, test } from 'vitest'
import { privilegesOf } from '../../src/api/write-request.ts'
import { ROW_OPERATIONS } from '../../src/common/row-operation.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalApp } from '../support/local-app.ts'

describe('privilegesOf', () => {
  test('an operation needs what its plain form needs, an upsert both', () => {
    const { INSERT, UPDATE_IGNORE, DELETE_IGNORE, UPSERT, UPSERT_IGNORE } = ROW_OPERATIONS

    expect(privilegesOf(INSERT)).toEqual(['INSERT'])
    expect(privilegesOf(UPDATE_IGNORE)).toEqual(['UPDATE'])
    expect(privilegesOf(DELETE_IGNORE)).toEqual(['DELETE'])
    expect(privilegesOf(UPSERT)).toEqual(['INSERT', 'UPDATE'])
    expect(privilegesOf(UPSERT_IGNORE)).toEqual(['INSERT', 'UPDATE'])
  })
})

describe('a front that remembers a table which was dropped and made again elsewhere', () => {
  let app: LocalApp

  beforeEach(async () => {
    app = new LocalApp()
    app.makeTable(aNewTable('t', ['id INT64 KEY', 'old STRING NULL'], 2))
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1 }, { id: 2 }, { id: 3 }] } })
    app.service.dropTable('t')
    app.makeTable(aNewTable('t', ['id INT64 KEY', 'new STRING NULL'], 3))
  })

  test('writes to the one that there is', async () => {
    const answer = await app.must('POST', '/t/rows', { body: { rows: [{ id: 5, new: 'x' }] } })

    expect(answer).toMatchObject({ inserted: 1, failed: 0 })
    expect((await app.must('GET', '/t/rows/5')).new).toBe('x')
  })

  test('writes a row to the one that there is', async () => {
    expect((await app.send('PUT', '/api/v1/tables/t/rows/5', { body: { new: 'x' } })).status).toBe(
      201,
    )
  })

  test('reads the one that there is', async () => {
    expect((await app.must('GET', '/t/rows')).rows).toEqual([])
    expect((await app.send('GET', '/api/v1/tables/t/rows?format=csv')).text).toBe('id,new\n')
    expect((await app.send('GET', '/api/v1/tables/t/rows/1')).status).toBe(404)
  })

  test('streams to the one that there is', async () => {
    const body = '{"id":5,"new":"x"}\n'
    const headers = { 'content-type': 'application/x-ndjson' }

    expect(await app.must('POST', '/t/rows', { body, headers })).toMatchObject({ inserted: 1 })
  })

  test('knows the columns that there are', async () => {
    expect((await app.must('POST', '/t/scan', { body: { columns: ['new'] } })).rows).toEqual([])
  })

  test('does not know those that there were', async () => {
    const answer = await app.send('POST', '/api/v1/tables/t/scan', { body: { columns: ['old'] } })

    expect(answer.json.detail).toBe('columns: there is no column "old"')
  })
})

describe('a row in no range', () => {
  test('is said to be so only once the catalog was asked', async () => {
    const app = new LocalApp()
    const table = (upper: number) => ({
      name: 't',
      schema: { columns: [{ name: 'id', type: 'INT64', is_key: true }] },
      partition_schema: { range_schema: { ranges: [{ upper: { id: upper } }] } },
    })
    await app.must('POST', '', { body: table(10) })
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1 }] } })
    app.service.dropTable('t')
    const other = new LocalApp({}, app.service)
    await other.must('POST', '', { body: table(100) })

    expect(await app.must('POST', '/t/rows', { body: { rows: [{ id: 50 }] } })).toMatchObject({
      inserted: 1,
    })
    const answer = await app.must('POST', '/t/rows', { body: { rows: [{ id: 100 }, { id: 51 }] } })
    expect(answer).toMatchObject({ inserted: 1, failed: 1 })
    expect(answer.row_errors[0]).toEqual({
      row_index: 0,
      code: 'NOT_FOUND',
      message: 'row lies in no range partition',
    })
  })
})

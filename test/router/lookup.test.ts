import { describe, expect, test } from 'vitest'
import { lookupRows } from '../../src/router/lookup.ts'
import { utf8Decode } from '../../src/util/bytes.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { RouterClient } from '../support/router-client.ts'

const COLUMNS = ['id INT32 KEY', 'value STRING NULL']

function aClient(buckets = 4): { service: LocalService; client: RouterClient } {
  const service = new LocalService({ seed: 5 })
  service.createTable(aNewTable('t', COLUMNS, buckets))
  return { service, client: new RouterClient(service.front(), 't') }
}

async function values(
  client: RouterClient,
  ids: readonly number[],
  snapshot: number | null = null,
): Promise<(string | null)[]> {
  const session = await client.reader()
  const request = { columnIds: [1], keys: ids.map((id) => [id]), snapshot }
  const { rows } = await lookupRows(session, request)
  return rows.map((found) => {
    return found === null ? null : utf8Decode(found.block.columns[0].cell(found.row) as Uint8Array)
  })
}

describe('lookupRows', () => {
  test('finds rows of all tablets in the order asked for, keys asked twice twice', async () => {
    const { client } = aClient()
    const rows = Array.from({ length: 50 }, (_, id) => ({ id, value: `v${id}` }))
    await client.write('INSERT', rows)

    expect(await values(client, [49, 3, 100, 3, 0])).toEqual(['v49', 'v3', null, 'v3', 'v0'])
  })

  test('reads one snapshot of all tablets that holds what was written before', async () => {
    const { client } = aClient()
    const first = await client.write(
      'INSERT',
      [1, 2, 3, 4].map((id) => ({ id, value: 'old' })),
    )
    await client.write(
      'UPDATE',
      [1, 2, 3, 4].map((id) => ({ id, value: 'new' })),
    )

    expect(await values(client, [1, 2, 3, 4])).toEqual(Array(4).fill('new'))
    expect(await values(client, [1, 2, 3, 4], first.timestamp)).toEqual(Array(4).fill('old'))
  })

  test('asks a tablet again for the rows that did not fit its answer', async () => {
    const { service, client } = aClient(1)
    await client.write(
      'INSERT',
      [1, 2, 3].map((id) => ({ id, value: `v${id}` })),
    )
    const [tablet] = service.tablets.values()
    const lookup = tablet.lookup.bind(tablet)
    let calls = 0
    tablet.lookup = (call) => {
      calls++
      const keyEnds = call.keyEnds.slice(0, 1)
      return lookup({ ...call, keyEnds, keyBytes: call.keyBytes.slice(0, keyEnds[0]) })
    }

    expect(await values(client, [3, 9, 1])).toEqual(['v3', null, 'v1'])
    expect(calls).toBe(3)
  })

  test('finds nothing where no write ever was, once it knows that there is the table', async () => {
    const { service, client } = aClient()
    expect(await values(client, [1, 2, 3])).toEqual([null, null, null])
    service.dropTable('t')

    await expect(values(client, [1])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('of no keys asks no tablet', async () => {
    const { client } = aClient()

    expect(await values(client, [])).toEqual([])
  })
})

import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { flip, type Place, placesOf, type Target } from '../support/damage.ts'
import { Front } from '../support/front.ts'

const TABLE = '/tables/damaged'
/** Their ids are 0, 1 and 2. */
const COLUMNS = [
  { name: 'id', type: 'INT64', is_key: true },
  { name: 'a', type: 'STRING' },
  { name: 'b', type: 'INT32' },
]
const ROWS = 2000

/** Rows `[start, end)`: their ids are even. */
function rowsFrom(start: number, end: number): { id: number; a: string; b: number }[] {
  return Array.from({ length: end - start }, (_, i) => {
    const id = 2 * (start + i)
    return { id, a: `text ${id}`, b: id % 100 }
  })
}

/** What is asked of the damaged tablet: of now, of rows in files and in memory, and of then. */
const REQUESTS = [
  'scan a',
  'scan b',
  'scan then',
  'get b',
  'get new',
  'insert',
  'statistics',
] as const
type Request = (typeof REQUESTS)[number]

/** What a target is needed for. */
const CASES: readonly {
  readonly name: string
  readonly target: Target
  readonly fails: readonly Request[]
}[] = [
  { name: 'a page of a column', target: { kind: 'column', columnId: 1 }, fails: ['scan a'] },
  {
    name: 'a page of a column that a REDO file does not change',
    target: { kind: 'column', columnId: 2 },
    fails: ['scan b', 'scan then', 'get b'],
  },
  // Pages of a scan end with a key, which says where the next one begins.
  {
    name: 'a page of keys',
    target: { kind: 'keys' },
    fails: ['scan a', 'scan b', 'scan then', 'get b'],
  },
  { name: 'the Bloom filter', target: { kind: 'bloom' }, fails: ['get b', 'insert'] },
  {
    name: 'the directory of a rowset',
    target: { kind: 'directory' },
    fails: ['scan a', 'scan b', 'scan then', 'get b', 'insert'],
  },
  { name: 'an UNDO file', target: { kind: 'undo' }, fails: ['scan then'] },
  { name: 'a REDO file', target: { kind: 'redo' }, fails: ['scan a'] },
  { name: 'the superblock', target: { kind: 'superblock' }, fails: REQUESTS },
  { name: 'the WAL', target: { kind: 'wal' }, fails: REQUESTS },
  { name: 'the remembered results', target: { kind: 'results' }, fails: ['insert'] },
]

describe('TabletObject with a bit turned over in its storage', () => {
  const front = new Front()
  const ids: number[][] = [[], []]
  let tabletIds: string[] = []
  let then = 0
  /** Odd, and so new. */
  let newId = 1001

  const object = (index: number) => env.TABLET.getByName(tabletIds[index])

  beforeAll(async () => {
    await front.must('POST', '/tables', {
      name: 'damaged',
      schema: { columns: COLUMNS },
      partition_schema: { hash_schema: [{ columns: ['id'], num_buckets: 2 }] },
    })
    const { tablets } = await front.must('GET', `${TABLE}/tablets`)
    tabletIds = tablets.map((tablet: { tablet_id: string }) => tablet.tablet_id)
    const write = (rows: object[], operation = 'INSERT') =>
      front.must('POST', `${TABLE}/rows`, { operation, rows })
    then = (await write(rowsFrom(0, ROWS / 2))).timestamp
    await write(rowsFrom(ROWS / 2, ROWS))
    await front.must('POST', `${TABLE}/maintenance`, { op: 'FLUSH_MRS' })
    await write(
      rowsFrom(0, 100).map(({ id }) => ({ id, a: 'changed' })),
      'UPDATE',
    )
    await front.must('POST', `${TABLE}/maintenance`, { op: 'FLUSH_DMS' })
    await write(rowsFrom(ROWS, ROWS + 20))
    const known = [...rowsFrom(0, 10), ...rowsFrom(ROWS, ROWS + 20)]
    for (const { id } of known) ids[await tabletOf(id)].push(id)
  }, 60_000)

  async function tabletOf(id: number): Promise<number> {
    const found = await front.must('POST', `${TABLE}/locate_row`, { row: { id } })
    return tabletIds.indexOf(found.tablet_id)
  }

  /** A row that is not there, with a key between those of the rows in files. */
  async function newRowOf(index: number): Promise<object> {
    do newId += 2
    while ((await tabletOf(newId)) !== index)
    return { id: newId, a: 'new', b: 0 }
  }

  async function ask(request: Request, index: number) {
    const scan = (body: object) => front.send('POST', `${TABLE}/scan`, { ...body, page_size: 5000 })
    switch (request) {
      case 'scan a':
        return scan({ columns: ['a'] })
      case 'scan b':
        return scan({ columns: ['b'] })
      case 'scan then':
        return scan({ columns: ['b'], snapshot_timestamp: then })
      case 'get b':
        return front.send('GET', `${TABLE}/rows/${ids[index][0]}?columns=b`)
      case 'get new':
        return front.send('GET', `${TABLE}/rows/${ids[index].at(-1)}?columns=b`)
      case 'insert': {
        const row = await newRowOf(index)
        return front.send('POST', `${TABLE}/rows`, { rows: [row] })
      }
      case 'statistics':
        return front.send('GET', `${TABLE}/statistics`)
    }
  }

  async function expectRight(request: Request, index: number): Promise<void> {
    const { status, json } = await ask(request, index)
    expect(json, request).not.toHaveProperty('code')
    expect(status, request).toBe(200)
    if (request === 'scan then') expect(json.rows, request).toHaveLength(ROWS / 2)
    if (request === 'get b') expect(json, request).toEqual({ b: ids[index][0] % 100 })
    if (request === 'get new') expect(json, request).toEqual({ b: ids[index].at(-1)! % 100 })
    if (request === 'insert') expect(json, request).toMatchObject({ inserted: 1 })
  }

  async function expectDamage(request: Request, places: readonly Place[]): Promise<void> {
    const { status, json } = await ask(request, 0)
    expect(status, request).toBe(500)
    expect(json, request).toMatchObject({ code: 'CORRUPTION', tablet_id: tabletIds[0] })
    expect(json.detail, request).toMatch(new RegExp(places.map(({ text }) => text).join('|')))
  }

  test.for(CASES)('fails just what needs $name', async ({ target, fails }) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const places = await placesOf(object(0), target)
    expect(places.length).toBeGreaterThan(0)
    await flip(object(0), places)
    await evictDurableObject(object(0))
    try {
      for (const request of REQUESTS) {
        if (fails.includes(request)) await expectDamage(request, places)
        else await expectRight(request, 0)
      }
      await expectRight('get b', 1)
      await expectRight('insert', 1)
    } finally {
      await flip(object(0), places)
      await evictDurableObject(object(0))
    }
    for (const request of REQUESTS) await expectRight(request, 0)
  })
})

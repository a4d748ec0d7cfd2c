import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { LocalApp } from '../../support/local-app.ts'

const METRICS = {
  name: 'metrics',
  schema: {
    columns: [
      { name: 'host', type: 'string', is_key: true },
      { name: 'metric', type: 'STRING', is_key: true },
      { name: 'time', type: 'UNIXTIME_MICROS', is_key: true },
      { name: 'value', type: 'DOUBLE', is_nullable: true, comment: 'last sample' },
      {
        name: 'price',
        type: 'DECIMAL',
        type_attributes: { precision: 12, scale: 2 },
        default: '0.00',
        encoding: 'bit_shuffle',
        compression: 'ZSTD',
        immutable: true,
      },
      { name: 'code', type: 'VARCHAR', type_attributes: { length: 3 }, default: 'abc' },
    ],
  },
  partition_schema: {
    hash_schema: [{ columns: [{ name: 'host' }, { name: 'metric' }], num_buckets: 4, seed: 7 }],
    range_schema: {
      columns: ['time'],
      ranges: [
        { lower: { time: '2026-02-01T00:00:00Z' }, hash_schema: [] },
        {
          lower: { time: '2026-01-01T00:00:00Z' },
          upper: { time: '2026-01-31T23:59:59.999999Z' },
          upper_bound_type: 'inclusive',
        },
      ],
      split_rows: [{ time: '2026-01-15T00:00:00Z' }],
    },
  },
  owner: 'ops',
  comment: 'all of them',
  extra_configs: { 'kudu.table.history_max_age_sec': '604800', 'nyala.table.row_count_limit': '' },
  num_replicas: 3,
}

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
})

describe('POST /tables', () => {
  test.each(['nyala.table.row_count_limit', 'nyala.table.disk_size_limit'])(
    'refuses a limit that nothing keeps yet: %s',
    async (name) => {
      const body = { ...METRICS, extra_configs: { [name]: '1000' } }
      const answer = await app.send('POST', '/api/v1/tables', { body })

      expect(answer.status).toBe(501)
      expect(answer.json.code).toBe('NOT_SUPPORTED')
      expect(answer.json.detail).toContain(name)
    },
  )

  test('makes a table and shows it in normal form', async () => {
    const answer = await app.send('POST', '/api/v1/tables', { body: METRICS })

    expect(answer.status).toBe(201)
    const { id } = answer.json
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(answer.headers.get('Location')).toBe(`/api/v1/tables/${id}`)
    expect(answer.headers.get('ETag')).toBe(`"${id}-1"`)
    const plain = { comment: '', encoding: 'AUTO_ENCODING', compression: 'DEFAULT_COMPRESSION' }
    const key = { ...plain, is_key: true, is_nullable: false, immutable: false }
    const other = { ...plain, is_key: false, is_nullable: false, immutable: false }
    expect(answer.json).toEqual({
      id,
      name: 'metrics',
      state: 'RUNNING',
      version: 1,
      schema: {
        columns: [
          { ...key, id: 0, name: 'host', type: 'STRING' },
          { ...key, id: 1, name: 'metric', type: 'STRING' },
          { ...key, id: 2, name: 'time', type: 'UNIXTIME_MICROS' },
          {
            ...other,
            id: 3,
            name: 'value',
            type: 'DOUBLE',
            is_nullable: true,
            comment: 'last sample',
          },
          {
            ...other,
            id: 4,
            name: 'price',
            type: 'DECIMAL',
            type_attributes: { precision: 12, scale: 2 },
            default: '0.00',
            encoding: 'BIT_SHUFFLE',
            compression: 'ZSTD',
            immutable: true,
          },
          {
            ...other,
            id: 5,
            name: 'code',
            type: 'VARCHAR',
            type_attributes: { length: 3 },
            default: 'abc',
          },
        ],
      },
      partition_schema: {
        hash_schema: [{ columns: [{ name: 'host' }, { name: 'metric' }], num_buckets: 4, seed: 7 }],
        range_schema: {
          columns: [{ name: 'time' }],
          ranges: [
            {
              lower: { time: '2026-01-01T00:00:00.000000Z' },
              upper: { time: '2026-01-15T00:00:00.000000Z' },
            },
            {
              lower: { time: '2026-01-15T00:00:00.000000Z' },
              upper: { time: '2026-02-01T00:00:00.000000Z' },
            },
            { lower: { time: '2026-02-01T00:00:00.000000Z' }, hash_schema: [] },
          ],
        },
      },
      owner: 'ops',
      comment: 'all of them',
      extra_configs: { 'kudu.table.history_max_age_sec': '604800' },
      num_tablets: 9,
      created_at: '2027-01-15T08:00:00.000000Z',
    })
  })

  test('takes its own normal form', async () => {
    const made = await app.must('POST', '', { body: METRICS })
    const columns = made.schema.columns.map(({ id: _, ...column }: { id: number }) => column)
    const { partition_schema } = made

    const again = await app.must('POST', '', {
      body: { name: 'again', schema: { columns }, partition_schema },
    })

    expect(again.schema).toEqual(made.schema)
    expect(again.partition_schema).toEqual(partition_schema)
  })

  test('shows 64-bit defaults and bounds exactly', async () => {
    const body = `{"name":"exact","schema":{"columns":[
      {"name":"id","type":"INT64","is_key":true},
      {"name":"n","type":"INT64","default":9007199254740993}]},
      "partition_schema":{"range_schema":{"ranges":[{"upper":{"id":9223372036854775807}}]}}}`
    const answer = await app.send('POST', '/api/v1/tables', {
      body,
      headers: { 'content-type': 'application/json; charset="UTF-8"' },
    })

    expect(answer.status).toBe(201)
    expect(answer.text).toContain('"default":9007199254740993,')
    expect(answer.text).toContain('"upper":{"id":9223372036854775807}')
  })

  test('without partitions makes one unbounded range over the key', async () => {
    const columns = [{ name: 'a', type: 'INT8', is_key: true }]
    const table = await app.must('POST', '', { body: { name: 'x', schema: { columns } } })

    expect(table.num_tablets).toBe(1)
    expect(table.owner).toBe('')
    expect(table.partition_schema).toEqual({
      hash_schema: [],
      range_schema: { columns: [{ name: 'a' }], ranges: [{}] },
    })
  })

  test('with no range columns makes no range part', async () => {
    const columns = [{ name: 'a', type: 'INT8', is_key: true }]
    const partition_schema = {
      hash_schema: [{ columns: ['a'], num_buckets: 3 }],
      range_schema: { columns: [] },
    }
    const body = { name: 'x', schema: { columns }, partition_schema }
    const table = await app.must('POST', '', { body })

    expect(table.num_tablets).toBe(3)
    expect(table.partition_schema.range_schema).toEqual({ columns: [], ranges: [] })
  })

  test('of repeated members the last counts, and names may be those of built-in ones', async () => {
    const body = `{"name":"no","name":"constructor","schema":{"columns":[
      {"name":"__proto__","type":"INT8","is_key":true}]},
      "partition_schema":{"range_schema":{"ranges":[{"upper":{"__proto__":5}}]}}}`
    const answer = await app.send('POST', '/api/v1/tables', {
      body,
      headers: { 'content-type': 'application/json' },
    })

    expect(answer.status).toBe(201)
    expect(answer.json.name).toBe('constructor')
    expect(answer.json.schema.columns[0].name).toBe('__proto__')
    expect(answer.text).toContain('"upper":{"__proto__":5}')
    expect((await app.send('GET', '/api/v1/tables/constructor')).status).toBe(200)
  })

  test('makes the administrator the owner unless it names another', async () => {
    const settings = { isAuthDisabled: false, adminToken: 's' }
    const columns = [{ name: 'a', type: 'INT8', is_key: true }]
    const answer = await new LocalApp(settings).send('POST', '/api/v1/tables', {
      body: { name: 'x', schema: { columns } },
      headers: { Authorization: 'Bearer s' },
    })

    expect(answer.json.owner).toBe('admin')
  })
})

describe('GET /tables', () => {
  beforeEach(() => {
    for (const name of ['b', 'a', 'é', 'ab', 'B', 'a/b']) app.makeTable(aNewTable(name))
  })

  async function walk(query: string): Promise<string[][]> {
    const pages: string[][] = []
    let token = ''
    for (;;) {
      const page = await app.must('GET', `?${query}${token}`)
      pages.push(page.tables.map((table: { table_name: string }) => table.table_name))
      if (page.next_page_token === undefined) return pages
      token = `&page_token=${page.next_page_token}`
    }
  }

  test('lists ids and names by the bytes of the names', async () => {
    expect(await walk('')).toEqual([['B', 'a', 'a/b', 'ab', 'b', 'é']])
  })

  test('pages', async () => {
    expect(await walk('page_size=4')).toEqual([
      ['B', 'a', 'a/b', 'ab'],
      ['b', 'é'],
    ])
    expect(await walk('page_size=3')).toEqual([
      ['B', 'a', 'a/b'],
      ['ab', 'b', 'é'],
    ])
  })

  test('lists names with a prefix', async () => {
    expect(await walk('name_prefix=a&page_size=1')).toEqual([['a'], ['a/b'], ['ab']])
    expect(await walk('name_prefix=c')).toEqual([[]])
  })

  test('takes a token for the list only that it is of', async () => {
    const { next_page_token: token } = await app.must('GET', '?name_prefix=a&page_size=1')

    for (const other of ['', 'name_prefix=b', 'name_prefix=a&soft_deleted=true']) {
      const answer = await app.send('GET', `/api/v1/tables?${other}&page_token=${token}`)
      expect(answer.json.detail).toBe('page_token is not one of this list')
    }
    const same = `name_prefix=a&soft_deleted=false&page_size=9&page_token=${token}`
    expect((await app.send('GET', `/api/v1/tables?${same}`)).status).toBe(200)
  })

  test('lists no table that was softly deleted, since none is', async () => {
    expect(await walk('soft_deleted=true')).toEqual([[]])
    expect((await walk('soft_deleted=false'))[0]).toHaveLength(6)
  })
})

describe('GET /tables/{table}', () => {
  test('finds a table by name, by id in either case, and by an encoded name', async () => {
    app.makeTable(aNewTable('a/b ü'))
    const byName = await app.must('GET', '/a%2Fb%20%C3%BC')

    expect(byName.name).toBe('a/b ü')
    expect((await app.must('GET', `/${byName.id}`)).name).toBe('a/b ü')
    expect((await app.must('GET', `/${byName.id.toUpperCase()}`)).name).toBe('a/b ü')
    expect((await app.send('GET', '/api/v1/tables/A%2FB%20%C3%BC')).status).toBe(404)
  })

  test('answers 304 to who has it already', async () => {
    app.makeTable(aNewTable('t'))
    const etag = (await app.send('GET', '/api/v1/tables/t')).headers.get('ETag') ?? ''

    for (const condition of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      const headers = { 'If-None-Match': condition }
      const answer = await app.send('GET', '/api/v1/tables/t', { headers })
      expect(answer.status).toBe(304)
      expect(answer.headers.get('ETag')).toBe(etag)
      expect(answer.text).toBe('')
    }
    const headers = { 'If-None-Match': '"x"' }
    expect((await app.send('GET', '/api/v1/tables/t', { headers })).status).toBe(200)
  })
})

describe('DELETE /tables/{table}', () => {
  test('drops a table at once', async () => {
    app.makeTable(aNewTable('t'))
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1 }] } })

    const answer = await app.send('DELETE', '/api/v1/tables/t?reserve_seconds=0')

    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect((await app.send('GET', '/api/v1/tables/t')).status).toBe(404)
    expect((await app.send('GET', '/api/v1/tables/t/rows')).status).toBe(404)
    expect((await app.send('POST', '/api/v1/tables/t/rows', { body: { rows: [] } })).status).toBe(
      404,
    )
  })

  test('drops the version that it was told', async () => {
    app.makeTable(aNewTable('t'))
    const { id } = await app.must('GET', '/t')
    const drop = (condition: string) => {
      return app.send('DELETE', '/api/v1/tables/t', { headers: { 'If-Match': condition } })
    }

    expect((await drop(`"${id}-2"`)).status).toBe(412)
    expect((await drop(`W/"${id}-1"`)).status).toBe(412)
    expect((await drop(`"${id}-2", "${id}-1"`)).status).toBe(204)
    expect((await drop('*')).status).toBe(404)
  })

  test.each(['If-Match', 'If-None-Match'])(
    'refuses a header %s that names nothing',
    async (name) => {
      app.makeTable(aNewTable('t'))

      for (const value of ['', ' ', ',', ' , ,']) {
        for (const method of ['GET', 'DELETE']) {
          if (method === 'GET' && name === 'If-Match') continue
          const answer = await app.send(method, '/api/v1/tables/t', { headers: { [name]: value } })
          expect(answer.status).toBe(400)
          expect(answer.json.detail).toBe(
            `header ${name} is empty: it must be * or list entity tags`,
          )
        }
      }
      expect((await app.send('GET', '/api/v1/tables/t')).status).toBe(200)
    },
  )

  test('drops nothing that If-None-Match names', async () => {
    app.makeTable(aNewTable('t'))
    const { id } = await app.must('GET', '/t')
    const drop = (condition: string) => {
      return app.send('DELETE', '/api/v1/tables/t', { headers: { 'If-None-Match': condition } })
    }

    for (const condition of ['*', `"${id}-1"`, `W/"${id}-1"`, `"x", "${id}-1"`]) {
      const answer = await drop(condition)
      expect(answer.status).toBe(412)
      expect(answer.json).toMatchObject({ code: 'PRECONDITION_FAILED', resource: 'table' })
    }
    expect((await drop(`"${id}-2"`)).status).toBe(204)
  })

  test('a table made under the name again is another', async () => {
    app.makeTable(aNewTable('t'))
    await app.must('POST', '/t/rows', { body: { rows: [{ id: 1 }] } })
    await app.must('DELETE', '/t')
    app.makeTable(aNewTable('t', ['k STRING KEY']))

    expect((await app.must('GET', '/t/rows')).rows).toEqual([])
    await app.must('POST', '/t/rows', { body: { rows: [{ k: 'a' }] } })
    expect((await app.must('GET', '/t/rows')).rows).toEqual([{ k: 'a' }])
  })
})

describe('tablets', () => {
  beforeEach(async () => {
    await app.must('POST', '', { body: METRICS })
  })

  test('are listed in partition-key order, with what each holds', async () => {
    const body = { rows: [{ host: 'a', metric: 'b', time: '2026-03-01T00:00:00Z' }] }
    await app.must('POST', '/metrics/rows', { body })
    const { tablets } = await app.must('GET', '/metrics/tablets')

    expect(tablets).toHaveLength(9)
    const places = tablets.map(
      (it: { partition: { hash_buckets: []; range_key_start: string } }) => {
        return `${it.partition.hash_buckets} ${it.partition.range_key_start}`
      },
    )
    expect(places).toEqual([...places].sort())
    const states = tablets.map((it: { state: string }) => it.state)
    expect(states.filter((state: string) => state === 'RUNNING')).toHaveLength(1)
    // The range without hash dimensions has no hash words, which sorts before any.
    expect(tablets[0]).toMatchObject({
      state: 'RUNNING',
      partition: {
        hash_buckets: [],
        range_lower: { time: '2026-02-01T00:00:00.000000Z' },
        range_upper: null,
        partition_key_end: '',
        range_key_end: '',
      },
    })
    expect(tablets[2].partition).toMatchObject({
      hash_buckets: [0],
      range_lower: { time: '2026-01-15T00:00:00.000000Z' },
      range_upper: { time: '2026-02-01T00:00:00.000000Z' },
    })
  })

  test('hold the rows that they are said to hold', async () => {
    const row = { host: 'a', metric: 'b', time: 1_768_000_000_000_000 }
    const place = await app.must('POST', '/metrics/locate_row', { body: { row } })
    await app.must('POST', '/metrics/rows', { body: { rows: [row] } })
    const { tablets } = await app.must('GET', '/metrics/tablets')

    const running = tablets.filter((it: { state: string }) => it.state === 'RUNNING')
    expect(running).toHaveLength(1)
    expect(running[0].tablet_id).toBe(place.tablet_id)
    expect(running[0].partition.hash_buckets).toEqual(place.hash_buckets)
    const bucket = place.hash_buckets[0].toString(16).padStart(8, '0')
    expect(place.partition_key).toBe(`${bucket}800647fc93f68000`)
    expect(place.encoded_key).toBe('610000620000800647fc93f68000')
  })
})

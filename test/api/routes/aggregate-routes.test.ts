import { beforeEach, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { type LocalAnswer, LocalApp } from '../../support/local-app.ts'

const COLUMNS = [
  'host STRING KEY',
  'time UNIXTIME_MICROS KEY',
  'value DOUBLE NULL',
  'price DECIMAL(12,2)',
  'n INT32 NULL',
  'big INT64',
]

interface Sample {
  readonly host: string
  readonly time: string
  readonly value: number | string | null
  readonly price: string
  readonly n: number | null
  readonly big: number | string
}

let app: LocalApp

beforeEach(() => {
  app = new LocalApp()
  app.makeTable(aNewTable('t', COLUMNS, 4))
})

/** Samples of six hosts, every ten minutes around the epoch. */
function samples(count: number): Sample[] {
  return Array.from({ length: count }, (_, i) => ({
    host: `web-${i % 6}`,
    time: new Date((i - 20) * 600_000).toISOString(),
    value: i % 5 === 0 ? null : i / 4,
    price: (i * 1.25).toFixed(2),
    n: i % 7 === 0 ? null : i,
    big: i,
  }))
}

async function insert(rows: readonly Sample[]): Promise<{ timestamp: number }> {
  return app.must('POST', '/t/rows', { body: { rows } })
}

function aggregate(body: object, query = ''): Promise<LocalAnswer> {
  return app.send('POST', `/api/v1/tables/t/aggregate${query}`, { body })
}

async function rowsOf(body: object, query = ''): Promise<unknown> {
  const answer = await aggregate(body, query)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return answer.json.rows
}

function refused(body: object, query = ''): Promise<unknown> {
  return aggregate(body, query).then(({ status, json }) => `${status} ${json.code} ${json.detail}`)
}

describe('POST aggregate', () => {
  test('answers one row of all tablets, at one snapshot', async () => {
    const { timestamp } = await insert(samples(60))
    const aggregates = [
      { op: 'COUNT' },
      { op: 'COUNT', column: 'n' },
      { op: 'COUNT_DISTINCT', column: 'host' },
      { op: 'SUM', column: 'n' },
      { op: 'SUM', column: 'price' },
      { op: 'MIN', column: 'host' },
      { op: 'MAX', column: 'time' },
      { op: 'AVG', column: 'n', as: 'mean' },
    ]
    const answer = await aggregate({ aggregates })
    const ns = samples(60).flatMap(({ n }) => n ?? [])
    const sum = ns.reduce((total, n) => total + n, 0)

    expect(answer.json.rows).toEqual([
      {
        count: 60,
        count_n: ns.length,
        count_distinct_host: 6,
        sum_n: sum,
        sum_price: '2212.50',
        min_host: 'web-0',
        max_time: '1970-01-01T06:30:00.000000Z',
        mean: sum / ns.length,
      },
    ])
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(timestamp)
    expect(answer.headers.get('Nyala-Timestamp')).toBe(String(answer.json.snapshot_timestamp))
    expect(answer.headers.get('Content-Type')).toBe('application/json')
  })

  test('has members in the order of the request', async () => {
    await insert(samples(1))
    const body = { group_by: ['n', 'host'], aggregates: [{ op: 'MAX', column: 'big' }] }

    expect((await aggregate(body)).text).toMatch(
      /^\{"rows":\[\{"n":null,"host":"web-0","max_big":0\}\],"snapshot_timestamp":\d{16}\}$/,
    )
  })

  test('groups by columns, in ascending order of the groups, null last', async () => {
    await insert([
      { ...samples(1)[0], host: 'c', n: 2 },
      { ...samples(1)[0], host: 'a', n: null },
      { ...samples(1)[0], host: 'd', n: -1 },
      { ...samples(1)[0], host: 'b', n: 2 },
    ])

    expect(await rowsOf({ group_by: ['n'], aggregates: [{ op: 'COUNT' }] })).toEqual([
      { n: -1, count: 1 },
      { n: 2, count: 2 },
      { n: null, count: 1 },
    ])
    expect(await rowsOf({ group_by: [{ column: 'n', as: 'm' }] })).toEqual([
      { m: -1 },
      { m: 2 },
      { m: null },
    ])
  })

  test('cuts times down to their bucket, also before the epoch', async () => {
    await insert(samples(24))
    const hour = { bucket: '1h', column: 'time', as: 'hour' }

    expect(await rowsOf({ group_by: [hour], aggregates: [{ op: 'COUNT' }] })).toEqual([
      { hour: '1969-12-31T20:00:00.000000Z', count: 2 },
      { hour: '1969-12-31T21:00:00.000000Z', count: 6 },
      { hour: '1969-12-31T22:00:00.000000Z', count: 6 },
      { hour: '1969-12-31T23:00:00.000000Z', count: 6 },
      { hour: '1970-01-01T00:00:00.000000Z', count: 4 },
    ])
    const day = { bucket: '1d', column: 'time' }
    expect(await rowsOf({ group_by: [day] }, '?timestamps=micros')).toEqual([
      { time: -86_400_000_000 },
      { time: 0 },
    ])
  })

  test('computes expressions exactly', async () => {
    await insert(samples(3).map((row) => ({ ...row, price: '0.10', big: '9007199254740993' })))
    const aggregates = [
      { op: 'SUM', expr: ['*', 'price', ['-', 1, 'price']], as: 'revenue' },
      { op: 'SUM', expr: ['+', 'price', 0.001] },
      { op: 'MAX', expr: ['-', 'big', 1], as: 'big' },
      { op: 'MIN', expr: ['/', 'big', ['-', 'price', 'price']], as: 'none' },
      { op: 'AVG', expr: ['/', 1, 4], as: 'quarter' },
    ]
    const { text } = await aggregate({ aggregates }, '?int64=string')

    expect(text).toContain(
      '{"revenue":"0.2700","sum":"0.303","big":"9007199254740992","none":null,"quarter":0.25}',
    )
  })

  test('keeps to the rows that all predicates hold for, between the bounds', async () => {
    await insert(samples(60))
    const count = async (wanted: object) => {
      return rowsOf({ aggregates: [{ op: 'COUNT' }], ...wanted })
    }
    const predicates = [
      { column: 'host', op: 'in', values: ['web-1', 'web-2'] },
      { column: 'n', op: '<', value: 30 },
    ]
    const bound = (host: string) => ({ host, time: '1900-01-01T00:00:00Z' })
    const bounds = { primary_key_lower: bound('web-2'), primary_key_upper: bound('web-4') }

    expect(await count({ predicates })).toEqual([{ count: 8 }])
    expect(await count(bounds)).toEqual([{ count: 20 }])
    expect(await count({ predicates, ...bounds })).toEqual([{ count: 4 }])
    expect(await count({ predicates: [{ column: 'n', op: 'IN', values: [] }] })).toEqual([
      { count: 0 },
    ])
  })

  test('of no rows is one row of zeros and nulls, and with groups none', async () => {
    const aggregates = [
      { op: 'COUNT' },
      { op: 'COUNT_DISTINCT', column: 'n' },
      { op: 'SUM', column: 'big' },
      { op: 'MIN', column: 'host' },
      { op: 'AVG', column: 'price' },
    ]
    const empty = { count: 0, count_distinct_n: 0, sum_big: null, min_host: null, avg_price: null }

    expect(await rowsOf({ aggregates })).toEqual([empty])
    await insert(samples(5))
    const predicates = [{ column: 'big', op: '<', value: 0 }]
    expect(await rowsOf({ aggregates, predicates })).toEqual([empty])
    expect(await rowsOf({ aggregates, predicates, group_by: ['host'] })).toEqual([])
  })

  test('of what nothing can match still knows the table', async () => {
    const predicates = [{ column: 'n', op: 'IN', values: [] }]
    const body = { aggregates: [{ op: 'COUNT' }], predicates }
    await insert(samples(5))
    expect(await rowsOf(body)).toEqual([{ count: 0 }])
    app.service.dropTable('t')

    expect((await aggregate(body)).status).toBe(404)
    expect((await aggregate({ ...body, limit: 0 })).status).toBe(404)
  })
})

describe('order and limit', () => {
  const GROUPS = { group_by: ['host'], aggregates: [{ op: 'SUM', column: 'n', as: 'total' }] }

  beforeEach(async () => {
    const [one] = samples(1)
    const totals = [5, null, 5, -3, null, 9]
    await insert(totals.map((n, i) => ({ ...one, host: `h${i}`, n })))
  })

  async function hosts(wanted: object): Promise<string> {
    const rows = (await rowsOf({ ...GROUPS, ...wanted })) as { readonly host: string }[]
    return rows.map(({ host }) => host.slice(1)).join('')
  }

  test('go by the columns of the result, then by the groups', async () => {
    expect(await hosts({})).toBe('012345')
    expect(await hosts({ order_by: [{ column: 'total' }] })).toBe('302514')
    expect(await hosts({ order_by: ['total', { column: 'host', descending: true }] })).toBe(
      '320541',
    )
    expect(await hosts({ order_by: [{ column: 'host', descending: true }] })).toBe('543210')
  })

  test('have nulls last, also descending', async () => {
    const order = [{ column: 'total', descending: true }]

    expect(await hosts({ order_by: order })).toBe('502314')
    expect(await hosts({ order_by: order, limit: 2 })).toBe('50')
  })

  test('have NaN above all numbers', async () => {
    const value = (text: number | string) => ({ ...samples(1)[0], value: text })
    await insert([
      { ...value('NaN'), host: 'x' },
      { ...value('Infinity'), host: 'y' },
      { ...value(1), host: 'z' },
    ])
    const body = {
      group_by: ['value'],
      predicates: [{ column: 'host', op: '>=', value: 'x' }],
      order_by: [{ column: 'value', descending: true }],
    }

    expect(await rowsOf(body)).toEqual([{ value: 'NaN' }, { value: 'Infinity' }, { value: 1 }])
  })

  test('let no more rows through than asked for', async () => {
    expect(await hosts({ limit: 4 })).toBe('0123')
    expect(await hosts({ limit: 1 })).toBe('0')
    expect(await hosts({ limit: 0 })).toBe('')
    expect(await hosts({ limit: 1000 })).toBe('012345')
    expect(await rowsOf({ aggregates: [{ op: 'COUNT' }], limit: 0 })).toEqual([])
  })
})

test('what nobody wants is not asked for', async () => {
  await insert(samples(5))
  for (const tablet of app.service.tablets.values()) {
    tablet.aggregate = async () => {
      throw new Error('asked')
    }
  }

  expect(await rowsOf({ group_by: ['host'], limit: 0 })).toEqual([])
  expect((await aggregate({ group_by: ['host'], limit: 1 })).status).toBe(500)
})

describe('read modes', () => {
  const COUNT = { aggregates: [{ op: 'COUNT' }] }

  test('READ_AT_SNAPSHOT reads at the time of a write and shows it', async () => {
    const [first, ...others] = samples(20)
    const { timestamp } = await insert([first])
    await insert(others)
    const answer = await aggregate({ ...COUNT, snapshot_timestamp: timestamp })

    expect(answer.json).toEqual({ rows: [{ count: 1 }], snapshot_timestamp: timestamp })
    expect(await rowsOf({ ...COUNT, read_mode: 'read_at_snapshot' })).toEqual([{ count: 20 }])
  })

  test('READ_YOUR_WRITES reads at the time that the client has seen', async () => {
    const { timestamp } = await insert(samples(20))
    const other = new LocalApp({}, app.service)
    const headers = {
      'content-type': 'application/json',
      'Nyala-Propagated-Timestamp': String(timestamp),
    }
    const body = { ...COUNT, read_mode: 'READ_YOUR_WRITES' }
    const answer = await other.send('POST', '/api/v1/tables/t/aggregate', { body, headers })

    expect(answer.json.rows).toEqual([{ count: 20 }])
    expect(answer.json.snapshot_timestamp).toBeGreaterThanOrEqual(timestamp)
  })

  test('READ_LATEST of another front sees what this one wrote', async () => {
    await insert(samples(20))
    const other = new LocalApp({}, app.service)

    expect((await other.must('POST', '/t/aggregate', { body: COUNT })).rows).toEqual([
      { count: 20 },
    ])
  })

  test('a time goes with no other mode, and is neither ahead nor out of history', async () => {
    const ahead = app.service.time.micros + 60_000_000
    const other = { ...COUNT, read_mode: 'READ_LATEST', snapshot_timestamp: 1 }

    expect(await refused(other)).toMatch('400 INVALID_ARGUMENT snapshot_timestamp goes with READ_')
    expect(await refused({ ...COUNT, snapshot_timestamp: ahead })).toMatch('400 INVALID_ARGUMENT')
    expect(await refused({ ...COUNT, snapshot_timestamp: 1 })).toMatch('410 INVALID_SNAPSHOT')
    expect(await refused({ ...COUNT, snapshot_timestamp: 'now' })).toMatch('400 INVALID_ARGUMENT')
  })
})

describe('what does not fit', () => {
  const MAX = '9223372036854775807'

  test('is an error and never wraps', async () => {
    await insert(samples(2).map((row) => ({ ...row, big: MAX })))
    const aggregates = [{ op: 'SUM', column: 'big' }]

    expect(await refused({ aggregates })).toMatch('400 INVALID_ARGUMENT')
    expect(await refused({ aggregates: [{ op: 'MAX', expr: ['+', 'big', 1] }] })).toMatch(
      '400 INVALID_ARGUMENT',
    )
  })

  test('across tablets is one, too, while what cancels is none', async () => {
    const [one] = samples(1)
    await insert(['a', 'b', 'c', 'd', 'e'].map((host) => ({ ...one, host, big: MAX })))
    await insert(['f', 'g', 'h', 'i'].map((host) => ({ ...one, host, big: `-${MAX}` })))
    const sum = { aggregates: [{ op: 'SUM', column: 'big' }] }
    const predicates = [{ column: 'host', op: '<', value: 'f' }]

    expect((await aggregate(sum)).text).toContain(`{"sum_big":${MAX}}`)
    expect(await refused({ ...sum, predicates })).toMatch('400 INVALID_ARGUMENT')
  })
})

describe('what is refused of rows', () => {
  test('names the aggregate, or the column of its groups', async () => {
    await insert(samples(20))
    const wide = { op: 'SUM', expr: ['*', 'n', 1e37] }
    const first = { ...samples(1)[0], time: '-290308-12-21T19:59:05.224192Z' }

    expect(await refused({ aggregates: [{ op: 'COUNT' }, wide] })).toBe(
      '400 INVALID_ARGUMENT aggregates[1]: number of an expression has more than 38 digits',
    )
    await insert([first])
    const buckets = [{ bucket: '7d', column: 'time', as: 'week' }]
    expect(await refused({ group_by: buckets, aggregates: [{ op: 'COUNT' }] })).toBe(
      '400 INVALID_ARGUMENT a bucket of column "time" begins before the first time there is',
    )
  })
})

describe('requests for aggregates', () => {
  test('are for who may read the table', async () => {
    const guarded = new LocalApp({ isAuthDisabled: false, adminToken: 's' }, app.service)
    const body = { aggregates: [{ op: 'COUNT' }] }
    const path = '/api/v1/tables/t/aggregate'
    const headers = { 'content-type': 'application/json', Authorization: 'Bearer s' }

    expect((await guarded.send('POST', path, { body })).status).toBe(401)
    expect((await guarded.send('POST', path, { body, headers })).status).toBe(200)
  })

  test('have one method, and a body of JSON', async () => {
    const path = '/api/v1/tables/t/aggregate'
    const headers = { 'content-type': 'text/csv' }
    const answer = await app.send('GET', path)

    expect(answer.status).toBe(405)
    expect(answer.headers.get('Allow')).toBe('OPTIONS, POST')
    expect((await app.send('POST', path)).status).toBe(400)
    expect((await app.send('POST', path, { body: 'a', headers })).status).toBe(415)
  })

  test('may nest expressions as deep as JSON', async () => {
    const nested = (depth: number) => {
      let expr: unknown = 'n'
      for (let i = 0; i < depth; i++) expr = ['+', expr, 1]
      return { aggregates: [{ op: 'MAX', expr }] }
    }
    await insert(samples(2))

    expect(await rowsOf(nested(29))).toEqual([{ max: 30 }])
    expect(await refused(nested(30))).toMatch(/^400 INVALID_ARGUMENT .*32/)
  })
})

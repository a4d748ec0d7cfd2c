import { beforeEach, describe, expect, test } from 'vitest'
import { LocalCli, madeUpAnswer } from '../local-cli.ts'

const FORMATS = ['json', 'ndjson', 'arrow'] as const

const ALL_TYPES = [
  { name: 'k', type: 'INT16', is_key: true },
  { name: 'text', type: 'STRING', is_key: true },
  { name: 'flag', type: 'BOOL' },
  { name: 'int8', type: 'INT8' },
  { name: 'int32', type: 'INT32', is_nullable: true },
  { name: 'int64', type: 'INT64' },
  { name: 'single', type: 'FLOAT' },
  { name: 'double', type: 'DOUBLE' },
  { name: 'bytes', type: 'BINARY' },
  { name: 'time', type: 'UNIXTIME_MICROS' },
  { name: 'day', type: 'DATE' },
  { name: 'short', type: 'VARCHAR', type_attributes: { length: 4 } },
  { name: 'd9', type: 'DECIMAL', type_attributes: { precision: 3, scale: 2 } },
  { name: 'd18', type: 'DECIMAL', type_attributes: { precision: 18, scale: 2 } },
  { name: 'd38', type: 'DECIMAL', type_attributes: { precision: 38, scale: 0 } },
]

let cli: LocalCli

beforeEach(() => {
  cli = new LocalCli()
})

function createTable(columns: readonly object[] = ALL_TYPES): Promise<unknown> {
  return cli.app.must('POST', '', { body: { name: 'mine', schema: { columns } } })
}

describe('perf loadgen', () => {
  test.each(FORMATS)('writes, counts and drops its table, in %s', async (format) => {
    const flags = `--num_threads 2 --num_rows_per_thread 500 --run-scan --format ${format}`
    const { exitCode, out, err } = await cli.loadgen(flags)

    expect(err).toBe('')
    expect(exitCode).toBe(0)
    const name = /^Using auto-created table '(loadgen_auto_[0-9a-f]{32})'$/m.exec(out)?.[1]
    expect(out.replace(/: [\d.]+ ms/g, ': T ms')).toBe(`Using auto-created table '${name}'

INSERT report
    rows total: 1000
    time total: T ms
  time per row: T ms

Scanner report
  expected rows: 1000
  actual rows  : 1000

Dropping auto-created table '${name}'
`)
    expect(await cli.tables()).toEqual([])
  })

  test.each(FORMATS)('fills a kept table with numbers in order, in %s', async (format) => {
    const flags = `--keep_auto_table --seq_start 7 --num_rows_per_thread 3 --format ${format}`
    const { exitCode, out } = await cli.loadgen(flags)
    const [name] = await cli.tables()
    const rows = await cli.rows(name)

    expect(exitCode).toBe(0)
    expect(out).not.toContain('Dropping')
    expect(rows).toEqual(
      [7, 10, 13, 16, 19, 22].map((key) => ({
        key,
        int_val: key + 1,
        string_val: `${key + 2}.`.padEnd(32, 'x'),
      })),
    )
    const { tablets } = await cli.app.must('GET', `/${name}/tablets`)
    expect(tablets).toHaveLength(8)
  })

  test('writes the same rows in every format, of all types', async () => {
    await createTable()
    const found: unknown[] = []
    for (const random of ['', '--use_random']) {
      for (const format of FORMATS) {
        const flags = `--table_name mine --string_len 6 --format ${format} --run_scan ${random}`
        const { exitCode, out, err } = await cli.loadgen(`${flags} --num_rows_per_thread 100`)
        expect(err).toBe('')
        expect(exitCode).toBe(0)
        expect(out).toContain("Using table 'mine'\n")
        found.push(await cli.rows('mine'))
        await cli.app.must('POST', '/mine/rows/delete', { body: { predicates: [], all: true } })
      }
    }

    const [json, ndjson, arrow, ...random] = found
    expect(json).toHaveLength(200)
    expect(ndjson).toEqual(json)
    expect(arrow).toEqual(json)
    expect(random[0]).not.toEqual(json)
    expect(random[1]).toEqual(random[0])
    expect(random[2]).toEqual(random[0])
    expect((json as unknown[])[1]).toEqual({
      k: 15,
      text: '16.xxx',
      flag: true,
      int8: 18,
      int32: 19,
      int64: 20,
      single: 21,
      double: 22,
      bytes: Buffer.from('23.xxx').toString('base64'),
      time: '1970-01-01T00:00:00.000024Z',
      day: '1970-01-26',
      short: '26.x',
      d9: '0.27',
      d18: '0.28',
      d38: '29',
    })
  })

  test('writes on behind the rows that are there, and leaves them', async () => {
    await createTable([
      { name: 'k', type: 'INT64', is_key: true },
      { name: 'v', type: 'INT32' },
    ])
    await cli.loadgen('--table_name mine --num_rows_per_thread 10')
    const { exitCode, out } = await cli.loadgen(
      '--table_name mine --num_rows_per_thread 10 --seq_start 40 --run_scan',
    )

    expect(exitCode).toBe(0)
    expect(out).toContain('  expected rows: 40\n  actual rows  : 40\n')
  })

  test('counts errors, shows the first, and keeps the table that it made', async () => {
    await createTable([{ name: 'k', type: 'INT8', is_key: true }])
    const { exitCode, out, err } = await cli.loadgen(
      '--table_name mine --num_rows_per_thread 100 --show_first_n_errors 2 --run_scan',
    )

    expect(exitCode).toBe(1)
    // Of 200 numbers 72 are those of others, as INT8: the generator that comes second sees them.
    const report = (generator: number, row: number) =>
      [
        `Error from generator    ${generator}:`,
        `  row ${row}: ALREADY_PRESENT: key already present`,
        `  row ${row + 1}: ALREADY_PRESENT: key already present`,
        '',
        'nyala: encountered 72 write operation errors',
        '',
      ].join('\n')
    expect([report(1, 28), report(0, 0)]).toContain(err)
    expect(out).toContain('rows total: 200\n')
    expect(out).not.toContain('time per row')
    expect(out).not.toContain('Scanner report')
    expect(await cli.rows('mine')).toHaveLength(128)
  })

  test('upserts over rows that are there', async () => {
    await createTable([{ name: 'k', type: 'INT64', is_key: true }])
    const flags = '--table_name mine --num_rows_per_thread 10 --use_upsert --run_scan'
    await cli.loadgen(flags)
    const { exitCode, out } = await cli.loadgen(flags)

    expect(exitCode).toBe(0)
    expect(out).toContain('UPSERT report\n')
    expect(out).toContain('  expected rows: 20 to 40\n  actual rows  : 20\n')
    const writes = cli.requests.filter(({ path }) => path.includes('/rows'))
    expect(writes.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array(4).fill(undefined),
    )
  })

  test.each(FORMATS)('deletes the rows that it wrote, in %s', async (format) => {
    const flags = `--format ${format} --num_rows_per_thread 50 --use_random --flush_per_n_rows 7`
    const { exitCode, out } = await cli.loadgen(`${flags} --keep_auto_table --run_cleanup`)
    const [name] = await cli.tables()

    expect(exitCode).toBe(0)
    expect(out).toContain('\nDELETE report\n    rows total: 100\n')
    expect(await cli.rows(name)).toEqual([])
  })

  test('finds that rows are missing', async () => {
    cli.between = async (request, pass) => {
      if (request.path.endsWith('/scan')) {
        const [table] = await cli.tables()
        await cli.app.must('POST', `/${table}/rows`, {
          body: { operation: 'DELETE', rows: [{ key: 0 }] },
        })
      }
      return pass()
    }
    const { exitCode, out, err } = await cli.loadgen('--run_scan --num_rows_per_thread 5')

    expect(exitCode).toBe(1)
    expect(out).toContain('  expected rows: 10\n  actual rows  : 9\n')
    expect(err).toContain('row count mismatch: expected 10, actual 9')
    expect(await cli.tables()).toHaveLength(1)
  })

  test('cuts requests by rows or by bytes, and has as many at once as buffers', async () => {
    const rowsOf = new Map<string, number[]>()
    let flying = 0
    let most = 0
    cli.between = async (request, pass) => {
      if (!request.path.includes('/rows')) return pass()
      const lines = Buffer.concat(request.body).toString().split('\n').length - 1
      rowsOf.set(request.path, [...(rowsOf.get(request.path) ?? []), lines])
      most = Math.max(most, ++flying)
      const answer = await pass()
      flying--
      return answer
    }
    const flags = '--num_threads 1 --num_rows_per_thread 5000 --buffers_num 3'
    const runs = [
      await cli.loadgen(`${flags} --flush_per_n_rows 1200`),
      await cli.loadgen(`${flags} --buffer_size_bytes 200000`),
    ]
    const [byRows, byBytes] = [...rowsOf.values()]

    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(byRows).toEqual([1200, 1200, 1200, 1200, 200])
    // Of about 80 bytes a row, in steps of some hundred rows.
    expect(byBytes.reduce((sum, lines) => sum + lines, 0)).toBe(5000)
    expect(byBytes.slice(0, -1).every((lines) => lines > 1200 && lines < 2600)).toBe(true)
    expect(most).toBe(3)
  })

  test('writes until it is interrupted, and then ends in order', async () => {
    let requests = 0
    cli.between = (request, pass) => {
      if (request.path.includes('/rows') && ++requests === 10) cli.interrupt()
      return pass()
    }
    const flags = '--num_rows_per_thread -1 --flush_per_n_rows 10 --run_scan'
    const { exitCode, out } = await cli.loadgen(flags)

    expect(exitCode).toBe(0)
    expect(out).toMatch(/rows total: 1[0-3]0\n/)
    expect(out).toMatch(/expected rows: (1[0-3]0)\n {2}actual rows {2}: \1\n/)
    expect(await cli.tables()).toEqual([])
  })

  test('gives up when a request fails for good', async () => {
    cli.between = (request, pass) =>
      request.path.includes('/rows')
        ? Promise.resolve(madeUpAnswer(403, '{"code":"NOT_AUTHORIZED","detail":"no INSERT here"}'))
        : pass()
    const { exitCode, out, err } = await cli.loadgen('--flush_per_n_rows 10')

    expect(exitCode).toBe(1)
    expect(err).toMatch(/^nyala: NOT_AUTHORIZED: no INSERT here; encountered \d+ write operation/)
    expect(Number(/rows total: (\d+)/.exec(out)?.[1])).toBeLessThan(200)
  })

  test('says why a table cannot be used', async () => {
    expect((await cli.loadgen('--table_name none')).err).toContain(
      'table \'none\' could not be opened: NOT_FOUND: table "none" does not exist',
    )
    expect((await cli.loadgen('--table_num_hash_partitions 1024 --num_threads 1')).exitCode).toBe(0)
    expect((await cli.loadgen('--table_num_range_partitions 1024')).err).toMatch(
      /could not be created: INVALID_ARGUMENT: .*1024/,
    )
  })

  test.each(['auto_database=a', 'table_num_replicas=3', 'txn_start', 'enable_array_columns'])(
    'refuses --%s, which would do nothing',
    async (flag) => {
      const { exitCode, err } = await cli.loadgen(`--${flag}`)

      expect(exitCode).toBe(1)
      expect(err).toContain('is not taken: ')
      expect(cli.requests).toEqual([])
    },
  )

  test('shows a token, that of the flag before that of the environment', async () => {
    cli.environment = { NYALA_TOKEN: 'of-environment' }
    await cli.loadgen('')
    await cli.loadgen('--token of-flag')
    const tokens = cli.requests.map(({ headers }) => headers.authorization)

    expect(new Set(tokens)).toEqual(new Set(['Bearer of-environment', 'Bearer of-flag']))
  })

  test('shares connections when it is told to', async () => {
    let opened = 0
    const openTransport = () => {
      opened++
      return { send: () => Promise.reject(new Error('down')), close: () => undefined }
    }
    await cli.loadgen('--num_threads 3', { openTransport })
    expect(opened).toBe(3)

    await cli.loadgen('--num_threads 3 --use_client_per_thread=false', { openTransport })
    expect(opened).toBe(4)
  })
})

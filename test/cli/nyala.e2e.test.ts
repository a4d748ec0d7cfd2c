import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RestClient } from '../support/rest-client.ts'
import { type WorkerProcess, WorkerService } from '../support/worker-service.ts'

const NYALA = join(import.meta.dirname, '..', '..', 'cli', 'nyala.ts')
const FORMATS = ['json', 'ndjson', 'arrow'] as const

interface Ended {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
}

async function ended(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  const [exitCode] = await once(child, 'close')
  return { exitCode, out, err }
}

describe('nyala', () => {
  let service: WorkerService
  let worker: WorkerProcess
  let client: RestClient

  beforeAll(async () => {
    service = await WorkerService.build()
    worker = await service.start()
    client = new RestClient(worker.address)
  })

  afterAll(async () => {
    await worker?.kill()
    await service?.remove()
  })

  function start(...flags: string[]): ChildProcess {
    return spawn(process.execPath, [NYALA, 'perf', 'loadgen', worker.address, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async function tables(): Promise<{ table_name: string }[]> {
    return (await client.must('GET', '/tables')).tables
  }

  test.each(FORMATS)('loads a table of a running service, in %s', async (format) => {
    const flags = ['--num_threads=2', '--num-rows-per-thread=500', '--run-scan']
    const { exitCode, out, err } = await ended(start(...flags, `--format=${format}`))

    expect(err).toBe('')
    expect(exitCode).toBe(0)
    expect(out).toContain('  expected rows: 1000\n  actual rows  : 1000\n')
    expect(out).toContain('Dropping auto-created table')
    expect(await tables()).toEqual([])
  })

  test('keeps the table it made', async () => {
    const { exitCode, out } = await ended(start('--keep_auto_table', '--table_num_int_columns=2'))
    const [{ table_name: name }] = await tables()

    expect(exitCode).toBe(0)
    expect(out).toContain(`Using auto-created table '${name}'`)
    const { rows } = await client.must('POST', `/tables/${name}/aggregate`, {
      aggregates: [
        { op: 'COUNT', as: 'n' },
        { op: 'MAX', column: 'key' },
        { op: 'MAX', column: 'string_val' },
      ],
    })
    expect(rows).toEqual([{ n: 2000, max_key: 7996, max_string_val: '999.'.padEnd(32, 'x') }])
    await client.send('DELETE', `/tables/${name}`)
  })

  test('ends in order when it is interrupted, even if it hears of it twice', async () => {
    const child = start('--num_rows_per_thread=-1', '--flush_per_n_rows=100', '--run_scan')
    const end = ended(child)
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
    child.kill('SIGINT')
    child.kill('SIGINT')
    const { exitCode, out, err } = await end

    expect(err).toBe('')
    expect(exitCode).toBe(0)
    expect(out).toMatch(/expected rows: (\d+)\n {2}actual rows {2}: \1\n/)
    expect(await tables()).toEqual([])
  })

  test('ends with 1 when nobody answers', async () => {
    await worker.kill()
    const { exitCode, err } = await ended(start('--timeout_ms=1000'))

    expect(exitCode).toBe(1)
    expect(err).toMatch(/^nyala: table 'loadgen_auto_\w+' could not be created: no answer: /)
  })
})

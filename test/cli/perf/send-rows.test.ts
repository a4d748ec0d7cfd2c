import { beforeEach, describe, expect, test } from 'vitest'
import type { TransportRequest } from '../../../cli/rest/transport.ts'
import { LocalCli, madeUpAnswer } from '../local-cli.ts'

const WRITES = /\/rows(?:\?|$)/
const FLAGS = '--num_threads 2 --num_rows_per_thread 100 --flush_per_n_rows 25 --run_scan'
/** Beyond these no request has a key: as many as are remembered at once. */
const UNKEYED = '--num_threads 1 --num_rows_per_thread 1100 --flush_per_n_rows 1 --run_scan'

let cli: LocalCli

beforeEach(() => {
  cli = new LocalCli()
})

function operationOf({ path, body }: TransportRequest): string {
  const text = Buffer.concat(body).toString()
  return /operation=(\w+)/.exec(path)?.[1] ?? /"operation":"(\w+)"/.exec(text)?.[1] ?? ''
}

/** Loses the answer of every write that comes for the first time. */
function loseFirstAnswers(from = 0): TransportRequest[] {
  const seen: TransportRequest[] = []
  const known = new Set<string>()
  cli.between = async (request, pass) => {
    if (!WRITES.test(request.path)) return pass()
    const rows = /"key":\d+/.exec(Buffer.concat(request.body).toString())?.[0] ?? ''
    const isLost = !known.has(rows) && known.size >= from
    known.add(rows)
    seen.push({ ...request, body: [Buffer.concat(request.body)] })
    const answer = await pass()
    if (!isLost) return answer
    throw new Error('socket hang up')
  }
  return seen
}

describe('sendRows', () => {
  test.each(['json', 'ndjson'])(
    'repeats with the same key what no answer came to, in %s',
    async (format) => {
      const seen = loseFirstAnswers()
      const { exitCode, out, err } = await cli.loadgen(`${FLAGS} --format ${format}`)

      expect(err).toBe('')
      expect(exitCode).toBe(0)
      expect(out).toContain('  expected rows: 200\n  actual rows  : 200\n')
      expect(seen).toHaveLength(16)
      const keys = seen.map(({ headers }) => headers['idempotency-key'])
      expect(new Set(keys).size).toBe(8)
      expect(new Set(seen.map(operationOf))).toEqual(new Set(['INSERT']))
    },
  )

  test.each(['json', 'ndjson'])(
    'without a key passes over rows written before, in %s',
    async (format) => {
      const seen = loseFirstAnswers(1050)
      const { exitCode, out, err } = await cli.loadgen(`${UNKEYED} --format ${format}`)

      expect(err).toBe('')
      expect(exitCode).toBe(0)
      expect(out).toContain('  expected rows: 1100\n  actual rows  : 1100\n')
      const keyed = seen.filter(({ headers }) => headers['idempotency-key'] !== undefined)
      expect(keyed).toHaveLength(1000)
      const repeats = seen.filter((request) => operationOf(request) === 'INSERT_IGNORE')
      expect(repeats).toHaveLength(50)
    },
  )

  test('waits as long as the service asks for', async () => {
    let refusals = 0
    cli.between = (request, pass) => {
      if (!WRITES.test(request.path) || refusals === 3) return pass()
      refusals++
      const text = '{"code":"SERVICE_UNAVAILABLE","detail":"busy","retryable":true}'
      return Promise.resolve(madeUpAnswer(503, text, { 'retry-after': '2' }))
    }
    const { exitCode } = await cli.loadgen('--num_threads 1 --run_scan')

    expect(exitCode).toBe(0)
    expect(cli.sleptMs).toBeGreaterThanOrEqual(6000)
    expect(cli.sleptMs).toBeLessThanOrEqual(9000)
  })

  test('gives a key up when the service remembers too many', async () => {
    const sent: (string | undefined)[] = []
    cli.between = (request, pass) => {
      if (!WRITES.test(request.path)) return pass()
      const key = request.headers['idempotency-key']
      sent.push(key === undefined ? operationOf(request) : 'keyed')
      if (key === undefined) return pass()
      const text = '{"code":"THROTTLED","detail":"full of keys","retryable":true}'
      return Promise.resolve(madeUpAnswer(429, text))
    }
    const { exitCode, out } = await cli.loadgen('--num_threads 1 --run_scan')

    expect(exitCode).toBe(0)
    expect(out).toContain('actual rows  : 1000\n')
    // Nothing was applied before: the rows are as new.
    expect(sent).toEqual(['keyed', 'INSERT'])
  })

  test('gives up after the time that it may take', async () => {
    cli.between = (request, pass) =>
      WRITES.test(request.path) ? Promise.reject(new Error('socket hang up')) : pass()
    const { exitCode, out, err } = await cli.loadgen('--num_threads 1 --timeout_ms 3000')

    expect(exitCode).toBe(1)
    expect(err).toBe('nyala: no answer: socket hang up; encountered 1000 write operation errors\n')
    expect(out).toContain('rows total: 1000\n')
    expect(cli.sleptMs).toBeLessThanOrEqual(3000)
    expect(cli.sleptMs).toBeGreaterThan(1000)
  })

  test('does not repeat what cannot succeed', async () => {
    let count = 0
    cli.between = (request, pass) => {
      if (!WRITES.test(request.path)) return pass()
      count++
      return Promise.resolve(madeUpAnswer(500, '<html>broken</html>'))
    }
    const { err } = await cli.loadgen('--num_threads 1')

    expect(err).toContain('nyala: 500 <html>broken</html>; encountered 1000')
    expect(count).toBe(1)
  })
})

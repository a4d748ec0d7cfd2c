import { describe, expect, test } from 'vitest'
import type { Action } from '../../cli/mode.ts'
import { MODES } from '../../cli/modes.ts'
import { LocalCli } from './local-cli.ts'

const cli = new LocalCli()

describe('runCli', () => {
  test.each(['', '--help', 'help', '-h'])('lists the modes for %j', async (words) => {
    const { exitCode, out } = await cli.run(words)

    expect(exitCode).toBe(0)
    expect(out).toContain('Usage: nyala <command>')
    expect(out).toMatch(/^ {2}perf {2}\S/m)
  })

  test.each(['perf', 'perf --help'])('lists the actions of a mode for %j', async (words) => {
    const { exitCode, out } = await cli.run(words)

    expect(exitCode).toBe(0)
    expect(out).toContain('Usage: nyala perf <command>')
    expect(out).toMatch(/^ {2}loadgen {2}Run load generation/m)
  })

  test.each(['perf loadgen --help', 'perf loadgen http://localhost --run_scan --help'])(
    'tells all flags of an action for %j',
    async (words) => {
      const { exitCode, out } = await cli.run(words)

      expect(exitCode).toBe(0)
      expect(out).toContain('Usage: nyala perf loadgen <service_address> [flags]')
      expect(out).toContain('  --num_rows_per_thread=integer (default 1000)\n')
      expect(out).toContain('  --format=json|ndjson|arrow (default ndjson)\n')
      expect(cli.requests).toEqual([])
    },
  )

  test('keeps help within eighty columns', async () => {
    const { out } = await cli.run('perf loadgen --help')

    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test.each([
    ['nothing', 'there is no command "nothing" of nyala; there are: perf'],
    ['perf nothing', 'there is no command "nothing" of nyala perf; there are: loadgen'],
    ['perf loadgen', '<service_address> is missing'],
    ['perf loadgen a b', '"b" is one word too many'],
    ['perf loadgen a --nothing', 'unknown flag --nothing; see nyala perf loadgen --help'],
    ['perf loadgen ftp://a', '"ftp://a" is not the address of a service'],
    ['perf loadgen http://a?b=c', '"http://a?b=c" is not the address of a service'],
    ['perf loadgen http://me:secret@a', 'the address of a service holds no password'],
  ])('ends %j with 1 and says why', async (words, message) => {
    const { exitCode, out, err } = await cli.run(words)

    expect(exitCode).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(/^nyala: .*\n$/)
    expect(err).toContain(message)
  })

  test('no name is taken twice', () => {
    const actions: Action[] = MODES.flatMap((mode) => mode.actions)
    const namesOf = ({ flags, refusedFlags }: Action) => {
      return [...flags, ...refusedFlags].map(({ name }) => name)
    }

    expect(new Set(MODES.map(({ name }) => name)).size).toBe(MODES.length)
    for (const action of actions) {
      expect(new Set(namesOf(action)).size).toBe(namesOf(action).length)
    }
  })
})

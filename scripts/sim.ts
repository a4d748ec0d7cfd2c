/**
 * Runs the simulator for a time: `npm run sim -- --minutes 10`. It goes from seed to seed until the
 * time is over, or stops at the first failure, cut down, with the command that runs it again.
 *
 *   --minutes N   how long; 1 when not given       --seed N     the first seed
 *   --events N    events of a script               --replay F   runs one script out of a file
 *   --planted     plants bugs in a copy, one by one, and waits for each to be found; with --only T
 *                 those whose names have T
 *   --brief       tells of a failure only which law it broke
 *
 * `npm run sim -- scans` reads whole tables at random and holds what it gets against a model:
 *
 *   --count N     how many reads; 20,000 when not given
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { SimScript } from '../test/sim/sim-event.ts'

// Before anything of the engine is loaded: with it come the expensive checks.
Reflect.set(globalThis, '__VERIFY__', true)
const { drawScript } = await import('../test/sim/draw-script.ts')
const { reportFailure } = await import('../test/sim/report-failure.ts')
const { runScript } = await import('../test/sim/run-script.ts')
const { runPlanted } = await import('./sim-planted.ts')
const { replayScans, simulateScans } = await import('./sim-scans.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '20000' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '' },
    events: { type: 'string', default: '' },
    replay: { type: 'string', default: '' },
    planted: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    brief: { type: 'boolean', default: false },
  },
})
const EVENT_COUNTS = [60, 150, 400]

function replay(path: string): void {
  const script = JSON.parse(readFileSync(path, 'utf8')) as SimScript
  const failure = runScript(script)
  if (failure === null) process.stdout.write('the script runs through\n')
  else {
    process.exitCode = 1
    process.stdout.write(`event ${failure.eventIndex}: ${describe(failure.error)}\n`)
  }
}

function simulate(minutes: number, firstSeed: number): void {
  const begun = performance.now()
  const until = begun + minutes * 60_000
  const counts = new Map<string, number>()
  let seed = firstSeed
  let eventCount = 0
  for (; performance.now() < until; seed++) {
    const length = Number(values.events) || EVENT_COUNTS[seed % EVENT_COUNTS.length]
    const script = drawScript(seed, length)
    const failure = runScript(script, counts)
    eventCount += failure?.eventIndex ?? length
    if (failure === null) continue
    process.exitCode = 1
    if (values.brief) {
      process.stdout.write(`${firstLine(failure.error)}\n`)
      return
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    process.stdout.write(`failed after ${seconds} s, ${seed - firstSeed + 1} scripts\n`)
    process.stdout.write(`${describe(reportFailure(script, failure))}\n`)
    break
  }
  for (const [name, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    process.stdout.write(`${String(count).padStart(9)}  ${name}\n`)
  }
  process.stdout.write(
    `${eventCount} events in ${seed - firstSeed} scripts from seed ${firstSeed}\n`,
  )
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function firstLine(error: unknown): string {
  return String(error).split('\n')[0]
}

const firstSeed = Number(values.seed) || (Date.now() % 1_000_000) * 1000

if (positionals[0] === 'scans') {
  if (values.replay !== '') await replayScans(values.replay)
  else await simulateScans({ count: Number(values.count), firstSeed })
} else if (values.planted) await runPlanted(Number(values.minutes), values.only)
else if (values.replay !== '') replay(values.replay)
else simulate(Number(values.minutes), firstSeed)

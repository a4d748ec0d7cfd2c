import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../src/util/prng.ts'
import { drawLayout, drawScript } from './draw-script.ts'
import { reportFailure } from './report-failure.ts'
import { runScript } from './run-script.ts'
import type { SimScript } from './sim-event.ts'
import { SimWorld } from './sim-world.ts'

const SEED_FIRST = Number(process.env.NYALA_SIM_SEED ?? 1)
const SEED_COUNT = Number(process.env.NYALA_SIM_SEEDS ?? 10)
const EVENT_COUNT = Number(process.env.NYALA_SIM_EVENTS ?? 100)
const REGRESSIONS = join(import.meta.dirname, '..', 'regressions')

describe('the simulator', () => {
  const names = readdirSync(REGRESSIONS).filter((name) => name.endsWith('.json'))
  test.each(names)('does not find %s again', (name) => {
    const script = JSON.parse(readFileSync(join(REGRESSIONS, name), 'utf8')) as SimScript

    expect(runScript(script)?.error ?? null).toBeNull()
  })

  test('finds nothing: rows, snapshots, counts and invariants hold after every event', () => {
    const counts = new Map<string, number>()
    for (let seed = SEED_FIRST; seed < SEED_FIRST + SEED_COUNT; seed++) {
      const script = drawScript(seed, EVENT_COUNT)
      const failure = runScript(script, counts)
      if (failure !== null) throw reportFailure(script, failure)
    }

    for (const op of ['FLUSH_MRS', 'FLUSH_DMS', 'COMPACT', 'GC']) {
      expect(counts.get(`${op} done`) ?? 0, `${op} in ${[...counts.keys()]}`).toBeGreaterThan(0)
    }
    expect(counts.get('crash that lost ops') ?? 0).toBeGreaterThan(0)
  }, 300_000)

  test('answers the same whatever the layout of the storage', () => {
    for (let seed = SEED_FIRST; seed < SEED_FIRST + 1; seed++) {
      // What fails, crashes and is refused depends on how many transactions there were.
      const script = withoutFaults(drawScript(seed, EVENT_COUNT))
      const prng = new Prng(seed)
      const answers = new Set<string>()
      for (let i = 0; i < 3; i++) {
        const world = new SimWorld({ ...script, layout: drawLayout(prng) })
        for (const event of script.events) world.run(event)
        answers.add(world.answers())
      }

      expect(answers.size, `seed ${seed}`).toBe(1)
    }
  }, 120_000)
})

function withoutFaults(script: SimScript): SimScript {
  const events = script.events.filter(({ kind }) => !['fail', 'crash', 'damage'].includes(kind))
  return { ...script, memoryBytes: 1 << 29, events }
}

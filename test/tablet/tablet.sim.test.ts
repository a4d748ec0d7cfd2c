import { describe, expect, test } from 'vitest'
import { TabletSim } from '../support/tablet-sim.ts'

const SEED_FIRST = Number(process.env.NYALA_SIM_SEED ?? 1)
const SEED_COUNT = Number(process.env.NYALA_SIM_SEEDS ?? 10)
const STEP_COUNT = Number(process.env.NYALA_SIM_STEPS ?? 120)

describe('Tablet', () => {
  test('equals its model at every time, over flushes, crashes, failing storage and repeats', () => {
    const counts = new Map<string, number>()
    for (let seed = SEED_FIRST; seed < SEED_FIRST + SEED_COUNT; seed++) {
      const sim = new TabletSim(seed)
      for (let step = 1; step <= STEP_COUNT; step++) {
        try {
          sim.step()
        } catch (error) {
          const replay = `NYALA_SIM_SEED=${seed} NYALA_SIM_SEEDS=1 NYALA_SIM_STEPS=${step}`
          throw new Error(`seed ${seed}, step ${step} (${replay})`, { cause: error })
        }
      }
      for (const [name, count] of sim.counts) counts.set(name, (counts.get(name) ?? 0) + count)
    }

    const happened = [...counts.keys()].sort()
    expect(happened).toEqual([
      'FLUSH_DMS done',
      'FLUSH_DMS without work',
      'FLUSH_MRS done',
      'FLUSH_MRS without work',
      'crash that lost nothing',
      'crash that lost ops',
      'flush aborted',
      'flush failed',
      'repeat answered',
      'scan',
      'write failed after-durable',
      'write failed before-durable',
      'write logged',
      'write without effect',
    ])
  }, 60_000)
})

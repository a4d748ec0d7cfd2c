import { describe, expect, test } from 'vitest'
import { FlushWorld } from '../../support/flush-world.ts'

const SEED_COUNT = Number(process.env.NYALA_FLUSH_SEEDS ?? 20)
const SEEDS = Array.from({ length: SEED_COUNT }, (_, i) => i + 1)

describe('FlushMemRowSetTask', () => {
  test.each(SEEDS)(
    'leaves every time as it was, with writes between any two of its steps (seed %i)',
    (seed) => {
      const world = new FlushWorld(seed, 12)
      const { harness, prng } = world
      let stepCount = 0
      for (let round = prng.between(1, 4); round > 0; round--) {
        for (let i = prng.below(12); i > 0; i--) world.write()
        if (prng.chance(0.3)) startInVain(world)
        stepCount += world.run(world.flushTask(), () => {
          if (prng.chance(0.7)) world.write()
          if (prng.chance(0.2)) world.check(4)
        })
        world.check()
        world.checkFiles()
        world.checkRowSets()
        if (prng.chance(0.5)) world.run(world.deltaTask(), () => world.write())
        if (prng.chance(0.5)) harness.evict()
        world.check()
      }
      world.checkRowSets()

      expect(stepCount).toBeGreaterThan(0)
    },
  )

  test.each(SEEDS.slice(0, 5))(
    'loses nothing by a crash behind any of its transactions (seed %i)',
    (seed) => {
      let crashCount = 0
      for (let crashAt = 0; ; crashAt++) {
        const world = new FlushWorld(seed, 8)
        for (let i = 0; i < 10; i++) world.write()
        world.run(world.flushTask())
        for (let i = 0; i < 8; i++) world.write()
        const isDone = crashBehind(world, crashAt)
        world.check()
        world.run(world.flushTask(), () => world.write())
        world.run(world.deltaTask())
        world.check()
        world.checkFiles()
        world.checkRowSets()
        if (isDone) break
        crashCount++
      }

      expect(crashCount).toBeGreaterThan(6)
    },
  )
})

/** Begins a flush and aborts it. */
function startInVain(world: FlushWorld): void {
  const task = world.flushTask()
  for (let i = world.prng.between(1, 6); i > 0; i--) {
    if (world.harness.step(task)) return
    world.write()
  }
  task.abort()
  world.check(4)
}

/**
 * Crashes behind some step of a flush, with what the transactions since the last answer left or
 * not. Returns: whether the flush was at its end.
 */
function crashBehind(world: FlushWorld, stepCount: number): boolean {
  const { harness, prng } = world
  const task = world.flushTask()
  for (let i = 0; i < stepCount; i++) {
    if (harness.step(task)) return true
    if (prng.chance(0.3)) world.write()
  }
  const { committedCount, releasedCount } = harness.store
  harness.crash(prng.between(releasedCount, committedCount))
  return false
}

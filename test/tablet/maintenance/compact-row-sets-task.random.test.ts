import { describe, expect, test } from 'vitest'
import type { MaintenanceTask } from '../../../src/tablet/maintenance/maintenance-task.ts'
import { CompactionWorld } from '../../support/compaction-world.ts'

const SEED_COUNT = Number(process.env.NYALA_COMPACTION_SEEDS ?? 8)
const SEEDS = Array.from({ length: SEED_COUNT }, (_, i) => i + 1)

/** Some op that can be run now, or null. */
function drawTask(world: CompactionWorld): MaintenanceTask | null {
  const { prng } = world
  const { rowSets } = world.harness.parts
  if (rowSets.length === 0) return null
  const kind = prng.below(10)
  if (kind < 5) {
    world.rowSetRows = prng.pick([3, 5, 1_000_000])
    const chosen = rowSets.filter(() => prng.chance(0.7))
    return world.compactTask(prng.chance(0.5) ? rowSets : chosen)
  }
  const index = prng.below(rowSets.length)
  if (kind < 7) return world.minorTask(index)
  if (kind < 9)
    return world.majorTask(
      index,
      [11, 12].filter(() => prng.chance(0.7)),
    )
  return world.garbageTask()
}

/** Rowsets that overlap, with changes in files and in memory. */
function fill(world: CompactionWorld): void {
  const { prng } = world
  for (let round = prng.between(1, 3); round > 0; round--) {
    for (let i = prng.between(1, 8); i > 0; i--) world.write()
    if (prng.chance(0.8)) world.flush()
    for (let i = prng.below(4); i > 0; i--) world.write()
    if (prng.chance(0.6)) world.flushDeltas()
    if (prng.chance(0.3)) world.wait(prng.below(50_000_000))
  }
}

describe('CompactRowSetsTask', () => {
  test.each(SEEDS)(
    'leaves every readable time as it was, with writes and flushes between its steps (seed %i)',
    (seed) => {
      const world = new CompactionWorld(seed, 12)
      const { harness, prng } = world
      let stepCount = 0
      for (let round = 0; round < 4; round++) {
        fill(world)
        world.check()
        const task = drawTask(world)
        if (task === null) continue
        stepCount += world.run(task, () => {
          if (prng.chance(0.6)) world.write()
          if (prng.chance(0.1)) world.flush()
          if (prng.chance(0.1)) world.flushDeltas()
          if (prng.chance(0.1)) world.wait(prng.below(50_000_000))
          if (prng.chance(0.2)) world.check(4)
        })
        world.check()
        world.checkRowSets()
        world.run(world.garbageTask())
        world.checkFiles()
        if (prng.chance(0.3)) harness.evict()
        world.check()
      }

      expect(stepCount).toBeGreaterThan(0)
    },
  )

  test.each(SEEDS.slice(0, 3))(
    'loses nothing by a crash or an abort behind any step (seed %i)',
    (seed) => {
      let stopCount = 0
      for (let stopAt = 0; ; stopAt++) {
        const world = new CompactionWorld(seed, 10)
        fill(world)
        fill(world)
        const task = drawTask(world)
        const isDone = task === null || stopBehind(world, task, stopAt)
        world.check()
        world.run(world.compactTask(), () => world.write())
        world.check()
        world.run(world.garbageTask())
        world.checkFiles()
        world.checkRowSets()
        if (isDone) break
        stopCount++
      }

      expect(stopCount).toBeGreaterThanOrEqual(0)
    },
  )
})

/** Crashes or aborts behind some step of a task. Returns: whether the task was at its end. */
function stopBehind(world: CompactionWorld, task: MaintenanceTask, stepCount: number): boolean {
  const { harness, prng } = world
  for (let i = 0; i < stepCount; i++) {
    if (harness.step(task)) return true
    if (prng.chance(0.3)) world.write()
  }
  if (prng.chance(0.5)) {
    const before = JSON.stringify(world.metas)
    task.abort()
    expect(JSON.stringify(world.metas)).toBe(before)
    return false
  }
  const { committedCount, releasedCount } = harness.store
  harness.crash(prng.between(releasedCount, committedCount))
  return false
}

import { describe, expect, test } from 'vitest'
import type { MaintenanceTask } from '../../../src/tablet/maintenance/maintenance-task.ts'
import { DEFAULT_TABLET_LAYOUT, type TabletLayout } from '../../../src/tablet/tablet-layout.ts'
import { assert } from '../../../src/util/assert.ts'
import { CompactionWorld } from '../../support/compaction-world.ts'
import { drawPredicate, type PredicateSample } from '../../support/draw-predicate.ts'
import { type DiffReading, type DiffRow, scanDiff } from '../../support/scan-diff.ts'
import type { ModelRow } from '../../support/tablet-model.ts'

const SEED_COUNT = Number(process.env.NYALA_DIFF_SEEDS ?? 8)
const SEEDS = Array.from({ length: SEED_COUNT }, (_, i) => i + 1)

/** Snapshots that are compared with each other. */
const SNAPSHOT_COUNT = 10

/** Pages, of columns, keys and deltas, of which a rowset of few rows has many. */
const SMALL_PAGES: TabletLayout = {
  ...DEFAULT_TABLET_LAYOUT,
  pageRows: 3,
  pageValueBytes: 40,
  pageTextBytes: 20,
  keyPageRows: 2,
  deltaBlockRecords: 2,
}

/** Runs some op, with writes between its steps. */
function maintain(world: CompactionWorld): void {
  const { prng } = world
  const { rowSets } = world.harness.parts
  const between = () => {
    if (prng.chance(0.5)) world.write()
    if (prng.chance(0.1)) world.flushDeltas()
  }
  const kind = prng.below(12)
  if (kind < 4) world.flush()
  else if (kind < 6) world.flushDeltas()
  else if (rowSets.length > 0) world.run(drawTask(world, kind), between)
}

function drawTask(world: CompactionWorld, kind: number): MaintenanceTask {
  const { prng } = world
  const { rowSets } = world.harness.parts
  const index = prng.below(rowSets.length)
  if (kind < 8) return world.majorTask(index, prng.pick([[11], [12], [11, 12]]))
  if (kind < 9) return world.minorTask(index)
  if (kind < 10) return world.garbageTask()
  world.rowSetRows = prng.pick([3, 5, 1_000_000])
  return world.compactTask(prng.chance(0.5) ? rowSets : rowSets.filter(() => prng.chance(0.7)))
}

/** Reads in batches of random sizes, goes on in other scans, and lets much happen in between. */
function restless(world: CompactionWorld, diffFrom: number): DiffReading {
  const { prng } = world
  let happenings = 0
  return {
    limits: () => ({ rowCountMax: prng.between(1, 8), bytesMax: prng.pick([1, 100, 1 << 20]) }),
    between: () => {
      if (happenings < 3 && prng.chance(0.2)) {
        happenings++
        if (prng.chance(0.5)) world.write()
        else maintain(world)
      }
      // What lies below the history that is kept can be read to its end, but not anew.
      return prng.chance(0.3) && diffFrom >= world.readableFrom
    },
  }
}

/** Random predicates, and what they say of a row. */
function drawSamples(world: CompactionWorld): Map<string, PredicateSample> {
  const { prng, harness } = world
  const domains: Record<string, (number | Uint8Array)[]> = {
    k: [0, 3, 7, 11],
    v: [0, 100, 500, 900],
    t: ['', 'xxx', 'x'.repeat(20)].map((text) => new TextEncoder().encode(text)),
  }
  const columns = harness.schema.columns.filter(() => prng.chance(0.3))
  return new Map(
    columns.map((column) => [column.name, drawPredicate(column, domains[column.name], prng)]),
  )
}

function accepts(sample: PredicateSample | undefined, row: ModelRow, name: string): boolean {
  if (sample === undefined) return true
  const cell = row[name]
  return sample.accepts(typeof cell === 'string' ? new TextEncoder().encode(cell) : cell)
}

/** Compares a diff of random columns and predicates with the model. */
function checkDiff(world: CompactionWorld, diffFrom: number, snapshot: number): number {
  const { harness, prng } = world
  const columns = harness.schema.columns.filter(() => prng.chance(0.7))
  const samples = drawSamples(world)
  const asked = {
    diffFrom,
    snapshot,
    columnIds: columns.map(({ id }) => id),
    predicates: [...samples.values()].map(({ predicate }) => predicate),
    withKeys: prng.chance(0.5),
  }
  const expected = world
    .expectedDiff(diffFrom, snapshot)
    .filter(({ row, isDeleted }) =>
      harness.schema.columns.every(({ name, isKey }) => {
        return (isDeleted && !isKey) || accepts(samples.get(name), row, name)
      }),
    )
    .map(({ row, isDeleted }) => ({
      cells: Object.fromEntries(
        columns.map(({ name, isKey }) => [name, isDeleted && !isKey ? null : row[name]]),
      ),
      isDeleted,
      key: asked.withKeys ? ((row.k as number) + 2 ** 31).toString(16) : null,
    }))
  const found = scanDiff(harness, asked, restless(world, diffFrom))
  expect(found, `from ${diffFrom} to ${snapshot}`).toEqual(expected)
  return found.length
}

/** What a diff makes of rows. */
function applied(rows: readonly ModelRow[], diff: readonly DiffRow[]): ModelRow[] {
  const byKey = new Map(rows.map((row) => [row.k as number, row]))
  for (const { cells, isDeleted } of diff) {
    const key = cells.k as number
    if (isDeleted) assert(byKey.delete(key), 'a deleted row was there')
    else byKey.set(key, cells as ModelRow)
  }
  return [...byKey.keys()].sort((a, b) => a - b).map((key) => byKey.get(key) as ModelRow)
}

describe('openDiffScan', () => {
  test.each(SEEDS)(
    'shows what changed between any two times, whatever was flushed or compacted (seed %i)',
    (seed) => {
      const world = new CompactionWorld(seed, 12, seed % 2 === 0 ? SMALL_PAGES : undefined)
      const { harness, prng } = world
      let rowCount = 0
      for (let round = 0; round < 12; round++) {
        for (let i = prng.between(1, 8); i > 0; i--) world.write()
        maintain(world)
        if (prng.chance(0.2)) world.wait(prng.below(30_000_000))
        if (prng.chance(0.2)) harness.evict()
        const from = world.readableFrom
        const readable = [from, ...world.times.filter((time) => time > from)]
        for (let i = 0; i < 4; i++) {
          const [a, b] = [prng.pick(readable), prng.pick(readable)].sort((x, y) => x - y)
          if (a >= world.readableFrom) rowCount += checkDiff(world, a, b)
        }
      }

      expect(rowCount).toBeGreaterThan(0)
    },
  )

  test.each(SEEDS)(
    'makes of the rows at any of ten times those at any later one (seed %i)',
    (seed) => {
      const world = new CompactionWorld(seed + 1000, 20)
      const { harness, prng } = world
      for (let round = 0; round < SNAPSHOT_COUNT; round++) {
        for (let i = prng.between(1, 4); i > 0; i--) world.write()
        maintain(world)
        if (prng.chance(0.3)) harness.evict()
      }
      const { times } = world
      const snapshots = Array.from({ length: SNAPSHOT_COUNT }, () => prng.pick(times))
      snapshots.sort((a, b) => a - b)
      const rowsAt = snapshots.map((time) => harness.peek(time).rows as ModelRow[])
      let pairCount = 0
      for (let a = 0; a < snapshots.length; a++) {
        for (let b = a; b < snapshots.length; b++) {
          const diff = scanDiff(harness, { diffFrom: snapshots[a], snapshot: snapshots[b] })
          expect(applied(rowsAt[a], diff)).toEqual(rowsAt[b])
          pairCount++
        }
      }

      expect(pairCount).toBe((SNAPSHOT_COUNT * (SNAPSHOT_COUNT + 1)) / 2)
    },
  )
})

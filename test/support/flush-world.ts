/** A tablet that is written to at random and flushed, held against a model at every time. */

import { encodeRowBlock } from '../../src/common/row-block.ts'
import { Schema } from '../../src/common/schema.ts'
import { filesOf } from '../../src/tablet/disk/row-set-meta.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushDeltaTask } from '../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import { DEFAULT_TABLET_LAYOUT, type TabletLayout } from '../../src/tablet/tablet-layout.ts'
import { assert } from '../../src/util/assert.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from './a-schema.ts'
import { aWriteBlock } from './a-write-block.ts'
import { TabletHarness } from './tablet-harness.ts'
import { type ModelOperation, type ModelRow, type ModelValue, TabletModel } from './tablet-model.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 11),
  aColumnDefinition('t STRING NULL', 12),
])

/** See the file's header. */
export class FlushWorld {
  readonly harness: TabletHarness
  readonly prng: Prng
  /** Times of the ops so far, ascending. */
  readonly times: number[] = []
  readonly #keyCount: number
  readonly #model = new TabletModel([
    { name: 'k', isKey: true, isNullable: false, isImmutable: false },
    { name: 'v', isKey: false, isNullable: true, isImmutable: false },
    { name: 't', isKey: false, isNullable: true, isImmutable: false },
  ])

  constructor(seed: number, keyCount: number, layout: TabletLayout = DEFAULT_TABLET_LAYOUT) {
    this.prng = new Prng(seed)
    this.harness = new TabletHarness(SCHEMA, { seed, layout })
    this.#keyCount = keyCount
  }

  /** One op of up to `rowCountMax` operations, some on the same key. */
  write(rowCountMax = 6): void {
    const count = this.prng.between(1, rowCountMax)
    this.apply(Array.from({ length: count }, () => this.#operation()))
  }

  /** Sends an op, whose answer is sent too. */
  apply(operations: readonly ModelOperation[]): void {
    const { harness } = this
    harness.clock.advance(this.prng.below(3))
    const block = aWriteBlock(SCHEMA, operations as Parameters<typeof aWriteBlock>[1])
    const { timestamp, errors } = harness.writeBlock(encodeRowBlock(block))
    harness.store.release()
    if (timestamp === null) return
    this.times.push(timestamp)
    const result = this.#model.apply(operations, timestamp)
    assert(result.failed === errors.rows.length, 'as many rows fail as in the model')
  }

  #operation(): ModelOperation {
    const { prng } = this
    const key = { k: prng.below(this.#keyCount) }
    const kind = prng.below(10)
    if (kind < 3) return ['INSERT_IGNORE', { ...key, ...this.#cells() }]
    if (kind < 5) return ['UPSERT', { ...key, ...this.#cells() }]
    if (kind < 8) return ['DELETE_IGNORE', key]
    return ['UPDATE_IGNORE', { ...key, ...this.#cells(), v: prng.below(1000) }]
  }

  #cells(): ModelRow {
    const { prng } = this
    const cells: Record<string, ModelValue> = {}
    if (prng.chance(0.6)) cells.v = prng.chance(0.2) ? null : prng.below(1000)
    if (prng.chance(0.4)) cells.t = prng.chance(0.2) ? null : 'x'.repeat(prng.below(30))
    return cells
  }

  /** A flush of the MemRowSet whose every step is as short as can be. */
  flushTask(): MaintenanceTask {
    return new FlushMemRowSetTask(this.harness.parts, this.harness.clock.nowMicros(), {
      stepBytes: 1,
    })
  }

  /** A flush of the DeltaMemStores, likewise. */
  deltaTask(): MaintenanceTask {
    return new FlushDeltaTask(this.harness.parts, this.harness.clock.nowMicros(), { stepBytes: 1 })
  }

  /** Runs a task to its end, with something done between any two steps. Returns: how many. */
  run(task: MaintenanceTask, between: () => void = () => {}): number {
    let stepCount = 1
    for (; !this.harness.step(task); stepCount++) between()
    return stepCount
  }

  /** Compares what the tablet shows with the model, now and at some times, or at all. */
  check(timeCountMax = 1000): void {
    const { harness, prng, times } = this
    checkTablet(harness.tablet)
    const all = [null, ...times]
    const some = all.length <= timeCountMax ? all : [null, ...pick(prng, times, timeCountMax)]
    for (const time of some) {
      const expected = this.#model.rowsAt(time ?? Number.MAX_SAFE_INTEGER)
      const found = harness.peek(time).rows
      const isSame = JSON.stringify(found) === JSON.stringify(expected)
      assert(isSame, `at ${time}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
    }
    const live = this.#model.rowsAt(Number.MAX_SAFE_INTEGER).length
    assert(harness.parts.liveRowCount === live, 'live rows are counted')
  }

  /** Asserts that there is no file but those of rowsets and orphans. */
  checkFiles(orphanCountMax = 0): void {
    const { parts, store } = this.harness
    const used = new Set(parts.rowSets.flatMap(({ meta }) => filesOf(meta)))
    const orphans = new Set(parts.orphanFiles)
    for (const file of store.files()) {
      assert(used.has(file) || orphans.has(file), 'every file is used or an orphan')
    }
    for (const file of used) assert(store.files().includes(file), 'every file used is there')
    assert(orphans.size <= orphanCountMax, 'no file is left behind')
  }

  /** Reads every rowset on disk whole. */
  checkRowSets(): void {
    const { parts } = this.harness
    for (const rowSet of parts.rowSets) rowSet.checkInvariants(parts.keyHashSeed)
  }
}

function pick(prng: Prng, times: readonly number[], count: number): number[] {
  return Array.from({ length: count }, () => prng.pick(times))
}

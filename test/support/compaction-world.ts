/**
 * A tablet whose rows are written at random, flushed and compacted, held against a model at every
 * time that may be read. Its table keeps a minute of history.
 */

import { encodeRowBlock } from '../../src/common/row-block.ts'
import { Schema } from '../../src/common/schema.ts'
import { filesOf, type RowSetMeta } from '../../src/tablet/disk/row-set-meta.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { CompactRowSetsTask } from '../../src/tablet/maintenance/compact-row-sets-task.ts'
import { FlushDeltaTask } from '../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { GarbageTask } from '../../src/tablet/maintenance/garbage-task.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import { MajorDeltaTask } from '../../src/tablet/maintenance/major-delta-task.ts'
import { MinorDeltaTask } from '../../src/tablet/maintenance/minor-delta-task.ts'
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
/** Ids of the columns but the key's. */
export const VALUE_COLUMN_IDS: readonly number[] = [11, 12]
/** How long the table keeps history. */
export const HISTORY_MICROS = 60_000_000
const NOW = Number.MAX_SAFE_INTEGER

/** See the file's header. */
export class CompactionWorld {
  readonly harness: TabletHarness
  readonly prng: Prng
  /** Times of the ops so far, ascending. */
  readonly times: number[] = []
  /** Bytes of a step: as few as can be. */
  readonly stepBytes = 1
  /** Rows of a full rowset. */
  rowSetRows = 1_000_000
  readonly #keyCount: number
  readonly #model = new TabletModel([
    { name: 'k', isKey: true, isNullable: false, isImmutable: false },
    { name: 'v', isKey: false, isNullable: true, isImmutable: false },
    { name: 't', isKey: false, isNullable: true, isImmutable: false },
  ])

  constructor(seed: number, keyCount: number, layout: TabletLayout = DEFAULT_TABLET_LAYOUT) {
    this.prng = new Prng(seed)
    const extraConfigs = { 'kudu.table.history_max_age_sec': '60' }
    this.harness = new TabletHarness(SCHEMA, { seed, extraConfigs, layout })
    this.#keyCount = keyCount
  }

  /** Lets time pass. */
  wait(micros: number): void {
    this.harness.clock.advance(micros)
  }

  /** One op of up to `rowCountMax` operations, some on the same key. */
  write(rowCountMax = 6): void {
    const count = this.prng.between(1, rowCountMax)
    this.apply(Array.from({ length: count }, () => this.#operation()))
  }

  /** Sends an op, whose answer is sent too. */
  apply(operations: readonly ModelOperation[]): void {
    const { harness } = this
    harness.clock.advance(this.prng.between(1, 3))
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
    if (kind < 7) return ['DELETE_IGNORE', key]
    return ['UPDATE_IGNORE', { ...key, ...this.#cells() }]
  }

  #cells(): ModelRow {
    const { prng } = this
    const cells: Record<string, ModelValue> = {}
    if (prng.chance(0.6)) cells.v = prng.chance(0.2) ? null : prng.below(1000)
    if (prng.chance(0.5)) cells.t = prng.chance(0.2) ? null : 'x'.repeat(prng.below(30))
    return cells
  }

  /** A merge of some rowsets, or of all. */
  compactTask(rowSets = this.harness.parts.rowSets): CompactRowSetsTask {
    const { stepBytes, rowSetRows } = this
    const { parts, clock } = this.harness
    return new CompactRowSetsTask(parts, rowSets, clock.nowMicros(), { stepBytes, rowSetRows })
  }

  /** A minor compaction of a rowset. */
  minorTask(index = 0): MinorDeltaTask {
    const { stepBytes } = this
    const { parts, clock } = this.harness
    return new MinorDeltaTask(parts, parts.rowSets[index], clock.nowMicros(), { stepBytes })
  }

  /** A major compaction of a rowset. */
  majorTask(index = 0, columnIds = VALUE_COLUMN_IDS): MajorDeltaTask {
    const { stepBytes } = this
    const { parts, clock } = this.harness
    const rowSet = parts.rowSets[index]
    return new MajorDeltaTask(parts, rowSet, columnIds, clock.nowMicros(), { stepBytes })
  }

  /** Garbage collection. */
  garbageTask(): GarbageTask {
    return new GarbageTask(this.harness.parts, this.harness.clock.nowMicros())
  }

  /** Makes rowsets of all rows in memory. */
  flush(): void {
    this.run(new FlushMemRowSetTask(this.harness.parts, this.harness.clock.nowMicros()))
  }

  /** Makes REDO files of all changes in memory. */
  flushDeltas(): void {
    this.run(new FlushDeltaTask(this.harness.parts, this.harness.clock.nowMicros()))
  }

  /** Runs a task to its end, with something done between any two steps. Returns: how many. */
  run(task: MaintenanceTask, between: () => void = () => {}): number {
    let stepCount = 1
    for (; !this.harness.step(task); stepCount++) between()
    return stepCount
  }

  /** The oldest time that may be read. */
  get readableFrom(): number {
    const { parts, clock } = this.harness
    return Math.max(clock.nowMicros() - HISTORY_MICROS, parts.historyMark)
  }

  /** The rows that are there at a time, by the model. */
  expectedAt(time: number): ModelRow[] {
    return this.#model.rowsAt(time)
  }

  /** What changed between two times, by the model. */
  expectedDiff(after: number, upTo: number): { row: ModelRow; isDeleted: boolean }[] {
    return this.#model.diff(after, upTo)
  }

  /** Compares what the tablet shows with the model, now and at some times, or at all readable. */
  check(timeCountMax = 1000): void {
    const { harness, prng, times } = this
    checkTablet(harness.tablet)
    const from = this.readableFrom
    const readable = [from, ...times.filter((time) => time > from)]
    const some =
      readable.length <= timeCountMax
        ? readable
        : Array.from({ length: timeCountMax }, () => prng.pick(readable))
    for (const time of [null, ...some]) {
      const expected = this.#model.rowsAt(time ?? NOW)
      const found = harness.peek(time).rows
      const isSame = JSON.stringify(found) === JSON.stringify(expected)
      assert(isSame, `at ${time}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
    }
    assert(harness.parts.liveRowCount === this.#model.rowsAt(NOW).length, 'live rows are counted')
  }

  /** Asserts that there is no file, and no block, but what a rowset needs. */
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
    for (const rowSet of parts.rowSets) {
      assert(!rowSet.isBusy && !rowSet.isPinned, 'nothing is held when no task runs')
      rowSet.checkInvariants(parts.keyHashSeed)
    }
  }

  /** What the superblock says of the rowsets. */
  get metas(): RowSetMeta[] {
    return this.harness.parts.rowSets.map(({ meta }) => meta)
  }

  /** Bytes of all blocks stored. */
  get storedBytes(): number {
    const { store } = this.harness
    const blocks = store.files().flatMap((file) => store.blocks(file))
    return blocks.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

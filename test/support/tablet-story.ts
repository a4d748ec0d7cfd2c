/**
 * What happens to a tablet, told step by step, and then checked as if it had crashed anywhere
 * between.
 *
 *   commits   1  2  3  4  5  6  7        every write and every step of a task is a transaction
 *   times        12    15    21          of the ops that applied
 *
 * After a crash that keeps the first n commits, every snapshot at and just before every op among
 * them shows what it showed when the op was new.
 */

import { expect } from 'vitest'
import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import type { Schema } from '../../src/common/schema.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushDeltaTask } from '../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import { aWriteBlock, type PlainOperation, type PlainRow } from './a-write-block.ts'
import { TabletHarness } from './tablet-harness.ts'

interface ToldOp {
  readonly at: Timestamp
  /** Commits with it. */
  readonly commitCount: number
  readonly rows: readonly PlainRow[]
}

/** See the file's header. */
export class TabletStory {
  readonly harness: TabletHarness
  readonly #ops: ToldOp[] = []
  #flush: FlushMemRowSetTask | null = null

  constructor(schema: Schema) {
    this.harness = new TabletHarness(schema)
  }

  /** Times of the ops that applied. */
  get times(): readonly Timestamp[] {
    return this.#ops.map(({ at }) => at)
  }

  /** Writes one op. Nothing of the story is ever answered, so that it can crash anywhere. */
  write(operations: readonly PlainOperation[], key: ResultKey | null = null): WriteResult {
    const { harness } = this
    const block = encodeRowBlock(aWriteBlock(harness.schema, operations))
    const result = harness.writeBlock(block, key)
    if (result.timestamp !== null && !result.isReplayed) {
      const { rows } = harness.peek(result.timestamp)
      this.#ops.push({ at: result.timestamp, commitCount: harness.store.committedCount, rows })
    }
    return result
  }

  /** Whether a flush was begun and not ended. */
  get isFlushing(): boolean {
    return this.#flush !== null
  }

  /** Whether there is something to flush, and nothing is being flushed. */
  get canBeginFlush(): boolean {
    return this.#flush === null && this.harness.parts.memRowSet.liveRowCount > 0
  }

  /** Loses all memory, with what was under way. */
  restart(): void {
    this.#flush = null
    this.harness.evict()
  }

  /** Begins a flush of the MemRowSet: it is frozen, its rows are resolved, and a file is begun. */
  beginFlush(): void {
    const { parts, clock } = this.harness
    this.#flush = new FlushMemRowSetTask(parts, clock.nowMicros(), { stepBytes: 1 })
    while (parts.orphanFiles.length === 0) {
      assert(!this.harness.step(this.#flush), 'there is something to flush')
    }
  }

  /** Ends the flush that was begun. */
  endFlush(): void {
    assert(this.#flush !== null, 'a flush was begun')
    this.#run(this.#flush)
    this.#flush = null
  }

  /** Flushes the MemRowSet, or ends a flush that was begun. */
  flush(): void {
    if (this.isFlushing) this.endFlush()
    const { parts, clock } = this.harness
    this.#run(new FlushMemRowSetTask(parts, clock.nowMicros(), { stepBytes: 1 }))
  }

  /** Flushes the DeltaMemStores. */
  flushDeltas(): void {
    const { parts, clock } = this.harness
    this.#run(new FlushDeltaTask(parts, clock.nowMicros(), { stepBytes: 1 }))
  }

  #run(task: MaintenanceTask): void {
    while (!this.harness.step(task));
  }

  /** Checks the tablet as it is, and as it would be after each crash. */
  check(): void {
    const { harness } = this
    this.#compare(harness, harness.store.committedCount)
    const { store } = harness
    for (let kept = store.committedCount; kept >= 1; kept--) {
      const other = harness.fork(kept)
      this.#compare(other, kept)
    }
  }

  #compare(harness: TabletHarness, commitCount: number): void {
    const told = this.#ops.filter((op) => op.commitCount <= commitCount)
    const where = `after ${commitCount} commits`
    let before: readonly PlainRow[] = []
    for (const { at, rows } of told) {
      expect(harness.peek(at - 1).rows, `${where}, before ${at}`).toEqual(before)
      expect(harness.peek(at).rows, `${where}, at ${at}`).toEqual(rows)
      before = rows
    }
    expect(harness.tablet.lastApplied, where).toBe(told.at(-1)?.at ?? 0)
    checkTablet(harness.tablet)
  }
}

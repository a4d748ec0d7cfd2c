import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../delta/delta-records-builder.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import { mergeDeltaRecords } from '../delta/merge-delta-records.ts'
import type { MergePlan } from './merge-plan.ts'
import type { MergeSource } from './merge-source.ts'

/**
 * What became of the rows of a compaction's inputs since it began, to be carried over to the rows
 * that it wrote.
 */
export class LateChanges {
  /** Whether some of it is durable in files, of which the inputs had none when it began. */
  readonly isInFiles: boolean
  readonly #records: readonly DeltaRecords[]
  /** Of each input, the first record that was not carried over. */
  readonly #next: Uint32Array
  readonly #after: Timestamp

  /** Of changes above `after`. Throws: CORRUPTION. */
  constructor(sources: readonly MergeSource[], after: Timestamp) {
    let isInFiles = false
    this.#after = after
    this.#records = sources.map((source) => {
      const { rowSet, view } = source
      const files = rowSet.redos.filter((file) => !view.redos.includes(file))
      const stores = rowSet.memStores.filter((store) => !source.redos.includes(store))
      if (files.length > 0) isInFiles = true
      const late: DeltaStore[] = [...files, ...stores]
      return mergeDeltaRecords(
        late
          .filter((store) => store.recordCount > 0 && store.newest > after)
          .map((store) => store.read(0, rowSet.rowCount)),
      )
    })
    this.isInFiles = isInFiles
    this.#next = new Uint32Array(sources.length)
  }

  /** Whether all was carried over. */
  get isDone(): boolean {
    return this.#records.every(({ count }, source) => this.#next[source] === count)
  }

  /** Changes to the plan's rows `[start, end)`, as rows from 0 on. Requires: stretches ascend. */
  take(plan: MergePlan, start: number, end: number): LateRecords {
    const { sources, ordinals } = plan
    const builder = new DeltaRecordsBuilder()
    let deleteCount = 0
    if (this.isDone) return { records: builder.finish(), deleteCount }
    for (let row = start; row < end; row++) {
      const source = sources[row]
      const records = this.#records[source]
      let next = this.#next[source]
      while (next < records.count && records.ordinals[next] === ordinals[row]) {
        if (records.timestamps[next] > this.#after) {
          builder.appendRecord(records, next, row - start)
          if (records.kinds[next] === DELTA_KINDS.DELETE) deleteCount++
        }
        next++
      }
      assert(
        next === records.count || records.ordinals[next] > ordinals[row],
        'only rows that a compaction keeps are changed while it runs',
      )
      this.#next[source] = next
    }
    return { records: builder.finish(), deleteCount }
  }
}

/** Changes to rows of one output. */
export interface LateRecords {
  readonly records: DeltaRecords
  readonly deleteCount: number
}

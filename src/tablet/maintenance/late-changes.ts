import { assert } from '../../util/assert.ts'
import type { DeltaRecords } from '../delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../delta/delta-records-builder.ts'
import { mergeDeltaRecords } from '../delta/merge-delta-records.ts'
import type { MergePlan } from './merge-plan.ts'
import type { MergeSource } from './merge-source.ts'

/**
 * What became of the rows of a compaction's inputs since it began, to be carried over to the rows
 * that it wrote. All of it is in memory: of a rowset that a task works on nothing is flushed.
 */
export class LateChanges {
  readonly #records: readonly DeltaRecords[]
  /** Of each input, the first record that was not carried over. */
  readonly #next: Uint32Array

  constructor(sources: readonly MergeSource[]) {
    this.#records = sources.map(({ rowSet, redos }) => {
      const late = rowSet.memStores.filter((store) => !store.isEmpty && !redos.includes(store))
      return mergeDeltaRecords(late.map((store) => store.read(0, rowSet.rowCount)))
    })
    this.#next = new Uint32Array(sources.length)
  }

  /** Whether all was carried over. */
  get isDone(): boolean {
    return this.#records.every(({ count }, source) => this.#next[source] === count)
  }

  /** Changes to the plan's rows `[start, end)`, as rows from 0 on. Requires: stretches ascend. */
  take(plan: MergePlan, start: number, end: number): DeltaRecords {
    const { sources, ordinals } = plan
    const builder = new DeltaRecordsBuilder()
    if (this.isDone) return builder.finish()
    for (let row = start; row < end; row++) {
      const source = sources[row]
      const records = this.#records[source]
      let next = this.#next[source]
      while (next < records.count && records.ordinals[next] === ordinals[row]) {
        builder.appendRecord(records, next, row - start)
        next++
      }
      assert(
        next === records.count || records.ordinals[next] > ordinals[row],
        'only rows that a compaction keeps are changed while it runs',
      )
      this.#next[source] = next
    }
    return builder.finish()
  }
}

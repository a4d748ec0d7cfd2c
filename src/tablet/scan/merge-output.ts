/**
 * The rows that a merge takes of its cursors, put together column by column. Hot.
 *
 *   runs         a a a b c c a …       noted one by one; their cells wait in the cursors' batches
 *   gathered     a a a a b c c         each cursor's rows as they lie, one copy each
 *   order        0 1 2 4 5 6 3         then all rows in their order, one more
 *
 * Long runs are copied to their place at once.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import type { RowBlock } from '../../common/row-block.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import type { Column } from '../../common/schema.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import type { MergeCursor } from './merge-cursor.ts'

/** Runs of fewer rows on an average are gathered first. */
const RUN_ROWS_MIN = 16
const CAPACITY_MIN = 256

/** See the file's header. */
export class MergeOutput {
  readonly keys: KeyArena | null
  readonly #block: RowBlockBuilder
  /** Cursors that have rows waiting: those at places `[0, #cursorCount)`. */
  readonly #cursors: MergeCursor[] = []
  #cursorCount = 0
  #runCount = 0
  #runPlaces = new Uint32Array(CAPACITY_MIN)
  #runRows = new Uint32Array(CAPACITY_MIN)
  #waitingCount = 0
  readonly #gathered: readonly ColumnBuilder[]
  readonly #gatheredKeys = new KeyArena(1, 0)
  #order = new Uint32Array(CAPACITY_MIN)
  #starts = new Uint32Array(16)

  constructor(columns: readonly Column[], withKeys: boolean) {
    this.#block = new RowBlockBuilder(columns, false)
    this.#gathered = columns.map(({ physical }) => new ColumnBuilder(physical, 1))
    this.keys = withKeys ? new KeyArena() : null
  }

  /** Whether it has no rows. */
  get isEmpty(): boolean {
    return this.#waitingCount === 0 && this.#block.rowCount === 0
  }

  /** Forgets all rows. */
  clear(): void {
    assert(this.#waitingCount === 0, 'what was taken was given out')
    this.#block.clear()
    this.keys?.clear()
  }

  /** Takes the next `count` rows of a cursor, which passes them. They wait in its batch. */
  take(cursor: MergeCursor, count: number): void {
    if (cursor.place < 0) {
      cursor.place = this.#cursorCount
      cursor.waiting = cursor.next
      this.#cursors[this.#cursorCount++] = cursor
    }
    if (this.#runCount === this.#runRows.length) this.#growRuns()
    this.#runPlaces[this.#runCount] = cursor.place
    this.#runRows[this.#runCount++] = count
    this.#waitingCount += count
    cursor.next += count
  }

  #growRuns(): void {
    const places = new Uint32Array(this.#runCount * 2)
    places.set(this.#runPlaces)
    this.#runPlaces = places
    const rows = new Uint32Array(this.#runCount * 2)
    rows.set(this.#runRows)
    this.#runRows = rows
  }

  /** Copies what waits: before the batch of a cursor that has rows waiting is replaced. */
  flush(): void {
    if (this.#waitingCount === 0) return
    const isRuns = this.#waitingCount >= this.#runCount * RUN_ROWS_MIN || this.#cursorCount === 1
    if (isRuns) this.#copyRuns()
    else this.#copyGathered()
    this.#block.rowCount += this.#waitingCount
    for (let i = 0; i < this.#cursorCount; i++) this.#cursors[i].place = -1
    this.#cursorCount = 0
    this.#runCount = 0
    this.#waitingCount = 0
  }

  /** All rows. Borrowed until the next change. */
  view(): RowBlock {
    this.flush()
    return this.#block.view()
  }

  #copyRuns(): void {
    const targets = this.#block.columns
    for (let run = 0; run < this.#runCount; run++) {
      const cursor = this.#cursors[this.#runPlaces[run]]
      const start = cursor.waiting
      const end = start + this.#runRows[run]
      const { columns } = blockOf(cursor)
      for (let i = 0; i < targets.length; i++) targets[i].appendRange(columns[i], start, end)
      this.keys?.appendRange(cursor.keys, start, end)
      cursor.waiting = end
    }
  }

  #copyGathered(): void {
    const order = this.#gatheredOrder()
    const targets = this.#block.columns
    for (let i = 0; i < targets.length; i++) {
      const gathered = this.#gathered[i]
      gathered.clear()
      for (let place = 0; place < this.#cursorCount; place++) {
        const cursor = this.#cursors[place]
        gathered.appendRange(blockOf(cursor).columns[i], cursor.waiting, cursor.next)
      }
      targets[i].appendRows(gathered.view(), order, 0, this.#waitingCount)
    }
    if (this.keys !== null) this.#copyKeys(this.keys, order)
  }

  /** Of each waiting row, in order: its place among the gathered. */
  #gatheredOrder(): Uint32Array {
    if (this.#order.length < this.#waitingCount) {
      this.#order = new Uint32Array(this.#waitingCount * 2)
    }
    if (this.#starts.length < this.#cursorCount) {
      this.#starts = new Uint32Array(this.#cursorCount * 2)
    }
    const order = this.#order
    const starts = this.#starts
    let start = 0
    for (let place = 0; place < this.#cursorCount; place++) {
      starts[place] = start
      start += this.#cursors[place].next - this.#cursors[place].waiting
    }
    let row = 0
    for (let run = 0; run < this.#runCount; run++) {
      const place = this.#runPlaces[run]
      const end = row + this.#runRows[run]
      let from = starts[place]
      while (row < end) order[row++] = from++
      starts[place] = from
    }
    return order
  }

  #copyKeys(target: KeyArena, order: Uint32Array): void {
    const gathered = this.#gatheredKeys
    gathered.clear()
    for (let place = 0; place < this.#cursorCount; place++) {
      const { keys, waiting, next } = this.#cursors[place]
      gathered.appendRange(keys, waiting, next)
    }
    for (let row = 0; row < this.#waitingCount; row++) {
      const key = order[row]
      target.append(gathered.bytes, gathered.start(key), gathered.ends[key])
      target.endKey()
    }
  }
}

function blockOf({ batch }: MergeCursor): RowBlock {
  assert(batch !== null, 'a cursor with rows has a batch')
  return batch.block
}

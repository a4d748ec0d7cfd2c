import type { Timestamp } from '../../common/hybrid-clock.ts'
import { KeyArena } from '../../util/arena.ts'
import { grownCapacity, initialCapacity } from './chunk.ts'

/** No redo. */
export const NO_REDO = -1

/**
 * What a MemRowSet keeps of each of up to 4,096 rows beside its cells. Hot: loops read the arrays.
 */
export class RowChunk {
  /** Encoded keys. */
  readonly keys: KeyArena
  /** Timestamps of the ops that inserted the rows. */
  insertedAt: Float64Array
  /** The newest redo of each row, or `NO_REDO`. */
  newestRedo: Int32Array
  /** At this time all rows of the chunk are there, unless they were changed. */
  lastInsertedAt: Timestamp = 0
  /** Whether a row of the chunk was ever changed. */
  hasRedos = false

  constructor(index: number) {
    const capacity = initialCapacity(index)
    this.keys = new KeyArena(capacity, capacity * 8)
    this.insertedAt = new Float64Array(capacity)
    this.newestRedo = new Int32Array(capacity).fill(NO_REDO)
  }

  /** Rows in this chunk. */
  get rowCount(): number {
    return this.keys.count
  }

  /** Bytes held in memory. */
  get heldBytes(): number {
    const { keys, insertedAt, newestRedo } = this
    return keys.bytes.length + keys.ends.byteLength + insertedAt.byteLength + newestRedo.byteLength
  }

  /**
   * Appends keys `rows[start, end)` of `keys` as rows inserted at `at`. `isRun`: whether each of
   * them is the one behind the one before.
   */
  append(
    keys: KeyArena,
    rows: Uint32Array,
    start: number,
    end: number,
    isRun: boolean,
    at: Timestamp,
  ): void {
    const first = this.rowCount
    this.#grow(first + end - start)
    if (isRun) appendRun(this.keys, keys, rows[start], rows[start] + end - start)
    else appendKeys(this.keys, keys, rows, start, end)
    this.insertedAt.fill(at, first, first + end - start)
    if (at > this.lastInsertedAt) this.lastInsertedAt = at
  }

  #grow(rowCount: number): void {
    const old = this.insertedAt.length
    if (rowCount <= old) return
    const capacity = grownCapacity(rowCount)
    this.keys.reserveKeys(capacity - this.rowCount)
    const insertedAt = new Float64Array(capacity)
    insertedAt.set(this.insertedAt)
    this.insertedAt = insertedAt
    const newestRedo = new Int32Array(capacity)
    newestRedo.set(this.newestRedo)
    newestRedo.fill(NO_REDO, old)
    this.newestRedo = newestRedo
  }
}

/** Appends keys `[start, end)` of `source`. Requires: `target` has room for their ends. */
function appendRun(target: KeyArena, source: KeyArena, start: number, end: number): void {
  const from = source.start(start)
  const shift = target.append(source.bytes, from, source.ends[end - 1]) - from
  const ends = target.ends
  for (let i = start, key = target.count; i < end; i++, key++) ends[key] = source.ends[i] + shift
  target.count += end - start
}

function appendKeys(
  target: KeyArena,
  source: KeyArena,
  rows: Uint32Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) {
    target.append(source.bytes, source.start(rows[i]), source.ends[rows[i]])
    target.endKey()
  }
}

/**
 * The batches of a LockTable, by number: one column per fact, and a chain per bucket of op numbers.
 *
 *   buckets   [ 0 | 3 | 0 | 1 | … ]         op 7's newest batch is 3, then 2
 *                   │       └► 1 ► 0
 *                   └► 3 ► 2 ► 0            a chain also holds batches of other ops of the bucket
 *
 * Numbers begin at 1, 0 is none; those given back are used again. Hot: no allocation but to grow.
 */

import { LOCK_BATCH_COUNT_MAX } from '../../common/limits.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'

/** Number of a batch, at least 1. */
export type LockBatch = number

const BUCKET_COUNT = 64

/** Facts about batches that hold locks or wait for them. The LockTable writes the columns. */
export class LockBatches {
  /** Who takes the locks. */
  ops = new Float64Array(16)
  /** Where the keys are; null for a number not in use. */
  readonly arenas: (KeyArena | null)[] = [null]
  /** First of the batch's nodes. */
  firstNodes = new Int32Array(16)
  /** How many nodes the batch has. */
  nodeCounts = new Int32Array(16)
  /** How many of them are not heads of their queues. */
  missing = new Int32Array(16)
  /** The last walk through the queues that came by. */
  visited = new Int32Array(16)
  /** Of the keys' bytes, in verify builds. */
  checksums = new Int32Array(16)
  /** Batches in use. */
  count = 0
  #next = new Int32Array(16)
  readonly #buckets = new Int32Array(BUCKET_COUNT)
  #free: LockBatch = 0
  #end: LockBatch = 1

  /** The newest batch of `op`, or 0. */
  newestOf(op: number): LockBatch {
    return this.#search(this.#buckets[bucketOf(op)], op)
  }

  /** The batch of the same op that came before `batch`, or 0. */
  olderThan(batch: LockBatch): LockBatch {
    return this.#search(this.#next[batch], this.ops[batch])
  }

  /** Begins a batch without nodes. */
  take(op: number, keys: KeyArena): LockBatch {
    assert(this.count < LOCK_BATCH_COUNT_MAX, 'more batches of locks than a tablet may have')
    const bucket = bucketOf(op)
    const batch = this.#takeNumber()
    this.ops[batch] = op
    this.arenas[batch] = keys
    this.firstNodes[batch] = 0
    this.nodeCounts[batch] = 0
    this.missing[batch] = 0
    this.#next[batch] = this.#buckets[bucket]
    this.#buckets[bucket] = batch
    this.count++
    return batch
  }

  /** Forgets a batch, and lets go of its keys. */
  drop(batch: LockBatch): void {
    assert(this.arenas[batch] !== null, 'a batch is dropped twice')
    const bucket = bucketOf(this.ops[batch])
    if (this.#buckets[bucket] === batch) this.#buckets[bucket] = this.#next[batch]
    else {
      let newer = this.#buckets[bucket]
      while (this.#next[newer] !== batch) newer = this.#next[newer]
      this.#next[newer] = this.#next[batch]
    }
    this.arenas[batch] = null
    this.#next[batch] = this.#free
    this.#free = batch
    this.count--
  }

  #search(first: LockBatch, op: number): LockBatch {
    let batch = first
    while (batch !== 0 && this.ops[batch] !== op) batch = this.#next[batch]
    return batch
  }

  #takeNumber(): LockBatch {
    const batch = this.#free
    if (batch !== 0) {
      this.#free = this.#next[batch]
      return batch
    }
    if (this.#end === this.ops.length) this.#grow()
    return this.#end++
  }

  #grow(): void {
    const ops = new Float64Array(this.ops.length * 2)
    ops.set(this.ops)
    this.ops = ops
    this.firstNodes = doubled(this.firstNodes)
    this.nodeCounts = doubled(this.nodeCounts)
    this.missing = doubled(this.missing)
    this.visited = doubled(this.visited)
    this.checksums = doubled(this.checksums)
    this.#next = doubled(this.#next)
  }
}

function bucketOf(op: number): number {
  return op % BUCKET_COUNT
}

function doubled(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(column.length * 2)
  grown.set(column)
  return grown
}

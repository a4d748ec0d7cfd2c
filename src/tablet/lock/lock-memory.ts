/**
 * Memory of a LockTable. Hot.
 *
 *   nodes   8 × i32 per node, fields as in lock-table.ts; node 0 is none
 *   slots   i32, a power of two, twice as many as nodes: the table is at most half full
 *
 * Nearly always a tablet takes and releases its locks within one synchronous section, so the
 * tablets of an isolate need memory for a large batch one after the other, never together. One
 * piece is therefore passed from hand to hand instead of every tablet keeping its own.
 */

import { SHARE_ROW_COUNT_MAX } from '../../common/limits.ts'
import { assert } from '../../util/assert.ts'
import { VERIFY } from '../../util/verify.ts'

/** A node's fields begin at `node << NODE_SHIFT`. */
export const NODE_SHIFT = 3

/** Nodes and slots for one table. */
export class LockMemory {
  /** Nodes it has room for, node 0 included. */
  readonly capacity: number
  readonly nodes: Int32Array
  /** All zero while no table uses it. */
  readonly slots: Int32Array

  /** Requires: `capacity` is a power of two. */
  constructor(capacity: number) {
    this.capacity = capacity
    this.nodes = new Int32Array(capacity << NODE_SHIFT)
    this.slots = new Int32Array(capacity * 2)
  }
}

/** The most that is kept while nobody uses it: what two full shares in one table need. */
const SPARE_CAPACITY_MAX = 2 * SHARE_ROW_COUNT_MAX

let scratchSpare: LockMemory | null = null

/** Memory for at least `nodeCount` nodes, node 0 not counted. Give it back by `giveLockMemory`. */
export function takeLockMemory(nodeCount: number): LockMemory {
  const spare = scratchSpare
  if (spare !== null && spare.capacity > nodeCount) {
    scratchSpare = null
    return spare
  }
  let capacity = 64
  while (capacity <= nodeCount) capacity *= 2
  return new LockMemory(capacity)
}

/** Keeps `memory` for the next taker, or lets go of it. Requires: its slots are all zero. */
export function giveLockMemory(memory: LockMemory): void {
  if (VERIFY) assert(memory.slots.every(isZero), 'a lock is left in memory given back')
  if (memory.capacity > SPARE_CAPACITY_MAX) return
  if (scratchSpare === null || scratchSpare.capacity < memory.capacity) scratchSpare = memory
}

function isZero(slot: number): boolean {
  return slot === 0
}

/**
 * Who stands where: for every locked key a queue of batches, and for every batch the keys it
 * stands at.
 *
 *   slots (open-addressed, linear probing, at most half full; found by hash, then by bytes)
 *   ┌────┬────┬────┬────┬────┬────┐
 *   │    │  3 │    │    │  1 │    │          each names the node at the head of one key's queue
 *   └────┴─┬──┴────┴────┴─┬──┴────┘
 *          ▼              ▼
 *        node 3         node 1 ⇄ node 4 ⇄ node 7      the head's batch has the key, the rest wait
 *        batch A        batch A  batch B  batch C
 *
 *   node   8 × i32   hash, key start, key end, batch, next in queue, back, slot, next of the batch
 *                    back: of the head the tail of the queue, of the others the node before
 *                    slot: of the head its place in `slots`, of the others −1
 *
 * A batch enters all its queues at once, behind all that came before. So the queues of all keys
 * have one common order, that of arrival, and a batch waits only for earlier ones: see
 * LockManager for what follows from it.
 *
 * Keys are not copied. A node points into the KeyArena of its own batch, and a queue is found by
 * the key of its head; when the head leaves, the next node brings its own copy of the same key.
 * So there is no storage of keys to compact, and none that could leak.
 *
 * Nodes are numbers from 1, 0 is none; those given back are used again. A table at rest holds
 * next to no memory; one that needs more borrows it (lock-memory.ts) until it is empty again.
 * Hot: nothing else is allocated.
 *
 *  I1  an op has at most one node in a queue;
 *  I2  `missing` of a batch is how many of its nodes are not heads;
 *  I3  every slot between a head's home and its place is taken.
 */

import { LOCK_BATCH_COUNT_MAX, LOCK_COUNT_MAX } from '../../common/limits.ts'
import { StatusError } from '../../common/status.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { equalBytes } from '../../util/bytes.ts'
import { VERIFY } from '../../util/verify.ts'
import { type LockBatch, LockBatches } from './lock-batches.ts'
import { giveLockMemory, LockMemory, NODE_SHIFT, takeLockMemory } from './lock-memory.ts'

const HASH = 0
const KEY_START = 1
const KEY_END = 2
const BATCH = 3
const NEXT = 4
const BACK = 5
const SLOT = 6
const SIBLING = 7
const NOT_HEAD = -1

/** Nodes, node 0 included, that a table has of its own. */
const OWN_CAPACITY = 64

/** Queues of batches by key. */
export class LockTable {
  readonly #own = new LockMemory(OWN_CAPACITY)
  #memory = this.#own
  #nodes = this.#own.nodes
  #slots = this.#own.slots
  /** Nodes from here on were never used since the table was empty. */
  #nodeEnd = 1
  #freeNode = 0
  #nodeCount = 0
  readonly #batches = new LockBatches()
  #walk = 0

  /** Locks held and waited for. */
  get nodeCount(): number {
    return this.#nodeCount
  }

  /** Batches that hold or wait. */
  get batchCount(): number {
    return this.#batches.count
  }

  /** Nodes there is memory for. */
  get capacity(): number {
    return this.#memory.capacity
  }

  /** Keys for which `batch` stands in a queue; one that its op had already is none of them. */
  keyCount(batch: LockBatch): number {
    return this.#batches.nodeCounts[batch]
  }

  /** Keys of `batch` at which others stand ahead. 0: it has them all. */
  missing(batch: LockBatch): number {
    return this.#batches.missing[batch]
  }

  /** The newest batch of `op`, or 0. */
  newestOf(op: number): LockBatch {
    return this.#batches.newestOf(op)
  }

  /** The batch of the same op that came before `batch`, or 0. */
  olderThan(batch: LockBatch): LockBatch {
    return this.#batches.olderThan(batch)
  }

  /**
   * Enters `op` at the end of the queues of the first `count` keys, but not where it stands
   * already.
   *
   * Requires: `hashes[i]` belongs to key `i`; none of the op's batches is waiting; the keys'
   * bytes stay what and where they are in `keys` until the batch is removed.
   * Throws: SERVICE_UNAVAILABLE when there are too many locks; nothing is changed.
   * Cost: O(count); allocates only when memory has to be made.
   */
  addBatch(op: number, keys: KeyArena, hashes: Uint32Array, count: number): LockBatch {
    assert(count >= 0, 'a batch of locks has a negative number of keys')
    assert(count <= keys.count, 'a batch of locks has fewer keys than it says')
    assert(count <= hashes.length, 'a batch of locks has fewer hashes than keys')
    if (this.#nodeCount + count > LOCK_COUNT_MAX) throw tooMany('row locks', LOCK_COUNT_MAX)
    if (this.#batches.count >= LOCK_BATCH_COUNT_MAX) {
      throw tooMany('ops with row locks', LOCK_BATCH_COUNT_MAX)
    }
    if (this.#nodeCount + count >= this.#memory.capacity) this.#grow(this.#nodeCount + count)
    const batch = this.#batches.take(op, keys)
    this.#enqueue(batch, keys, hashes, count)
    if (VERIFY) this.#batches.checksums[batch] = this.#checksum(batch)
    return batch
  }

  /**
   * Takes `batch` out of all its queues, and appends to `ready` those that now have all their keys.
   *
   * Cost: O(its keys), and for a key at whose queue it stands last the queue's length; allocates
   * nothing.
   */
  removeBatch(batch: LockBatch, ready: LockBatch[]): void {
    if (VERIFY) this.#checkBorrowed(batch)
    if (this.#batches.nodeCounts[batch] === this.#nodeCount) this.#removeAll(batch)
    else this.#removeSome(batch, ready)
    this.#batches.drop(batch)
    if (this.#nodeCount === 0) this.#rest()
  }

  /**
   * Whether `batch` waits, through others, for its own op: then none of them would ever go on.
   *
   * Cost: O(locks waited for) at worst.
   */
  waitsForItself(batch: LockBatch): boolean {
    const { ops, visited } = this.#batches
    const walk = ++this.#walk
    const open: LockBatch[] = [batch]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (visited[next] === walk) continue
      visited[next] = walk
      if (this.#collectBlockers(next, ops[batch], open)) return true
    }
    return false
  }

  /** Asserts I1 to I3, and that every node is in one queue and in one batch. */
  checkInvariants(): void {
    const batchNodes = new Map<LockBatch, number>()
    let nodeCount = 0
    for (let slot = 0; slot < this.#slots.length; slot++) {
      if (this.#slots[slot] === 0) continue
      this.#checkSlot(slot)
      nodeCount += this.#checkQueue(slot, batchNodes)
    }
    assert(nodeCount === this.#nodeCount, 'a lock is in no queue, or counted twice')
    for (const [batch, count] of batchNodes) this.#checkBatch(batch, count)
  }

  /**
   * Appends to `open` the waiting batches of all ops right ahead of `batch`; true when `op` is
   * one of them.
   */
  #collectBlockers(batch: LockBatch, op: number, open: LockBatch[]): boolean {
    const nodes = this.#nodes
    const { ops, firstNodes, missing } = this.#batches
    for (let node = firstNodes[batch]; node !== 0; node = nodes[(node << NODE_SHIFT) + SIBLING]) {
      const at = node << NODE_SHIFT
      if (nodes[at + SLOT] !== NOT_HEAD) continue
      const ahead = ops[nodes[(nodes[at + BACK] << NODE_SHIFT) + BATCH]]
      if (ahead === op) return true
      let each = this.#batches.newestOf(ahead)
      for (; each !== 0; each = this.#batches.olderThan(each)) {
        if (missing[each] > 0) open.push(each)
      }
    }
    return false
  }

  #enqueue(batch: LockBatch, keys: KeyArena, hashes: Uint32Array, count: number): void {
    const nodes = this.#nodes
    const slots = this.#slots
    const mask = slots.length - 1
    const bytes = keys.bytes
    const ends = keys.ends
    let first = 0
    let added = 0
    let missing = 0
    let start = 0
    for (let i = 0; i < count; i++) {
      const end = ends[i]
      const hash = hashes[i] | 0
      let slot = hash & mask
      let head = slots[slot]
      while (head !== 0) {
        if (nodes[head << NODE_SHIFT] === hash && this.#isKeyOf(head, bytes, start, end)) break
        slot = (slot + 1) & mask
        head = slots[slot]
      }
      if (head === 0 || !this.#standsAt(head, batch)) {
        const node = this.#takeNode()
        const at = node << NODE_SHIFT
        nodes[at + HASH] = hash
        nodes[at + KEY_START] = start
        nodes[at + KEY_END] = end
        nodes[at + BATCH] = batch
        nodes[at + NEXT] = 0
        nodes[at + SIBLING] = first
        if (head === 0) {
          nodes[at + BACK] = node
          nodes[at + SLOT] = slot
          slots[slot] = node
        } else {
          this.#append(head, node)
          missing++
        }
        first = node
        added++
      }
      start = end
    }
    this.#nodeCount += added
    this.#batches.firstNodes[batch] = first
    this.#batches.nodeCounts[batch] = added
    this.#batches.missing[batch] = missing
  }

  #isKeyOf(node: number, bytes: Uint8Array, start: number, end: number): boolean {
    const at = node << NODE_SHIFT
    const nodes = this.#nodes
    const arena = this.#batches.arenas[nodes[at + BATCH]]
    assert(arena !== null, 'a batch without keys stands in a queue')
    return equalBytes(arena.bytes, nodes[at + KEY_START], nodes[at + KEY_END], bytes, start, end)
  }

  /** Whether the op of `batch` has the key of `head`, or `batch` has just entered its queue. */
  #standsAt(head: number, batch: LockBatch): boolean {
    const nodes = this.#nodes
    const ops = this.#batches.ops
    const at = head << NODE_SHIFT
    if (ops[nodes[at + BATCH]] === ops[batch]) return true
    return nodes[(nodes[at + BACK] << NODE_SHIFT) + BATCH] === batch
  }

  #append(head: number, node: number): void {
    const nodes = this.#nodes
    const tail = nodes[(head << NODE_SHIFT) + BACK]
    nodes[(tail << NODE_SHIFT) + NEXT] = node
    nodes[(node << NODE_SHIFT) + BACK] = tail
    nodes[(node << NODE_SHIFT) + SLOT] = NOT_HEAD
    nodes[(head << NODE_SHIFT) + BACK] = node
  }

  /** The only batch there is leaves: no queue goes on, no slot has to move. */
  #removeAll(batch: LockBatch): void {
    const nodes = this.#nodes
    for (let node = this.#batches.firstNodes[batch]; node !== 0; ) {
      const at = node << NODE_SHIFT
      this.#slots[nodes[at + SLOT]] = 0
      node = nodes[at + SIBLING]
    }
    this.#nodeCount = 0
  }

  #removeSome(batch: LockBatch, ready: LockBatch[]): void {
    const nodes = this.#nodes
    for (let node = this.#batches.firstNodes[batch]; node !== 0; ) {
      const at = node << NODE_SHIFT
      if (nodes[at + SLOT] === NOT_HEAD) this.#unlink(node)
      else if (nodes[at + NEXT] === 0) this.#clearSlot(nodes[at + SLOT])
      else this.#promote(node, ready)
      const sibling = nodes[at + SIBLING]
      nodes[at + SIBLING] = this.#freeNode
      this.#freeNode = node
      node = sibling
    }
    this.#nodeCount -= this.#batches.nodeCounts[batch]
  }

  /** Takes a waiting node out of the middle or the end of its queue. */
  #unlink(node: number): void {
    const nodes = this.#nodes
    const before = nodes[(node << NODE_SHIFT) + BACK]
    const next = nodes[(node << NODE_SHIFT) + NEXT]
    nodes[(before << NODE_SHIFT) + NEXT] = next
    if (next !== 0) {
      nodes[(next << NODE_SHIFT) + BACK] = before
      return
    }
    let head = before
    while (nodes[(head << NODE_SHIFT) + SLOT] === NOT_HEAD) {
      head = nodes[(head << NODE_SHIFT) + BACK]
    }
    nodes[(head << NODE_SHIFT) + BACK] = before
  }

  /** Makes the node behind `head` the head. */
  #promote(head: number, ready: LockBatch[]): void {
    const nodes = this.#nodes
    const from = head << NODE_SHIFT
    const next = nodes[from + NEXT]
    const to = next << NODE_SHIFT
    const slot = nodes[from + SLOT]
    this.#slots[slot] = next
    nodes[to + SLOT] = slot
    nodes[to + BACK] = nodes[from + BACK]
    const batch = nodes[to + BATCH]
    const missing = --this.#batches.missing[batch]
    assert(missing >= 0, 'a batch that has all its keys was given one more')
    if (missing === 0) ready.push(batch)
  }

  /** Frees a slot and moves back those behind it that a search would no longer find. */
  #clearSlot(slot: number): void {
    const slots = this.#slots
    const nodes = this.#nodes
    const mask = slots.length - 1
    let hole = slot
    for (let i = (slot + 1) & mask; slots[i] !== 0; i = (i + 1) & mask) {
      const at = slots[i] << NODE_SHIFT
      const home = nodes[at + HASH] & mask
      if (((i - home) & mask) < ((i - hole) & mask)) continue
      slots[hole] = slots[i]
      nodes[at + SLOT] = hole
      hole = i
    }
    slots[hole] = 0
  }

  #takeNode(): number {
    const node = this.#freeNode
    if (node === 0) return this.#nodeEnd++
    this.#freeNode = this.#nodes[(node << NODE_SHIFT) + SIBLING]
    return node
  }

  /** Moves into memory for `nodeCount` nodes. */
  #grow(nodeCount: number): void {
    const before = this.#memory
    const memory = takeLockMemory(nodeCount)
    if (this.#nodeCount > 0) {
      memory.nodes.set(before.nodes)
      rehash(before, memory)
      before.slots.fill(0)
    }
    this.#use(memory)
    if (before !== this.#own) giveLockMemory(before)
  }

  /** The table is empty: back to memory of its own. */
  #rest(): void {
    this.#nodeEnd = 1
    this.#freeNode = 0
    if (this.#memory === this.#own) return
    giveLockMemory(this.#memory)
    this.#use(this.#own)
  }

  #use(memory: LockMemory): void {
    this.#memory = memory
    this.#nodes = memory.nodes
    this.#slots = memory.slots
  }

  /** I3. */
  #checkSlot(slot: number): void {
    const mask = this.#slots.length - 1
    const home = this.#nodes[(this.#slots[slot] << NODE_SHIFT) + HASH] & mask
    for (let i = home; i !== slot; i = (i + 1) & mask) {
      assert(this.#slots[i] !== 0, 'a lock lies behind an empty slot')
    }
  }

  /**
   * I1, and that the queue runs back as it runs on. Adds its nodes up by batch. Returns how many.
   */
  #checkQueue(slot: number, batchNodes: Map<LockBatch, number>): number {
    const nodes = this.#nodes
    const head = this.#slots[slot]
    const ops = new Set<number>()
    let count = 0
    let before = nodes[(head << NODE_SHIFT) + BACK]
    for (let node = head; node !== 0; node = nodes[(node << NODE_SHIFT) + NEXT]) {
      const at = node << NODE_SHIFT
      const batch = nodes[at + BATCH]
      assert(nodes[at + BACK] === before || node === head, 'a queue runs back another way')
      assert(nodes[at + SLOT] === (node === head ? slot : NOT_HEAD), 'a node misjudges its place')
      ops.add(this.#batches.ops[batch])
      batchNodes.set(batch, (batchNodes.get(batch) ?? 0) + 1)
      before = node
      count++
    }
    assert(nodes[(head << NODE_SHIFT) + BACK] === before, 'a head does not know its tail')
    assert(ops.size === count, 'an op stands twice in a queue')
    return count
  }

  /** I2, and that its chain has the nodes found in queues. */
  #checkBatch(batch: LockBatch, nodeCount: number): void {
    const nodes = this.#nodes
    let count = 0
    let missing = 0
    for (let node = this.#batches.firstNodes[batch]; node !== 0; count++) {
      assert(nodes[(node << NODE_SHIFT) + BATCH] === batch, 'a node is in two batches')
      if (nodes[(node << NODE_SHIFT) + SLOT] === NOT_HEAD) missing++
      node = nodes[(node << NODE_SHIFT) + SIBLING]
    }
    assert(count === nodeCount, 'a batch has nodes in no queue')
    assert(count === this.#batches.nodeCounts[batch], 'a batch miscounts its nodes')
    assert(missing === this.#batches.missing[batch], 'a batch miscounts what it misses')
    this.#checkBorrowed(batch)
  }

  #checkBorrowed(batch: LockBatch): void {
    const isSame = this.#batches.checksums[batch] === this.#checksum(batch)
    assert(isSame || !VERIFY, 'borrowed keys were changed while they were locked')
  }

  /** Of the keys of a batch, in any order. */
  #checksum(batch: LockBatch): number {
    const nodes = this.#nodes
    const arena = this.#batches.arenas[batch]
    assert(arena !== null, 'a dropped batch has no keys')
    let sum = 0
    for (let node = this.#batches.firstNodes[batch]; node !== 0; ) {
      const at = node << NODE_SHIFT
      let hash = nodes[at + HASH]
      for (let i = nodes[at + KEY_START]; i < nodes[at + KEY_END]; i++) {
        hash = Math.imul(hash ^ arena.bytes[i], 0x01000193)
      }
      sum = (sum + hash) | 0
      node = nodes[at + SIBLING]
    }
    return sum
  }
}

/**
 * Enters all heads of `from` into the empty slots of `to`. Requires: the nodes of `to` are those
 * of `from`.
 */
function rehash(from: LockMemory, to: LockMemory): void {
  const nodes = to.nodes
  const slots = to.slots
  const mask = slots.length - 1
  for (let i = 0; i < from.slots.length; i++) {
    const head = from.slots[i]
    if (head === 0) continue
    let slot = nodes[(head << NODE_SHIFT) + HASH] & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = head
    nodes[(head << NODE_SHIFT) + SLOT] = slot
  }
}

function tooMany(what: string, countMax: number): StatusError {
  const message = `tablet has too many ${what}, limit is ${countMax}`
  return new StatusError('SERVICE_UNAVAILABLE', message, { limit: countMax })
}

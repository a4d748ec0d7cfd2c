/**
 * A tablet's storage in memory, which can vanish: `crash` gives what a restart would find.
 *
 *   base ── t1 ── t2 ── t3 ── t4        committed transactions, oldest first
 *           released ┘                  the answers up to here were sent
 *
 * A crash keeps base and the first n transactions, for any n from `releasedCount` to
 * `committedCount`.
 */

import { blockText } from '../../src/cfile/block-id.ts'
import { STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import type { TabletStore } from '../../src/tablet/ports.ts'
import { assert } from '../../src/util/assert.ts'
import { nextBlock, type StoreChange, type StoredWalRow, StoreState } from './store-state.ts'

/** What the storage throws when it was told to fail. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault'
}

/**
 * When a transaction told to fail does so: with its writes undone, with its writes durable, or
 * before anything was done, by a StatusError that leaves everything as it was.
 */
export type FaultMoment = 'before-durable' | 'after-durable' | 'refused'

/** What a refused transaction says. */
export const REFUSED = 'the storage refuses a transaction'

/** See the file's header. */
export class MemoryTabletStore implements TabletStore {
  rowsRead = 0
  rowsWritten = 0
  readonly #base: StoreState
  readonly #now: StoreState
  readonly #committed: (readonly StoreChange[])[] = []
  #releasedCount = 0
  #open: { change: StoreChange; undo: () => void }[] | null = null
  #fault: FaultMoment | null = null

  constructor(base: StoreState = new StoreState()) {
    this.#base = base
    this.#now = base.clone()
  }

  /** Transactions committed since this store was opened. */
  get committedCount(): number {
    return this.#committed.length
  }

  /** How many of them no crash can undo. */
  get releasedCount(): number {
    return this.#releasedCount
  }

  /** Says that answers to everything so far were sent. */
  release(): void {
    this.#releasedCount = this.#committed.length
  }

  /**
   * What a restart finds when the first `keptCount` transactions survived. This store is then dead.
   */
  crash(keptCount = this.#committed.length): MemoryTabletStore {
    assert(keptCount >= this.#releasedCount, 'a crash keeps what was answered')
    assert(keptCount <= this.#committed.length, 'a crash adds nothing')
    const kept = this.#base.clone()
    for (let i = 0; i < keptCount; i++) {
      for (const change of this.#committed[i]) kept.apply(change)
    }
    return new MemoryTabletStore(kept)
  }

  /** Makes the next transaction throw a StorageFault, or, with null, not. */
  failNext(moment: FaultMoment | null): void {
    this.#fault = moment
  }

  /** Stored rows of a generation. */
  walRowCount(generation: number): number {
    return this.#now.wal(generation)?.rows.length ?? 0
  }

  /** Bytes of a stored row. */
  walRowBytes(generation: number, id: number): number {
    return this.#walRows(generation).find((row) => row.id === id)?.payload.length ?? 0
  }

  /** Turns one bit of a stored row over. */
  flipWalBit(generation: number, id: number, bit: number): void {
    const rows = this.#walRows(generation)
    const index = rows.findIndex((row) => row.id === id)
    rows[index] = { ...rows[index], payload: flipped(rows[index].payload, bit) }
  }

  /** Takes a stored row away, as a fault of the storage would. */
  loseWalRow(generation: number, id: number): void {
    const rows = this.#walRows(generation)
    rows.splice(
      rows.findIndex((row) => row.id === id),
      1,
    )
  }

  #walRows(generation: number): StoredWalRow[] {
    const table = this.#now.wal(generation)
    assert(table !== undefined, 'no such generation')
    return table.rows
  }

  /** Files that are there, ascending. */
  files(): number[] {
    return [...this.#now.files.keys()].sort((a, b) => a - b)
  }

  /** Blocks of a file by number, ascending, with their bytes. */
  blocks(file: number): { readonly block: number; readonly bytes: number }[] {
    return [...this.#blocks(file)]
      .map(([block, payload]) => ({ block, bytes: payload.length }))
      .sort((a, b) => a.block - b.block)
  }

  /** Turns one bit of a block over. */
  flipBlockBit(file: number, block: number, bit: number): void {
    const payload = this.#blocks(file).get(block)
    assert(payload !== undefined, 'no such block')
    this.#blocks(file).set(block, flipped(payload, bit))
  }

  /** Takes a block away, as a fault of the storage would. */
  loseBlock(file: number, block: number): void {
    this.#blocks(file).delete(block)
  }

  #blocks(file: number): Map<number, Uint8Array> {
    const blocks = this.#now.files.get(file)
    assert(blocks !== undefined, 'no such file')
    return blocks
  }

  /** Turns one bit of the remembered results over. */
  flipResultsBit(bit: number): void {
    assert(this.#now.results !== null, 'no remembered results')
    this.#now.results = flipped(this.#now.results, bit)
  }

  /** Turns one bit of the superblock over. */
  flipSuperblockBit(bit: number): void {
    assert(this.#now.superblock !== null, 'no superblock')
    this.#now.superblock = flipped(this.#now.superblock, bit)
  }

  transact<T>(work: () => T): T {
    assert(this.#open === null, 'transactions do not nest')
    const fault = this.#fault
    this.#fault = null
    if (fault === 'refused') throw new StatusError('ILLEGAL_STATE', REFUSED)
    const open: { change: StoreChange; undo: () => void }[] = []
    this.#open = open
    try {
      const result = work()
      assert(!(result instanceof Promise), 'the work of a transaction is synchronous')
      if (fault === 'before-durable') throw new StorageFault('failed before it was durable')
      this.#committed.push(open.map(({ change }) => change))
      open.length = 0
      if (fault === 'after-durable') throw new StorageFault('failed after it was durable')
      return result
    } finally {
      for (let i = open.length - 1; i >= 0; i--) open[i].undo()
      this.#open = null
    }
  }

  #write(change: StoreChange, rowsWritten: number): void {
    assert(this.#open !== null, 'writing happens inside a transaction')
    this.#open.push({ change, undo: this.#now.apply(change) })
    this.rowsWritten += rowsWritten
  }

  readSuperblock(): Uint8Array | null {
    if (this.#now.superblock === null) return null
    this.rowsRead++
    return this.#now.superblock.slice()
  }

  writeSuperblock(bytes: Uint8Array): void {
    assert(bytes.length <= STORED_ROW_BYTES_MAX, 'a superblock fits one stored row')
    this.#write({ kind: 'superblock', bytes: bytes.slice() }, 1)
  }

  createWal(generation: number): void {
    this.#write({ kind: 'create-wal', generation }, 2)
  }

  appendWal(generation: number, parts: readonly Uint8Array[]): void {
    assert(parts.length > 0, 'an entry has at least one part')
    for (const part of parts) {
      assert(part.length <= STORED_ROW_BYTES_MAX, 'a part fits one stored row')
    }
    const copies = parts.map((part) => part.slice())
    this.#write({ kind: 'append-wal', generation, parts: copies }, copies.length)
  }

  readWal(
    generation: number,
    visit: (id: number, partsLeft: number, payload: Uint8Array) => void,
  ): void {
    const table = this.#now.wal(generation)
    if (table === undefined) throw new CorruptionError(`WAL generation ${generation} is missing`)
    for (const { id, partsLeft, payload } of table.rows) {
      this.rowsRead++
      visit(id, partsLeft, payload.slice())
    }
  }

  dropWal(generation: number): void {
    this.#write({ kind: 'drop-wal', generation }, 0)
  }

  readResults(): Uint8Array | null {
    if (this.#now.results === null) return null
    this.rowsRead++
    return this.#now.results.slice()
  }

  writeResults(bytes: Uint8Array): void {
    assert(bytes.length <= STORED_ROW_BYTES_MAX, 'remembered results fit one stored row')
    this.#write({ kind: 'results', bytes: bytes.slice() }, 1)
  }

  createFile(file: number): void {
    this.#write({ kind: 'create-file', file }, 2)
  }

  appendBlock(file: number, bytes: Uint8Array): number {
    assert(bytes.length <= STORED_ROW_BYTES_MAX, 'a block fits one stored row')
    const block = nextBlock(this.#blocks(file))
    this.#write({ kind: 'append-block', file, bytes: bytes.slice() }, 1)
    return block
  }

  deleteBlocks(file: number, blocks: readonly number[]): void {
    const stored = this.#now.files.get(file)
    const count = blocks.filter((block) => stored?.has(block)).length
    this.#write({ kind: 'delete-blocks', file, blocks: [...blocks] }, count)
  }

  dropFile(file: number): void {
    this.#write({ kind: 'drop-file', file }, 0)
  }

  readBlock(file: number, block: number, start = 0, end?: number): Uint8Array {
    const payload = this.#now.files.get(file)?.get(block)
    if (payload === undefined) throw new CorruptionError(`${blockText({ file, block })}: missing`)
    this.rowsRead++
    if (end !== undefined && end > payload.length) {
      throw new CorruptionError(`${blockText({ file, block })}: shorter than what is read of it`)
    }
    return payload.slice(start, end)
  }
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice()
  copy[bit >>> 3] ^= 1 << (bit & 7)
  return copy
}

/**
 * A tablet's storage in memory, which can vanish: `crash` gives what a restart would find.
 *
 *   base ── t1 ── t2 ── t3 ── t4        committed transactions, oldest first
 *           released ┘                  the answers up to here were sent
 *
 * A crash keeps base and the first n transactions, for any n from `releasedCount` to
 * `committedCount`.
 */

import { STORED_ROW_BYTES_MAX, WAL_GENERATION_COUNT_MAX } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import type { TabletStore } from '../../src/tablet/ports.ts'
import { assert } from '../../src/util/assert.ts'

/** What the storage throws when it was told to fail. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault'
}

/** When a transaction told to fail does so: with its writes undone, or with its writes durable. */
export type FaultMoment = 'before-durable' | 'after-durable'

interface StoredRow {
  readonly id: number
  readonly partsLeft: number
  readonly payload: Uint8Array
}

interface WalTable {
  readonly generation: number
  readonly rows: StoredRow[]
}

type Change =
  | { readonly kind: 'superblock'; readonly bytes: Uint8Array }
  | { readonly kind: 'create'; readonly generation: number }
  | { readonly kind: 'append'; readonly generation: number; readonly parts: readonly Uint8Array[] }
  | { readonly kind: 'drop'; readonly generation: number }

class StoreState {
  superblock: Uint8Array | null = null
  readonly tables = new Map<number, WalTable>()

  clone(): StoreState {
    const copy = new StoreState()
    copy.superblock = this.superblock
    for (const [slot, table] of this.tables) {
      copy.tables.set(slot, { generation: table.generation, rows: [...table.rows] })
    }
    return copy
  }

  table(generation: number): WalTable | undefined {
    const table = this.tables.get(generation % WAL_GENERATION_COUNT_MAX)
    return table?.generation === generation ? table : undefined
  }

  /** Makes a change. Returns what undoes it. */
  apply(change: Change): () => void {
    if (change.kind === 'superblock') {
      const before = this.superblock
      this.superblock = change.bytes
      return () => {
        this.superblock = before
      }
    }
    const slot = change.generation % WAL_GENERATION_COUNT_MAX
    const before = this.tables.get(slot)
    if (change.kind === 'append') {
      const table = this.table(change.generation)
      assert(table !== undefined, 'an entry is appended to a generation that exists')
      const partCount = change.parts.length
      change.parts.forEach((payload, index) => {
        const id = (table.rows.at(-1)?.id ?? 0) + 1
        table.rows.push({ id, partsLeft: partCount - 1 - index, payload })
      })
      return () => {
        table.rows.length -= partCount
      }
    }
    if (change.kind === 'create') this.tables.set(slot, { generation: change.generation, rows: [] })
    else if (before?.generation === change.generation) this.tables.delete(slot)
    return () => {
      if (before === undefined) this.tables.delete(slot)
      else this.tables.set(slot, before)
    }
  }
}

/** See the file's header. */
export class MemoryTabletStore implements TabletStore {
  rowsRead = 0
  rowsWritten = 0
  readonly #base: StoreState
  readonly #now: StoreState
  readonly #committed: (readonly Change[])[] = []
  #releasedCount = 0
  #open: { change: Change; undo: () => void }[] | null = null
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

  /** Makes the next transaction throw a StorageFault. */
  failNext(moment: FaultMoment): void {
    this.#fault = moment
  }

  /** Stored rows of a generation. */
  walRowCount(generation: number): number {
    return this.#now.table(generation)?.rows.length ?? 0
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

  #walRows(generation: number): StoredRow[] {
    const table = this.#now.table(generation)
    assert(table !== undefined, 'no such generation')
    return table.rows
  }

  /** Turns one bit of the superblock over. */
  flipSuperblockBit(bit: number): void {
    assert(this.#now.superblock !== null, 'no superblock')
    this.#now.superblock = flipped(this.#now.superblock, bit)
  }

  transact<T>(work: () => T): T {
    assert(this.#open === null, 'transactions do not nest')
    const open: { change: Change; undo: () => void }[] = []
    this.#open = open
    const fault = this.#fault
    this.#fault = null
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

  #write(change: Change, rowsWritten: number): void {
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
    this.#write({ kind: 'create', generation }, 2)
  }

  appendWal(generation: number, parts: readonly Uint8Array[]): void {
    assert(parts.length > 0, 'an entry has at least one part')
    for (const part of parts) {
      assert(part.length <= STORED_ROW_BYTES_MAX, 'a part fits one stored row')
    }
    const copies = parts.map((part) => part.slice())
    this.#write({ kind: 'append', generation, parts: copies }, copies.length)
  }

  readWal(
    generation: number,
    visit: (id: number, partsLeft: number, payload: Uint8Array) => void,
  ): void {
    const table = this.#now.table(generation)
    if (table === undefined) throw new CorruptionError(`WAL generation ${generation} is missing`)
    for (const { id, partsLeft, payload } of table.rows) {
      this.rowsRead++
      visit(id, partsLeft, payload.slice())
    }
  }

  dropWal(generation: number): void {
    this.#write({ kind: 'drop', generation }, 0)
  }
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice()
  copy[bit >>> 3] ^= 1 << (bit & 7)
  return copy
}

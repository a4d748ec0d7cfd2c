/** What a tablet's storage in memory holds, and the changes that transactions make to it. */

import { WAL_GENERATION_COUNT_MAX } from '../../src/common/limits.ts'
import { assert } from '../../src/util/assert.ts'

/** A stored row of a WAL generation. */
export interface StoredWalRow {
  readonly id: number
  readonly partsLeft: number
  readonly payload: Uint8Array
}

interface WalTable {
  readonly generation: number
  readonly rows: StoredWalRow[]
}

/** One write. Its bytes are nobody else's. */
export type StoreChange =
  | { readonly kind: 'superblock'; readonly bytes: Uint8Array }
  | { readonly kind: 'results'; readonly bytes: Uint8Array }
  | { readonly kind: 'create-wal'; readonly generation: number }
  | {
      readonly kind: 'append-wal'
      readonly generation: number
      readonly parts: readonly Uint8Array[]
    }
  | { readonly kind: 'drop-wal'; readonly generation: number }
  | { readonly kind: 'create-file'; readonly file: number }
  | { readonly kind: 'append-block'; readonly file: number; readonly bytes: Uint8Array }
  | { readonly kind: 'delete-blocks'; readonly file: number; readonly blocks: readonly number[] }
  | { readonly kind: 'drop-file'; readonly file: number }

/** Undoes a change. Requires: every later change was undone. */
type Undo = () => void

/** See the file's header. */
export class StoreState {
  superblock: Uint8Array | null = null
  results: Uint8Array | null = null
  /** By slot of the ring. */
  readonly wals = new Map<number, WalTable>()
  /** Blocks by number, by the file's number. */
  readonly files = new Map<number, Map<number, Uint8Array>>()

  clone(): StoreState {
    const copy = new StoreState()
    copy.superblock = this.superblock
    copy.results = this.results
    for (const [slot, { generation, rows }] of this.wals) {
      copy.wals.set(slot, { generation, rows: [...rows] })
    }
    for (const [file, blocks] of this.files) copy.files.set(file, new Map(blocks))
    return copy
  }

  /** A generation, or undefined when its slot holds none or another. */
  wal(generation: number): WalTable | undefined {
    const table = this.wals.get(generation % WAL_GENERATION_COUNT_MAX)
    return table?.generation === generation ? table : undefined
  }

  /** Makes a change. */
  apply(change: StoreChange): Undo {
    switch (change.kind) {
      case 'superblock': {
        const before = this.superblock
        this.superblock = change.bytes
        return () => {
          this.superblock = before
        }
      }
      case 'results': {
        const before = this.results
        this.results = change.bytes
        return () => {
          this.results = before
        }
      }
      case 'create-wal':
        return this.#setWal(change.generation, { generation: change.generation, rows: [] })
      case 'append-wal':
        return this.#appendWal(change.generation, change.parts)
      case 'drop-wal':
        if (this.wal(change.generation) === undefined) return () => {}
        return this.#setWal(change.generation, undefined)
      case 'create-file':
        return replaceIn(this.files, change.file, new Map())
      case 'append-block': {
        const blocks = this.#mustFile(change.file)
        return replaceIn(blocks, nextBlock(blocks), change.bytes)
      }
      case 'delete-blocks':
        return this.#deleteBlocks(change.file, change.blocks)
      case 'drop-file':
        return replaceIn(this.files, change.file, undefined)
    }
  }

  #setWal(generation: number, table: WalTable | undefined): Undo {
    return replaceIn(this.wals, generation % WAL_GENERATION_COUNT_MAX, table)
  }

  #appendWal(generation: number, parts: readonly Uint8Array[]): Undo {
    const table = this.wal(generation)
    assert(table !== undefined, 'an entry is appended to a generation that exists')
    parts.forEach((payload, index) => {
      const id = (table.rows.at(-1)?.id ?? 0) + 1
      table.rows.push({ id, partsLeft: parts.length - 1 - index, payload })
    })
    return () => {
      table.rows.length -= parts.length
    }
  }

  #deleteBlocks(file: number, blocks: readonly number[]): Undo {
    const stored = this.files.get(file)
    if (stored === undefined) return () => {}
    const undos = blocks.map((block) => replaceIn(stored, block, undefined))
    return () => {
      for (const undo of undos.reverse()) undo()
    }
  }

  #mustFile(file: number): Map<number, Uint8Array> {
    const blocks = this.files.get(file)
    assert(blocks !== undefined, 'a block is appended to a file that exists')
    return blocks
  }
}

/** The number that a block appended now gets. */
export function nextBlock(blocks: ReadonlyMap<number, Uint8Array>): number {
  let last = 0
  for (const block of blocks.keys()) last = Math.max(last, block)
  return last + 1
}

/** Sets a key of a map, or takes it off. Order in the map is not kept, and nobody asks for it. */
function replaceIn<V>(map: Map<number, V>, key: number, value: V | undefined): Undo {
  const before = map.get(key)
  if (value === undefined) map.delete(key)
  else map.set(key, value)
  return () => {
    if (before === undefined) map.delete(key)
    else map.set(key, before)
  }
}

/**
 * The cheapest store that keeps what it is given: a copy of every byte, in chunks of memory.
 * Nothing is undone when a transaction fails, so that whoever sees that ends.
 */

import type { TabletStore } from '../../src/tablet/ports.ts'

const CHUNK_BYTES = 1024 * 1024

/** A WAL generation. */
class StoredWal {
  readonly rows: { readonly partsLeft: number; readonly payload: Uint8Array }[] = []
  #chunk = new Uint8Array(0)
  #used = 0

  append(partsLeft: number, payload: Uint8Array): void {
    const { length } = payload
    if (this.#used + length > this.#chunk.length) {
      this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, length))
      this.#used = 0
    }
    const kept = this.#chunk.subarray(this.#used, this.#used + length)
    kept.set(payload)
    this.#used += length
    this.rows.push({ partsLeft, payload: kept })
  }
}

/** See the file's header. */
export class MemoryStore implements TabletStore {
  rowsRead = 0
  rowsWritten = 0
  #superblock: Uint8Array | null = null
  #results: Uint8Array | null = null
  readonly #wals = new Map<number, StoredWal>()
  /** Blocks of files, the first at 1; one that was deleted is null. */
  readonly #files = new Map<number, (Uint8Array | null)[]>()

  transact<T>(work: () => T): T {
    return work()
  }

  readSuperblock(): Uint8Array | null {
    this.rowsRead++
    return this.#superblock?.slice() ?? null
  }

  writeSuperblock(bytes: Uint8Array): void {
    this.rowsWritten++
    this.#superblock = bytes.slice()
  }

  createWal(generation: number): void {
    this.rowsWritten += 2
    this.#wals.set(generation, new StoredWal())
  }

  appendWal(generation: number, parts: readonly Uint8Array[]): void {
    const wal = must(this.#wals.get(generation))
    for (let i = 0; i < parts.length; i++) wal.append(parts.length - 1 - i, parts[i])
    this.rowsWritten += parts.length
  }

  readWal(
    generation: number,
    visit: (id: number, partsLeft: number, payload: Uint8Array) => void,
  ): void {
    const { rows } = must(this.#wals.get(generation))
    for (const [i, { partsLeft, payload }] of rows.entries()) {
      visit(i + 1, partsLeft, payload.slice())
    }
    this.rowsRead += rows.length
  }

  dropWal(generation: number): void {
    this.#wals.delete(generation)
  }

  readResults(): Uint8Array | null {
    this.rowsRead++
    return this.#results?.slice() ?? null
  }

  writeResults(bytes: Uint8Array): void {
    this.rowsWritten++
    this.#results = bytes.slice()
  }

  createFile(file: number): void {
    this.rowsWritten += 2
    this.#files.set(file, [null])
  }

  appendBlock(file: number, bytes: Uint8Array): number {
    this.rowsWritten++
    return must(this.#files.get(file)).push(bytes.slice()) - 1
  }

  deleteBlocks(file: number, blocks: readonly number[]): void {
    const stored = this.#files.get(file)
    if (stored === undefined) return
    for (const block of blocks) stored[block] = null
    this.rowsWritten += blocks.length
  }

  dropFile(file: number): void {
    this.#files.delete(file)
  }

  readBlock(file: number, block: number, start = 0, end?: number): Uint8Array {
    this.rowsRead++
    return must(must(this.#files.get(file))[block]).slice(start, end)
  }
}

function must<T>(thing: T | null | undefined): T {
  if (thing === null || thing === undefined) throw new Error('the store has no such thing')
  return thing
}

/** The catalog's storage in memory, with transactions that are undone when their work throws. */

import type { CatalogStore, StoredDrop, StoredName } from '../../src/catalog/catalog-store.ts'
import { assert } from '../../src/util/assert.ts'
import { compareWhole, utf8Encode } from '../../src/util/bytes.ts'

interface State {
  readonly tables: Map<string, string>
  readonly names: Map<string, string>
  readonly initialized: Map<string, Set<string>>
  readonly drops: Map<string, string>
}

/** See the port for the rules. */
export class MemoryCatalogStore implements CatalogStore {
  #state: State = {
    tables: new Map(),
    names: new Map(),
    initialized: new Map(),
    drops: new Map(),
  }
  #isOpen = false

  transact<T>(work: () => T): T {
    assert(!this.#isOpen, 'transactions do not nest')
    const before = structuredClone(this.#state)
    this.#isOpen = true
    try {
      return work()
    } catch (error) {
      this.#state = before
      throw error
    } finally {
      this.#isOpen = false
    }
  }

  readTable(tableId: string): string | undefined {
    return this.#state.tables.get(tableId)
  }

  findTable(name: string): string | undefined {
    return this.#state.names.get(name)
  }

  insertTable(tableId: string, name: string, definition: string): void {
    const { tables, names } = this.#writable()
    assert(!tables.has(tableId) && !names.has(name), 'a table is inserted once')
    tables.set(tableId, definition)
    names.set(name, tableId)
  }

  deleteTable(tableId: string, name: string): void {
    const { tables, names, initialized } = this.#writable()
    tables.delete(tableId)
    names.delete(name)
    initialized.delete(tableId)
  }

  readNames(afterName: string, fromName: string, limit: number): readonly StoredName[] {
    return [...this.#state.names]
      .map(([name, tableId]) => ({ name, tableId }))
      .filter(({ name }) => isAbove(name, afterName) && !isAbove(fromName, name))
      .sort((a, b) => (isAbove(a.name, b.name) ? 1 : -1))
      .slice(0, limit)
  }

  readInitialized(tableId: string): readonly string[] {
    return [...(this.#state.initialized.get(tableId) ?? [])].sort()
  }

  insertInitialized(tableId: string, tabletId: string): void {
    const { initialized } = this.#writable()
    const ids = initialized.get(tableId) ?? new Set()
    initialized.set(tableId, ids.add(tabletId))
  }

  readDrops(limit: number): readonly StoredDrop[] {
    return [...this.#state.drops]
      .map(([tableId, work]) => ({ tableId, work }))
      .sort((a, b) => (a.tableId > b.tableId ? 1 : -1))
      .slice(0, limit)
  }

  readDrop(tableId: string): string | undefined {
    return this.#state.drops.get(tableId)
  }

  writeDrop(tableId: string, work: string): void {
    this.#writable().drops.set(tableId, work)
  }

  deleteDrop(tableId: string): void {
    this.#writable().drops.delete(tableId)
  }

  #writable(): State {
    assert(this.#isOpen, 'writing happens inside a transaction')
    return this.#state
  }
}

function isAbove(a: string, b: string): boolean {
  return compareWhole(utf8Encode(a), utf8Encode(b)) > 0
}

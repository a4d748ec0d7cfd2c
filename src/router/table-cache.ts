/**
 * What the front remembers of tables, so that the catalog is not on the path of data. An entry may
 * be stale: every call to a tablet carries the version it was planned with, and a tablet that knows
 * better says so.
 */

import { TABLE_CACHE_COUNT_MAX, TABLE_CACHE_MS } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import type { TableRef } from '../wire/catalog-protocol.ts'
import { callCatalog } from './catalog-caller.ts'
import { OpenTable } from './open-table.ts'
import type { RouterPorts } from './ports.ts'

/** A table, and whether the catalog was asked for it just now. */
export interface KnownTable {
  readonly table: OpenTable
  readonly isConfirmed: boolean
}

interface CachedTable {
  readonly table: OpenTable
  readonly fetchedAtMs: number
}

const TABLE_ID = /^[0-9a-f]{32}$/i

/** The reference that a path segment stands for: an id or a name. */
export function tableRefOf(segment: string): TableRef {
  return TABLE_ID.test(segment) ? { id: segment.toLowerCase() } : { name: segment }
}

/**
 * Tables by reference, for one isolate.
 *
 *  I1  an entry older than TABLE_CACHE_MS is not used;
 *  I2  at most TABLE_CACHE_COUNT_MAX entries are kept, the oldest go first;
 *  I3  requests that miss while a call to the catalog runs share its answer, unless it is a failure.
 */
export class TableCache {
  readonly #ports: RouterPorts
  readonly #tables = new Map<string, CachedTable>()
  readonly #fetching = new Map<string, Promise<OpenTable>>()

  constructor(ports: RouterPorts) {
    this.#ports = ports
  }

  /** The table, remembered or fetched. Throws: NOT_FOUND. */
  async open(ref: TableRef): Promise<KnownTable> {
    const key = keyOf(ref)
    const cached = this.#tables.get(key)
    if (cached !== undefined && this.#ports.elapsedMs() - cached.fetchedAtMs < TABLE_CACHE_MS) {
      return { table: cached.table, isConfirmed: false }
    }
    const running = this.#fetching.get(key)
    if (running === undefined) return { table: await this.refresh(ref), isConfirmed: true }
    try {
      return { table: await running, isConfirmed: false }
    } catch {
      // That fetch began before this request: what it missed may be there by now.
      return { table: await this.refresh(ref), isConfirmed: true }
    }
  }

  /** The table as the catalog knows it now. Throws: NOT_FOUND. */
  async refresh(ref: TableRef): Promise<OpenTable> {
    const key = keyOf(ref)
    const fetching = this.#fetch(ref)
    this.#fetching.set(key, fetching)
    try {
      return await fetching
    } finally {
      if (this.#fetching.get(key) === fetching) this.#fetching.delete(key)
    }
  }

  /** Forgets what was remembered under a reference. */
  forget(ref: TableRef): void {
    this.#tables.delete(keyOf(ref))
  }

  async #fetch(ref: TableRef): Promise<OpenTable> {
    const fetchedAtMs = this.#ports.elapsedMs()
    const entry = await this.#ask(ref)
    const table = new OpenTable(entry)
    this.#remember(keyOf(ref), { table, fetchedAtMs })
    return table
  }

  async #ask(ref: TableRef): Promise<TableEntry> {
    try {
      return (await callCatalog(this.#ports, (catalog) => catalog.getTable(ref))).table
    } catch (error) {
      if (error instanceof StatusError && error.code === 'NOT_FOUND') this.forget(ref)
      throw error
    }
  }

  #remember(key: string, cached: CachedTable): void {
    this.#tables.delete(key)
    this.#tables.set(key, cached)
    if (this.#tables.size > TABLE_CACHE_COUNT_MAX) {
      for (const oldest of this.#tables.keys()) {
        this.#tables.delete(oldest)
        break
      }
    }
  }
}

function keyOf(ref: TableRef): string {
  return 'id' in ref ? `id ${ref.id}` : `name ${ref.name}`
}

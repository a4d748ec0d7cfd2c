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
  /** Until when it is used, on `ports.elapsedMs`. */
  goodUntilMs: number
}

/** How much longer an old entry is used while one request asks for it anew. */
const GRACE_MS = 1000

const TABLE_ID = /^[0-9a-f]{32}$/i

/** The reference that a path segment stands for: an id or a name. */
export function tableRefOf(segment: string): TableRef {
  return TABLE_ID.test(segment) ? { id: segment.toLowerCase() } : { name: segment }
}

/**
 * Tables by reference, for one isolate.
 *
 * Requests never wait for each other's calls: one whose client goes away is ended by the platform
 * with all that it waits for, and whoever shared its call would wait for ever. Instead one request
 * asks anew for an entry that has grown old, and the others use it a little longer.
 *
 *  I1  an entry older than TABLE_CACHE_MS is asked for anew, and used at most GRACE_MS longer;
 *  I2  at most TABLE_CACHE_COUNT_MAX entries are kept, the oldest go first.
 */
export class TableCache {
  readonly #ports: RouterPorts
  readonly #tables = new Map<string, CachedTable>()

  constructor(ports: RouterPorts) {
    this.#ports = ports
  }

  /** The table, remembered or fetched. Throws: NOT_FOUND. */
  async open(ref: TableRef): Promise<KnownTable> {
    const cached = this.#tables.get(keyOf(ref))
    const nowMs = this.#ports.elapsedMs()
    if (cached !== undefined) {
      if (nowMs < cached.goodUntilMs) return { table: cached.table, isConfirmed: false }
      cached.goodUntilMs = nowMs + GRACE_MS
    }
    return { table: await this.refresh(ref), isConfirmed: true }
  }

  /** The table as the catalog knows it now. Throws: NOT_FOUND. */
  async refresh(ref: TableRef): Promise<OpenTable> {
    const goodUntilMs = this.#ports.elapsedMs() + TABLE_CACHE_MS
    const table = new OpenTable(await this.#ask(ref))
    this.#remember(keyOf(ref), { table, goodUntilMs })
    return table
  }

  /** Forgets what was remembered under a reference. */
  forget(ref: TableRef): void {
    this.#tables.delete(keyOf(ref))
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

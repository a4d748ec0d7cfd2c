import { Buffer } from 'node:buffer'
import type { PlainCell, PlainRow } from './a-write-block.ts'

interface Version {
  readonly at: number
  /** null: deleted. */
  readonly row: PlainRow | null
}

/**
 * The oracle: every version of every row, and scans that look at each. Shares no code with the
 * engine.
 */
export class RowModel {
  readonly #keyNames: readonly string[]
  readonly #versions = new Map<string, Version[]>()
  readonly #keys = new Map<string, PlainRow>()

  constructor(keyNames: readonly string[]) {
    this.#keyNames = keyNames
  }

  /** The row with the key of `row` at a time, or null. */
  at(time: number, row: PlainRow): PlainRow | null {
    let found: PlainRow | null = null
    for (const version of this.#versions.get(this.#name(row)) ?? []) {
      if (version.at <= time) found = version.row
    }
    return found
  }

  /** Puts a version behind all others of its key: a whole row, or null for a delete. */
  put(at: number, key: PlainRow, row: PlainRow | null): void {
    const name = this.#name(key)
    this.#versions.set(name, [...(this.#versions.get(name) ?? []), { at, row }])
    this.#keys.set(name, key)
  }

  /** Rows at a time that are accepted, by ascending key. */
  scan(time: number, accepts: (row: PlainRow) => boolean): PlainRow[] {
    const rows: PlainRow[] = []
    for (const key of this.#keys.values()) {
      const row = this.at(time, key)
      if (row !== null && accepts(row)) rows.push(row)
    }
    return rows.sort((a, b) => this.compareKeys(a, b))
  }

  /** Orders rows by their key columns. */
  compareKeys(a: PlainRow, b: PlainRow): number {
    for (const name of this.#keyNames) {
      const order = comparePlain(a[name], b[name])
      if (order !== 0) return order
    }
    return 0
  }

  #name(row: PlainRow): string {
    return JSON.stringify(this.#keyNames.map((name) => String(row[name])))
  }
}

function comparePlain(a: PlainCell, b: PlainCell): number {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  return a! < b! ? -1 : a! > b! ? 1 : 0
}

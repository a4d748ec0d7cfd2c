/**
 * The truth about a table: every version of every row. Slow, obvious, and without a line of the
 * engine.
 */

import { isCovered, type ModelTable } from './model-table.ts'
import { compareTuples, type ModelColumn, type Value } from './model-value.ts'

/** A row in schema order. */
export type ModelRow = readonly Value[]
/** Cells by column name; a column that is absent was not set. */
export type SetCells = Readonly<Record<string, Value>>
/** An operation and its row. */
export type ModelOperation = readonly [operation: string, cells: SetCells]

/** What an operation came to: a counter of the answer, or the code of a row error. */
export type ModelOutcome =
  | 'inserted'
  | 'upserted'
  | 'updated'
  | 'deleted'
  | 'ignored'
  | 'ALREADY_PRESENT'
  | 'NOT_FOUND'
  | 'INVALID_ARGUMENT'

interface Version {
  readonly at: number
  /** null: deleted. */
  readonly row: ModelRow | null
}

/** A key and its life. */
interface KeyHistory {
  readonly key: readonly Value[]
  readonly name: string
  readonly versions: Version[]
}

/** A row at a time, and the name of its key. */
export interface FoundRow {
  readonly keyName: string
  readonly row: ModelRow
  /** Whether an answer may leave it out. */
  readonly isOptional?: boolean
}

/** What two times show of a key; null is no row. */
export interface KeyChange {
  readonly key: readonly Value[]
  readonly keyName: string
  readonly before: ModelRow | null
  readonly after: ModelRow | null
  /** Whether it was gone only between two rows of one write, and came back as it was. */
  readonly isUnseen: boolean
}

/** See the file's header. */
export class VersionModel {
  readonly table: ModelTable
  readonly keyColumns: readonly ModelColumn[]
  readonly #keys = new Map<string, KeyHistory>()
  #sorted: KeyHistory[] = []
  /** Times of ops, ascending, each once. */
  readonly opTimes: number[] = []

  constructor(table: ModelTable) {
    this.table = table
    this.keyColumns = table.columns.filter(({ isKey }) => isKey)
  }

  /** The name of a key. */
  keyName(key: readonly Value[]): string {
    return JSON.stringify(key.map(String))
  }

  /** The key of an operation. */
  keyOf(cells: SetCells): Value[] {
    return this.keyColumns.map(({ name }) => cells[name])
  }

  /** The newest version of a key. */
  newest(keyName: string): ModelRow | null {
    return this.#keys.get(keyName)?.versions.at(-1)?.row ?? null
  }

  /**
   * Applies an operation at a time, behind all that was applied to its key; null: no tablet said
   * that it did.
   */
  apply([operation, cells]: ModelOperation, at: number | null): ModelOutcome {
    const key = this.keyOf(cells)
    if (!isCovered(this.table, key)) return 'NOT_FOUND'
    const name = this.keyName(key)
    const present = this.newest(name)
    const hasCells = Object.keys(cells).length > this.keyColumns.length
    const put = (row: ModelRow | null) => {
      if (at === null) throw new Error(`${operation} of ${name} was not applied`)
      this.put(key, at, row)
    }
    if (operation.startsWith('DELETE')) {
      if (present === null) return operation === 'DELETE' ? 'NOT_FOUND' : 'ignored'
      put(null)
      return 'deleted'
    }
    if (operation.startsWith('UPDATE')) {
      if (!hasCells) return 'INVALID_ARGUMENT'
      if (present === null) return operation === 'UPDATE' ? 'NOT_FOUND' : 'ignored'
      put(this.#changed(present, cells))
      return 'updated'
    }
    const isUpsert = operation.startsWith('UPSERT')
    if (present !== null && !isUpsert) {
      return operation === 'INSERT' ? 'ALREADY_PRESENT' : 'ignored'
    }
    const defaults = this.table.columns.map(({ defaultValue }) => defaultValue)
    // An upsert that sets nothing of a row changes nothing of it.
    if (present === null || hasCells) put(this.#changed(present ?? defaults, cells))
    return isUpsert ? 'upserted' : 'inserted'
  }

  /** Puts a version behind all others of its key. */
  put(key: readonly Value[], at: number, row: ModelRow | null): void {
    const name = this.keyName(key)
    let history = this.#keys.get(name)
    if (history === undefined) {
      history = { key, name, versions: [] }
      this.#keys.set(name, history)
    }
    const last = history.versions.at(-1)
    if (last !== undefined && last.at > at) throw new Error(`a change at ${at} after ${last.at}`)
    history.versions.push({ at, row })
    this.noteTime(at)
  }

  /** All rows at a time, by ascending key. */
  rowsAt(time: number): FoundRow[] {
    const rows: FoundRow[] = []
    for (const { versions, name } of this.#byKey()) {
      const row = rowAt(versions, time)
      if (row !== null) rows.push({ keyName: name, row })
    }
    return rows
  }

  /** Keys of which something changed above one time and at or below another, ascending. */
  changesIn(from: number, to: number): KeyChange[] {
    const changed = this.#byKey().filter(({ versions }) => {
      return versions.some(({ at }) => at > from && at <= to)
    })
    return changed.map(({ key, name, versions }) => {
      const before = rowAt(versions, from)
      const after = rowAt(versions, to)
      const isSame = before?.every((cell, i) => Object.is(cell, after?.[i])) === true
      const isUnseen =
        isSame &&
        versions.some(({ at, row }, i) => {
          return at > from && at <= to && row === null && versions[i + 1]?.at === at
        })
      return { key, keyName: name, before, after, isUnseen }
    })
  }

  #byKey(): readonly KeyHistory[] {
    if (this.#sorted.length !== this.#keys.size) {
      this.#sorted = [...this.#keys.values()]
      this.#sorted.sort((a, b) => compareTuples(this.keyColumns, a.key, b.key))
    }
    return this.#sorted
  }

  #changed(row: ModelRow, cells: SetCells): ModelRow {
    return this.table.columns.map(({ name }, i) =>
      Object.hasOwn(cells, name) ? cells[name] : row[i],
    )
  }

  /** Notes that something was applied at a time. */
  noteTime(at: number): void {
    const last = this.opTimes.at(-1) ?? 0
    if (at === last) return
    if (at > last) this.opTimes.push(at)
    else if (!this.opTimes.includes(at)) {
      this.opTimes.push(at)
      this.opTimes.sort((a, b) => a - b)
    }
  }
}

function rowAt(versions: readonly Version[], time: number): ModelRow | null {
  let row: ModelRow | null = null
  for (const version of versions) if (version.at <= time) row = version.row
  return row
}

/**
 * The oracle of a tablet: slow, obvious, and sharing no code with the engine. Plain values, one op
 * at a time.
 */

/** A value of the model. */
export type ModelValue = number | string | null
/** A row of the model; a column left out is unset. */
export type ModelRow = Readonly<Record<string, ModelValue>>
/** An operation of the model. */
export type ModelOperation = readonly [operation: string, row: ModelRow]

/** What the model knows of a column. */
export interface ModelColumn {
  readonly name: string
  readonly isKey: boolean
  readonly isNullable: boolean
  readonly isImmutable: boolean
  /** Undefined: none. */
  readonly default?: ModelValue
}

/** A row that failed. */
export interface ModelError {
  readonly row: number
  readonly error: string
  readonly column: string | null
}

/** What an op comes to. */
export interface ModelResult {
  inserted: number
  upserted: number
  updated: number
  deleted: number
  ignored: number
  failed: number
  created: number
  errors: ModelError[]
}

type Versions = { at: number; row: ModelRow | null }[]

/** See the file's header. */
export class TabletModel {
  readonly #columns: readonly ModelColumn[]
  /** Per key, every version ever applied, oldest first. `null` is a delete. */
  readonly #versions = new Map<string, Versions>()
  /** The same in the order of the keys, when it was last asked for. */
  #ordered: readonly Versions[] = []
  #liveRowCount = 0

  constructor(columns: readonly ModelColumn[]) {
    this.#columns = columns
  }

  /** Applies an op at a time, which is above all before. */
  apply(operations: readonly ModelOperation[], at: number): ModelResult {
    const result: ModelResult = {
      inserted: 0,
      upserted: 0,
      updated: 0,
      deleted: 0,
      ignored: 0,
      failed: 0,
      created: 0,
      errors: [],
    }
    operations.forEach(([operation, row], index) => {
      const error = this.#malformed(operation, row) ?? this.#applyRow(operation, row, at, result)
      if (error === null) return
      result.failed++
      result.errors.push({ row: index, ...error })
    })
    return result
  }

  /** All rows at a time, in the order of their keys' first column and then the second. */
  rowsAt(at: number): ModelRow[] {
    const rows: ModelRow[] = []
    for (const versions of this.#inOrder()) {
      const row = rowAt(versions, at)
      if (row !== null) rows.push(row)
    }
    return rows
  }

  /**
   * Rows with a version above one time and at or below another that are there at either, in the
   * order of their keys: as they are at the later, or, of those that are gone, what they were.
   */
  diff(after: number, upTo: number): { row: ModelRow; isDeleted: boolean }[] {
    const found: { row: ModelRow; isDeleted: boolean }[] = []
    for (const versions of this.#inOrder()) {
      if (!versions.some(({ at }) => at > after && at <= upTo)) continue
      const row = rowAt(versions, upTo) ?? rowAt(versions, after)
      if (row !== null) found.push({ row, isDeleted: rowAt(versions, upTo) === null })
    }
    return found
  }

  /** Rows that are there after the newest op. */
  get liveRowCount(): number {
    return this.#liveRowCount
  }

  /** The versions of all keys ever inserted, in the order of the keys. */
  #inOrder(): readonly Versions[] {
    if (this.#ordered.length === this.#versions.size) return this.#ordered
    this.#ordered = [...this.#versions.values()].sort((a, b) =>
      this.#compareKeys(a[0].row, b[0].row),
    )
    return this.#ordered
  }

  #compareKeys(a: ModelRow | null, b: ModelRow | null): number {
    for (const { name } of this.#columns.filter((column) => column.isKey)) {
      const left = a?.[name] ?? ''
      const right = b?.[name] ?? ''
      if (left < right) return -1
      if (left > right) return 1
    }
    return 0
  }

  #malformed(operation: string, row: ModelRow): { error: string; column: string | null } | null {
    for (const column of this.#columns) {
      const error = malformedCell(operation, column, row)
      if (error !== null) return { error, column: column.name }
    }
    if (operation.startsWith('UPDATE')) {
      const changes = this.#columns.filter((c) => !c.isKey && !c.isImmutable && c.name in row)
      if (changes.length === 0) return { error: 'NO_FIELDS_UPDATED', column: null }
    }
    return null
  }

  #applyRow(
    operation: string,
    row: ModelRow,
    at: number,
    result: ModelResult,
  ): { error: string; column: string | null } | null {
    const key = JSON.stringify(this.#columns.filter((c) => c.isKey).map((c) => row[c.name]))
    const versions = this.#versions.get(key) ?? []
    const now = versions.at(-1)?.row ?? null
    const change = (next: ModelRow | null) => {
      versions.push({ at, row: next })
      this.#liveRowCount += Number(next !== null) - Number((versions.at(-2)?.row ?? null) !== null)
      this.#versions.set(key, versions)
    }
    const [verb, isIgnoring] = [operation.replace('_IGNORE', ''), operation.endsWith('_IGNORE')]

    if (verb === 'INSERT' || (verb === 'UPSERT' && now === null)) {
      if (now !== null) {
        if (!isIgnoring) return { error: 'KEY_ALREADY_PRESENT', column: null }
        result.ignored++
        return null
      }
      change(this.#whole(row))
      result.created++
      if (verb === 'INSERT') result.inserted++
      else result.upserted++
      return null
    }
    if (now === null) {
      if (!isIgnoring) return { error: 'KEY_NOT_FOUND', column: null }
      result.ignored++
      return null
    }
    if (verb === 'DELETE') {
      change(null)
      result.deleted++
      return null
    }
    return this.#change(verb, isIgnoring, row, now, change, result)
  }

  #change(
    verb: string,
    isIgnoring: boolean,
    row: ModelRow,
    now: ModelRow,
    change: (next: ModelRow) => void,
    result: ModelResult,
  ): { error: string; column: string | null } | null {
    const set = this.#columns.filter((column) => !column.isKey && column.name in row)
    const immutable = set.filter((column) => column.isImmutable)
    const mutable = set.filter((column) => !column.isImmutable)
    if (immutable.length > 0 && !isIgnoring) {
      return { error: 'COLUMN_IMMUTABLE', column: immutable[0].name }
    }
    if (mutable.length === 0 && immutable.length > 0) {
      result.ignored++
      return null
    }
    if (mutable.length > 0) {
      change({ ...now, ...Object.fromEntries(mutable.map(({ name }) => [name, row[name]])) })
    }
    if (verb === 'UPSERT') result.upserted++
    else result.updated++
    return null
  }

  #whole(row: ModelRow): ModelRow {
    const entries = this.#columns.map((column) => [
      column.name,
      column.name in row ? row[column.name] : (column.default ?? null),
    ])
    return Object.fromEntries(entries)
  }
}

/** The version that counts at a time, or null when there is none. */
function rowAt(versions: Versions, at: number): ModelRow | null {
  let index = versions.length - 1
  while (index >= 0 && versions[index].at > at) index--
  return index < 0 ? null : versions[index].row
}

function malformedCell(operation: string, column: ModelColumn, row: ModelRow): string | null {
  const isSet = column.name in row
  const isNull = isSet && row[column.name] === null
  if (column.isKey) {
    if (!isSet) return 'KEY_COLUMN_UNSET'
    return isNull ? 'KEY_COLUMN_NULL' : null
  }
  if (operation.startsWith('DELETE')) return isSet ? 'DELETE_HAS_VALUE' : null
  if (operation.startsWith('UPDATE')) {
    if (!isSet) return null
    if (column.isImmutable) return operation === 'UPDATE' ? 'COLUMN_IMMUTABLE' : null
    return isNull && !column.isNullable ? 'NULL_NOT_ALLOWED' : null
  }
  if (!isSet) {
    return column.isNullable || column.default !== undefined ? null : 'REQUIRED_COLUMN_UNSET'
  }
  return isNull && !column.isNullable ? 'NULL_NOT_ALLOWED' : null
}

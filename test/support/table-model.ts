/**
 * A table as a plain map: what the eight row operations mean, told slowly and obviously, without a
 * line of the engine.
 */

/** Operations, as the REST interface names them. */
export const OPERATIONS = [
  'INSERT',
  'INSERT_IGNORE',
  'UPSERT',
  'UPSERT_IGNORE',
  'UPDATE',
  'UPDATE_IGNORE',
  'DELETE',
  'DELETE_IGNORE',
] as const
/** An operation's name. */
export type Operation = (typeof OPERATIONS)[number]

/** Cells by column, as JSON values; a column that is absent was not set. */
export type ModelRow = Readonly<Record<string, string | number | boolean | null>>

/** What an operation came to. */
export type ModelOutcome =
  | 'inserted'
  | 'upserted'
  | 'updated'
  | 'deleted'
  | 'ignored'
  | 'ALREADY_PRESENT'
  | 'NOT_FOUND'
  | 'INVALID_ARGUMENT'

/** What the model must know of a table. */
export interface ModelShape {
  readonly keyColumns: readonly string[]
  /** Value of each other column when an insert leaves it unset. */
  readonly defaults: ModelRow
}

/** The table. */
export class TableModel {
  readonly #shape: ModelShape
  readonly #rows: Map<string, ModelRow>

  constructor(shape: ModelShape, rows = new Map<string, ModelRow>()) {
    this.#shape = shape
    this.#rows = rows
  }

  /** Applies one operation. */
  apply(operation: Operation, row: ModelRow): ModelOutcome {
    const key = this.#key(row)
    const present = this.#rows.get(key)
    const set = Object.keys(row).filter((name) => !this.#shape.keyColumns.includes(name))
    if (operation === 'DELETE' || operation === 'DELETE_IGNORE') {
      if (set.length > 0) return 'INVALID_ARGUMENT'
      if (present === undefined) return operation === 'DELETE' ? 'NOT_FOUND' : 'ignored'
      this.#rows.delete(key)
      return 'deleted'
    }
    if (operation === 'UPDATE' || operation === 'UPDATE_IGNORE') {
      if (set.length === 0) return 'INVALID_ARGUMENT'
      if (present === undefined) return operation === 'UPDATE' ? 'NOT_FOUND' : 'ignored'
      this.#rows.set(key, { ...present, ...row })
      return 'updated'
    }
    const isUpsert = operation === 'UPSERT' || operation === 'UPSERT_IGNORE'
    if (present !== undefined) {
      if (!isUpsert) return operation === 'INSERT' ? 'ALREADY_PRESENT' : 'ignored'
      this.#rows.set(key, { ...present, ...row })
      return 'upserted'
    }
    this.#rows.set(key, { ...this.#shape.defaults, ...row })
    return isUpsert ? 'upserted' : 'inserted'
  }

  /** All rows, in no order. */
  rows(): ModelRow[] {
    return [...this.#rows.values()]
  }

  /** The table as it is now, unchanged by what comes later. */
  copy(): TableModel {
    return new TableModel(this.#shape, new Map(this.#rows))
  }

  #key(row: ModelRow): string {
    return JSON.stringify(this.#shape.keyColumns.map((name) => row[name]))
  }
}

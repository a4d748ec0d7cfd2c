/**
 * An object's SQL with the rows counted that the platform bills.
 *
 * What the counters leave out, since no cursor shows it: the row of each alarm that is set, and all
 * but the last statement of a text with several.
 */

/** A database without tables is one page; every table has a page of its own. */
const EMPTY_DATABASE_BYTES = 4096

/**
 * A value of SQLite as it is bound and read. 64-bit integers are not among them: they would be
 * rounded.
 */
export type SqlValue = ArrayBuffer | Uint8Array | string | number | null

/** The part of a cursor that is used here. */
export interface SqlCursor {
  raw(): IterableIterator<unknown[]>
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** The part of an object's SQL that is used here. */
export interface SqlPort {
  exec(text: string, ...bindings: unknown[]): SqlCursor
  readonly databaseSize: number
}

/** Counts what statements read and write. */
export class MeteredSql {
  readonly #sql: SqlPort
  #rowsRead = 0
  #rowsWritten = 0

  constructor(sql: SqlPort) {
    this.#sql = sql
  }

  /** Rows read so far, as they are billed. */
  get rowsRead(): number {
    return this.#rowsRead
  }

  /** Rows written so far, as they are billed. */
  get rowsWritten(): number {
    return this.#rowsWritten
  }

  /** Whether the database never held a table, or gave all of them back. Reads no row to tell. */
  get isEmpty(): boolean {
    return this.#sql.databaseSize <= EMPTY_DATABASE_BYTES
  }

  /** Runs a statement to its end. Returns: its rows. */
  all<Row extends readonly SqlValue[]>(text: string, ...bindings: readonly SqlValue[]): Row[] {
    const rows: Row[] = []
    this.each<Row>(text, bindings, (row) => rows.push(row))
    return rows
  }

  /** Runs a statement for its first row, or undefined. */
  first<Row extends readonly SqlValue[]>(
    text: string,
    ...bindings: readonly SqlValue[]
  ): Row | undefined {
    return this.all<Row>(text, ...bindings)[0]
  }

  /** Visits the rows of a statement one at a time. Requires: `visit` does not write. */
  each<Row extends readonly SqlValue[]>(
    text: string,
    bindings: readonly SqlValue[],
    visit: (row: Row) => void,
  ): void {
    const cursor = this.#sql.exec(text, ...bindings)
    try {
      for (const row of cursor.raw()) visit(row as unknown as Row)
    } finally {
      this.#rowsRead += cursor.rowsRead
      this.#rowsWritten += cursor.rowsWritten
    }
  }
}

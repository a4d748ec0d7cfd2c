/**
 * The row errors of one request: all are counted, the first are kept, in the order of the request's
 * rows.
 */

import { ROW_ERROR_COUNT_MAX } from '../common/limits.ts'
import { describeRowError, ROW_ERRORS, type RowErrors } from '../common/row-error.ts'
import type { Schema } from '../common/schema.ts'
import type { StatusCode } from '../common/status.ts'

/** A row error as clients see it. */
export interface RequestRowError {
  readonly row_index: number
  readonly code: StatusCode
  readonly message: string
  readonly column?: string
}

/** Gathers row errors that arrive in any order. Memory: a few times ROW_ERROR_COUNT_MAX errors. */
export class RowErrorCollector {
  /** Rows that failed. */
  failedCount = 0
  readonly #kept: RequestRowError[] = []

  /** Counts `count` failures without keeping them. */
  countOnly(count: number): void {
    this.failedCount += count
  }

  /** Adds an error. */
  add(error: RequestRowError): void {
    this.failedCount++
    this.keep(error)
  }

  /** Keeps an error that was counted already. */
  keep(error: RequestRowError): void {
    this.#kept.push(error)
    if (this.#kept.length >= ROW_ERROR_COUNT_MAX * 4) this.#cut()
  }

  /** Adds a row that lies in no range. */
  addOutOfRange(rowIndex: number): void {
    this.add({ row_index: rowIndex, ...describeRowError(ROW_ERRORS.NOT_IN_RANGE, undefined) })
  }

  /** Adds a tablet's errors. `rowIndexes` maps rows of the share to rows of the request. */
  addShare(schema: Schema, errors: RowErrors, rowIndexes: Uint32Array): void {
    const { rows, codes, columnIds } = errors
    this.failedCount += rows.length
    // A share's rows ascend, so none behind the first ROW_ERROR_COUNT_MAX can be among those kept.
    const end = Math.min(rows.length, ROW_ERROR_COUNT_MAX)
    for (let i = 0; i < end; i++) {
      const name = columnIds[i] < 0 ? undefined : schema.byId(columnIds[i])?.name
      const described = describeRowError(codes[i], name)
      const column = name === undefined ? {} : { column: name }
      this.keep({ row_index: rowIndexes[rows[i]], ...described, ...column })
    }
  }

  /** The first errors in row order, at most ROW_ERROR_COUNT_MAX. */
  errors(): readonly RequestRowError[] {
    this.#cut()
    return this.#kept
  }

  /** Whether errors were left out of `errors()`. */
  get isTruncated(): boolean {
    return this.failedCount > ROW_ERROR_COUNT_MAX
  }

  #cut(): void {
    this.#kept.sort((a, b) => a.row_index - b.row_index)
    if (this.#kept.length > ROW_ERROR_COUNT_MAX) this.#kept.length = ROW_ERROR_COUNT_MAX
  }
}

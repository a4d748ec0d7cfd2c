/**
 * Sends one body of rows until it is written, so that no row is written twice whatever happens:
 *
 *   UPSERT, DELETE_IGNORE …   may simply be repeated
 *   with an idempotency key   repeated as it is: what was applied is remembered
 *   without one               when it may have been applied, repeated as INSERT_IGNORE or
 *                             DELETE_IGNORE, which passes over the rows that were
 *
 * A key is given up when the service is full of them (THROTTLED).
 */

import type { RowOperationName } from '../../src/common/row-operation.ts'
import { type RestService, tablePath } from '../rest/rest-service.ts'
import type { RowBody } from './row-body.ts'

/** What became of the rows. */
export interface WriteResult {
  readonly rows: number
  readonly failed: number
  readonly row_errors: readonly WriteRowError[]
}

/** What was wrong with one of them. */
export interface WriteRowError {
  readonly row_index: number
  readonly code: string
  readonly message: string
}

/** Operations of the load generator. */
export type LoadOperation = 'INSERT' | 'UPSERT' | 'DELETE'

const REPEATABLE: Readonly<Record<LoadOperation, RowOperationName>> = {
  INSERT: 'INSERT_IGNORE',
  UPSERT: 'UPSERT',
  DELETE: 'DELETE_IGNORE',
}

/** Sends the rows of a body to a table. Throws: ServiceError when that fails for good. */
export function sendRows(
  service: RestService,
  table: string,
  operation: LoadOperation,
  body: RowBody,
  idempotencyKey: string | null,
): Promise<WriteResult> {
  let key = idempotencyKey
  let isInDoubt = false
  return service.repeat<WriteResult>((_, last) => {
    if (last !== null) {
      isInDoubt ||= last.isInDoubt
      if (last.code === 'THROTTLED') key = null
    }
    const sent = key === null && isInDoubt ? REPEATABLE[operation] : operation
    return service.ask<WriteResult>({
      method: 'POST',
      path: `${tablePath(table)}/rows${body.queryFor(sent)}`,
      headers: {
        'content-type': body.contentType,
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      body: body.parts(sent),
    })
  })
}

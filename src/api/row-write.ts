/** One request's rows on their way in: from its body through decoders into a write session. */

import type { Schema } from '../common/schema.ts'
import { type StatusDetails, StatusError } from '../common/status.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { WriteSession } from '../router/write-session.ts'
import { type BodyReader, withBody } from './body-reader.ts'
import { ArrowStreamDecoder } from './format/arrow-in/arrow-stream-decoder.ts'
import { CsvDecoder } from './format/csv-decoder.ts'
import { DecodedRows } from './format/decoded-rows.ts'
import { NdjsonDecoder } from './format/ndjson-decoder.ts'
import type { Holding } from './front-memory.ts'

/** How to read a body of rows. */
export interface RowReading {
  readonly schema: Schema
  readonly values: ValueOptions
  /** CSV: the unquoted text that is null. */
  readonly nullText: string
  /** Streams: the operation of every row. */
  readonly operation: number
  /** Room for what is held whole: a message of Arrow. */
  readonly holding: Holding
}

/** Pieces of a stream; each is good until the next. */
type Chunks = Pick<BodyReader, 'read'>

/** Formats that are read as they come. */
export type StreamFormat = 'ndjson' | 'csv' | 'arrow'

/** Decodes a stream; reads nothing by itself. */
interface StreamDecoder {
  readonly rows: DecodedRows
  readonly failure: StatusError | null
  /** Whether rows are left of chunks that were taken in whole. */
  readonly isPending?: boolean
  pushUntilFull(chunk: Uint8Array, start: number): number
  finish(): void
}

/**
 * Feeds a stream to a session as it comes, in memory bounded by a chunk and a line, or a
 * message of Arrow and its dictionaries.
 *
 * Throws: INVALID_ARGUMENT, once every row before it is applied, when a line or message is not of
 * the format; UNSUPPORTED_MEDIA_TYPE so for Arrow of kinds that are not read;
 * the session's own failures are left in it.
 */
export function feedStream(
  request: Request,
  format: StreamFormat,
  reading: RowReading,
  session: WriteSession,
): Promise<void> {
  return withBody(request, (body) => feedChunks(body, format, reading, session))
}

/** As `feedStream`, of a stream that is there as a whole, and may be fed again. */
export function feedBytes(
  bytes: Uint8Array,
  format: StreamFormat,
  reading: RowReading,
  session: WriteSession,
): Promise<void> {
  let rest: Uint8Array | null = bytes.length === 0 ? null : bytes
  const read = async (): Promise<Uint8Array | null> => {
    const chunk = rest
    rest = null
    return chunk
  }
  return feedChunks({ read }, format, reading, session)
}

async function feedChunks(
  chunks: Chunks,
  format: StreamFormat,
  reading: RowReading,
  session: WriteSession,
): Promise<void> {
  const decoder = decoderOf(format, reading)
  try {
    await feedAll(chunks, decoder, session)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // What is no row of the table that was remembered may be one of the table that there is.
    await session.confirm()
    if (session.failure !== null) return
    await feedRows(decoder.rows, session)
    throw await streamFailure(error, session)
  }
}

/**
 * Hands decoded rows and their problems to a session. Where there are problems the table is made
 * sure of first: what was remembered of it may lack a column that it has.
 */
export async function feedRows(rows: DecodedRows, session: WriteSession): Promise<void> {
  if (rows.failedCount > 0) await session.confirm()
  for (const { rowIndex, message, column } of rows.problems) {
    const named = column === undefined ? {} : { column }
    session.errors.add({ row_index: rowIndex, code: 'INVALID_ARGUMENT', message, ...named })
  }
  session.errors.countOnly(rows.failedCount - rows.problems.length)
  const { rowIndexes } = rows
  await session.add({ block: rows.builder.view(), rowIndexes })
  rows.clear()
}

/**
 * The failure of a request whose rows were partly applied, or null when no tablet failed.
 *
 * Requires: the session was finished.
 */
export function sessionFailure(session: WriteSession): StatusError | null {
  const { failure } = session
  return failure === null ? null : withProgress(failure, session)
}

async function feedAll(body: Chunks, decoder: StreamDecoder, session: WriteSession): Promise<void> {
  for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) {
    let position = 0
    while (position < chunk.length || decoder.isPending === true) {
      position = decoder.pushUntilFull(chunk, position)
      await feedRows(decoder.rows, session)
      if (decoder.failure !== null) throw decoder.failure
      if (session.failure !== null) return
    }
  }
  decoder.finish()
  await feedRows(decoder.rows, session)
  if (decoder.failure !== null) throw decoder.failure
}

function decoderOf(format: StreamFormat, reading: RowReading): StreamDecoder {
  const { schema, values, operation, nullText, holding } = reading
  const rows = new DecodedRows(schema)
  switch (format) {
    case 'ndjson':
      return new NdjsonDecoder(schema, values, operation, rows)
    case 'csv':
      return new CsvDecoder(schema, { ...values, nullText }, operation, rows)
    case 'arrow':
      return new ArrowStreamDecoder(schema, values, operation, rows, (bytes) => holding.grow(bytes))
  }
}

/** Applies what was read of a stream before it turned out to be none. */
async function streamFailure(failure: StatusError, session: WriteSession): Promise<StatusError> {
  await session.finish()
  return sessionFailure(session) ?? withProgress(failure, session)
}

function withProgress(failure: StatusError, session: WriteSession): StatusError {
  const { code, message, details } = failure
  const extra = {
    ...details.extra,
    rows_applied: session.appliedCount,
    ...(session.unknownCount > 0 || session.failure !== null
      ? { rows_unknown: session.unknownCount }
      : {}),
    row_errors: session.errors.errors(),
  }
  const progress: StatusDetails = { ...details, extra }
  return new StatusError(code, message, progress, failure.cause)
}

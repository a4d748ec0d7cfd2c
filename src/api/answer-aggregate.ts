/** Answers to aggregations: the whole result in its order, streamed in any format of rows. */

import { encodedRowBlockBytes } from '../common/row-block.ts'
import type { ReadSession } from '../router/read-session.ts'
import { runAggregate } from '../router/run-aggregate.ts'
import type { AggregateBody } from '../wire/aggregate-schemas.ts'
import { type AggregateQuery, aggregateQuery } from './aggregate-query.ts'
import type { Front } from './app-env.ts'
import { BlockSource } from './block-source.ts'
import { JsonResultEncoder } from './format/json-result-encoder.ts'
import { createStreamEncoder, type StreamEncoder } from './format/row-encoder.ts'
import { orderRows } from './order-rows.ts'
import { type AnswerOptions, scanHeaders } from './scan-answer.ts'
import { rowStream } from './scan-stream.ts'
import { StreamPauses } from './stream-pauses.ts'

/** Answers an aggregation. Throws: whatever one can fail with before anything is sent. */
export async function answerAggregate(
  front: Front,
  session: ReadSession,
  body: AggregateBody,
  options: AnswerOptions,
): Promise<Response> {
  const query = aggregateQuery(front, session.table, body, options.values)
  const { plan, spec, mode } = query
  const asked = { mode, snapshot: query.snapshot }
  const { block, snapshot } = await runAggregate(session, plan, spec, asked)
  await session.confirm()
  const holding = front.memory.holdFor(block, encodedRowBlockBytes(block))
  const rows = orderRows(block, query.order, spec.groupBy.length)
  const rowCount = Math.min(query.limit, block.rowCount)
  const source = new BlockSource(block, rows, rowCount, () => holding.release())
  const encoder = encoderOf(query, options, snapshot)
  const onFailure = (error: unknown) => {
    front.ports.log.error('aggregation broke off', { table_id: session.table.entry.id }, error)
  }
  const pauses = new StreamPauses(front.ports, front.arrivals)
  const stream = rowStream({ feed: source, encoder, rowCountMax: rowCount, pauses, onFailure })
  return new Response(stream, { headers: scanHeaders(snapshot, options.format) })
}

function encoderOf(
  { columns }: AggregateQuery,
  { format, values }: AnswerOptions,
  snapshot: number,
): StreamEncoder {
  if (format === 'json') return new JsonResultEncoder(columns, values, snapshot)
  return createStreamEncoder(format, columns, values)
}

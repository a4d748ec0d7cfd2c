/** What a run of the load generator is to do, checked. */

import { CliError } from '../cli-error.ts'
import type { FlagValues } from '../flags.ts'
import type { LoadFormat } from './loadgen-flags.ts'

/** See the file's header. */
export interface LoadPlan {
  readonly threadCount: number
  /** Infinity: until interrupted. */
  readonly rowsPerThread: number
  /** Rows of one request; Infinity when only its bytes count. */
  readonly requestRows: number
  /** Bytes at which a request is sent. */
  readonly requestBytes: number
  readonly buffersPerThread: number
  readonly hasClientPerThread: boolean
  readonly shownErrorCount: number
  readonly seqStart: number
  readonly format: LoadFormat
  readonly operation: 'INSERT' | 'UPSERT'
  readonly values: ValueRules
}

/** How cells are made of numbers. */
export interface ValueRules {
  readonly isKeyRandom: boolean
  readonly isValueRandom: boolean
  /** Instead of generated strings, unless it is empty. */
  readonly stringFixed: string
  readonly stringLength: number
}

/** The plan that flags tell of. Throws: CliError. */
export function planLoad(flags: FlagValues): LoadPlan {
  const rows = flags.number('num_rows_per_thread')
  const flushRows = flags.number('flush_per_n_rows')
  const watermark = flags.number('buffer_flush_watermark_pct')
  const stringFixed = flags.text('string_fixed')
  if (!stringFixed.isWellFormed()) throw new CliError('flag --string_fixed is not Unicode')
  return {
    threadCount: flags.number('num_threads'),
    rowsPerThread: rows < 0 ? Number.POSITIVE_INFINITY : rows,
    requestRows: flushRows === 0 ? Number.POSITIVE_INFINITY : flushRows,
    requestBytes: Math.floor(flags.number('buffer_size_bytes') * watermark),
    buffersPerThread: flags.number('buffers_num'),
    hasClientPerThread: flags.bool('use_client_per_thread'),
    shownErrorCount: flags.number('show_first_n_errors'),
    seqStart: flags.number('seq_start'),
    format: flags.text('format') as LoadFormat,
    operation: flags.bool('use_upsert') ? 'UPSERT' : 'INSERT',
    values: {
      isKeyRandom: flags.bool('use_random_pk') || flags.bool('use_random'),
      isValueRandom: flags.bool('use_random_non_pk') || flags.bool('use_random'),
      stringFixed,
      stringLength: flags.number('string_len'),
    },
  }
}

/**
 * Which numbers cells have. Row `r` of writer `t` has, in its column `c`, the number
 *
 *   seqStart + t × rowsPerThread × columnCount + r × columnCount + c
 */
export interface NumberSpans {
  readonly columnCount: number
  /** Rows that there are numbers for, a writer; what is planned, if that is finite. */
  readonly rowsPerThread: number
  readonly seqStart: number
}

/** The numbers of a run. Throws: CliError when they are more than there are. */
export function numberSpans(plan: LoadPlan, columnCount: number): NumberSpans {
  const { seqStart, threadCount } = plan
  const most = Math.floor((Number.MAX_SAFE_INTEGER - seqStart) / (threadCount * columnCount))
  const isEndless = plan.rowsPerThread === Number.POSITIVE_INFINITY
  if (!isEndless && plan.rowsPerThread > most) {
    throw new CliError(
      `numbers of cells go to 2^53: from ${seqStart} there are none for ${plan.rowsPerThread} ` +
        `rows of ${columnCount} columns by ${threadCount} writers`,
    )
  }
  return { columnCount, rowsPerThread: isEndless ? most : plan.rowsPerThread, seqStart }
}

/** The number of the first cell of a row. */
export function firstCellOf(spans: NumberSpans, thread: number, row: number): number {
  return spans.seqStart + (thread * spans.rowsPerThread + row) * spans.columnCount
}

/** Requests and responses about tablets: what they hold, and what is done to them. */

import { z } from 'zod'
import { MAINTENANCE_OPS } from '../common/maintenance-op.ts'
import { STATUS, type StatusCode } from '../common/status.ts'
import { members, timestamp, word } from './json-schema.ts'
import { shownPartitionSchema } from './table-schemas.ts'

const STATUS_CODES = Object.keys(STATUS) as [StatusCode, ...StatusCode[]]

function bytes(description: string) {
  return z.int().meta({ description })
}

const OP_TEXT =
  'COMPACT by hand runs also where kudu.table.disable_compaction is set; GC first flushes ' +
  'deletes that are older than the history that is kept'

/** Body of `POST …/maintenance`. */
export const maintenanceSchema = members({
  op: word(MAINTENANCE_OPS).meta({ description: OP_TEXT }),
}).meta({ id: 'Maintenance' })

const op = z.enum(MAINTENANCE_OPS)

/** What was read, and what was written in its place. */
const workShape = {
  rowsets_in: z.int(),
  rowsets_out: z.int(),
  rows_in: z.int(),
  rows_out: z.int(),
  bytes_in: z.int(),
  bytes_out: z.int(),
}

/** What a maintenance op did to a tablet. */
export const tabletMaintenanceSchema = z
  .object({
    tablet_id: z.string(),
    op,
    runs: z.int().meta({ description: 'how often it was run: 0 when there was nothing to do' }),
    ...workShape,
  })
  .meta({ id: 'TabletMaintenance' })

/** What a maintenance op did to the tablets of a table. */
export const tableMaintenanceSchema = z
  .object({ op, tablets: z.array(tabletMaintenanceSchema) })
  .meta({ id: 'TableMaintenance' })

/** How much a table holds. */
export const tableStatisticsSchema = z
  .object({
    live_row_count: z.int(),
    on_disk_size: bytes('of rowsets and logs'),
    tablets: z.array(
      z.object({
        tablet_id: z.string(),
        live_row_count: z.int(),
        on_disk_size: z.int(),
        wal_size: z.int(),
        memory_size: z.int(),
        rowset_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'TableStatistics' })

const deltasSchema = z.object({
  files: z.int(),
  records: z.int(),
  deletes: z.int(),
  bytes: z.int(),
})

const rowSetSchema = z.object({
  id: z.int(),
  rows: z.int(),
  live_rows: z.int(),
  bytes: bytes('of all its files'),
  base_bytes: z.int(),
  lower_key: z.string().meta({ description: 'hexadecimal, inclusive; perhaps cut' }),
  upper_key: z.string().nullable().meta({ description: 'exclusive; null: not known' }),
  undos: deltasSchema,
  redos: deltasSchema,
  memory_deltas: z.object({ records: z.int(), bytes: z.int() }),
  is_busy: z.boolean().meta({ description: 'a maintenance op works on it' }),
})

const runSchema = z.object({
  op,
  is_requested: z.boolean().meta({ description: 'by an operator' }),
  started_at: timestamp(),
  ended_at: timestamp().nullable(),
  steps: z.int(),
  ...workShape,
  failure: z.object({ code: z.enum(STATUS_CODES), message: z.string() }).nullable(),
})

const scoreSchema = z.object({
  op,
  memory_bytes: bytes('of memory that it would free'),
  wal_bytes: bytes('of logs that it alone holds back'),
  disk_bytes: bytes('of storage that it would free'),
  performance: z.number().meta({ description: 'what reads would gain' }),
  due_at: timestamp().nullable(),
  is_running: z.boolean(),
  held_back_until: timestamp('after failures it is not begun before').nullable(),
})

/** What a tablet says of itself. */
export const tabletReportSchema = z.object({
  live_row_count: z.int(),
  on_disk_size: bytes('of rowsets and logs'),
  memory: z.object({
    total: bytes('of all below'),
    mem_row_set: bytes('rows that are not flushed'),
    flushing: bytes('rows that are being flushed, or were and are still read'),
    deltas: bytes('changes to rows on disk'),
    results: bytes('remembered results of writes'),
    rowsets: bytes('what is kept of rowsets on disk'),
    isolate: bytes('of all tablets of the same isolate'),
    isolate_limit: bytes('at which writes are refused'),
  }),
  mem_row_set_rows: z.int(),
  flushing_rows: z.int(),
  wal: z.object({
    bytes: z.int(),
    rows: bytes('stored rows that are read when it wakes'),
    generations: z.int(),
  }),
  rowsets: z.array(rowSetSchema),
  average_rowset_height: z
    .number()
    .meta({ description: 'rowsets that a key is looked for in, on average over the data' }),
  mvcc: z.object({ safe_time: timestamp(), clean_time: timestamp(), in_flight_ops: z.int() }),
  last_applied: timestamp(),
  history_mark: timestamp('history below it is gone'),
  locks: z.object({ held: z.int(), waited_for: z.int(), waiting_ops: z.int() }),
  maintenance: z.object({
    ops: z.array(scoreSchema),
    running: z.array(runSchema),
    last_runs: z.array(runSchema).meta({ description: 'the last eight, newest first' }),
    next_at: timestamp('when it is next at work by itself').nullable(),
  }),
  billed_rows_read: bytes('since it woke'),
  billed_rows_written: bytes('since it woke'),
})
/** What a tablet says of itself, as it is shown. */
export type TabletReport = z.output<typeof tabletReportSchema>

/** A tablet, for operators. */
export const tabletStatusSchema = z
  .object({
    tablet_id: z.string(),
    table_id: z.string(),
    version: z.int().meta({ description: "the tablet's version of its table" }),
    partition: shownPartitionSchema,
    ...tabletReportSchema.shape,
  })
  .meta({ id: 'Tablet' })

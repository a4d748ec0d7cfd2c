/** The flags of the load generator, named and preset as Kudu's. */

import { CELL_BYTES_MAX, JSON_BODY_BYTES_MAX } from '../../src/common/limits.ts'
import type { Flag, RefusedFlag } from '../flags.ts'

const MIB = 2 ** 20
/** A body ends with the rows that pass its mark, and must not pass what a service takes. */
const BUFFER_BYTES_MAX = JSON_BODY_BYTES_MAX - 2 * MIB

/** Formats in which rows are sent. */
export const LOAD_FORMATS = ['json', 'ndjson', 'arrow'] as const
/** A format in which rows are sent. */
export type LoadFormat = (typeof LOAD_FORMATS)[number]

function flag(name: string, value: Flag['value'], description: string): Flag {
  const kind = typeof value === 'boolean' ? 'bool' : 'string'
  return { name, kind, value, description }
}

function integer(
  name: string,
  value: number,
  description: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): Flag {
  return { name, kind: 'integer', value, description, min, max }
}

const LOAD_FLAGS: readonly Flag[] = [
  integer('num_threads', 2, 'Writers at work at the same time.', 1, 1024),
  integer(
    'num_rows_per_thread',
    1000,
    'Rows that each writer generates; -1: until interrupted (Ctrl-C), which ends the run in order.',
    -1,
  ),
  integer(
    'flush_per_n_rows',
    0,
    'Rows of one request; 0: as many as come to the watermark of the buffer.',
    0,
  ),
  integer(
    'buffer_size_bytes',
    4 * MIB,
    'Bytes of the buffer in which the body of a request is built.',
    1024,
    BUFFER_BYTES_MAX,
  ),
  {
    name: 'buffer_flush_watermark_pct',
    kind: 'double',
    value: 0.5,
    description: 'Part of the buffer at which it is sent.',
    min: 0.01,
    max: 1,
  },
  integer(
    'buffers_num',
    2,
    'Buffers of each writer: one is filled while the others are on their way.',
    1,
    64,
  ),
  flag(
    'use_client_per_thread',
    true,
    'Whether each writer has connections of its own, instead of all sharing some.',
  ),
  integer('show_first_n_errors', 0, 'Errors of each writer that are shown, the first ones.', 0),
  integer('seq_start', 0, 'Number of the first cell; see above.', 0),
]

const TABLE_FLAGS: readonly Flag[] = [
  flag('table_name', '', 'An existing table to write to; "" makes one, and drops it when done.'),
  integer('table_num_hash_partitions', 8, 'Hash partitions of a table made for the run.', 1, 1024),
  integer(
    'table_num_range_partitions',
    1,
    'Range partitions of a table made for the run; they split the keys evenly.',
    1,
    1024,
  ),
  integer('table_num_int_columns', 1, 'INT32 columns of a table made for the run.', 0, 299),
  integer('table_num_string_columns', 1, 'STRING columns of a table made for the run.', 0, 299),
  flag('keep_auto_table', false, 'Whether a table made for the run is kept.'),
  flag(
    'run_scan',
    false,
    'Whether the rows are counted afterwards, by a full scan and by an aggregate; not after ' +
      'errors.',
  ),
  flag('run_cleanup', false, 'Whether the rows are deleted afterwards, one by one.'),
]

const VALUE_FLAGS: readonly Flag[] = [
  flag('string_fixed', '', 'What is written to STRING, VARCHAR and BINARY columns, unless empty.'),
  integer('string_len', 32, 'Characters of generated strings.', 0, CELL_BYTES_MAX),
  flag('use_random', false, 'Deprecated: as --use_random_pk --use_random_non_pk.'),
  flag('use_random_pk', false, 'Whether numbers of key columns are mixed up; they may collide.'),
  flag('use_random_non_pk', false, 'Whether numbers of the other columns are mixed up.'),
  flag('use_upsert', false, 'Whether rows are written with UPSERT instead of INSERT.'),
]

const SERVICE_FLAGS: readonly Flag[] = [
  {
    name: 'format',
    kind: 'string',
    value: 'ndjson',
    description: 'Format in which rows are sent.',
    choices: LOAD_FORMATS,
  },
  integer(
    'timeout_ms',
    60_000,
    'For how long a request is repeated that the service could not take, and a silence is borne.',
    1,
    2 ** 31 - 1,
  ),
  flag('token', '', 'Bearer token; $NYALA_TOKEN unless given.'),
]

/** All that are taken. */
export const LOADGEN_FLAGS: readonly Flag[] = [
  ...LOAD_FLAGS,
  ...TABLE_FLAGS,
  ...VALUE_FLAGS,
  ...SERVICE_FLAGS,
]

const NO_TRANSACTIONS = 'there are no transactions over several batches'

/** Those of Kudu's that would do nothing here. */
export const LOADGEN_REFUSED_FLAGS: readonly RefusedFlag[] = [
  { name: 'auto_database', why: 'tables have no database, and --table_name may hold any name' },
  { name: 'table_num_replicas', why: 'a tablet is one Durable Object, the platform replicates it' },
  { name: 'error_buffer_size_bytes', why: 'all errors are counted, and none but those shown kept' },
  { name: 'enable_array_columns', why: 'there are no array columns' },
  { name: 'array_max_elem_num', why: 'there are no array columns' },
  { name: 'txn_start', why: NO_TRANSACTIONS },
  { name: 'txn_commit', why: NO_TRANSACTIONS },
  { name: 'txn_rollback', why: NO_TRANSACTIONS },
]

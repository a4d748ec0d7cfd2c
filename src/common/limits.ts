/**
 * Every bound of the product in one place. A bound that a client can meet is named in its error.
 */

import { assert } from '../util/assert.ts'

const KIB = 1024
const MIB = 1024 * KIB

// Kudu's limits (K§1.5).
/** Columns of a table. */
export const COLUMN_COUNT_MAX = 300
/** UTF-8 bytes of a table, column or owner name, and of a comment. */
export const NAME_BYTES_MAX = 256
/** UTF-8 bytes of a comment. */
export const COMMENT_BYTES_MAX = 256
/** UTF-8 bytes of an owner. */
export const OWNER_BYTES_MAX = 128
/** Bytes of one cell. */
export const CELL_BYTES_MAX = 64 * KIB
/** Bytes of an encoded primary key. */
export const KEY_BYTES_MAX = 16 * KIB
/** Code points of a VARCHAR. */
export const VARCHAR_LENGTH_MAX = 65_535
/** Digits of a DECIMAL. */
export const DECIMAL_PRECISION_MAX = 38
/**
 * Combinations of values that are hashed to find which tablets a scan needs; beyond it needs all.
 * The buckets of a full table, hit by chance, are all hit well before.
 */
export const HASH_COMBINATION_COUNT_MAX = 65_536
/** Tablets of a table. */
export const TABLET_COUNT_MAX = 1024

// Requests.
/** Bytes of a JSON body, decoded. */
export const JSON_BODY_BYTES_MAX = 32 * MIB
/** Bytes of a stream of rows that is held as a whole, so that it can be decoded again. */
export const SHORT_STREAM_BYTES_MAX = 1 * MIB
/**
 * Values of a JSON body that is not of rows: what is built of them takes more than their bytes.
 */
export const JSON_VALUE_COUNT_MAX = 1_000_000
/** Bytes of a body that are read only to be thrown away, before an error is answered. */
export const DRAIN_BYTES_MAX = 512 * MIB
/** Bytes that all whole bodies and pages of one isolate may take at once. */
export const FRONT_MEMORY_BYTES_MAX = 64 * MIB
/** Rows of a JSON body. */
export const JSON_ROW_COUNT_MAX = 100_000
/** Nesting of JSON. */
export const JSON_DEPTH_MAX = 32
/** Bytes of an NDJSON line or a CSV record. */
export const LINE_BYTES_MAX = 20 * MIB
/** Bytes of the body of one message of an Arrow stream, and of what it unpacks to. */
export const ARROW_MESSAGE_BYTES_MAX = 32 * MIB
/** Bytes of both together. */
export const ARROW_HELD_BYTES_MAX = 40 * MIB
/** Bytes of the metadata of one message of an Arrow stream. */
export const ARROW_METADATA_BYTES_MAX = 1 * MIB
/** Bytes of the values of all dictionaries of an Arrow stream; they may take twice the room. */
export const ARROW_DICTIONARY_BYTES_MAX = 12 * MIB
/** Bytes of a request's URL. */
export const URL_BYTES_MAX = 16 * KIB
/** Predicates of one scan. */
export const PREDICATE_COUNT_MAX = 1000
/** Values of all IN lists of one scan. */
export const IN_VALUE_COUNT_MAX = 10_000
/** Columns, numbers and operators in all expressions of one aggregation. */
export const EXPRESSION_PART_COUNT_MAX = 1000
/** Keys of one `rows/get`. */
export const GET_KEY_COUNT_MAX = 1000
/** Bytes of the rows of one `rows/get`, as blocks. */
export const LOOKUP_BYTES_MAX = 32 * MIB
/** Rows of a page asked for. */
export const PAGE_ROW_COUNT_MAX = 10_000
/** Rows of a page when nothing is asked. */
export const PAGE_ROW_COUNT_DEFAULT = 1000
/** Bytes of a page of JSON. */
export const PAGE_BYTES_MAX = 8 * MIB
/** Time a page may take to fill. */
export const PAGE_MS_MAX = 10_000
/** Row errors spelled out in one answer. */
export const ROW_ERROR_COUNT_MAX = 1000
/** Characters of an Idempotency-Key. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255
/** Characters of a client's Nyala-Request-Id. */
export const REQUEST_ID_LENGTH_MAX = 128

// Time.
/** How far a client's timestamp may lie ahead of the front's clock. */
export const CLIENT_AHEAD_MICROS_MAX = 20_000_000
/** How far a front's timestamp may lie ahead of a tablet's clock. */
export const FRONT_AHEAD_MICROS_MAX = 30_000_000
/**
 * A tablet's clock starts this far ahead, so that snapshots served before it vanished stay what
 * they were.
 */
export const ACTIVATION_AHEAD_MICROS = 500_000
/** A snapshot at most this far ahead needs no clock mark. */
export const SNAPSHOT_AHEAD_MICROS_MAX = 250_000
/** History kept when the table does not say. */
export const HISTORY_MAX_AGE_SEC_DEFAULT = 604_800
/** The shortest history a table may ask for. */
export const HISTORY_MAX_AGE_SEC_MIN = 60

// Front to tablets.
/**
 * Bytes at which a tablet's share of a body is sent. Below a stored row's limit with its header.
 */
export const SHARE_BYTES_MAX = 1_800_000
/** Rows at which a tablet's share of a body is sent. */
export const SHARE_ROW_COUNT_MAX = 8192
/** Bytes of a share: one that was just not full, and one more row of the greatest size. */
export const WRITE_BLOCK_BYTES_MAX = SHARE_BYTES_MAX + COLUMN_COUNT_MAX * (CELL_BYTES_MAX + 64)
/** Calls to objects that one request may make. */
export const REQUEST_CALL_COUNT_MAX = 900
/** Tablets that one scan keeps open, and one write has in flight. */
export const TABLET_FAN_OUT_MAX = 32
/** Tablets that an ordered scan reads as streams, each with a few batches on their way. */
export const MERGE_STREAM_COUNT_MAX = 8
/** Bytes of one batch of a scan's stream. */
export const SCAN_BATCH_BYTES = 256 * KIB
/** Rows of one batch of a scan's stream. */
export const SCAN_BATCH_ROW_COUNT = 4096
/** Streams that one tablet has open at once. */
export const SCAN_STREAM_COUNT_MAX = 256
/** Of these, those that read ahead as whole scans of the tablet do, some 4 MiB each. */
export const WHOLE_SCAN_COUNT_MAX = 4
/** Rows that a scan may have and is none of the whole tablet. */
export const WHOLE_SCAN_ROW_COUNT = 65_536
/** Scans that one tablet analyzes at once. */
export const SCAN_ANALYSIS_COUNT_MAX = 16
/** Deletions by predicates that one tablet works on at once. */
export const DELETION_COUNT_MAX = 16
/** Rows that such a deletion looks at before others run. */
export const DELETION_SLICE_ROW_COUNT = 131_072
/** How long one call that deletes by predicates works before it is answered. */
export const DELETION_CALL_MS_MAX = 5_000
/** Scan tokens of one request: what a table of the largest size is cut into at most. */
export const SCAN_TOKEN_COUNT_MAX = 10_000
/** Characters of all scan tokens of one request. */
export const SCAN_TOKENS_LENGTH_MAX = 32 * MIB
/** How long a frame of a stream may wait to be read before the stream is broken off. */
export const SCAN_UNREAD_MS_MAX = 60_000
/** Bytes at which a bounded read ends, whatever was asked. */
export const READ_BYTES_MAX = 8 * MIB
/** Rows that a bounded read looks at before it answers with what it has. */
export const READ_SCANNED_ROW_COUNT_MAX = 1_048_576
/** Bytes of one message between objects: the platform's limit. */
export const MESSAGE_BYTES_MAX = 32 * MIB
/** Times the front repeats a call by itself. */
export const FRONT_RETRY_COUNT_MAX = 2
/** How long the front goes on trying. */
export const FRONT_DEADLINE_MS = 10_000

/** Groups of one aggregation, in a tablet and in all. */
export const AGGREGATE_GROUP_COUNT_MAX = 100_000
/** Bytes that groups and different values of one aggregation may hold in a tablet. */
export const AGGREGATE_BYTES_MAX = 24 * MIB
/** Bytes that they may hold in the front, which merges those of all tablets. */
export const AGGREGATE_FRONT_BYTES_MAX = 48 * MIB
/** Tablets that one aggregation asks at once. */
export const AGGREGATE_FAN_OUT_MAX = 8
/** Aggregations that one tablet has open at once. */
export const AGGREGATE_OPEN_COUNT_MAX = 16
/** Rows that one section of an aggregation looks at, about. */
export const AGGREGATE_STEP_ROW_COUNT = 262_144

/** Bytes that all shares of one request may gather before the largest is sent. */
export const SHARES_BYTES_MAX = 16 * MIB
/** How long a front uses what the catalog told it of a table. */
export const TABLE_CACHE_MS = 5_000
/** Tables a front remembers. */
export const TABLE_CACHE_COUNT_MAX = 256

// A tablet's storage and memory.
/** Bytes of one stored row; the platform's cap is 2 MB and it is not enforced locally. */
export const STORED_ROW_BYTES_MAX = 1_900_000
/** Bytes of a tablet's superblock: its identity, and rowsets, which take about 150 each. */
export const SUPERBLOCK_BYTES_MAX = 1_800_000
/** Bytes of what a tablet knows of its table. */
export const TABLET_IDENTITY_BYTES_MAX = 1_000_000
/** Bytes of WAL at which a generation is closed and the next one begun. */
export const WAL_GENERATION_BYTES_MAX = 16 * MIB
/** WAL generations of one tablet that may be live at once; the store has a table for each. */
export const WAL_GENERATION_COUNT_MAX = 32
/** Live WAL generations at which a flush begins none of its own: the others are for writes. */
export const WAL_GENERATION_COUNT_FLUSHED_MAX = 24
/**
 * Memory that MemRowSets, DeltaMemStores and remembered results of one isolate may hold together,
 * those that are being flushed included. Above six tenths of it writes help to flush, above it they
 * are refused.
 */
export const STORE_MEMORY_BYTES_MAX = 40 * MIB
/** Bytes of a MemRowSet at which its tablet flushes it; also what a DiskRowSet is meant to hold. */
export const MEM_ROW_SET_FLUSH_BYTES = 8 * MIB
/** Bytes of DeltaMemStores at which a tablet flushes them. */
export const DELTA_MEM_STORE_FLUSH_BYTES = 4 * MIB
/** Bytes of decoded pages that an isolate keeps. */
export const PAGE_CACHE_BYTES_MAX = 8 * MIB
/** Rows of a page of a column, unless they are long. */
export const PAGE_ROWS = 4096
/** Bytes of plain values at which a page of a binary column ends before it has PAGE_ROWS rows. */
export const PAGE_VALUE_BYTES = 128 * KIB
/** The same where hardly a value comes again: to read one of a page takes all of them. */
export const PAGE_TEXT_BYTES = 32 * KIB
/** Rows that one page can have, those of delta files included. */
export const CFILE_PAGE_ROW_COUNT_MAX = 65_536
/** Bytes of a binary cell that a zone map keeps. */
export const ZONE_CELL_BYTES_MAX = 32
/** Keys of a page of keys. */
export const KEY_PAGE_ROWS = 1024
/**
 * Bytes at which a stored row of pages is closed. SQLite goes through all of a stored row to give
 * out a part of it, so that larger ones cost each read of a page more than they save in rows.
 */
export const BLOCK_BYTES_TARGET = 128 * KIB
/** Bytes of consecutive pages that a scan reads at a time. */
export const READ_AHEAD_BYTES = 96 * KIB
/** Records of a block of a delta file. */
export const DELTA_BLOCK_RECORDS = 32_768
/** Bytes of a rowset's key bounds in the superblock. */
export const ROWSET_BOUND_BYTES_MAX = 64
/** Bytes of rows that one step of a maintenance op reads or writes, about. */
export const MAINTENANCE_STEP_BYTES = 1 * MIB
/** How long one alarm of a tablet works before it lets another follow. */
export const MAINTENANCE_ALARM_MS_MAX = 20_000
/** How long one call that asks for a maintenance op works before it is answered. */
export const MAINTENANCE_CALL_MS_MAX = 5_000
/** How long one request that asks for a maintenance op waits for it. */
export const MAINTENANCE_REQUEST_MS_MAX = 600_000
/** Bytes of a tablet's WAL, and stored rows of it, above which it is flushed when it is idle. */
export const IDLE_WAL_BYTES_MAX = 1 * MIB
/** See IDLE_WAL_BYTES_MAX. */
export const IDLE_WAL_ROW_COUNT_MAX = 256
/** How long after its last write a tablet is idle. */
export const IDLE_AFTER_MS = 30_000
/** How long after its last write a tablet is at rest, so that rowsets are merged for good. */
export const REST_AFTER_MS = 5_000
/** How long rowsets stay as they are before they are merged for good though rows come. */
export const REST_UNCHANGED_MS = 60_000
/** Stored rows of a tablet's WAL at which it is flushed; they are all read when it wakes. */
export const WAL_ROW_COUNT_FLUSH = 8192
/** Bytes of a tablet's WAL at which it is flushed. */
export const WAL_BYTES_FLUSH = 16 * MIB
/** Bytes of the rowsets that one compaction merges. */
export const COMPACTION_BYTES_MAX = 256 * MIB
/** Rows of the rowsets that one compaction merges: it keeps five bytes for each in memory. */
export const COMPACTION_ROW_COUNT_MAX = 1_250_000
/** Bytes of a table's definition as stored: with room for what a superblock holds beside it. */
export const TABLE_DEFINITION_BYTES_MAX = 900_000
/** Rows that one step of a tablet's scan looks at before it pauses, with or without rows. */
export const SCAN_STEP_ROW_COUNT_MAX = 32_768
/** Rows, and changes to them, that one MemRowSet numbers; memory runs out long before. */
export const MEM_ROW_COUNT_MAX = 2 ** 24
/** How long a client's idempotency key is remembered. */
export const RESULT_KEPT_MS = 600_000
/** How long a key that the front made for its own retries is remembered. */
export const FRONT_RESULT_KEPT_MS = 30_000
/** UTF-16 units of a result key: scope and a client's or a front's key joined. */
export const RESULT_KEY_LENGTH_MAX = 1024
/** Bytes of remembered results of clients' keys, a tablet. */
export const RESULT_BYTES_MAX = 1 * MIB
/** Bytes of remembered results of keys that fronts made, a tablet. */
export const FRONT_RESULT_BYTES_MAX = 256 * KIB
/** Ops of one tablet that MVCC tracks one by one: in flight, or applied above clean time. */
export const OP_TRACKED_COUNT_MAX = 4096
/**
 * Row locks of one tablet, held and waited for; about 50 bytes each, given back when all are
 * released.
 */
export const LOCK_COUNT_MAX = 200_000
/** Batches of row locks of one tablet, held and waited for. */
export const LOCK_BATCH_COUNT_MAX = 4096

assert(
  FRONT_MEMORY_BYTES_MAX >= 2 * JSON_BODY_BYTES_MAX,
  'a body of the largest size fits while it is copied to twice the room',
)
assert(
  ARROW_HELD_BYTES_MAX + 2 * ARROW_DICTIONARY_BYTES_MAX <= FRONT_MEMORY_BYTES_MAX,
  'a message of the largest size fits beside the largest dictionaries',
)
assert(SHARE_BYTES_MAX < STORED_ROW_BYTES_MAX, 'a full share fits one stored row')
assert(SHARE_ROW_COUNT_MAX * 2 <= LOCK_COUNT_MAX, 'two full shares can contend for their locks')
assert(PAGE_ROWS <= CFILE_PAGE_ROW_COUNT_MAX, 'a page of a column is a page')
assert(DELTA_BLOCK_RECORDS <= CFILE_PAGE_ROW_COUNT_MAX, 'cells of a delta block fit one page')
assert(
  WAL_GENERATION_COUNT_FLUSHED_MAX < WAL_GENERATION_COUNT_MAX,
  'flushes leave WAL generations for what is written',
)
assert(
  TABLE_DEFINITION_BYTES_MAX < TABLET_IDENTITY_BYTES_MAX,
  'what a catalog takes its tablets take, who write it in other words',
)
assert(
  TABLET_IDENTITY_BYTES_MAX + 5000 * 160 <= SUPERBLOCK_BYTES_MAX,
  'a superblock has room for the rowsets of the largest tablet',
)
assert(
  2 * MEM_ROW_SET_FLUSH_BYTES + DELTA_MEM_STORE_FLUSH_BYTES <= STORE_MEMORY_BYTES_MAX * 0.6,
  'a tablet that flushes in time, alone in its isolate, is never short of memory',
)
assert(SUPERBLOCK_BYTES_MAX <= STORED_ROW_BYTES_MAX, 'a superblock fits one stored row')
assert(
  READ_BYTES_MAX + 2 * MIB + COLUMN_COUNT_MAX * CELL_BYTES_MAX < MESSAGE_BYTES_MAX,
  'a read that just was not full and one more row of the greatest size fit one message',
)
assert(CLIENT_AHEAD_MICROS_MAX < FRONT_AHEAD_MICROS_MAX, 'what a front accepts a tablet accepts')
assert(SNAPSHOT_AHEAD_MICROS_MAX < ACTIVATION_AHEAD_MICROS, 'a restart never passes a snapshot')

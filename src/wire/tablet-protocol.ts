/**
 * What a front and a tablet object say to each other. Plain data, structured clone only.
 *
 * Every call carries the front's clock and what it believes of the table; every answer carries the
 * tablet's clock. The receiver of either raises its own clock by it (docs/ARCHITECTURE.md, "Time").
 */

import type { AggregateSpec } from '../common/aggregate-spec.ts'
import type { ColumnPredicate } from '../common/column-predicate.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { MaintenanceOp } from '../common/maintenance-op.ts'
import type { Partition, PartitionSchema } from '../common/partition-schema.ts'
import type { RowErrors } from '../common/row-error.ts'
import type { ScanStats } from '../common/scan-stats.ts'
import type { ColumnDefinition } from '../common/schema.ts'
import type { Outcome, StatusCode, StatusDetails } from '../common/status.ts'
import type { TabletReport } from './maintenance-schemas.ts'

/** Version of these messages. A receiver accepts this one and the one before. */
export const WIRE_VERSION = 1

/** What every call to a tablet carries. */
export interface TabletCall {
  readonly wire: number
  readonly tableId: string
  readonly tabletId: string
  /** Version of the table that the front planned with. */
  readonly tableVersion: number
  readonly clock: Timestamp
}

/**
 * How a tablet answers. `stale`: the front's table version is not the tablet's; nothing was done.
 */
export type TabletAnswer<T> =
  | { readonly kind: 'ok'; readonly clock: Timestamp; readonly value: T }
  | {
      readonly kind: 'error'
      readonly clock: Timestamp
      readonly code: StatusCode
      readonly message: string
      readonly details: StatusDetails
    }
  | { readonly kind: 'stale'; readonly clock: Timestamp; readonly tableVersion: number }
  /** No write ever reached this tablet: it holds no row and wrote nothing to say so. */
  | { readonly kind: 'uninitialized'; readonly clock: Timestamp }
  /** The table was dropped. */
  | { readonly kind: 'dropped'; readonly clock: Timestamp }

/** Names one share of a request, so that a repeat is answered with the first result. */
export interface ResultKey {
  /** Scope and key joined: table, caller, and the client's or the front's key. At most 1 KiB. */
  readonly key: string
  /** Number of the share among those that the request sends to this tablet, from 0. */
  readonly share: number
  /** Digest of the share's bytes and operation, hexadecimal. */
  readonly digest: string
  /** Made by the front for its own retries: kept briefly, outside the budget of clients' keys. */
  readonly isInternal: boolean
}

/** One share of a write: a row block with operations. */
export interface WriteCall extends TabletCall {
  readonly block: Uint8Array
  /** With null the platform may still apply the share twice: it repeats calls that were cut off. */
  readonly resultKey: ResultKey | null
}

/** What became of a share. `timestamp` is null when nothing was applied. */
export interface WriteAnswer {
  readonly timestamp: Timestamp | null
  readonly inserted: number
  readonly upserted: number
  readonly updated: number
  readonly deleted: number
  readonly ignored: number
  readonly failed: number
  /** Rows that came to life: inserted, or upserted where there was none. */
  readonly created: number
  readonly errors: RowErrors
  /** A remembered result of an earlier call with the same key. */
  readonly isReplayed: boolean
}

/** Orders of a scan. */
export const SCAN_ORDERS = ['UNORDERED', 'ORDERED', 'DESCENDING'] as const
/** Order of a scan. */
export type ScanOrder = (typeof SCAN_ORDERS)[number]

/** A scan of one tablet. Keys are encoded primary keys; an empty one is no bound. */
export interface ScanCall extends TabletCall {
  readonly columnIds: readonly number[]
  readonly predicates: readonly ColumnPredicate[]
  /** Inclusive. To go on after key K of an ascending scan: K and a zero byte. */
  readonly lowerKey: Uint8Array
  /** Exclusive. To go on after key K of a descending scan: K. */
  readonly upperKey: Uint8Array
  readonly order: ScanOrder
  /** null: the tablet's own present, for a read that touches this tablet only. */
  readonly snapshot: Timestamp | null
  /**
   * Given: only rows that changed above it, and behind the columns one that tells whether the row
   * is deleted (src/common/is-deleted-column.ts). Requires: the order is ORDERED.
   */
  readonly diffFrom?: Timestamp | null
  readonly rowCountMax: number
  /** `read` only: stops after the batch that passes this many bytes. */
  readonly bytesMax: number
  /** Whether batches carry the encoded primary key of each row. */
  readonly withKeys: boolean
}

/** Rows of a bounded read: frames as in scan-frame.ts, always ended by an END frame. */
export interface ReadAnswer {
  readonly snapshot: Timestamp
  readonly frames: Uint8Array
  /**
   * Whether rows may remain. There may be none in `frames` all the same: a scan that finds little
   * is paused.
   */
  readonly hasMore: boolean
  /**
   * Encoded key up to which, itself included, the scan is done in its order: where to go on from.
   * Empty when there is no more. It may be of a row that was not returned, and is there whether or
   * not rows carry keys.
   */
  readonly lastKey: Uint8Array
}

/** What a scan did that was run for what it tells of itself. */
export interface AnalyzeAnswer {
  readonly snapshot: Timestamp
  readonly stats: ScanStats
}

/** A stream of frames as in scan-frame.ts, ended by an END frame. */
export interface StreamAnswer {
  readonly snapshot: Timestamp
  readonly stream: ReadableStream<Uint8Array>
}

/** Aggregates the rows of one tablet. Keys are encoded primary keys; an empty one is no bound. */
export interface AggregateCall extends TabletCall {
  readonly spec: AggregateSpec
  readonly predicates: readonly ColumnPredicate[]
  /** Inclusive. */
  readonly lowerKey: Uint8Array
  /** Exclusive. */
  readonly upperKey: Uint8Array
  /** null: the tablet's own present, for a read that touches this tablet only. */
  readonly snapshot: Timestamp | null
}

/** What the rows of a tablet add to an aggregation: frames as in scan-frame.ts, with their end. */
export interface AggregateAnswer {
  readonly snapshot: Timestamp
  readonly frames: Uint8Array
}

/** Rows by primary key. */
export interface LookupCall extends TabletCall {
  readonly columnIds: readonly number[]
  /** Encoded keys, joined. */
  readonly keyBytes: Uint8Array
  /** End offset of each key in `keyBytes`. */
  readonly keyEnds: Uint32Array
  readonly snapshot: Timestamp | null
}

/** The rows found, as a row block, and for each the index of its key in the call. */
export interface LookupAnswer {
  readonly snapshot: Timestamp
  readonly block: Uint8Array
  readonly keyIndexes: Uint32Array
  /**
   * How many of the keys, from the first, were looked up: all, unless their rows are too large for
   * one answer.
   */
  readonly keyCount: number
}

/** What a deletion did in one tablet. */
export interface DeletionProgress {
  /** Shares in which rows were deleted at this snapshot. */
  readonly shareCount: number
  /** Rows deleted: also by earlier requests with the same key. */
  readonly deletedCount: number
  /** Time of the newest op among them; null: nothing was deleted. */
  readonly timestamp: Timestamp | null
}

/** Deletes the rows of a tablet that a snapshot selects. Keys are encoded primary keys. */
export interface DeleteRowsCall extends TabletCall {
  readonly predicates: readonly ColumnPredicate[]
  /** Inclusive; empty: no bound. To go on after a call: its `lastKey` and a zero byte. */
  readonly lowerKey: Uint8Array
  /** Exclusive; empty: no bound. */
  readonly upperKey: Uint8Array
  /** Which rows: those that are there then. */
  readonly snapshot: Timestamp
  /** Names the deletion; `digest` is the request's. */
  readonly resultKey: Omit<ResultKey, 'share'>
  /** What the calls before this one did. */
  readonly progress: DeletionProgress
  /** Rows that the call before found and did not delete yet, as in its answer. */
  readonly carried: Uint8Array
}

/** How far a deletion is in one tablet. */
export interface DeleteRowsAnswer {
  readonly progress: DeletionProgress
  /** The snapshot that told what to delete: an earlier request's if that came to its end. */
  readonly snapshot: Timestamp
  /** Rows found and not deleted yet: a row block of key columns, or empty. */
  readonly carried: Uint8Array
  /** Encoded key up to which, itself included, rows were looked at. */
  readonly lastKey: Uint8Array
  /** Whether the caller must call again. */
  readonly hasMore: boolean
  /** Whether this is the remembered end of an earlier request with the same key. */
  readonly isReplayed: boolean
  /** Why it ended too early; what is counted was deleted all the same. */
  readonly failure: DeletionFailure | null
}

/** Why a deletion ended too early. */
export interface DeletionFailure {
  readonly code: StatusCode
  readonly message: string
  readonly details: StatusDetails
}

/** Asks where to cut a tablet's keys so that reading each part takes about as much. */
export interface SplitKeysCall extends TabletCall {
  /** What is read. */
  readonly columnIds: readonly number[]
  /** Inclusive; empty: no bound. */
  readonly lowerKey: Uint8Array
  /** Exclusive; empty: no bound. */
  readonly upperKey: Uint8Array
  /** When it will be read. */
  readonly snapshot: Timestamp
  /** Bytes of a part, about; null: one part, whatever it is. */
  readonly targetBytes: number | null
  readonly partCountMax: number
}

/** Parts of a tablet's keys. */
export interface SplitKeysAnswer {
  /** Encoded keys, ascending, at which the second and each further part begins. */
  readonly keys: readonly Uint8Array[]
  /** Bytes of each part, about, as they are stored: one more than keys. */
  readonly bytes: readonly number[]
}

/** Proposes a snapshot time: afterwards no op gets a timestamp at or below it. */
export interface OfferCall extends TabletCall {
  readonly snapshot: Timestamp
}

/**
 * `lastApplied`: the newest op this tablet has applied; above the offer when a newer snapshot is
 * needed.
 */
export interface OfferAnswer {
  readonly lastApplied: Timestamp
}

/** Asks for a maintenance op, and for the call to last until it is done, or for a while. */
export interface MaintainCall {
  readonly wire: number
  readonly tabletId: string
  readonly op: MaintenanceOp
  /**
   * Names the request. A call with the same id goes on with it; after the object lost its memory it
   * begins again, with what is left to do.
   */
  readonly requestId: string
}

/** How far a maintenance op is, and what was done for it. */
export interface MaintainAnswer {
  /** When not, the caller asks again. */
  readonly isDone: boolean
  /** Times that the op was run: as often as there was something to do. */
  readonly runCount: number
  readonly rowSetsIn: number
  readonly rowSetsOut: number
  readonly rowsIn: number
  readonly rowsOut: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** All that an operator wants to know of a tablet. */
export interface TabletStatusAnswer {
  readonly tableId: string
  readonly tableVersion: number
  readonly columns: readonly ColumnDefinition[]
  readonly partitionSchema: PartitionSchema
  readonly partition: Partition
  /** As it is shown. */
  readonly report: TabletReport
}

/** Counters of a tablet that tests and operators read. */
export interface TabletCounters {
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly liveRowCount: number
  readonly memoryBytes: number
  readonly walBytes: number
  /** Bytes of rowsets and WAL. */
  readonly onDiskBytes: number
  readonly rowSetCount: number
}

/** The tablet object as a front sees it. A stub of the platform has these methods. */
export interface TabletStub {
  write(call: WriteCall): Promise<TabletAnswer<WriteAnswer>>
  read(call: ScanCall): Promise<TabletAnswer<ReadAnswer>>
  scan(call: ScanCall): Promise<TabletAnswer<StreamAnswer>>
  /** Runs a scan of up to `rowCountMax` rows, of which none is returned. */
  analyze(call: ScanCall): Promise<TabletAnswer<AnalyzeAnswer>>
  lookup(call: LookupCall): Promise<TabletAnswer<LookupAnswer>>
  offer(call: OfferCall): Promise<TabletAnswer<OfferAnswer>>
  /** Works for a while on the deletion of the rows that a snapshot selects. */
  deleteRows(call: DeleteRowsCall): Promise<TabletAnswer<DeleteRowsAnswer>>
  splitKeys(call: SplitKeysCall): Promise<TabletAnswer<SplitKeysAnswer>>
  aggregate(call: AggregateCall): Promise<TabletAnswer<AggregateAnswer>>
  /** Runs a maintenance op. Null: no write ever reached this tablet. */
  maintain(call: MaintainCall): Promise<Outcome<MaintainAnswer | null>>
  /** What there is to know of it. Null: no write ever reached this tablet. */
  status(tabletId: string): Promise<Outcome<TabletStatusAnswer | null>>
  /** Counters since the object woke. Wakes nothing in storage that was never written. */
  counters(): Promise<Outcome<TabletCounters>>
}

/** The tablet object as the catalog sees it. */
export interface TabletControlStub extends TabletStub {
  /**
   * Makes the tablet of a dropped table refuse everything from now on, durably. Again is the same.
   */
  refuse(tableId: string): Promise<Outcome<null>>
  /** Gives back the storage of a tablet that refuses. Again is the same. */
  free(tableId: string): Promise<Outcome<null>>
}

/**
 * What a tablet is asked and how it answers. Plain data; the shapes are those of the wire messages,
 * so that the object hands a message to the tablet as it came.
 *
 * Expected failures are thrown as StatusError. What is no failure, a front that must learn
 * something first, is a kind of reply.
 */

import type { AggregateSpec } from '../common/aggregate-spec.ts'
import type { ColumnPredicate } from '../common/column-predicate.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import type { RowErrors } from '../common/row-error.ts'
import type { RowCounts } from './row-outcome.ts'

/** What every request carries. */
export interface TabletRequest {
  readonly tableId: string
  readonly tabletId: string
  /** Version of the table that the sender planned with. */
  readonly tableVersion: number
  /** The sender's clock. */
  readonly clock: Timestamp
}

/**
 * A reply. `clock` is the newest time that anything done or shown here has; the receiver is raised
 * by it.
 */
export type TabletReply<T> =
  | { readonly kind: 'ok'; readonly clock: Timestamp; readonly value: T }
  /** The sender's table version is not the tablet's; nothing was done. */
  | { readonly kind: 'stale'; readonly clock: Timestamp; readonly tableVersion: number }
  /**
   * No write ever reached this tablet, so it holds no row. `mustInitialize`: the snapshot asked for
   * lies so far ahead that the tablet must be initialized, and asked again, before it is served.
   */
  | { readonly kind: 'uninitialized'; readonly clock: Timestamp; readonly mustInitialize: boolean }

/** Names one share of a request, so that a repeat is answered with the first result. */
export interface ResultKey {
  /** Scope and key joined. */
  readonly key: string
  /** Number of the share among those that the request sends to this tablet, from 0. */
  readonly share: number
  /** Digest of the share's bytes. */
  readonly digest: string
  /** Made by the front for its own retries: kept briefly, outside the budget of clients' keys. */
  readonly isInternal: boolean
  /**
   * Digest of a remembered result that this one takes the place of: for work that goes on in
   * several ops, of which the last tells what all did.
   */
  readonly replaces?: string
}

/** One share of a write: the byte form of a row block with operations. */
export interface WriteRequest extends TabletRequest {
  readonly block: Uint8Array
  readonly resultKey: ResultKey | null
}

/** What became of a share. */
export interface WriteResult extends Readonly<RowCounts> {
  /** Time of the op; null when nothing was applied. */
  readonly timestamp: Timestamp | null
  readonly errors: RowErrors
  /** Whether this is the remembered result of an earlier request with the same key. */
  readonly isReplayed: boolean
}

/** Order of a scan. */
export type ScanRequestOrder = 'UNORDERED' | 'ORDERED' | 'DESCENDING'

/** A scan. Keys are encoded primary keys; an empty one is no bound. */
export interface ScanRequest extends TabletRequest {
  readonly columnIds: readonly number[]
  readonly predicates: readonly ColumnPredicate[]
  /** Inclusive. */
  readonly lowerKey: Uint8Array
  /** Exclusive. */
  readonly upperKey: Uint8Array
  readonly order: ScanRequestOrder
  /** null: the tablet's own present. */
  readonly snapshot: Timestamp | null
  /**
   * Given: only rows that changed above it and at or below the snapshot, and behind the columns one
   * that tells whether the row is deleted. Requires: the order is ORDERED.
   */
  readonly diffFrom?: Timestamp | null
  /** Whether batches carry the encoded primary key of each row. */
  readonly withKeys: boolean
  /** Whether all rows will be read, one after the other, however many; left out: some. */
  readonly isWhole?: boolean
}

/** Rows by primary key. */
export interface LookupRequest extends TabletRequest {
  readonly columnIds: readonly number[]
  /** Encoded keys, joined. */
  readonly keyBytes: Uint8Array
  /** End offset of each key in `keyBytes`. */
  readonly keyEnds: Uint32Array
  /** null: the tablet's own present. */
  readonly snapshot: Timestamp | null
}

/** An aggregation of rows. Keys are encoded primary keys; an empty one is no bound. */
export interface AggregateRequest extends TabletRequest {
  readonly spec: AggregateSpec
  readonly predicates: readonly ColumnPredicate[]
  /** Inclusive. */
  readonly lowerKey: Uint8Array
  /** Exclusive. */
  readonly upperKey: Uint8Array
  /** null: the tablet's own present. */
  readonly snapshot: Timestamp | null
}

/** Asks where to cut keys so that reading each part takes about as much. */
export interface SplitKeysRequest extends TabletRequest {
  readonly columnIds: readonly number[]
  /** Inclusive; empty: no bound. */
  readonly lowerKey: Uint8Array
  /** Exclusive; empty: no bound. */
  readonly upperKey: Uint8Array
  readonly snapshot: Timestamp
  /** Bytes of a part, about; null: one part, whatever it is. */
  readonly targetBytes: number | null
  readonly partCountMax: number
}

/** Proposes a snapshot time: afterwards no op gets a timestamp at or below it. */
export interface OfferRequest extends TabletRequest {
  readonly snapshot: Timestamp
}

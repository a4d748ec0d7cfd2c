/**
 * What can happen to a simulated tablet, as plain data: a script of events is all that a run
 * depends on, so that it can be written to a file, cut down, and run again.
 *
 * A `dice` in [0, 1) chooses among what is there when the event comes, since that depends on the
 * events before.
 */

import type { MaintenanceOp } from '../../src/common/maintenance-op.ts'
import type { FaultMoment } from '../support/memory-tablet-store.ts'
import type { ModelOperation } from '../support/tablet-model.ts'
import type { SimKey } from './sim-keys.ts'

/** A condition of a scan, as the model reads it. */
export type SimPredicate =
  | { readonly kind: 'range'; readonly column: string; readonly low: number; readonly high: number }
  | { readonly kind: 'equal'; readonly column: string; readonly value: number | string }
  | { readonly kind: 'null'; readonly column: string; readonly isNull: boolean }

/** What a scan asks for. */
export interface SimScan {
  /** Where it reads: now, somewhere in the past, or ahead of the clock by some microseconds. */
  readonly at: 'present' | 'past' | 'ahead'
  readonly dice: number
  readonly columns: readonly string[]
  readonly predicates: readonly SimPredicate[]
  readonly isDescending: boolean
  /** By how much the reader's clock is ahead. */
  readonly heardMicros?: number
  /** Keys are at or above the first and below the second; null is no bound. */
  readonly bounds?: readonly [lower: SimKey | null, upper: SimKey | null]
  /** Rows a batch. */
  readonly batchRows: number
}

/** One event. */
export type SimEvent =
  | {
      readonly kind: 'write'
      readonly operations: readonly ModelOperation[]
      readonly key: 'none' | 'client' | 'front'
      /** Whether its answer leaves, so that no crash can undo it. */
      readonly leaves: boolean
      readonly aheadMicros: number
    }
  | { readonly kind: 'repeat'; readonly dice: number }
  | { readonly kind: 'scan'; readonly scan: SimScan }
  | { readonly kind: 'lookup'; readonly dice: number; readonly rows: readonly ModelOperation[] }
  | { readonly kind: 'open scan'; readonly scan: SimScan }
  | { readonly kind: 'read on'; readonly dice: number; readonly batches: number }
  | { readonly kind: 'close scan'; readonly dice: number }
  | { readonly kind: 'offer'; readonly aheadMicros: number }
  | { readonly kind: 'maintain'; readonly steps: number }
  | { readonly kind: 'request'; readonly op: MaintenanceOp; readonly steps: number }
  | { readonly kind: 'advance'; readonly micros: number }
  | { readonly kind: 'lock'; readonly operations: readonly ModelOperation[] }
  | { readonly kind: 'unlock'; readonly dice: number; readonly applies: boolean }
  | { readonly kind: 'fail'; readonly moment: FaultMoment }
  | { readonly kind: 'crash'; readonly dice: number; readonly behindMicros: number }
  | { readonly kind: 'evict'; readonly behindMicros: number }
  | {
      readonly kind: 'damage'
      readonly what: 'block' | 'superblock' | 'wal'
      readonly dice: readonly number[]
      /** What is tried on the damaged storage, beside reads. */
      readonly op: MaintenanceOp
    }

/** How the tablet of a run is set up: no answer may depend on it. */
export interface SimLayout {
  /** Rows a page and bytes of a flush are small, so that few rows make many pages and rowsets. */
  readonly pageRows: number
  readonly blockBytes: number
  readonly flushBytes: number
  /** Bytes that a step of maintenance goes on for: few, so that other events come in between. */
  readonly stepBytes: number
  readonly encodings: 'auto' | 'plain'
}

/** A run. */
export interface SimScript {
  readonly seed: number
  readonly historySec: number
  /** What stores may hold; left out: as much as they like. Short memory meets no other failures. */
  readonly memoryBytes?: number
  readonly layout: SimLayout
  readonly events: readonly SimEvent[]
}

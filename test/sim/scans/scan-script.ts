/**
 * What a run over a whole table does, as plain data: all that it depends on, so that it can be
 * written to a file, cut down, and run again.
 *
 * A `dice` in [0, 1) chooses among what is there when the event comes.
 */

import type { MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import type { ReadMode } from '../../../src/common/read-mode.ts'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import type { ScanOrder } from '../../../src/wire/tablet-protocol.ts'
import type { ModelAggregation } from './model-aggregate.ts'
import type { ModelPredicate } from './model-literal.ts'
import type { ModelTable } from './model-table.ts'
import type { Value } from './model-value.ts'
import type { ModelOperation } from './version-model.ts'

/** Formats that rows go in as. */
export const WRITE_FORMATS = ['json', 'ndjson', 'csv', 'arrow'] as const
/** Formats that rows come out as. */
export const READ_FORMATS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const
/** A format that rows come out as. */
export type ReadFormat = (typeof READ_FORMATS)[number]

/** The time that is read at. */
export type ModelMoment =
  /** Whatever the mode picks; `hears`: after a time that the client has seen. */
  | { readonly kind: 'now'; readonly mode: ReadMode | null; readonly hears?: boolean }
  /** The time of an op, or a microsecond beside it. */
  | { readonly kind: 'op'; readonly dice: number; readonly offset: number }
  /** Ahead of the clock. */
  | { readonly kind: 'ahead'; readonly micros: number }
  /** Before all history that is kept. */
  | { readonly kind: 'forgotten' }

/** Which rows are asked for. */
export interface ModelSelection {
  readonly predicates: readonly ModelPredicate[]
  /** Key cells. */
  readonly lower: readonly Value[] | null
  readonly upper: readonly Value[] | null
}

/** What a diff scan begins at. */
export interface ModelDiff {
  /** Chooses among the times of ops up to the snapshot. */
  readonly dice: number
  readonly offset: number
  /** Name of the member that tells deleted rows; null: not said. */
  readonly as: string | null
}

/** How a scan is shared out. */
export interface ModelTokens {
  readonly targetBytes: number | null
  /** In which order the tokens are taken. */
  readonly seed: number
}

/** A scan. */
export interface ScanQuery extends ModelSelection {
  readonly kind: 'scan'
  /** null: not said. */
  readonly columns: readonly string[] | null
  readonly order: ScanOrder | null
  readonly limit: number | null
  readonly at: ModelMoment
  /** Whether times go over the wire as RFC 3339. */
  readonly isTimeText: boolean
  readonly format: ReadFormat
  readonly via: 'post' | 'get'
  readonly options: ValueOptions
  readonly nullText: string
  readonly pageSize: number | null
  /** Whether it is also analyzed. */
  readonly isAnalyzed: boolean
  /** null: rows as they are, not what changed. */
  readonly diff: ModelDiff | null
  /** null: it is read without tokens. */
  readonly tokens: ModelTokens | null
  /** What happens between pages, or tokens, over and over. */
  readonly between: readonly ScanEvent[]
}

/** An aggregation. */
export interface AggregateQuery extends ModelSelection, ModelAggregation {
  readonly kind: 'aggregate'
  readonly orderBy: readonly { readonly column: string; readonly isDescending: boolean }[]
  readonly limit: number | null
  readonly at: ModelMoment
  readonly isTimeText: boolean
  readonly format: ReadFormat
  readonly options: ValueOptions
  readonly nullText: string
}

/** What is asked. */
export type ModelQuery = ScanQuery | AggregateQuery

/**
 * What is written by one request. Only JSON may have several operations; in CSV and Arrow all rows
 * set the same columns.
 */
export interface WriteEvent {
  readonly kind: 'write'
  readonly format: (typeof WRITE_FORMATS)[number]
  readonly operations: readonly ModelOperation[]
}

/** What is deleted by one request. */
export interface DeleteEvent extends ModelSelection {
  readonly kind: 'delete'
  readonly options: ValueOptions
  /** Whether the request has a key and is sent twice. */
  readonly isRepeated: boolean
}

/** One event. */
export type ScanEvent =
  | WriteEvent
  | DeleteEvent
  | { readonly kind: 'read'; readonly query: ModelQuery }
  | { readonly kind: 'maintain'; readonly op: MaintenanceOp; readonly dice: number | null }
  | { readonly kind: 'evict'; readonly dice: number }
  /** The next call to a tablet fails, before or after it is done, and the tablet starts again. */
  | { readonly kind: 'reset'; readonly dice: number; readonly moment: 'before' | 'after' }
  | { readonly kind: 'advance'; readonly micros: number }
  /** All at once; at most one of them changes rows. */
  | { readonly kind: 'together'; readonly events: readonly ScanEvent[] }

/** A run. */
export interface ScanScript {
  readonly seed: number
  readonly table: ModelTable
  readonly evictChance: number
  /** How far clocks are off at most, either way. */
  readonly skewMicros?: number
  readonly events: readonly ScanEvent[]
}

/** A script as text. Integers and odd floats, which JSON has no form for, are objects. */
export function scriptToText(script: ScanScript): string {
  return JSON.stringify(script, (_name, value: unknown) => {
    if (typeof value === 'bigint') return { $int: String(value) }
    if (typeof value !== 'number') return value
    const isOdd = !Number.isFinite(value) || Object.is(value, -0)
    return isOdd ? { $float: Object.is(value, -0) ? '-0' : String(value) } : value
  })
}

/** The script of a text. */
export function scriptOfText(text: string): ScanScript {
  return JSON.parse(text, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    const { $int, $float } = value as { readonly $int?: string; readonly $float?: string }
    if ($int !== undefined) return BigInt($int)
    return $float === undefined ? value : Number($float)
  }) as ScanScript
}

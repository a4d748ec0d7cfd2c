/** The times that clients ask to read at. */

import { cellFromJson, DEFAULT_VALUE_OPTIONS } from '../common/cell-json.ts'
import { PHYSICAL } from '../common/data-type.ts'
import type { HybridClock, Timestamp } from '../common/hybrid-clock.ts'
import { HISTORY_MAX_AGE_SEC_DEFAULT } from '../common/limits.ts'
import { NumberLiteral } from '../common/number-literal.ts'
import type { Column } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { checkNotAhead } from './request-headers.ts'

/** A time is read as a cell of this column would be. */
const TIME_COLUMN: Column = {
  id: 0,
  index: 0,
  name: 'snapshot_timestamp',
  type: 'UNIXTIME_MICROS',
  physical: PHYSICAL.int64,
  attributes: {},
  isKey: false,
  isNullable: false,
  writeDefault: null,
  readDefault: null,
  comment: '',
  encoding: 'AUTO_ENCODING',
  compression: 'DEFAULT_COMPRESSION',
  isImmutable: false,
}

/**
 * The time in a request: integer microseconds or RFC 3339.
 *
 * Throws: INVALID_ARGUMENT when it is neither, or too far ahead of the front's clock;
 * INVALID_SNAPSHOT when it is older than the history that the table keeps.
 */
export function snapshotTime(value: unknown, clock: HybridClock, table: TableEntry): Timestamp {
  const timestamp = timeOf(value)
  checkNotAhead('snapshot_timestamp', timestamp, clock)
  checkSnapshot(timestamp, clock, table)
  return timestamp
}

/** Throws INVALID_SNAPSHOT when a time is older than the history that the table keeps. */
export function checkSnapshot(timestamp: Timestamp, clock: HybridClock, table: TableEntry): void {
  const ageSeconds = historyMaxAgeSeconds(table)
  if (timestamp < 0 || timestamp < clock.physical - ageSeconds * 1_000_000) {
    const detail = `snapshot is older than the ${ageSeconds} s of history that the table keeps`
    throw new StatusError('INVALID_SNAPSHOT', detail, { limit: ageSeconds })
  }
}

/** As `snapshotTime`, of the text of a query parameter. */
export function snapshotTimeOfText(text: string, clock: HybridClock, table: TableEntry): Timestamp {
  const isNumber = /^-?\d{1,20}$/.test(text)
  return snapshotTime(isNumber ? new NumberLiteral(text) : text, clock, table)
}

function timeOf(value: unknown): Timestamp {
  try {
    const timestamp = Number(cellFromJson(TIME_COLUMN, value, DEFAULT_VALUE_OPTIONS))
    if (Number.isSafeInteger(timestamp)) return timestamp
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
  }
  throw invalidArgument('snapshot_timestamp must be an integer of microseconds or RFC 3339')
}

function historyMaxAgeSeconds(table: TableEntry): number {
  const text = table.extraConfigs['kudu.table.history_max_age_sec']
  return text === undefined ? HISTORY_MAX_AGE_SEC_DEFAULT : Number(text)
}

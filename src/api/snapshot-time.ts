/** The times that clients ask to read at. */

import { PHYSICAL } from '../common/data-type.ts'
import type { HybridClock, Timestamp } from '../common/hybrid-clock.ts'
import { HISTORY_MAX_AGE_SEC_DEFAULT } from '../common/limits.ts'
import { NumberLiteral } from '../common/number-literal.ts'
import { type Placement, placeLiteral } from '../common/place-literal.ts'
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
 * The time in a request: integer microseconds or RFC 3339. `member` is what errors name it.
 *
 * Throws: INVALID_ARGUMENT when it is neither, or too far ahead of the front's clock;
 * INVALID_SNAPSHOT when it is older than the history that the table keeps.
 */
export function snapshotTime(
  value: unknown,
  clock: HybridClock,
  table: TableEntry,
  member = 'snapshot_timestamp',
): Timestamp {
  const timestamp = timeOf(value, member)
  checkNotAhead(member, timestamp, clock)
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
  const isNumber = /^-?\d+$/.test(text)
  return snapshotTime(isNumber ? new NumberLiteral(text) : text, clock, table)
}

/** A time that may be no safe integer, or infinite: then it is before or after all there are. */
function timeOf(value: unknown, member: string): number {
  const place = placeOf(value)
  if (place?.kind === 'exact') return Number(place.cell)
  if (place?.kind === 'above') return Infinity
  if (place?.kind === 'below') return -Infinity
  throw invalidArgument(`${member} must be an integer of microseconds or RFC 3339`)
}

function placeOf(value: unknown): Placement | null {
  if (typeof value !== 'string' && !(value instanceof NumberLiteral)) return null
  try {
    return placeLiteral(TIME_COLUMN, value)
  } catch (error) {
    if (error instanceof StatusError) return null
    throw error
  }
}

function historyMaxAgeSeconds(table: TableEntry): number {
  const text = table.extraConfigs['kudu.table.history_max_age_sec']
  return text === undefined ? HISTORY_MAX_AGE_SEC_DEFAULT : Number(text)
}

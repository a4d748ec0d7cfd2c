/**
 * Where a literal lies among the values a column can hold, so that a predicate whose literal the
 * column cannot hold is arithmetic and not an error: `int8 < 300` is every row that is not null.
 *
 *   INT8     … 126   127          127.5 and 300 are above, 1.5 is between, with 1 below it
 *   VARCHAR(2)       ab  ac       abc is between, with ab below it
 *   FLOAT    … max   Infinity     1e300 is between, with max below it
 */

import { ByteArena } from '../util/arena.ts'
import { utf8Decode } from '../util/bytes.ts'
import { decodeBase64 } from './base64.ts'
import { CELL_ERRORS, type CellError, cellError } from './cell-error.ts'
import { type WrittenValue, writtenText, writtenValue } from './cell-json.ts'
import { CELL_KINDS, type CellPlan, planCell } from './cell-plan.ts'
import { CELL_FORMS, hasColon, scanCell, scannedCell } from './cell-reader.ts'
import { joinPair } from './column-vector.ts'
import { type Cell, PHYSICAL } from './data-type.ts'
import { floorScaled } from './exact-decimal.ts'
import { numberScan, scanNumber } from './fixed-point.ts'
import { FLOAT_MAX } from './float.ts'
import { CELL_BYTES_MAX } from './limits.ts'
import type { JsonScalar } from './number-literal.ts'
import { scratchNumber, scratchWords } from './scalar-scratch.ts'
import type { Column } from './schema.ts'
import { invalidArgument } from './status.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from './value-options.ts'

/**
 * A literal's place.
 *
 * `exact`: the column can hold it. `between`: it cannot, and the cells over `below` are the cells
 * over it; for numbers `below` is the greatest cell under it. `above`, `below`: over or under every
 * cell. `nan`: it is NaN.
 */
export type Placement =
  | { readonly kind: 'exact'; readonly cell: Cell }
  | { readonly kind: 'between'; readonly below: Cell }
  | { readonly kind: 'above' }
  | { readonly kind: 'below' }
  | { readonly kind: 'nan' }

const ABOVE: Placement = { kind: 'above' }
const BELOW: Placement = { kind: 'below' }
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const DATE_TEXT_BYTES = 10
// More digits than any integer that a cell holds.
const DIGITS_MAX = 40

/**
 * Places a value of a request's JSON. FLOAT and DOUBLE round a number to the nearest cell, −0
 * becomes 0; a finite number beyond their range lies between the greatest finite cell and infinity.
 *
 * Throws: INVALID_ARGUMENT when the value is null or of the wrong kind for the column.
 */
export function placeLiteral(
  column: Column,
  value: JsonScalar,
  options: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Placement {
  if (value === null) {
    throw invalidArgument(`column "${column.name}": null satisfies no comparison, use IS NULL`, {
      column: column.name,
    })
  }
  return place(planCell(column, options), writtenValue(column, value))
}

/** Places a value in text form (`where=` of a query string). Throws: as `placeLiteral`. */
export function placeText(
  column: Column,
  text: string,
  options: ValueOptions = DEFAULT_VALUE_OPTIONS,
): Placement {
  return place(planCell(column, options), writtenText(column, text, CELL_FORMS.text))
}

function place(plan: CellPlan, written: WrittenValue): Placement {
  const { form, bytes, shown } = written
  const error: CellError = scanCell(plan, form, bytes, 0, bytes.length)
  switch (error) {
    case CELL_ERRORS.NONE:
      return placeCell(scannedCell(plan, bytes, 0, bytes.length))
    case CELL_ERRORS.MALFORMED:
      if (plan.kind === CELL_KINDS.date) return placeDistantDate(plan, written)
      throw cellError(error, plan.column, shown)
    case CELL_ERRORS.WRONG_KIND:
    case CELL_ERRORS.LEAP_SECOND:
    case CELL_ERRORS.LONE_SURROGATE:
      throw cellError(error, plan.column, shown)
    default:
      return placeUnfitting(plan, written, error)
  }
}

/** A date of a year that takes a sign or more than four digits: beyond every cell. */
function placeDistantDate({ column }: CellPlan, { bytes, shown }: WrittenValue): Placement {
  const match = /^([+-]?)\d{4,}-(\d\d)-(\d\d)$/.exec(utf8Decode(bytes))
  const isDay = match !== null && Number(match[2]) <= 12 && Number(match[3]) <= 31
  const isBeyond = isDay && (match[1] !== '' || bytes.length > DATE_TEXT_BYTES)
  if (!isBeyond) throw cellError(CELL_ERRORS.MALFORMED, column, shown)
  return match[1] === '-' ? BELOW : ABOVE
}

function placeCell(cell: Cell): Placement {
  if (cell === 0) return { kind: 'exact', cell: 0 }
  return Number.isNaN(cell) ? { kind: 'nan' } : { kind: 'exact', cell }
}

function placeUnfitting(plan: CellPlan, written: WrittenValue, error: CellError): Placement {
  const { bytes } = written
  switch (plan.kind) {
    case CELL_KINDS.float:
      return placeBeyond(FLOAT_MAX)
    case CELL_KINDS.double:
      return placeBeyond(Number.MAX_VALUE)
    case CELL_KINDS.string:
      return placeLongString(plan, bytes)
    case CELL_KINDS.binary:
      return placeLongBinary(plan, written)
    case CELL_KINDS.date:
      // Only the year 0000 is written as a date and is none.
      return BELOW
    case CELL_KINDS.timestamp:
      if (written.form === CELL_FORMS.jsonNumber || !hasColon(bytes, 0, bytes.length)) {
        const scale = plan.timestamps === 'millis' ? 3 : 0
        return placeFixed(plan, bytes, scale, INT64_MIN, INT64_MAX)
      }
      return placeTimestamp(error)
    case CELL_KINDS.int64:
      return placeFixed(plan, bytes, 0, INT64_MIN, INT64_MAX)
    case CELL_KINDS.bool:
    case CELL_KINDS.integer:
      return placeFixed(plan, bytes, 0, BigInt(plan.low), BigInt(plan.high))
    case CELL_KINDS.decimal32:
    case CELL_KINDS.decimal64:
    case CELL_KINDS.decimal128: {
      const high = 10n ** BigInt(plan.precision) - 1n
      return placeFixed(plan, bytes, plan.scale, -high, high)
    }
  }
}

/** A finite number that rounds to an infinity; its sign is in `numberScan`. */
function placeBeyond(greatest: number): Placement {
  return { kind: 'between', below: numberScan.isNegative ? Number.NEGATIVE_INFINITY : greatest }
}

/** A number among cells that are the integers `[low, high]` divided by 10^scale. */
function placeFixed(
  plan: CellPlan,
  bytes: Uint8Array,
  scale: number,
  low: bigint,
  high: bigint,
): Placement {
  scanNumber(bytes, 0, bytes.length)
  const scaled = floorScaled(bytes, scale, DIGITS_MAX)
  if (scaled === undefined) return numberScan.isNegative ? BELOW : ABOVE
  const { floor, isExact } = scaled
  if (floor < low) return BELOW
  if (floor > high || (floor === high && !isExact)) return ABOVE
  const { physical } = plan.column
  const isWide = physical === PHYSICAL.int64 || physical === PHYSICAL.int128
  const cell = isWide ? floor : Number(floor)
  return isExact ? { kind: 'exact', cell } : { kind: 'between', below: cell }
}

function placeTimestamp(error: CellError): Placement {
  if (error === CELL_ERRORS.OUT_OF_RANGE) return scratchNumber[0] < 0 ? BELOW : ABOVE
  const below = joinPair(scratchWords[0], scratchWords[1])
  return below === INT64_MAX ? ABOVE : { kind: 'between', below }
}

/**
 * A string longer than a cell. What of it fits in a cell has the same cells over it: whatever lies
 * over the prefix but not over the whole begins with the prefix, and so is the prefix itself.
 */
function placeLongString(plan: CellPlan, bytes: Uint8Array): Placement {
  let end = bytes.length < CELL_BYTES_MAX ? bytes.length : CELL_BYTES_MAX
  if (plan.lengthMax > 0) {
    let codePoints = 0
    for (let i = 0; i < end; i++) {
      if ((bytes[i] & 0xc0) === 0x80) continue
      if (codePoints++ === plan.lengthMax) end = i
    }
  }
  return { kind: 'between', below: bytes.slice(0, end) }
}

function placeLongBinary(plan: CellPlan, written: WrittenValue): Placement {
  const arena = new ByteArena()
  if (!decodeBase64(written.bytes, 0, written.bytes.length, arena)) {
    throw cellError(CELL_ERRORS.MALFORMED, plan.column, written.shown)
  }
  return { kind: 'between', below: arena.bytes.slice(0, CELL_BYTES_MAX) }
}

/** Cells as bytes: one cell of a column vector becomes JSON or text in an arena. Hot. */

import type { ByteArena } from '../util/arena.ts'
import { appendBase64 } from './base64.ts'
import { CELL_KINDS, type CellPlan } from './cell-plan.ts'
import type { ColumnVector } from './column-vector.ts'
import { appendDate } from './date.ts'
import {
  appendFixed,
  appendFixed64,
  appendFixed128,
  appendInt64,
  appendInteger,
} from './fixed-point-text.ts'
import { appendAscii, appendDouble, appendFloat } from './float.ts'
import { appendJsonString } from './json-string.ts'
import { appendMillis, appendTimestamp } from './unixtime-micros.ts'

const QUOTE = 0x22

/**
 * Appends the cell of `row` as a JSON value; `null` for null. Requires: the vector has the plan's
 * column.
 */
export function appendJsonCell(
  arena: ByteArena,
  plan: CellPlan,
  vector: ColumnVector,
  row: number,
): void {
  if (vector.isNull(row)) {
    appendAscii(arena, 'null')
    return
  }
  if (plan.kind === CELL_KINDS.string) {
    appendJsonString(arena, vector.bytes, vector.offsets[row], vector.offsets[row + 1])
    return
  }
  if (!isQuoted(plan, vector, row)) {
    appendTextCell(arena, plan, vector, row)
    return
  }
  appendQuote(arena)
  appendTextCell(arena, plan, vector, row)
  appendQuote(arena)
}

/** Whether a cell that is neither null nor a string is a string in JSON. */
function isQuoted(plan: CellPlan, vector: ColumnVector, row: number): boolean {
  switch (plan.kind) {
    case CELL_KINDS.bool:
    case CELL_KINDS.integer:
      return false
    case CELL_KINDS.int64:
      return plan.isInt64Quoted
    case CELL_KINDS.float:
    case CELL_KINDS.double:
      return !Number.isFinite(vector.lanes[row])
    case CELL_KINDS.timestamp:
      return plan.timestamps === 'rfc3339'
    default:
      return true
  }
}

function appendQuote(arena: ByteArena): void {
  arena.reserve(1)
  arena.bytes[arena.length++] = QUOTE
}

/** Appends the cell of `row` as text without quotes or escapes. Requires: it is not null. */
export function appendTextCell(
  arena: ByteArena,
  plan: CellPlan,
  vector: ColumnVector,
  row: number,
): void {
  const { lanes } = vector
  switch (plan.kind) {
    case CELL_KINDS.bool:
      appendAscii(arena, lanes[row] === 0 ? 'false' : 'true')
      break
    case CELL_KINDS.integer:
      appendInteger(arena, lanes[row])
      break
    case CELL_KINDS.int64:
      appendInt64(arena, lanes[row * 2], lanes[row * 2 + 1])
      break
    case CELL_KINDS.float:
      appendFloat(arena, lanes[row])
      break
    case CELL_KINDS.double:
      appendDouble(arena, lanes[row])
      break
    case CELL_KINDS.string:
      arena.append(vector.bytes, vector.offsets[row], vector.offsets[row + 1])
      break
    case CELL_KINDS.binary:
      appendBase64(arena, vector.bytes, vector.offsets[row], vector.offsets[row + 1])
      break
    case CELL_KINDS.timestamp:
      appendTime(arena, plan, lanes[row * 2], lanes[row * 2 + 1])
      break
    case CELL_KINDS.date:
      appendDate(arena, lanes[row])
      break
    case CELL_KINDS.decimal32:
      appendFixed(arena, lanes[row], plan.scale)
      break
    case CELL_KINDS.decimal64:
      appendFixed64(arena, lanes[row * 2], lanes[row * 2 + 1], plan.scale)
      break
    case CELL_KINDS.decimal128:
      appendFixed128(arena, lanes, row * 4, plan.scale)
      break
  }
}

function appendTime(arena: ByteArena, plan: CellPlan, low: number, high: number): void {
  if (plan.timestamps === 'rfc3339') appendTimestamp(arena, low, high)
  else if (plan.timestamps === 'micros') appendInt64(arena, low, high)
  else appendMillis(arena, low, high)
}

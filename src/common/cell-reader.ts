/**
 * Cells from bytes: one JSON value or one text field becomes a lane of a row block. Hot: no object,
 * string, bigint or exception a cell; what was found comes back as a number and `cell-error.ts` has
 * the words for it.
 */

import { ByteArena } from '../util/arena.ts'
import { decodeBase64 } from './base64.ts'
import { CELL_ERRORS, type CellError } from './cell-error.ts'
import { CELL_KINDS, type CellPlan } from './cell-plan.ts'
import { joinPair, joinQuad } from './column-vector.ts'
import type { Cell } from './data-type.ts'
import { readDate } from './date.ts'
import { readFixed, readInt32, readInt64, readPlainFixed } from './fixed-point.ts'
import { readDouble, readFloat } from './float.ts'
import { CELL_BYTES_MAX } from './limits.ts'
import type { RowBlockBuilder } from './row-block-builder.ts'
import { POWERS_OF_TEN, scratchNumber, scratchWords, splitNumber } from './scalar-scratch.ts'
import { readTimestamp, readTimestampInteger } from './unixtime-micros.ts'

/** How a value is written. */
export const CELL_FORMS = {
  /** The characters of a JSON number. */
  jsonNumber: 0,
  /** The UTF-8 of a JSON string, escapes resolved, without its quotes. */
  jsonString: 1,
  /** `true`, `false`: the bytes are not looked at. */
  jsonTrue: 2,
  jsonFalse: 3,
  /** A CSV field or path segment, unquoted and unescaped. */
  text: 4,
} as const
/** A way of writing. */
export type CellForm = (typeof CELL_FORMS)[keyof typeof CELL_FORMS]

const COLON = 0x3a
const MINUS = 0x2d
const BASE64_BYTES_MAX = Math.ceil(CELL_BYTES_MAX / 3) * 4

const TRUE = wordOf('true')
const FALSE = wordOf('false')
const NAN = wordOf('NaN')
const INFINITY = wordOf('Infinity')

const scratchBinary = new ByteArena(1024)

function wordOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

/**
 * Reads `bytes[start, end)` and sets it as cell `index` of the builder's pending row.
 *
 * Returns: NONE, or why not; then the pending row is as it was. Requires: strings are valid UTF-8;
 * the builder's column has the plan's physical type.
 */
export function readCell(
  plan: CellPlan,
  form: CellForm,
  bytes: Uint8Array,
  start: number,
  end: number,
  builder: RowBlockBuilder,
  index: number,
): CellError {
  const error = scanCell(plan, form, bytes, start, end)
  if (error !== CELL_ERRORS.NONE) return error
  switch (plan.kind) {
    case CELL_KINDS.string:
      builder.setBytes(index, bytes, start, end)
      break
    case CELL_KINDS.binary:
      builder.setBytes(index, scratchBinary.bytes, 0, scratchBinary.length)
      break
    case CELL_KINDS.int64:
    case CELL_KINDS.timestamp:
    case CELL_KINDS.decimal64:
      builder.setPair(index, scratchWords[0], scratchWords[1])
      break
    case CELL_KINDS.decimal128:
      builder.setQuad(index, scratchWords[0], scratchWords[1], scratchWords[2], scratchWords[3])
      break
    default:
      builder.setNumber(index, scratchNumber[0])
  }
  return CELL_ERRORS.NONE
}

/**
 * Reads `bytes[start, end)` into scratch, from where `scannedCell` takes it.
 *
 * Returns: NONE, or why not. Requires: strings are valid UTF-8.
 */
export function scanCell(
  plan: CellPlan,
  form: CellForm,
  bytes: Uint8Array,
  start: number,
  end: number,
): CellError {
  switch (plan.kind) {
    case CELL_KINDS.bool:
      return scanBool(form, bytes, start, end)
    case CELL_KINDS.integer:
      if (!isNumeric(form)) return CELL_ERRORS.WRONG_KIND
      return readInt32(bytes, start, end, plan.low, plan.high)
    case CELL_KINDS.int64:
      if (!isNumericOrString(form)) return CELL_ERRORS.WRONG_KIND
      return readInt64(bytes, start, end)
    case CELL_KINDS.float:
    case CELL_KINDS.double:
      return scanFloating(plan, form, bytes, start, end)
    case CELL_KINDS.string:
      if (!isStringOrText(form)) return CELL_ERRORS.WRONG_KIND
      return checkLength(plan, bytes, start, end)
    case CELL_KINDS.binary:
      if (!isStringOrText(form)) return CELL_ERRORS.WRONG_KIND
      return scanBinary(bytes, start, end)
    case CELL_KINDS.timestamp:
      return scanTimestamp(plan, form, bytes, start, end)
    case CELL_KINDS.date:
      if (!isStringOrText(form)) return CELL_ERRORS.WRONG_KIND
      return readDate(bytes, start, end)
    case CELL_KINDS.decimal32:
    case CELL_KINDS.decimal64:
    case CELL_KINDS.decimal128:
      if (!isNumericOrString(form)) return CELL_ERRORS.WRONG_KIND
      return scanDecimal(plan, bytes, start, end)
  }
}

function isNumeric(form: CellForm): boolean {
  return form === CELL_FORMS.jsonNumber || form === CELL_FORMS.text
}

function isStringOrText(form: CellForm): boolean {
  return form === CELL_FORMS.jsonString || form === CELL_FORMS.text
}

function isNumericOrString(form: CellForm): boolean {
  return form !== CELL_FORMS.jsonTrue && form !== CELL_FORMS.jsonFalse
}

function scanBool(form: CellForm, bytes: Uint8Array, start: number, end: number): CellError {
  if (form === CELL_FORMS.text) {
    const isTrue = isWord(bytes, start, end, TRUE, true)
    if (!isTrue && !isWord(bytes, start, end, FALSE, true)) return CELL_ERRORS.MALFORMED
    scratchNumber[0] = isTrue ? 1 : 0
    return CELL_ERRORS.NONE
  }
  if (form !== CELL_FORMS.jsonTrue && form !== CELL_FORMS.jsonFalse) return CELL_ERRORS.WRONG_KIND
  scratchNumber[0] = form === CELL_FORMS.jsonTrue ? 1 : 0
  return CELL_ERRORS.NONE
}

/** Whether `[start, end)` is a word of ASCII letters, which `isAnyCase` lets be in any case. */
function isWord(
  bytes: Uint8Array,
  start: number,
  end: number,
  word: Uint8Array,
  isAnyCase: boolean,
): boolean {
  if (end - start !== word.length) return false
  const caseBit = isAnyCase ? 0x20 : 0
  for (let i = 0; i < word.length; i++) {
    if ((bytes[start + i] | caseBit) !== (word[i] | caseBit)) return false
  }
  return true
}

function scanFloating(
  plan: CellPlan,
  form: CellForm,
  bytes: Uint8Array,
  start: number,
  end: number,
): CellError {
  if (!isNumericOrString(form)) return CELL_ERRORS.WRONG_KIND
  if (form !== CELL_FORMS.jsonNumber && scanNotFinite(form, bytes, start, end)) {
    return CELL_ERRORS.NONE
  }
  if (form === CELL_FORMS.jsonString) return CELL_ERRORS.WRONG_KIND
  return plan.kind === CELL_KINDS.float
    ? readFloat(bytes, start, end)
    : readDouble(bytes, start, end)
}

/** Reads NaN or an infinity into `scratchNumber[0]`. Returns: whether it is one. */
function scanNotFinite(form: CellForm, bytes: Uint8Array, start: number, end: number): boolean {
  const isText = form === CELL_FORMS.text
  if (isWord(bytes, start, end, NAN, isText)) {
    scratchNumber[0] = Number.NaN
    return true
  }
  const isNegative = start < end && bytes[start] === MINUS
  if (!isWord(bytes, isNegative ? start + 1 : start, end, INFINITY, isText)) return false
  scratchNumber[0] = isNegative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return true
}

function checkLength(plan: CellPlan, bytes: Uint8Array, start: number, end: number): CellError {
  if (end - start > CELL_BYTES_MAX) return CELL_ERRORS.TOO_LARGE
  const { lengthMax } = plan
  if (lengthMax === 0 || end - start <= lengthMax) return CELL_ERRORS.NONE
  return countCodePoints(bytes, start, end) > lengthMax ? CELL_ERRORS.TOO_LONG : CELL_ERRORS.NONE
}

/** Code points of UTF-8 `[start, end)`: its bytes that do not continue a sequence. */
export function countCodePoints(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let i = start; i < end; i++) if ((bytes[i] & 0xc0) !== 0x80) count++
  return count
}

function scanBinary(bytes: Uint8Array, start: number, end: number): CellError {
  if (end - start > BASE64_BYTES_MAX) return CELL_ERRORS.TOO_LARGE
  scratchBinary.truncate(0)
  if (!decodeBase64(bytes, start, end, scratchBinary)) return CELL_ERRORS.MALFORMED
  return scratchBinary.length > CELL_BYTES_MAX ? CELL_ERRORS.TOO_LARGE : CELL_ERRORS.NONE
}

function scanTimestamp(
  plan: CellPlan,
  form: CellForm,
  bytes: Uint8Array,
  start: number,
  end: number,
): CellError {
  if (!isNumericOrString(form)) return CELL_ERRORS.WRONG_KIND
  const isText = form === CELL_FORMS.text
  if (form === CELL_FORMS.jsonNumber || (isText && !hasColon(bytes, start, end))) {
    return readTimestampInteger(bytes, start, end, plan.timestamps === 'millis')
  }
  return readTimestamp(bytes, start, end, isText)
}

/** Whether a text is a point in time rather than a number: only the first has a time of day. */
export function hasColon(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === COLON) return true
  return false
}

function scanDecimal(plan: CellPlan, bytes: Uint8Array, start: number, end: number): CellError {
  const { kind, precision } = plan
  const plain = readPlainFixed(bytes, start, end, plan.scale)
  if (!Number.isNaN(plain)) {
    if (kind === CELL_KINDS.decimal128) {
      splitNumber(plain)
      scratchWords[2] = plain < 0 ? -1 : 0
      scratchWords[3] = scratchWords[2]
      return CELL_ERRORS.NONE
    }
    const bound = POWERS_OF_TEN[precision]
    if (plain >= bound || plain <= -bound) return CELL_ERRORS.OUT_OF_RANGE
    if (kind === CELL_KINDS.decimal32) scratchNumber[0] = plain
    else splitNumber(plain)
    return CELL_ERRORS.NONE
  }
  const error = readFixed(bytes, start, end, plan.scale, precision)
  if (error === CELL_ERRORS.NONE && kind === CELL_KINDS.decimal32) {
    scratchNumber[0] = scratchWords[0] | 0
  }
  return error
}

/**
 * The cell that the last `scanCell` read, with the same arguments. A binary cell is a copy. For
 * edges.
 */
export function scannedCell(plan: CellPlan, bytes: Uint8Array, start: number, end: number): Cell {
  switch (plan.kind) {
    case CELL_KINDS.string:
      return bytes.slice(start, end)
    case CELL_KINDS.binary:
      return scratchBinary.bytes.slice(0, scratchBinary.length)
    case CELL_KINDS.int64:
    case CELL_KINDS.timestamp:
    case CELL_KINDS.decimal64:
      return joinPair(scratchWords[0], scratchWords[1])
    case CELL_KINDS.decimal128:
      return joinQuad(scratchWords, 0)
    default:
      return scratchNumber[0]
  }
}

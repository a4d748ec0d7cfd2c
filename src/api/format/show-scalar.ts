/** Values of a client's body, short enough for an error. */

import { CELL_FORMS, type CellForm } from '../../common/cell-reader.ts'
import { utf8Decode } from '../../util/bytes.ts'

/** Characters of a text that an error may show, and bytes that hold as many. */
const SHOWN_LENGTH_MAX = 80
const SHOWN_BYTES_MAX = 512
const NAME_LENGTH_MAX = 64

/** A scalar in `bytes[start, end)` as errors show it: strings in quotes. */
export function showScalar(form: CellForm, bytes: Uint8Array, start: number, end: number): string {
  const text = showText(bytes, start, end)
  if (form !== CELL_FORMS.jsonString && form !== CELL_FORMS.text) return text
  return JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX).toWellFormed())
}

/** A name in `bytes[start, end)` as errors show it. */
export function showName(bytes: Uint8Array, start: number, end: number): string {
  return shortenName(showText(bytes, start, end))
}

/** A name as errors show it. */
export function shortenName(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name
  return `${name.slice(0, NAME_LENGTH_MAX - 1).toWellFormed()}…`
}

function showText(bytes: Uint8Array, start: number, end: number): string {
  return utf8Decode(bytes.subarray(start, Math.min(end, start + SHOWN_BYTES_MAX)))
}

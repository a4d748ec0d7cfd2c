/** One record of CSV (RFC 4180) in a query parameter. */

import { invalidArgument } from '../common/status.ts'

/**
 * The fields of a record; none when the text is empty. `what` names it in errors.
 *
 * Throws: INVALID_ARGUMENT when the text is not one record.
 */
export function csvRecord(text: string, what: string): string[] {
  if (text === '') return []
  const fields: string[] = []
  let position = 0
  for (;;) {
    const end =
      text[position] === '"' ? quotedEnd(text, position, what) : plainEnd(text, position, what)
    const field = text.slice(position, end)
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field)
    if (end === text.length) return fields
    position = end + 1
  }
}

function plainEnd(text: string, start: number, what: string): number {
  const comma = text.indexOf(',', start)
  const end = comma === -1 ? text.length : comma
  if (/["\r\n]/.test(text.slice(start, end))) {
    throw invalidArgument(`${what}: a field with a quote or a line break must be quoted`)
  }
  return end
}

function quotedEnd(text: string, start: number, what: string): number {
  let position = start + 1
  for (;;) {
    const quote = text.indexOf('"', position)
    if (quote === -1) throw invalidArgument(`${what}: a quoted field does not end`)
    if (text[quote + 1] !== '"') {
      if (quote + 1 === text.length || text[quote + 1] === ',') return quote + 1
      throw invalidArgument(`${what}: a comma must follow a quoted field`)
    }
    position = quote + 2
  }
}

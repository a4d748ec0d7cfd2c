/** What a request wants the rows of a result ordered by. */

import { memberOf, requestObject, shownText, stringMember } from '../common/request-members.ts'
import type { Column } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import type { OrderColumn } from './order-rows.ts'

const MEMBERS: readonly string[] = ['column', 'descending']

/**
 * Reads what a result is to be ordered by.
 *
 * Throws: INVALID_ARGUMENT that names what is wrong: a member or a column of the result that is not
 * known, or one that is listed twice.
 */
export function readOrder(columns: readonly Column[], request: unknown): OrderColumn[] {
  if (request === undefined) return []
  if (!Array.isArray(request)) throw invalidArgument('member "order_by" must be an array')
  const known = new Set<number>()
  return request.map((entry: unknown, i) => {
    const place = `order_by[${i}]`
    const { name, isDescending } = orderEntry(entry, place)
    const index = columns.findIndex((column) => column.name === name)
    if (index < 0) {
      throw invalidArgument(`${place}: the result has no column ${shownText(name)}`)
    }
    if (known.has(index)) throw invalidArgument(`${place}: ${shownText(name)} is listed twice`)
    known.add(index)
    return { index, isDescending }
  })
}

function orderEntry(entry: unknown, place: string): { name: string; isDescending: boolean } {
  if (typeof entry === 'string') return { name: entry, isDescending: false }
  const members = requestObject(entry, MEMBERS, place)
  const name = stringMember(members, 'column', place)
  const descending = memberOf(members, 'descending')
  if (descending === undefined) return { name, isDescending: false }
  if (typeof descending === 'boolean') return { name, isDescending: descending }
  throw invalidArgument(`${place}: member "descending" must be true or false`)
}

/**
 * The order of the rows of an aggregation: what the request says, then the group keys, so that it
 * is one order whatever way the rows came together. Nulls are last either way, NaN is above all
 * numbers.
 */

import { type ColumnVector, joinQuad } from '../common/column-vector.ts'
import { PHYSICAL } from '../common/data-type.ts'
import { memberOf, requestObject, shownText, stringMember } from '../common/request-members.ts'
import type { RowBlock } from '../common/row-block.ts'
import type { Column } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import { compareBytes } from '../util/bytes.ts'

/** A column that rows are ordered by. */
export interface OrderColumn {
  /** Which column of the result. */
  readonly index: number
  readonly isDescending: boolean
}

/** Negative, zero or positive, of two rows. */
type RowComparison = (a: number, b: number) => number

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

/**
 * Rows of a block in order: by `by`, then by the first `keyCount` columns ascending, then as they
 * are.
 *
 * Cost: n log n comparisons, and four bytes a row.
 */
export function orderRows(
  block: RowBlock,
  by: readonly OrderColumn[],
  keyCount: number,
): Uint32Array {
  const order = Uint32Array.from({ length: block.rowCount }, (_, row) => row)
  const keys = Array.from({ length: keyCount }, (_, index) => ({ index, isDescending: false }))
  const rest = keys.filter(({ index }) => !by.some((column) => column.index === index))
  const comparisons = [...by, ...rest].map(({ index, isDescending }) => {
    return comparisonOf(block.columns[index], isDescending)
  })
  return order.sort((a, b) => {
    for (let i = 0; i < comparisons.length; i++) {
      const found = comparisons[i](a, b)
      if (found !== 0) return found
    }
    return a - b
  })
}

function comparisonOf(column: ColumnVector, isDescending: boolean): RowComparison {
  const ascending = valueComparison(column)
  const compare: RowComparison = isDescending ? (a, b) => ascending(b, a) : ascending
  if (column.validity === null) return compare
  return (a, b) => {
    const isNull = column.isNull(a)
    if (isNull !== column.isNull(b)) return isNull ? 1 : -1
    return isNull ? 0 : compare(a, b)
  }
}

/** How the cells of two rows compare that are not null. */
function valueComparison(column: ColumnVector): RowComparison {
  const { lanes, bytes, offsets } = column
  switch (column.physical) {
    case PHYSICAL.binary:
      return (a, b) => {
        return compareBytes(bytes, offsets[a], offsets[a + 1], bytes, offsets[b], offsets[b + 1])
      }
    case PHYSICAL.int64:
      return (a, b) => {
        const high = (lanes[a * 2 + 1] | 0) - (lanes[b * 2 + 1] | 0)
        return high === 0 ? lanes[a * 2] - lanes[b * 2] : high
      }
    case PHYSICAL.int128:
      return (a, b) => {
        const left = joinQuad(lanes as Uint32Array, a * 4)
        const right = joinQuad(lanes as Uint32Array, b * 4)
        if (left === right) return 0
        return left < right ? -1 : 1
      }
    default:
      return (a, b) => compareNumbers(lanes[a], lanes[b])
  }
}

/** −0 is 0. */
function compareNumbers(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  if (a === b) return 0
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}

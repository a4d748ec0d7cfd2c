/** Aggregations of a script: sent as a client would, and held against the model. */

import {
  aggregateRows,
  compareNullsLast,
  type ExpectedCell,
  type ExpectedGroups,
  resultColumns,
} from './model-aggregate.ts'
import { type ModelExpression, Refusal } from './model-expression.ts'
import { selectRows } from './model-selection.ts'
import { TABLE_NAME } from './model-table.ts'
import { jsonText, type ModelColumn, plainText, type Value } from './model-value.ts'
import { heardHeaders, isLatest, resolveMoment } from './read-moments.ts'
import { mustBe } from './read-scan.ts'
import { cellTexts, jsonRows, streamRows } from './scan-answers.ts'
import {
  jsonRequest,
  type ModelRequest,
  outputParams,
  selectionMembers,
  timeMember,
} from './scan-requests.ts'
import type { AggregateQuery } from './scan-script.ts'
import type { Check, ScanWorld, WorldAnswer } from './scan-world.ts'

/** Performs an aggregation. */
export async function readAggregate(world: ScanWorld, query: AggregateQuery): Promise<Check> {
  const asked = resolveMoment(world, query.at)
  const known = world.model.opTimes.at(-1) ?? 0
  const answer = await world.send({
    ...aggregateRequest(world.columns, query, asked),
    headers: heardHeaders(world, query.at),
  })
  world.count(`aggregate ${query.format}`)
  if (query.at.kind === 'forgotten') {
    // What is wrong in itself is refused first.
    const isWrong = answer.status === 400 && isRefused(world, query)
    return () => {
      if (!isWrong) mustBe(answer, 410, 'INVALID_SNAPSHOT')
    }
  }
  const isDone = answer.status === 200
  const rows = isDone ? await foundRows(query, answer, resultColumns(world.columns, query)) : []
  return () => checkAnswer(world, query, answer, rows, asked, known)
}

/** Whether a request is refused whatever the rows are. */
function isRefused({ columns }: ScanWorld, query: AggregateQuery): boolean {
  try {
    resultColumns(columns, query)
    return false
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  }
}

function checkAnswer(
  world: ScanWorld,
  query: AggregateQuery,
  answer: WorldAnswer,
  found: readonly (readonly string[])[],
  asked: number | null,
  known: number,
): void {
  const header = answer.headers.get('nyala-timestamp')
  if (header === null && asked === null && isRefusedSince(world, query, known)) {
    world.count('aggregate refused')
    mustBe(answer, 400, 'INVALID_ARGUMENT')
    return
  }
  const snapshot = header === null ? (asked ?? known) : Number(header)
  const rows = selectRows(world.model, query, snapshot).map(({ row }) => row)
  let expected: ExpectedGroups
  try {
    expected = aggregateRows(world.columns, query, rows)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    world.count('aggregate refused')
    if (query.limit === 0 && answer.status === 200) return
    mustBe(answer, 400, 'INVALID_ARGUMENT')
    return
  }
  if (answer.status !== 200 && expected.mayBeRefused) {
    mustBe(answer, 400, 'INVALID_ARGUMENT')
    return
  }
  if (answer.status !== 200) throw new Error(`aggregation: ${answer.status} ${answer.text}`)
  if (asked !== null && snapshot !== asked) throw new Error(`asked for ${asked}, got ${snapshot}`)
  if (asked === null && isLatest(query.at) && snapshot < known) {
    const now = selectRows(world.model, query, known)
    const isSame = now.length === rows.length && now.every(({ row }, i) => row === rows[i])
    if (!isSame) throw new Error(`aggregation at ${snapshot} does not show writes up to ${known}`)
  }
  compareGroups(query, found, expected)
  world.count('groups read', expected.rows.length)
}

/**
 * Whether rows may be refused as they were at some time that shows what was known: what is refused
 * does not tell its time.
 */
function isRefusedSince(world: ScanWorld, query: AggregateQuery, known: number): boolean {
  const times = [known, ...world.model.opTimes.filter((time) => time > known)]
  return times.some((time) => {
    const rows = selectRows(world.model, query, time).map(({ row }) => row)
    try {
      return aggregateRows(world.columns, query, rows).mayBeRefused
    } catch (error) {
      if (error instanceof Refusal) return true
      throw error
    }
  })
}

/** The request of an aggregation. */
export function aggregateRequest(
  columns: readonly ModelColumn[],
  query: AggregateQuery,
  time: number | null,
): ModelRequest {
  const { at, groupBy, aggregates, orderBy, limit } = query
  const members = selectionMembers(columns, query)
  const groups = groupBy.map(({ column, bucket, as }) => {
    if (bucket === null && as === null) return JSON.stringify(column)
    return JSON.stringify({
      column,
      ...(bucket === null ? {} : { bucket }),
      ...(as === null ? {} : { as }),
    })
  })
  if (groups.length > 0) members.push(`"group_by":[${groups.join(',')}]`)
  const texts = aggregates.map(({ op, input, as }) => {
    const source =
      input === null
        ? ''
        : input.kind === 'column'
          ? `,"column":${JSON.stringify(input.column)}`
          : `,"expr":${expressionText(input)}`
    return `{"op":"${op}"${source}${as === null ? '' : `,"as":${JSON.stringify(as)}`}}`
  })
  members.push(`"aggregates":[${texts.join(',')}]`)
  if (orderBy.length > 0) {
    const entries = orderBy.map(({ column, isDescending }) => {
      return isDescending ? { column, descending: true } : { column }
    })
    members.push(`"order_by":${JSON.stringify(entries)}`)
  }
  if (limit !== null) members.push(`"limit":${limit}`)
  if (at.kind === 'now' && at.mode !== null) members.push(`"read_mode":"${at.mode}"`)
  if (time !== null) members.push(timeMember('snapshot_timestamp', time, query))
  const path = `/api/v1/tables/${TABLE_NAME}/aggregate?${outputParams(query)}`
  return jsonRequest(path, `{${members.join(',')}}`)
}

function expressionText(expression: ModelExpression): string {
  switch (expression.kind) {
    case 'column':
      return JSON.stringify(expression.column)
    case 'number':
      return expression.text
    case 'binary': {
      const { op, left, right } = expression
      return `["${op}",${expressionText(left)},${expressionText(right)}]`
    }
  }
}

/** Cells of an answer as texts. */
async function foundRows(
  query: AggregateQuery,
  { bytes, text, headers }: WorldAnswer,
  columns: readonly ModelColumn[],
): Promise<string[][]> {
  if (query.format !== 'json') {
    const rows = await streamRows(bytes, columns, query)
    return rows.map((row) => cellTexts(row, columns, query))
  }
  const { rows, rest } = jsonRows(text)
  if (rest.snapshot_timestamp !== Number(headers.get('nyala-timestamp'))) {
    throw new Error(`body says ${rest.snapshot_timestamp}`)
  }
  return rows.map((row) => cellTexts(row, columns, query))
}

function compareGroups(
  query: AggregateQuery,
  found: readonly (readonly string[])[],
  { columns, rows }: ExpectedGroups,
): void {
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  const order = query.orderBy.map(({ column, isDescending }) => {
    return { index: columns.findIndex(({ name }) => name === column), isDescending }
  })
  const isSure = order.every(({ index }) => {
    return rows.every((row) => row[index].error === 0 && !row[index].isLoose)
  })
  // Doubles that may be off by a little may stand in another order.
  if (!isSure && (query.limit !== null || order.length > 1)) {
    if (found.length !== Math.min(limit, rows.length)) {
      throw new Error(`${found.length} groups instead of ${rows.length}, limit ${limit}`)
    }
    return
  }
  const sorted = rows.toSorted((a, b) => {
    for (const { index, isDescending } of order) {
      const [x, y] = [a[index].value, b[index].value]
      const sign = isDescending && x !== null && y !== null ? -1 : 1
      const placed = compareNullsLast(columns[index].type, x, y) * sign
      if (placed !== 0) return placed
    }
    return 0
  })
  const expected = sorted.slice(0, limit)
  if (found.length !== expected.length) {
    throw new Error(`${found.length} groups instead of ${expected.length}`)
  }
  const sets = isSure ? found : matched(query, found, expected, columns)
  for (const [i, cells] of expected.entries()) {
    for (const [j, column] of columns.entries()) {
      if (isSame(query, column, cells[j], sets[i][j])) continue
      throw new Error(
        `group ${i}, ${column.name}: ${sets[i][j]} instead of ${shown(query, column, cells[j])}\n` +
          `found    ${sets[i].join(' | ')}\n` +
          `expected ${cells.map((cell, k) => shown(query, columns[k], cell)).join(' | ')}`,
      )
    }
  }
}

/** Found rows in the order of the groups expected, by their keys. */
function matched(
  query: AggregateQuery,
  found: readonly (readonly string[])[],
  expected: readonly (readonly ExpectedCell[])[],
  columns: readonly ModelColumn[],
): (readonly string[])[] {
  const keyCount = query.groupBy.length
  const nameOf = (cells: readonly string[]) => {
    return JSON.stringify(cells.slice(0, keyCount)).replaceAll('"-0"', '"0"')
  }
  const byName = new Map(found.map((cells) => [nameOf(cells), cells]))
  return expected.map((cells) => {
    const name = nameOf(cells.map((cell, i) => shown(query, columns[i], cell)))
    const row = byName.get(name)
    if (row === undefined) throw new Error(`there is no group ${name}`)
    return row
  })
}

function isSame(
  query: AggregateQuery,
  column: ModelColumn,
  { value, error, isLoose }: ExpectedCell,
  text: string,
): boolean {
  if (isLoose) return true
  const expected = textOf(query, column, value)
  if (text === expected) return true
  if (column.type !== 'DOUBLE' && column.type !== 'FLOAT') return false
  if (value === null || text === 'null' || text === '') return false
  const number = Number(text.replaceAll('"', ''))
  const wanted = value as number
  if (!Number.isFinite(wanted)) return Object.is(number, wanted)
  return Math.abs(number - wanted) <= error
}

function textOf({ format, options, nullText }: AggregateQuery, column: ModelColumn, value: Value) {
  if (format !== 'csv') return jsonText(column, value, options)
  return value === null ? nullText : plainText(column, value, options)
}

function shown(query: AggregateQuery, column: ModelColumn, cell: ExpectedCell): string {
  return textOf(query, column, cell.value)
}

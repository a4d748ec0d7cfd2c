/** Scans of a script: sent as a client would, through all pages, and held against the model. */

import { diffRows, selectRows } from './model-selection.ts'
import type { ModelColumn } from './model-value.ts'
import { expectedRow, jsonRows, streamRows } from './scan-answers.ts'
import { type ScanTimes, scanRequest } from './scan-requests.ts'
import type { ModelDiff, ModelMoment, ScanQuery } from './scan-script.ts'
import type { Check, ScanWorld, WorldAnswer } from './scan-world.ts'
import type { FoundRow } from './version-model.ts'

/** What a scan found: rows as texts, in order. */
interface Found {
  readonly rows: readonly string[]
  readonly snapshot: number
  /** Whether history moved over the snapshot during a walk, so that rows may be missing. */
  readonly isCutOff: boolean
}

const SECOND_MICROS = 1_000_000
/** How far the clocks of a request may go on before it is looked at. */
const MARGIN_MICROS = 2 * SECOND_MICROS

/** Pages of a walk behind which something happens. */
const DISTURBED_PAGES_MAX = 100

/** Performs a scan. */
export async function readScan(world: ScanWorld, query: ScanQuery): Promise<Check> {
  const time = resolveMoment(world, query.at)
  const times = { time, diffFrom: resolveDiff(world, query.diff, time) }
  const kind = query.diff === null ? 'scan' : 'diff'
  if (query.at.kind === 'forgotten') {
    const answer = await world.send(scanRequest(world.columns, query, times, null))
    world.count(`${kind} of the forgotten past`)
    return () => mustBe(answer, 410, 'INVALID_SNAPSHOT')
  }
  const columns = shownColumns(world, query)
  // Files of Parquet have a column.
  const isEmptyFile = query.format === 'parquet' && columns.length === 0
  if (isEmptyFile || new Set(columns.map(({ name }) => name)).size < columns.length) {
    const answer = await world.send(scanRequest(world.columns, query, times, null))
    return () => mustBe(answer, 400, 'INVALID_ARGUMENT')
  }
  const known = world.model.opTimes.at(-1) ?? 0
  const found = await walk(world, query, columns, times)
  world.count(`${kind} ${query.format} ${query.via}`)
  return () => checkFound(world, query, found, times, known)
}

/** Judges what was found. All of `known` had been written before it was asked for. */
function checkFound(
  world: ScanWorld,
  query: ScanQuery,
  { rows, snapshot, isCutOff }: Found,
  { time, diffFrom }: ScanTimes,
  known: number,
): void {
  const { model } = world
  if (time !== null && snapshot !== time) {
    throw new Error(`asked for the snapshot ${time}, got ${snapshot}`)
  }
  world.count('rows read', rows.length)
  const selected =
    diffFrom === null
      ? selectRows(model, query, snapshot)
      : diffRows(model, query, diffFrom, snapshot)
  if (!isCutOff) compareRows(world, query, rows, selected)
  if (diffFrom !== null) return
  // What is written while a latest read goes on it need not show.
  if (time === null && isLatest(query.at) && query.between.length === 0) {
    const now = selectRows(model, query, Math.max(known, snapshot))
    if (!areSame(now, selected)) {
      throw new Error(`a read at ${snapshot} does not show all writes up to ${known}`)
    }
  }
  const isOfAll = query.predicates.length === 0 && query.lower === null && query.upper === null
  if (isOfAll && query.limit === null) world.servedAll = Math.max(world.servedAll, snapshot)
}

/** Where a diff begins; null for none. */
function resolveDiff(world: ScanWorld, diff: ModelDiff | null, time: number | null): number | null {
  if (diff === null) return null
  const times = readableTimes(world).filter((at) => time === null || at <= time)
  if (times.length === 0) return time ?? world.service.time.micros
  const from = times[Math.floor(diff.dice * times.length)] + diff.offset
  return time === null ? from : Math.min(from, time)
}

/** The columns of the rows of a scan: of a diff with the one that tells deleted rows. */
function shownColumns({ columns }: ScanWorld, query: ScanQuery): readonly ModelColumn[] {
  const { diff } = query
  const shown = projectionOf(columns, query.columns)
  if (diff === null) return shown
  const name = diff.as ?? 'is_deleted'
  // A name that any column has is refused.
  if (columns.some((column) => column.name === name)) return [columns[0], columns[0]]
  const whole = shown.map((column) => ({ ...column, isNullable: !column.isKey }))
  return [...whole, { ...columns[0], name, type: 'BOOL', isKey: false, isNullable: false }]
}

function isLatest(at: ModelMoment): boolean {
  return at.kind === 'now' && at.mode !== 'READ_YOUR_WRITES'
}

function areSame(a: readonly FoundRow[], b: readonly FoundRow[]): boolean {
  return a.length === b.length && a.every(({ row }, i) => row === b[i].row)
}

/** The time to ask for; null for none. */
export function resolveMoment(world: ScanWorld, at: ModelMoment): number | null {
  // Waits of the front may end between two microseconds.
  const micros = Math.floor(world.service.time.micros)
  const oldest = micros - world.script.table.historySec * SECOND_MICROS
  switch (at.kind) {
    case 'now':
      return null
    case 'ahead':
      return micros + at.micros
    case 'forgotten':
      return oldest - MARGIN_MICROS
    case 'op': {
      const times = readableTimes(world)
      if (times.length === 0) return null
      return times[Math.floor(at.dice * times.length)] + at.offset
    }
  }
}

/** Times of ops that history is kept of, and will be for a while. */
function readableTimes(world: ScanWorld): number[] {
  const oldest = world.service.time.micros - world.script.table.historySec * SECOND_MICROS
  return world.model.opTimes.filter((time) => time > oldest + 4 * MARGIN_MICROS)
}

/** Throws unless an answer is an error of a code. */
export function mustBe({ status, text }: WorldAnswer, expected: number, code: string): void {
  if (status === expected && text.includes(`"${code}"`)) return
  throw new Error(`expected ${expected} ${code}, got ${status} ${text.slice(0, 500)}`)
}

/** Goes through all pages, or reads the one stream. */
async function walk(
  world: ScanWorld,
  query: ScanQuery,
  columns: readonly ModelColumn[],
  times: ScanTimes,
): Promise<Found> {
  const rows: string[] = []
  let snapshot = -1
  let token: string | null = null
  for (let page = 0; ; page++) {
    const request = scanRequest(world.columns, query, times, token)
    const answer = page === 0 ? await world.must(request) : await world.send(request)
    if (page > 0 && isForgotten(world, answer, snapshot)) {
      return { rows, snapshot, isCutOff: true }
    }
    if (answer.status !== 200) throw new Error(`page ${page}: ${answer.status} ${answer.text}`)
    const time = Number(answer.headers.get('nyala-timestamp'))
    if (page > 0 && time !== snapshot) throw new Error(`page ${page} is of another snapshot`)
    snapshot = time
    if (query.format !== 'json') {
      const rows = await streamRows(answer.bytes, columns, query)
      return { rows, snapshot, isCutOff: false }
    }
    const { rows: more, rest } = jsonRows(answer.text)
    checkPage(query, more, rest, snapshot)
    rows.push(...more)
    token = (rest.next_page_token as string | undefined) ?? null
    if (token === null) return { rows, snapshot, isCutOff: false }
    world.count('next page')
    const { between } = query
    if (between.length > 0 && page < DISTURBED_PAGES_MAX)
      await world.run(between[page % between.length])
  }
}

function checkPage(
  { pageSize }: ScanQuery,
  rows: readonly string[],
  rest: Readonly<Record<string, unknown>>,
  snapshot: number,
): void {
  if (rest.snapshot_timestamp !== snapshot) {
    throw new Error(`body says ${rest.snapshot_timestamp}, header ${snapshot}`)
  }
  if (rows.length > (pageSize ?? 1000)) throw new Error(`a page of ${rows.length} rows`)
}

/** Whether history moved over the snapshot since the walk began. */
function isForgotten(world: ScanWorld, { status }: WorldAnswer, snapshot: number): boolean {
  const { micros } = world.service.time
  const oldest = micros - world.script.table.historySec * SECOND_MICROS
  return status === 410 && snapshot < oldest + MARGIN_MICROS
}

/** The columns of these names, or all. */
export function projectionOf(
  columns: readonly ModelColumn[],
  names: readonly string[] | null,
): readonly ModelColumn[] {
  if (names === null) return columns
  return names.map((name) => {
    const column = columns.find((known) => known.name === name)
    if (column === undefined) throw new Error(`there is no column ${name}`)
    return column
  })
}

/** Throws unless the rows are those expected, in an order that the scan may have. */
function compareRows(
  world: ScanWorld,
  query: ScanQuery,
  found: readonly string[],
  selected: readonly FoundRow[],
): void {
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  const ordered = inOrder(world, query, selected)
  const columns = shownColumns(world, query)
  // Behind the cells of the table's columns is whether the row is deleted.
  const indexes = columns.map((shown) => {
    const index = world.columns.findIndex(({ name }) => name === shown.name)
    return index === -1 ? world.columns.length : index
  })
  const expected = ordered.slice(0, limit).map(({ row }) => {
    return expectedRow(
      columns,
      indexes.map((index) => row[index]),
      query,
    )
  })
  const at = firstDifference(found, expected)
  if (at === -1) return
  throw new Error(
    `${found.length} rows instead of ${expected.length}, row ${at}\n` +
      `found    ${found[at]}\nexpected ${expected[at]}`,
  )
}

/** Tablets come one after the other, or all rows by key; inside a tablet rows are always by key. */
function inOrder(
  { tabletIds, tabletOf }: ScanWorld,
  { order, diff }: ScanQuery,
  rows: readonly FoundRow[],
): readonly FoundRow[] {
  if (order === 'ORDERED' || diff !== null) return rows
  if (order === 'DESCENDING') return rows.toReversed()
  const places = new Map(tabletIds.map((id, place) => [id, place]))
  const placeOf = ({ keyName }: FoundRow) => places.get(tabletOf.get(keyName) ?? '') ?? -1
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (a[i] !== b[i]) return i
  return -1
}

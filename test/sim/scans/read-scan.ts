/** Scans of a script: sent as a client would, through all pages, and held against the model. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import { satisfies } from './model-literal.ts'
import { compareTuples, type ModelColumn } from './model-value.ts'
import { expectedRow, jsonRows, streamRows } from './scan-answers.ts'
import { scanRequest } from './scan-requests.ts'
import type { ModelMoment, ModelSelection, ScanQuery } from './scan-script.ts'
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

/** Performs a scan. */
export async function readScan(world: ScanWorld, query: ScanQuery): Promise<Check> {
  const asked = resolveMoment(world, query.at)
  if (query.at.kind === 'forgotten') {
    const answer = await world.send(scanRequest(world.columns, query, asked, null))
    world.count('scan of the forgotten past')
    return () => mustBe(answer, 410, 'INVALID_SNAPSHOT')
  }
  // What a latest read must show; what is written while it goes on it may show.
  const isAlone = query.between.length === 0
  const known = world.model.opTimes.at(-1) ?? 0
  const found = await walk(world, query, asked)
  world.count(`scan ${query.format} ${query.via}`)
  return () => {
    if (asked !== null && found.snapshot !== asked) {
      throw new Error(`asked for the snapshot ${asked}, got ${found.snapshot}`)
    }
    const selected = selectRows(world, query, found.snapshot)
    if (!found.isCutOff) compareRows(world, query, found.rows, selected)
    if (asked === null && isLatest(query.at)) {
      const now = selectRows(world, query, Math.max(known, found.snapshot))
      if (isAlone && !areSame(now, selected)) {
        throw new Error(`a read at ${found.snapshot} does not show all writes up to ${known}`)
      }
    }
    const isOfAll = query.predicates.length === 0 && query.lower === null && query.upper === null
    if (isOfAll && query.limit === null) {
      world.servedAll = Math.max(world.servedAll, found.snapshot)
    }
    world.count('rows read', found.rows.length)
  }
}

function isLatest(at: ModelMoment): boolean {
  return at.kind === 'now' && at.mode !== 'READ_YOUR_WRITES'
}

function areSame(a: readonly FoundRow[], b: readonly FoundRow[]): boolean {
  return a.length === b.length && a.every(({ row }, i) => row === b[i].row)
}

/** The time to ask for; null for none. */
export function resolveMoment(world: ScanWorld, at: ModelMoment): number | null {
  const { micros } = world.service.time
  const oldest = micros - world.script.table.historySec * SECOND_MICROS
  switch (at.kind) {
    case 'now':
      return null
    case 'ahead':
      return micros + at.micros
    case 'forgotten':
      return oldest - MARGIN_MICROS
    case 'op': {
      const times = world.model.opTimes.filter((time) => time > oldest + 4 * MARGIN_MICROS)
      if (times.length === 0) return null
      return times[Math.floor(at.dice * times.length)] + at.offset
    }
  }
}

/** Throws unless an answer is an error of a code. */
export function mustBe({ status, text }: WorldAnswer, expected: number, code: string): void {
  if (status === expected && text.includes(`"${code}"`)) return
  throw new Error(`expected ${expected} ${code}, got ${status} ${text.slice(0, 500)}`)
}

/** Goes through all pages, or reads the one stream. */
async function walk(world: ScanWorld, query: ScanQuery, asked: number | null): Promise<Found> {
  const columns = projectionOf(world.columns, query.columns)
  const rows: string[] = []
  let snapshot = -1
  let token: string | null = null
  for (let page = 0; ; page++) {
    const request = scanRequest(world.columns, query, asked, token)
    const answer = page === 0 ? await world.must(request) : await world.send(request)
    if (page > 0 && isForgotten(world, answer, snapshot)) {
      return { rows, snapshot, isCutOff: true }
    }
    if (answer.status !== 200) throw new Error(`page ${page}: ${answer.status} ${answer.text}`)
    const time = Number(answer.headers.get('nyala-timestamp'))
    if (page > 0 && time !== snapshot) throw new Error(`page ${page} is of another snapshot`)
    snapshot = time
    if (query.format !== 'json') {
      return { rows: streamRows(answer.text, columns, query), snapshot, isCutOff: false }
    }
    const { rows: more, rest } = jsonRows(answer.text)
    checkPage(query, more, rest, snapshot)
    rows.push(...more)
    token = (rest.next_page_token as string | undefined) ?? null
    if (token === null) return { rows, snapshot, isCutOff: false }
    world.count('next page')
    if (query.between.length > 0) await world.run(query.between[page % query.between.length])
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

/** The rows that a selection finds at a time, by ascending key. */
export function selectRows(
  world: ScanWorld,
  selection: ModelSelection & { readonly options: ValueOptions },
  time: number,
): FoundRow[] {
  const { lower, upper, predicates, options } = selection
  const { columns } = world
  const { keyColumns } = world.model
  const indexes = predicates.map(({ column }) => columns.findIndex(({ name }) => name === column))
  return world.model.rowsAt(time).filter(({ row }) => {
    if (lower !== null && compareTuples(keyColumns, row, lower) < 0) return false
    if (upper !== null && compareTuples(keyColumns, row, upper) >= 0) return false
    return predicates.every((predicate, i) => {
      const index = indexes[i]
      return satisfies(columns[index], predicate, row[index], options)
    })
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
  const columns = projectionOf(world.columns, query.columns)
  const indexes = columns.map((column) => world.columns.indexOf(column))
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
  { order }: ScanQuery,
  rows: readonly FoundRow[],
): readonly FoundRow[] {
  if (order === 'ORDERED') return rows
  if (order === 'DESCENDING') return rows.toReversed()
  const places = new Map(tabletIds.map((id, place) => [id, place]))
  const placeOf = ({ keyName }: FoundRow) => places.get(tabletOf.get(keyName) ?? '') ?? -1
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (a[i] !== b[i]) return i
  return -1
}

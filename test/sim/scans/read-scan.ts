/** Scans of a script: sent as a client would, through all pages, and held against the model. */

import { diffRows, selectRows } from './model-selection.ts'
import type { ModelColumn } from './model-value.ts'
import { isLatest, resolveDiff, resolveMoment } from './read-moments.ts'
import { analyze, checkAnalysis } from './scan-analysis.ts'
import { expectedRow } from './scan-answers.ts'
import { type ScanTimes, scanRequest } from './scan-requests.ts'
import type { ScanQuery } from './scan-script.ts'
import type { Check, ScanWorld, WorldAnswer } from './scan-world.ts'
import type { FoundRow } from './version-model.ts'
import { type FoundRows, walkScan } from './walk-pages.ts'

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
  const word = query.tokens === null ? kind : `${kind} by tokens`
  const found = await walkScan(world, query, columns, times)
  world.count(`${word} ${query.format} ${query.via}`)
  const analysis = query.isAnalyzed ? await analyze(world, query, times, found) : null
  return () => {
    checkFound(world, query, found, times, known)
    if (analysis !== null && !found.isCutOff) checkAnalysis(query, analysis, found)
  }
}

/** Judges what was found. All of `known` had been written before it was asked for. */
function checkFound(
  world: ScanWorld,
  query: ScanQuery,
  { rows, snapshot, isCutOff }: FoundRows,
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

function areSame(a: readonly FoundRow[], b: readonly FoundRow[]): boolean {
  return a.length === b.length && a.every(({ row }, i) => row === b[i].row)
}

/** Throws unless an answer is an error of a code. */
export function mustBe({ status, text }: WorldAnswer, expected: number, code: string): void {
  if (status === expected && text.includes(`"${code}"`)) return
  throw new Error(`expected ${expected} ${code}, got ${status} ${text.slice(0, 500)}`)
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
  // Each token has a limit of its own, and which rows it gives is its affair.
  const isPart = query.tokens !== null && query.limit !== null
  const texts = ordered.map(({ row }) => {
    return expectedRow(
      columns,
      indexes.map((index) => row[index]),
      query,
    )
  })
  const expected = isPart ? texts : texts.slice(0, limit)
  if (isPart) {
    checkPart(found, expected)
    return
  }
  const at = firstDifference(found, expected)
  if (at === -1 || isWithoutSome(found, texts, ordered, limit)) return
  throw new Error(
    `${found.length} rows instead of ${expected.length}, row ${at}\n` +
      `found    ${found[at]}\nexpected ${expected[at]}`,
  )
}

/** Whether the rows found are those expected, but for some of those that may be missing. */
function isWithoutSome(
  found: readonly string[],
  texts: readonly string[],
  rows: readonly FoundRow[],
  limit: number,
): boolean {
  if (!rows.some(({ isOptional }) => isOptional)) return false
  // How many may have been left out so far: several ways to tell rows that look alike.
  let skips = new Set([0])
  for (const [i, text] of texts.entries()) {
    if (found.length === limit && [...skips].some((skip) => i - skip === limit)) return true
    const next = new Set<number>()
    for (const skip of skips) {
      if (found[i - skip] === text) next.add(skip)
      if (rows[i].isOptional === true) next.add(skip + 1)
    }
    skips = next
  }
  return skips.has(texts.length - found.length)
}

/** Throws unless each row that was found is expected, as often as it was found. */
function checkPart(found: readonly string[], expected: readonly string[]): void {
  const counts = new Map<string, number>()
  for (const row of expected) counts.set(row, (counts.get(row) ?? 0) + 1)
  for (const row of found) {
    const count = counts.get(row) ?? 0
    if (count === 0) throw new Error(`a token gives a row that it must not: ${row}`)
    counts.set(row, count - 1)
  }
}

/** Tablets come one after the other, or all rows by key; inside a tablet rows are always by key. */
function inOrder(
  { tabletIds, tabletOf }: ScanWorld,
  { order, diff, tokens }: ScanQuery,
  rows: readonly FoundRow[],
): readonly FoundRow[] {
  if (tokens !== null) return byTablet({ tabletIds, tabletOf }, rows)
  if (order === 'ORDERED' || diff !== null) return rows
  if (order === 'DESCENDING') return rows.toReversed()
  return byTablet({ tabletIds, tabletOf }, rows)
}

function byTablet(
  { tabletIds, tabletOf }: Pick<ScanWorld, 'tabletIds' | 'tabletOf'>,
  rows: readonly FoundRow[],
): readonly FoundRow[] {
  const places = new Map(tabletIds.map((id, place) => [id, place]))
  const placeOf = ({ keyName }: FoundRow) => places.get(tabletOf.get(keyName) ?? '') ?? -1
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (a[i] !== b[i]) return i
  return -1
}

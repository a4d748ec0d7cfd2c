/** Reads of rows, page by page or as one stream, by tokens or without. */

import { Prng } from '../../../src/util/prng.ts'
import { shuffled } from './draw-table.ts'
import type { ModelColumn } from './model-value.ts'
import { heardHeaders, mayBeForgotten } from './read-moments.ts'
import { jsonRows, streamRows } from './scan-answers.ts'
import {
  type ModelRequest,
  type ScanTimes,
  scanRequest,
  scanTokensRequest,
  tokenScanRequest,
} from './scan-requests.ts'
import type { ModelTokens, ScanQuery } from './scan-script.ts'
import type { ScanWorld } from './scan-world.ts'

/** What a scan found: rows as texts, in order. */
export interface FoundRows {
  readonly rows: readonly string[]
  readonly snapshot: number
  /** Whether history moved over the snapshot in the meantime, so that rows may be missing. */
  readonly isCutOff: boolean
}

/** Pages of a walk behind which something happens. */
const DISTURBED_PAGES_MAX = 100

/** Reads all rows of a scan. `columns` are those of its rows. */
export async function walkScan(
  world: ScanWorld,
  query: ScanQuery,
  columns: readonly ModelColumn[],
  times: ScanTimes,
): Promise<FoundRows> {
  if (query.tokens !== null) return walkTokens(world, query, columns, times, query.tokens)
  return walkPages(world, query, columns, (pageToken) => {
    return scanRequest(world.columns, query, times, pageToken)
  })
}

/** Reads a scan by its tokens, in any order. */
async function walkTokens(
  world: ScanWorld,
  query: ScanQuery,
  columns: readonly ModelColumn[],
  times: ScanTimes,
  { targetBytes, seed }: ModelTokens,
): Promise<FoundRows> {
  const { text } = await world.must({
    ...scanTokensRequest(world.columns, query, times, targetBytes),
    headers: heardHeaders(world, query.at),
  })
  const { tokens, snapshot_timestamp: snapshot } = JSON.parse(text) as {
    readonly tokens: readonly { readonly scan_token: string }[]
    readonly snapshot_timestamp: number
  }
  world.count('scan tokens', tokens.length)
  const parts: (readonly string[])[] = tokens.map(() => [])
  let isCutOff = false
  for (const [count, index] of shuffled(new Prng(seed), [...tokens.keys()]).entries()) {
    const { scan_token: token } = tokens[index]
    if (query.between.length > 0) await world.run(query.between[count % query.between.length])
    if (mayBeForgotten(world, snapshot)) return { rows: [], snapshot, isCutOff: true }
    const found = await walkPages(world, { ...query, between: [] }, columns, (pageToken) => {
      return tokenScanRequest(query, token, pageToken)
    })
    if (found.snapshot !== snapshot) throw new Error(`a token reads at ${found.snapshot}`)
    if (found.rows.length > (query.limit ?? Number.POSITIVE_INFINITY)) {
      throw new Error(`a token gives ${found.rows.length} rows, its limit is ${query.limit}`)
    }
    isCutOff ||= found.isCutOff
    // Tokens stand in the order of their keys, whatever that of their rows is.
    parts[index] = query.order === 'DESCENDING' ? found.rows.toReversed() : found.rows
  }
  return { rows: parts.flat(), snapshot, isCutOff }
}

/** Goes through all pages, or reads the one stream. */
async function walkPages(
  world: ScanWorld,
  query: ScanQuery,
  columns: readonly ModelColumn[],
  requestFor: (pageToken: string | null) => ModelRequest,
): Promise<FoundRows> {
  const { between, format } = query
  const rows: string[] = []
  let snapshot = -1
  let token: string | null = null
  for (let page = 0; ; page++) {
    const request = requestFor(token)
    const headers = heardHeaders(world, query.at)
    const answer =
      page === 0 ? await world.must({ ...request, headers }) : await world.send(request)
    if (page > 0 && answer.status === 410 && mayBeForgotten(world, snapshot)) {
      return { rows, snapshot, isCutOff: true }
    }
    if (answer.status !== 200) throw new Error(`page ${page}: ${answer.status} ${answer.text}`)
    const time = Number(answer.headers.get('nyala-timestamp'))
    if (page > 0 && time !== snapshot) throw new Error(`page ${page} is of another snapshot`)
    snapshot = time
    if (format !== 'json') {
      return { rows: await streamRows(answer.bytes, columns, query), snapshot, isCutOff: false }
    }
    const { rows: more, rest } = jsonRows(answer.text)
    checkPage(query, more, rest, snapshot)
    rows.push(...more)
    token = (rest.next_page_token as string | undefined) ?? null
    if (token === null) return { rows, snapshot, isCutOff: false }
    world.count('next page')
    const isDisturbed = between.length > 0 && page < DISTURBED_PAGES_MAX
    if (isDisturbed) await world.run(between[page % between.length])
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

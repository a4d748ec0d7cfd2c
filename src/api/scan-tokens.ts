/** Cuts a scan into parts that can be read by whomever, each by a token. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { SCAN_TOKEN_COUNT_MAX, SCAN_TOKENS_LENGTH_MAX } from '../common/limits.ts'
import { pruneInLists } from '../common/prune-in-lists.ts'
import type { ScanSpec } from '../common/scan-spec.ts'
import { StatusError } from '../common/status.ts'
import type { ValueOptions } from '../common/value-options.ts'
import type { ReadSession } from '../router/read-session.ts'
import { planScan, type ScanPlan } from '../router/scan-plan.ts'
import { encodeScanToken, type ScanToken } from '../router/scan-token.ts'
import type { SplitKeysAnswer } from '../wire/tablet-protocol.ts'
import type { Front } from './app-env.ts'
import { diffStart, shownInDiff } from './diff-query.ts'
import type { Holding } from './front-memory.ts'
import { jsonResponse } from './json-text.ts'
import type { ScanQuery } from './scan-query.ts'

/** How to cut. */
export interface ScanTokenOptions {
  readonly values: ValueOptions
  /** Bytes of a part, about; null: a part is a tablet. */
  readonly targetBytes: number | null
}

/** A token as it is answered. */
interface ShownToken {
  readonly scan_token: string
  readonly tablet_id: string
  readonly estimated_bytes: number
}

/** What is read of a tablet that no write ever reached. */
const NOTHING: SplitKeysAnswer = { keys: [], bytes: [0] }

/** Answers with the tokens of a scan. Throws: what a scan can fail with before its first row. */
export async function answerScanTokens(
  front: Front,
  session: ReadSession,
  query: ScanQuery,
  options: ScanTokenOptions,
  holding: Holding,
): Promise<Response> {
  const { schema, entry } = session.table
  const columns = query.columnsFor(schema)
  const asked = query.snapshotFor(front, entry)
  const { diff, order, limit } = query
  const diffFrom = diff === null ? null : diffStart(front, entry, diff, asked)
  if (diff !== null) shownInDiff(columns, diff, schema.columns)
  const spec = query.specFor(schema, options.values)
  const columnIds = columns.map(({ id }) => id)
  const plan = planScan(session.table, { columnIds, spec, order, limit, diffFrom })
  const snapshot = asked ?? (await pickSnapshot(session, plan, query))
  const splits = await splitTablets(session, plan, snapshot, options)
  await session.confirm()
  const tokenDiff =
    diff === null || diffFrom === null
      ? null
      : { from: diffFrom, isDeletedName: diff.isDeletedName }
  const common = { snapshot, columnIds, order, limit, diff: tokenDiff }
  const maker = new TokenMaker(session, holding, common)
  for (const [i, split] of splits.entries()) await maker.addTablet(plan, plan.tablets[i], split)
  return jsonResponse({ tokens: maker.tokens, snapshot_timestamp: snapshot }, 200, {
    'Nyala-Timestamp': String(snapshot),
  })
}

/** A snapshot that all tokens are read at. */
async function pickSnapshot(
  session: ReadSession,
  { tablets }: ScanPlan,
  { mode }: ScanQuery,
): Promise<Timestamp> {
  const isClocks = tablets.length === 0 || mode === 'READ_YOUR_WRITES'
  return isClocks ? session.context.ports.clock.now() : session.pickSnapshot(tablets)
}

function splitTablets(
  session: ReadSession,
  { tablets, spec, request }: ScanPlan,
  snapshot: Timestamp,
  { targetBytes }: ScanTokenOptions,
): Promise<SplitKeysAnswer[]> {
  const { columnIds } = request
  const { lowerKey, upperKey } = spec
  const partCountMax = Math.max(1, Math.floor(SCAN_TOKEN_COUNT_MAX / tablets.length))
  const what = { columnIds, lowerKey, upperKey, snapshot, targetBytes, partCountMax }
  return Promise.all(
    tablets.map(async (index) => {
      const { value } = await session.call(index, (stub, call) =>
        stub.splitKeys({ ...call, ...what }),
      )
      return value ?? NOTHING
    }),
  )
}

/** Makes the tokens of a scan, tablet after tablet. */
class TokenMaker {
  readonly tokens: ShownToken[] = []
  readonly #session: ReadSession
  readonly #holding: Holding
  readonly #common: Omit<ScanToken, 'tabletId' | 'spec'>
  #length = 0

  constructor(
    session: ReadSession,
    holding: Holding,
    common: Omit<ScanToken, 'tabletId' | 'spec'>,
  ) {
    this.#session = session
    this.#holding = holding
    this.#common = common
  }

  /** Adds a token for each part of a tablet. Throws: PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE. */
  async addTablet(plan: ScanPlan, index: number, { keys, bytes }: SplitKeysAnswer): Promise<void> {
    const { table } = this.#session
    const { lowerKey, upperKey } = plan.spec
    // What was asked, between the narrower bounds: of a list only what the tablet can hold.
    const { predicates } = this.#heldBy(index, plan.request.spec)
    const tabletId = table.tabletId(index)
    for (let part = 0; part <= keys.length; part++) {
      const bounds = {
        lowerKey: part === 0 ? lowerKey : keys[part - 1],
        upperKey: part === keys.length ? upperKey : keys[part],
      }
      const token = { ...this.#common, tabletId, spec: { predicates, ...bounds } }
      const text = await encodeScanToken(table.entry, token)
      this.#take(text.length)
      this.tokens.push({ scan_token: text, tablet_id: tabletId, estimated_bytes: bytes[part] })
    }
  }

  #heldBy(index: number, spec: ScanSpec): ScanSpec {
    const { schema, entry, partitions } = this.#session.table
    return pruneInLists(schema, entry.partitionSchema, partitions[index], spec)
  }

  #take(length: number): void {
    this.#length += length
    if (this.#length > SCAN_TOKENS_LENGTH_MAX) {
      throw new StatusError(
        'PAYLOAD_TOO_LARGE',
        `scan tokens take more than the limit of ${SCAN_TOKENS_LENGTH_MAX} characters together; ` +
          'ask for larger ones, or for less in one scan',
        { limit: SCAN_TOKENS_LENGTH_MAX },
      )
    }
    this.#holding.grow(this.#length)
  }
}

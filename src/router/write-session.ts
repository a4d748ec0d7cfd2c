/**
 * One request's rows on their way to the tablets: cut into shares, sent, added up.
 *
 *   decoded rows ──► tablet by partition ──► one ShareBuilder a tablet ──► share ──► tablet object
 *
 * Where shares are cut depends on the rows alone, never on time or on how the body arrived, so that
 * a repeat of a request with the same Idempotency-Key cuts the same shares: a tablet's share ends
 * before the row that would take it over SHARE_BYTES_MAX or SHARE_ROW_COUNT_MAX, and when all
 * shares together pass SHARES_BYTES_MAX the largest is sent.
 *
 *  I1  a tablet has at most one share of a request in flight, so ops on one key keep their order;
 *  I2  memory is bounded by SHARES_BYTES_MAX and the calls in flight, not by the body.
 */

import { LANE_BYTES } from '../common/data-type.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { SHARE_BYTES_MAX, SHARE_ROW_COUNT_MAX, SHARES_BYTES_MAX } from '../common/limits.ts'
import type { RowBlock } from '../common/row-block.ts'
import type { Schema } from '../common/schema.ts'
import { StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'
import type { TableRef } from '../wire/catalog-protocol.ts'
import type { ResultKey, WriteAnswer } from '../wire/tablet-protocol.ts'
import type { OpenTable } from './open-table.ts'
import { RowErrorCollector } from './row-error-collector.ts'
import { addRowSizes, type Share, ShareBuilder } from './share-builder.ts'
import type { TableCache } from './table-cache.ts'
import { type CallContext, callTablet, TabletUnreachable } from './tablet-caller.ts'

/** Times one share is sent again because the table changed underneath. */
const STALE_COUNT_MAX = 3

/** Rows on their way in: what decoders give. */
export interface RowSource {
  /** All columns of the schema, in schema order, with operations. */
  readonly block: RowBlock
  /** Request row number of each row; at least `block.rowCount` of them. */
  readonly rowIndexes: Uint32Array
}

/** What became of a request's rows. */
export interface WriteSummary {
  readonly timestamp: Timestamp | null
  readonly rows: number
  readonly inserted: number
  readonly upserted: number
  readonly updated: number
  readonly deleted: number
  readonly ignored: number
  readonly failed: number
}

/** What a write session needs to know of its request. */
export interface WriteOptions {
  readonly ref: TableRef
  /** Scope of the client's Idempotency-Key, or null: then the front makes a key of its own. */
  readonly clientKey: string | null
  /** The catalog named the table since the request began. */
  readonly isConfirmed?: boolean
}

/** What one tablet has in the making. */
class TabletLane {
  readonly tabletId: string
  readonly builder: ShareBuilder
  bytes = 0
  rowCount = 0
  shareCount = 0
  inFlight: Promise<void> | null = null

  constructor(tabletId: string, schema: Schema) {
    this.tabletId = tabletId
    this.builder = new ShareBuilder(schema)
  }
}

/** Sends the rows of one request. `add` and `finish` must not overlap. */
export class WriteSession {
  readonly errors = new RowErrorCollector()
  /** The first failure of a tablet to take its share; nothing more is sent after it. */
  failure: StatusError | null = null
  /** Rows sent whose fate is unknown. */
  unknownCount = 0
  /** Whether `failure` is that the table is not the one that the rows were decoded and cut for. */
  isPlanStale = false

  readonly #context: CallContext
  readonly #cache: TableCache
  readonly #options: WriteOptions
  readonly #key: string
  readonly #lanes = new Map<number, TabletLane>()
  readonly #fixedRowBytes: number
  /** The table by which rows are cut into shares: the same for all of a request's rows. */
  readonly #plan: OpenTable
  /** The table as it was heard of last, for calls. */
  #table: OpenTable
  #isConfirmed: boolean
  #pendingBytes = 0
  #assigned = new Int32Array(0)
  #sizes = new Float64Array(0)
  #rows = new Uint32Array(0)
  readonly #ends: Uint32Array
  readonly #totals = { inserted: 0, upserted: 0, updated: 0, deleted: 0, ignored: 0 }
  #createdCount = 0
  #timestamp: Timestamp | null = null
  #answeredShares = 0
  #replayedShares = 0

  constructor(context: CallContext, cache: TableCache, table: OpenTable, options: WriteOptions) {
    this.#context = context
    context.budget.coverTablets(table.tabletCount)
    this.#cache = cache
    this.#plan = table
    this.#table = table
    this.#isConfirmed = options.isConfirmed ?? false
    this.#options = options
    this.#key = options.clientKey ?? context.ports.randomId()
    this.#ends = new Uint32Array(table.tabletCount)
    let bytes = 1
    for (const column of table.schema.columns) bytes += (LANE_BYTES[column.physical] || 4) + 0.25
    this.#fixedRowBytes = bytes
  }

  /** Whether something was answered and all of it from memory of an earlier request. */
  get isReplayed(): boolean {
    return this.#answeredShares > 0 && this.#answeredShares === this.#replayedShares
  }

  /** Takes rows in. Resolves when there is room for more; the source may be reused then. */
  async add(source: RowSource): Promise<void> {
    const { block, rowIndexes } = source
    const count = block.rowCount
    if (count === 0 || this.failure !== null) return
    this.#prepare(block)
    if (this.#assign(block)) await this.confirm()
    if (this.failure !== null) return
    let segment = 0
    for (let row = 0; row < count; row++) {
      const index = this.#assigned[row]
      if (index < 0) {
        this.errors.addOutOfRange(rowIndexes[row])
        continue
      }
      const lane = this.#lane(index)
      const size = this.#sizes[row]
      if (lane.rowCount === SHARE_ROW_COUNT_MAX || lane.bytes + size > SHARE_BYTES_MAX) {
        this.#gather(source, segment, row)
        segment = row
        await this.#send(lane)
        if (this.failure !== null) return
      }
      lane.rowCount++
      lane.bytes += size
      this.#pendingBytes += size
      if (this.#pendingBytes > SHARES_BYTES_MAX) {
        this.#gather(source, segment, row + 1)
        segment = row + 1
        await this.#sendLargest()
        if (this.failure !== null) return
      }
    }
    this.#gather(source, segment, count)
  }

  /**
   * Asks the catalog, unless that is known, whether the table is as this front remembers it: before
   * a row is refused for what the table does not have, a range or a column. If it is not, that is
   * the `failure`.
   */
  async confirm(): Promise<void> {
    if (this.#isConfirmed || this.failure !== null) return
    try {
      await this.#refresh()
      this.#isConfirmed = true
      if (this.#table.entry.version === this.#plan.entry.version) return
      this.isPlanStale = true
      throw new StatusError('ABORTED', 'table was altered during the request')
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      this.failure ??= error
    }
  }

  /** Sends what is left and waits for every answer. */
  async finish(): Promise<WriteSummary> {
    if (this.failure === null) {
      await Promise.all([...this.#lanes.values()].map((lane) => this.#sendLast(lane)))
    }
    await this.settle()
    const { inserted, upserted, updated, deleted, ignored } = this.#totals
    const failed = this.errors.failedCount
    const rows = inserted + upserted + updated + deleted + ignored + failed
    return { timestamp: this.#timestamp, rows, ...this.#totals, failed }
  }

  /** Rows applied so far, refused ones left out. */
  get appliedCount(): number {
    const { inserted, upserted, updated, deleted, ignored } = this.#totals
    return inserted + upserted + updated + deleted + ignored
  }

  /** Rows that came to life so far: inserted, or upserted where there was none. */
  get createdCount(): number {
    return this.#createdCount
  }

  /** Waits for the shares in flight and sends nothing more. */
  async settle(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.inFlight ?? undefined))
  }

  /** Finds the tablet of every row. Returns: whether a row lies in no range. */
  #assign(block: RowBlock): boolean {
    const { partitioner, schema } = this.#plan
    const keys = block.columns.slice(0, schema.keyColumnCount)
    partitioner.assign(keys, block.rowCount, this.#assigned)
    for (let row = 0; row < block.rowCount; row++) if (this.#assigned[row] < 0) return true
    return false
  }

  #prepare(block: RowBlock): void {
    if (block.rowCount > this.#assigned.length) {
      const capacity = Math.max(block.rowCount, this.#assigned.length * 2, 64)
      this.#assigned = new Int32Array(capacity)
      this.#sizes = new Float64Array(capacity)
      this.#rows = new Uint32Array(capacity)
    }
    addRowSizes(block, this.#fixedRowBytes, this.#sizes)
  }

  #lane(index: number): TabletLane {
    let lane = this.#lanes.get(index)
    if (lane === undefined) {
      lane = new TabletLane(this.#plan.tabletId(index), this.#plan.schema)
      this.#lanes.set(index, lane)
    }
    return lane
  }

  /** Moves rows `[start, end)` of the source to the builders of their tablets: a counting sort. */
  #gather(source: RowSource, start: number, end: number): void {
    const assigned = this.#assigned
    const ends = this.#ends
    ends.fill(0)
    for (let row = start; row < end; row++) if (assigned[row] >= 0) ends[assigned[row]]++
    let total = 0
    for (let index = 0; index < ends.length; index++) {
      const count = ends[index]
      ends[index] = total
      total += count
    }
    for (let row = start; row < end; row++) {
      if (assigned[row] >= 0) this.#rows[ends[assigned[row]]++] = row
    }
    let from = 0
    for (let index = 0; index < ends.length; index++) {
      const to = ends[index]
      if (to > from) {
        const { builder } = this.#lane(index)
        builder.append(source.block, source.rowIndexes, this.#rows, from, to)
      }
      from = to
    }
  }

  async #sendLargest(): Promise<void> {
    let largest = -1
    let bytes = -1
    for (const [index, lane] of this.#lanes) {
      if (lane.bytes > bytes || (lane.bytes === bytes && index < largest)) {
        largest = index
        bytes = lane.bytes
      }
    }
    await this.#send(this.#lane(largest))
  }

  async #sendLast(lane: TabletLane): Promise<void> {
    if (lane.rowCount > 0) await this.#send(lane)
    await lane.inFlight
  }

  /** Starts sending a tablet's share once its share before was answered. */
  async #send(lane: TabletLane): Promise<void> {
    if (lane.inFlight !== null) await lane.inFlight
    if (this.failure !== null) return
    assert(lane.builder.rowCount === lane.rowCount, 'rows of a share were not gathered')
    const share = lane.builder.take()
    const number = lane.shareCount++
    this.#pendingBytes -= lane.bytes
    lane.bytes = 0
    lane.rowCount = 0
    const delivery = this.#deliver(lane, share, number).then(() => {
      lane.inFlight = null
    })
    // Whoever waits for the lane sees a failure; until then it is not one that nobody handles.
    delivery.catch(() => null)
    lane.inFlight = delivery
  }

  /**
   * Delivers a share and books what came back. Never rejects with a StatusError: that is `failure`.
   */
  async #deliver(lane: TabletLane, share: Share, number: number): Promise<void> {
    try {
      const answer = await this.#call(lane, share, await this.#resultKey(share, number))
      this.#book(answer, share)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      this.failure ??= error
      if (error instanceof TabletUnreachable) this.unknownCount += share.rowIndexes.length
    }
  }

  async #resultKey(share: Share, number: number): Promise<ResultKey> {
    if (this.#options.clientKey === null) {
      return { key: this.#key, share: number, digest: '', isInternal: true }
    }
    return { key: this.#key, share: number, digest: await digestOf(share.block), isInternal: false }
  }

  async #call(lane: TabletLane, share: Share, resultKey: ResultKey): Promise<WriteAnswer> {
    for (let attempt = 0; attempt < STALE_COUNT_MAX; attempt++) {
      const index = this.#table.indexOf(lane.tabletId)
      if (index < 0) throw new StatusError('ABORTED', 'table was altered during the request')
      const answer = await callTablet(this.#context, this.#table, index, (stub, call) =>
        stub.write({ ...call, block: share.block, resultKey }),
      )
      if (answer.kind === 'ok') return answer.value
      await this.#refresh()
    }
    throw new StatusError('SERVICE_UNAVAILABLE', 'table is being changed')
  }

  /** Fetches the table again after a tablet said that it is not what the front believes. */
  async #refresh(): Promise<void> {
    const { ref } = this.#options
    const fresh = await this.#cache.refresh(ref)
    if (fresh.entry.id !== this.#table.entry.id) {
      this.isPlanStale = true
      throw new StatusError('ABORTED', 'table was dropped and created again during the request')
    }
    this.#table = fresh
  }

  #book(answer: WriteAnswer, share: Share): void {
    this.#answeredShares++
    if (answer.isReplayed) this.#replayedShares++
    this.#totals.inserted += answer.inserted
    this.#totals.upserted += answer.upserted
    this.#totals.updated += answer.updated
    this.#totals.deleted += answer.deleted
    this.#totals.ignored += answer.ignored
    this.#createdCount += answer.created
    this.errors.addShare(this.#table.schema, answer.errors, share.rowIndexes)
    if (answer.timestamp !== null) {
      this.#timestamp = Math.max(this.#timestamp ?? 0, answer.timestamp)
    }
  }
}

/**
 * SHA-256 of a share, hexadecimal: what tells a repeated share from another one under the same key.
 */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>),
  )
  let text = ''
  for (let i = 0; i < 16; i++) text += digest[i].toString(16).padStart(2, '0')
  return text
}

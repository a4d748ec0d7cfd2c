/**
 * One tablet: a part of a table, with one writer. Pure and synchronous; storage, time and
 * randomness are ports.
 *
 *   open ──► uninitialized ──initialize──► running ──┐
 *     └────────────────────────────────────►  ▲  │   │ an assertion, or a failure of the storage
 *              storage has a superblock       └──┘   ▼
 *                                  every request   broken: every call asserts; to be opened again
 *
 * All memory can vanish at any moment, and then `open` brings it back: a request that was answered
 * is there, one that was not is there as a whole or not at all. Between two calls no op is in
 * flight.
 *
 *  I1  what `open` builds from the storage equals what is in memory;
 *  I2  a snapshot once shown never changes (tablet-clock.ts);
 *  I3  nothing is written before `initialize`.
 */

import { PageCache } from '../cfile/page-cache.ts'
import { type Clock, TIMESTAMP_MIN, type Timestamp } from '../common/hybrid-clock.ts'
import { PAGE_CACHE_BYTES_MAX, TABLET_IDENTITY_BYTES_MAX } from '../common/limits.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { assert } from '../util/assert.ts'
import { utf8Encode } from '../util/bytes.ts'
import type { Prng } from '../util/prng.ts'
import { type OpenedAggregate, openAggregate } from './aggregate/open-aggregate.ts'
import { bootstrap } from './bootstrap.ts'
import { MaintenanceManager } from './maintenance/maintenance-manager.ts'
import type { MemoryAccountant } from './memory-accountant.ts'
import type { TabletStore } from './ports.ts'
import {
  checkColumnIds,
  checkDiff,
  checkHistory,
  type LookupFound,
  lookupTabletRows,
  type OpenedScan,
  openTabletScan,
} from './read-path.ts'
import { ResultCache, type StoredResult } from './result-cache.ts'
import { type KeySplit, splitKeys } from './split-keys.ts'
import {
  decodeSuperblock,
  emptyMarks,
  encodeIdentity,
  type Superblock,
  type TabletIdentity,
} from './superblock.ts'
import { TabletClock } from './tablet-clock.ts'
import { DEFAULT_TABLET_LAYOUT, type TabletLayout } from './tablet-layout.ts'
import { TabletParts } from './tablet-parts.ts'
import { onDiskBytes } from './tablet-report.ts'
import type {
  AggregateRequest,
  LookupRequest,
  OfferRequest,
  ResultKey,
  ScanRequest,
  SplitKeysRequest,
  TabletReply,
  TabletRequest,
  WriteRequest,
  WriteResult,
} from './tablet-request.ts'
import { WAL_GENERATION_FIRST, Wal } from './wal.ts'
import { writeShare } from './write-section.ts'

/** What a tablet is given. */
export interface TabletOptions {
  readonly store: TabletStore
  readonly clock: Clock
  /** Seeded so that clients cannot guess what it gives. */
  readonly prng: Prng
  /** Shared by all tablets of the isolate. */
  readonly accountant: MemoryAccountant
  /** Shared likewise; left out: one of its own. */
  readonly cache?: PageCache
  /** Left out: the usual one. */
  readonly layout?: TabletLayout
}

/** What operators and tests count. */
export interface TabletFigures {
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly liveRowCount: number
  readonly memoryBytes: number
  readonly walBytes: number
  /** Bytes of rowsets and WAL. */
  readonly onDiskBytes: number
  readonly rowSetCount: number
}

/** Bytes of maintenance to a byte written where writes help: faster than memory fills. */
const HELP_RATIO = 2
/** Steps that a write makes at most before it is refused: a whole flush takes fewer. */
const RELIEF_STEP_COUNT_MAX = 256

/** See the file's header. */
export class Tablet {
  readonly #options: TabletOptions
  readonly #keyHashSeed: number
  readonly #clock: TabletClock
  #parts: TabletParts | null
  /** While a call is under way, and for ever after one that failed as none may. */
  #isBroken = false
  #maintenance: MaintenanceManager | null = null
  /** Bytes of maintenance that writes owe, less than a step. */
  #helpOwedBytes = 0
  /** While it is being initialized: no parts are there to say that they differ from the store. */
  #isCommitting = false

  private constructor(
    options: TabletOptions,
    keyHashSeed: number,
    clock: TabletClock,
    parts: TabletParts | null,
  ) {
    this.#options = options
    this.#keyHashSeed = keyHashSeed
    this.#clock = clock
    this.#parts = parts
  }

  /**
   * The tablet in a storage, which may be new. Writes nothing.
   * Throws: CORRUPTION that names what is damaged. Cost: one pass over the live WAL.
   */
  static open(options: TabletOptions): Tablet {
    const { store, clock: clockPort, prng, accountant } = options
    const cache = options.cache ?? new PageCache(PAGE_CACHE_BYTES_MAX)
    const layout = options.layout ?? DEFAULT_TABLET_LAYOUT
    const keyHashSeed = prng.uint32() + prng.below(2 ** 21) * 2 ** 32
    const stored = store.readSuperblock()
    if (stored === null) {
      const clock = new TabletClock(clockPort, TIMESTAMP_MIN, TIMESTAMP_MIN)
      return new Tablet(options, keyHashSeed, clock, null)
    }
    const superblock = decodeSuperblock(stored, keyHashSeed)
    const { parts, clock } = bootstrap({ store, cache, layout, superblock, clock: clockPort })
    accountant.hold(parts, parts.identity.tabletId, parts.heldBytes)
    return new Tablet(options, keyHashSeed, clock, parts)
  }

  /** Whether the tablet was ever made part of a table. */
  get isInitialized(): boolean {
    return this.#parts !== null
  }

  /**
   * The tablet's insides, for the checks and reports of this folder; null before it is initialized.
   */
  get parts(): TabletParts | null {
    return this.#parts
  }

  /** The tablet's version of its table; null before it is initialized. */
  get tableVersion(): number | null {
    return this.#parts?.identity.tableVersion ?? null
  }

  /** Time of the newest op applied; TIMESTAMP_MIN before the first. */
  get lastApplied(): Timestamp {
    return this.#parts?.lastApplied ?? TIMESTAMP_MIN
  }

  /** Time that a message to others carries: of the newest op, or now. */
  get newestTime(): Timestamp {
    return this.#clock.newest
  }

  /** Counters since it was opened. */
  figures(): TabletFigures {
    const { store } = this.#options
    return {
      rowsRead: store.rowsRead,
      rowsWritten: store.rowsWritten,
      liveRowCount: this.#parts?.liveRowCount ?? 0,
      memoryBytes: this.#parts?.heldBytes ?? 0,
      walBytes: this.#parts?.wal.bytes ?? 0,
      onDiskBytes: this.#parts === null ? 0 : onDiskBytes(this.#parts),
      rowSetCount: this.#parts?.rowSets.length ?? 0,
    }
  }

  /**
   * Makes the tablet part of a table: writes the superblock and the first WAL generation, 3 rows,
   * in one transaction. A tablet that is initialized already stays as it is.
   *
   * Requires: `tabletId` is one of the table's tablets, and this storage is that tablet's.
   * Throws: ILLEGAL_STATE when the table's definition is too large for a tablet.
   */
  initialize(table: TableEntry, tabletId: string): void {
    this.#run(() => {
      if (this.#parts !== null) {
        assert(this.#parts.identity.tabletId === tabletId, 'a tablet stays what it is')
        return
      }
      const { store, clock } = this.#options
      const cache = this.#options.cache ?? new PageCache(PAGE_CACHE_BYTES_MAX)
      const identity = identityOf(table, tabletId)
      const superblock = firstSuperblock(identity, this.#keyHashSeed)
      checkIdentitySize(identity)
      this.#isCommitting = true
      store.transact(() => {
        const wal = Wal.create(store)
        const results = new ResultCache()
        const parts = new TabletParts({
          store,
          clock,
          cache,
          layout: this.#options.layout ?? DEFAULT_TABLET_LAYOUT,
          superblock,
          results,
          wal,
        })
        parts.mvcc.adjustNewOpLowerBound(this.#clock.last)
        parts.writeSuperblock()
        this.#parts = parts
      })
      this.#isCommitting = false
    })
  }

  /**
   * Applies a share of a write: one WAL entry, or none when nothing was applied and no key asks to
   * remember it.
   *
   * Throws: INVALID_ARGUMENT, SERVICE_UNAVAILABLE (memory or WAL full) or THROTTLED (too many
   * keys); then nothing was applied. Returns: rows that fail are data, not errors; a repeat with a
   * key gives the first result.
   */
  write(request: WriteRequest): TabletReply<WriteResult> {
    const { accountant } = this.#options
    const { length } = request.block
    if (accountant.isOverHard(length)) this.#relieve(length)
    const reply = this.#answer(request, (parts) =>
      writeShare({ parts, clock: this.#clock, accountant }, request),
    )
    if (reply.kind === 'ok' && this.#mustHelp) this.#help(length)
    return reply
  }

  /** Whether writes work for the memory that they take: the alarm alone does not keep up. */
  get #mustHelp(): boolean {
    return this.#options.accountant.isOverSoft() || this.#parts?.isBehind === true
  }

  /** Makes room before a write is refused, as far as this tablet can. */
  #relieve(bytes: number): void {
    const { accountant } = this.#options
    for (let step = 0; step < RELIEF_STEP_COUNT_MAX && accountant.isOverHard(bytes); step++) {
      if (!this.stepMaintenance()) return
    }
  }

  /** Lets a write work for the memory that it took. */
  #help(bytes: number): void {
    const { stepBytes } = this.#options.layout ?? DEFAULT_TABLET_LAYOUT
    this.#helpOwedBytes += bytes * HELP_RATIO
    while (this.#helpOwedBytes >= stepBytes) {
      this.#helpOwedBytes = this.stepMaintenance() ? this.#helpOwedBytes - stepBytes : 0
    }
  }

  /**
   * What flushes and compacts the tablet. Its steps are made by `stepMaintenance`. Requires: the
   * tablet is initialized.
   */
  get maintenance(): MaintenanceManager {
    const { accountant } = this.#options
    assert(this.#parts !== null, 'a tablet without a table has nothing to maintain')
    this.#maintenance ??= new MaintenanceManager({ parts: this.#parts, accountant })
    return this.#maintenance
  }

  /**
   * Makes one step of maintenance. Returns whether there is more to do at once. Throws: what leaves
   * the tablet unusable; an op that fails otherwise is ended, and noted.
   */
  stepMaintenance(): boolean {
    return this.maintain(() => this.maintenance.step(this.#clock.physical).isBusy) === true
  }

  /**
   * Opens a scan at a snapshot; with none asked for, at the tablet's present, which shows every op
   * applied here and is no older than the caller's clock.
   *
   * Throws: INVALID_ARGUMENT for a snapshot too far ahead or a column that is not there,
   * INVALID_SNAPSHOT for one older than the table's history, also where a diff begins. Returns: a
   * scanner that later writes do not disturb.
   */
  openScan(request: ScanRequest): TabletReply<OpenedScan> {
    return this.#answer(
      request,
      (parts) => {
        const snapshot = this.#snapshotOf(parts, request)
        const { diffFrom = null } = request
        if (diffFrom !== null) checkDiff(parts, diffFrom, snapshot, this.#clock.physical)
        return openTabletScan(parts, request, snapshot)
      },
      request.snapshot,
    )
  }

  /**
   * Opens an aggregation of the rows at a snapshot. Snapshots and errors as in `openScan`; whoever
   * opens it closes it.
   */
  openAggregate(request: AggregateRequest): TabletReply<OpenedAggregate> {
    return this.#answer(
      request,
      (parts) => openAggregate(parts, request, this.#snapshotOf(parts, request)),
      request.snapshot,
    )
  }

  /** Looks rows up by encoded key. Snapshots and errors as in `openScan`. */
  lookup(request: LookupRequest): TabletReply<LookupFound> {
    return this.#answer(
      request,
      (parts) => lookupTabletRows(parts, request, this.#snapshotOf(parts, request)),
      request.snapshot,
    )
  }

  /**
   * Promises that no later op gets a timestamp at or below a snapshot. Tells the newest op applied:
   * when that is above the snapshot, a reader of the latest rows takes a newer one.
   *
   * Throws: INVALID_ARGUMENT when the snapshot lies too far ahead. Cost: 1 row written when it is
   * further ahead than a restart bridges, else none.
   */
  offerSnapshot(request: OfferRequest): TabletReply<{ readonly lastApplied: Timestamp }> {
    return this.#answer(
      request,
      (parts) => {
        this.#clock.checkNotTooFar(request.snapshot)
        this.#promise(parts, request.snapshot)
        return { lastApplied: parts.lastApplied }
      },
      request.snapshot,
    )
  }

  /**
   * What is remembered of the first share of a key, whatever its digest; null when nothing is. A
   * client's key makes the tablet part of its table, so that it can remember what it did for it.
   *
   * Throws: CORRUPTION.
   */
  remembered(
    request: TabletRequest,
    key: Pick<ResultKey, 'key' | 'isInternal'>,
  ): TabletReply<StoredResult | null> {
    return this.#answer(
      request,
      (parts) => parts.results.peek({ ...key, share: 0 }, this.#clock.physical) ?? null,
      key.isInternal ? null : undefined,
    )
  }

  /**
   * Cuts a range of keys so that reading each part at a snapshot takes about as many bytes.
   * Snapshots and errors as in `openScan`.
   */
  splitKeys(request: SplitKeysRequest): TabletReply<KeySplit> {
    return this.#answer(
      request,
      (parts) => {
        checkColumnIds(parts.schema, request.columnIds)
        this.#snapshotOf(parts, request)
        return splitKeys(parts, request)
      },
      request.snapshot,
    )
  }

  /** Checks who asks whom about what, raises the clock, and does the work if the tablet can. */
  #answer<T>(
    request: TabletRequest,
    work: (parts: TabletParts) => T,
    snapshot?: Timestamp | null,
  ): TabletReply<T> {
    return this.#run(() => {
      const parts = this.#parts
      this.#clock.hear(request.clock)
      if (parts === null) return this.#uninitialized(request, snapshot)
      const { tableId, tabletId, tableVersion } = parts.identity
      if (request.tableId !== tableId || request.tabletId !== tabletId) {
        throw invalidArgument('request is for another tablet')
      }
      if (request.tableVersion !== tableVersion) {
        return { kind: 'stale', clock: this.#clock.newest, tableVersion }
      }
      const value = work(parts)
      this.#account(parts)
      return { kind: 'ok', clock: this.#clock.newest, value }
    })
  }

  /**
   * The reply of a tablet without rows. It keeps the promises of a read all the same: with no
   * snapshot asked for, the reply's clock is the one that was read at.
   */
  #uninitialized(
    request: TabletRequest,
    snapshot: Timestamp | null | undefined,
  ): TabletReply<never> {
    const newest = this.#clock.newest
    if (snapshot === undefined)
      return { kind: 'uninitialized', clock: newest, mustInitialize: true }
    if (snapshot !== null) this.#clock.checkNotTooFar(snapshot)
    const readAt = snapshot ?? Math.max(newest, request.clock)
    const mustInitialize = this.#clock.mustOutliveRestart(readAt)
    if (!mustInitialize) this.#clock.show(readAt)
    return { kind: 'uninitialized', clock: snapshot === null ? readAt : newest, mustInitialize }
  }

  /** The snapshot that a read sees, promised to stay what it is. */
  #snapshotOf(parts: TabletParts, request: Pick<ScanRequest, 'snapshot' | 'clock'>): Timestamp {
    const asked = request.snapshot
    if (asked !== null) {
      this.#clock.checkNotTooFar(asked)
      checkHistory(parts, asked, this.#clock.physical)
    }
    const snapshot = asked ?? Math.max(this.#clock.newest, request.clock)
    this.#promise(parts, snapshot)
    return snapshot
  }

  /** Keeps later ops above a snapshot, over restarts too. */
  #promise(parts: TabletParts, snapshot: Timestamp): void {
    const isStored = snapshot <= parts.clockMark || snapshot <= parts.wal.lastTimestamp
    if (!isStored && this.#clock.mustOutliveRestart(snapshot)) {
      parts.transact(() => parts.writeClockMark(snapshot))
    }
    this.#clock.show(snapshot)
    parts.mvcc.adjustNewOpLowerBound(snapshot)
  }

  /**
   * Runs maintenance: work that may call `transact` of the parts, several times. What it throws but
   * a StatusError leaves the tablet unusable, and so does what fails once memory has changed.
   */
  maintain<T>(work: (parts: TabletParts) => T): T | null {
    return this.#run(() => {
      const parts = this.#parts
      if (parts === null) return null
      try {
        return work(parts)
      } finally {
        this.#account(parts)
      }
    })
  }

  #account(parts: TabletParts): void {
    this.#options.accountant.hold(parts, parts.identity.tabletId, parts.heldBytes)
  }

  /** Runs a call. One that fails as none may leaves the tablet broken. */
  #run<T>(work: () => T): T {
    assert(!this.#isBroken, 'a tablet is not used after it broke, nor by two calls at once')
    this.#isBroken = true
    try {
      const value = work()
      this.#isBroken = false
      return value
    } catch (error) {
      const isTorn = this.#isCommitting || this.#parts?.isTorn === true
      if (error instanceof StatusError && !isTorn) this.#isBroken = false
      throw error
    }
  }
}

function firstSuperblock(identity: TabletIdentity, keyHashSeed: number): Superblock {
  const walGenerations = [WAL_GENERATION_FIRST]
  return { ...emptyMarks(keyHashSeed), walGenerations, identity, rowSets: [] }
}

/** Throws ILLEGAL_STATE: what will not fit is refused while there is a way back. */
function checkIdentitySize(identity: TabletIdentity): void {
  const { length } = utf8Encode(encodeIdentity(identity))
  if (length <= TABLET_IDENTITY_BYTES_MAX) return
  throw new StatusError(
    'ILLEGAL_STATE',
    `definition of the table takes ${length} bytes, limit is ${TABLET_IDENTITY_BYTES_MAX}`,
    { limit: TABLET_IDENTITY_BYTES_MAX },
  )
}

function identityOf(table: TableEntry, tabletId: string): TabletIdentity {
  const entry = table.tablets.find((tablet) => tablet.tabletId === tabletId)
  assert(entry !== undefined, 'a tablet is one of its table')
  return {
    tableId: table.id,
    tabletId,
    tableVersion: table.version,
    columns: table.columns,
    partitionSchema: table.partitionSchema,
    partition: entry.partition,
    extraConfigs: table.extraConfigs,
  }
}

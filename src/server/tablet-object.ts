/**
 * A tablet as a Durable Object.
 *
 * A thin shell around `Tablet`: it takes a call, runs one synchronous section of the tablet, and
 * answers with data. Its own part is what needs the platform:
 *
 *   nothing in memory   the first call looks at the storage and replays the WAL
 *   never written       the first write asks the catalog for the table, then makes the tablet part
 *                       of it and writes in one section: of two first writes the second finds what
 *                       the first has made
 *   dropped             refuses everything from then on, durably; later gives its storage back
 *   rows in memory      flushed and compacted by the alarm, a step a turn (tablet-alarm.ts), and by
 *                       other tablets' wish when memory is short (memory-relief.ts)
 *
 *  I1  memory may vanish between any two calls, and what was read before an `await` is read again;
 *  I2  the constructor does nothing, and a tablet without rows writes nothing on a read;
 *  I3  a section that fails as none may ends the object before anything else runs.
 */

import { retryable } from 'cloudflare:durable-objects'
import { DurableObject } from 'cloudflare:workers'
import {
  SCAN_STREAM_COUNT_MAX,
  WHOLE_SCAN_COUNT_MAX,
  WHOLE_SCAN_ROW_COUNT,
} from '../common/limits.ts'
import { failure, invalidArgument, type Outcome, StatusError } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { Tablet } from '../tablet/tablet.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import { Prng } from '../util/prng.ts'
import type {
  AggregateAnswer,
  AggregateCall,
  AnalyzeAnswer,
  DeleteRowsAnswer,
  DeleteRowsCall,
  LookupAnswer,
  LookupCall,
  MaintainAnswer,
  MaintainCall,
  OfferAnswer,
  OfferCall,
  ReadAnswer,
  ScanCall,
  SplitKeysAnswer,
  SplitKeysCall,
  StreamAnswer,
  TabletAnswer,
  TabletCall,
  TabletCounters,
  TabletStatusAnswer,
  WriteAnswer,
  WriteCall,
} from '../wire/tablet-protocol.ts'
import { checkWireVersion } from '../wire/wire-version.ts'
import { AggregateSections } from './aggregate-sections.ts'
import { isolateCache } from './isolate-cache.ts'
import { isolateMemory } from './isolate-memory.ts'
import { Log } from './log.ts'
import { MemoryRelief } from './memory-relief.ts'
import { MeteredSql } from './metered-sql.ts'
import { migrate, type Transact } from './migrate.ts'
import { TABLET_MIGRATIONS } from './migrations.ts'
import { isMissingTable } from './missing-table.ts'
import { ObjectGuard } from './object-guard.ts'
import { readPage } from './read-page.ts'
import { RowDeletions } from './row-deletions.ts'
import { ScanAnalyses } from './scan-analyses.ts'
import { ScanStreams } from './scan-streams.ts'
import { TABLET_SQL } from './sql-statements.ts'
import { SqlTabletStore } from './sql-tablet-store.ts'
import { catalogStub, tabletStub } from './stubs.ts'
import { SystemClock } from './system-clock.ts'
import { SystemRandom } from './system-random.ts'
import { answerOf, lookupAnswerOf, type SectionReply, withValue } from './tablet-answer.ts'
import { TabletMaintenance } from './tablet-maintenance.ts'
import { tabletPage } from './tablet-page.ts'

/** See the file's header. */
export class TabletObject extends DurableObject<Cloudflare.Env> {
  static {
    // Reads, and what is the same when done twice. A write is, by the key that a front gives to
    // each.
    const { write, read, scan, lookup, offer, refuse, free } = TabletObject.prototype
    const { counters, maintain, status, deleteRows, splitKeys, analyze } = TabletObject.prototype
    retryable(write, read, scan, lookup, offer, refuse, free, counters, maintain, status)
    retryable(deleteRows, splitKeys, analyze, TabletObject.prototype.aggregate)
  }

  readonly #clock = new SystemClock()
  readonly #log: Log
  readonly #guard: ObjectGuard
  readonly #sql: MeteredSql
  readonly #transact: Transact
  readonly #streams: ScanStreams
  readonly #maintenance: TabletMaintenance
  readonly #relief: MemoryRelief
  readonly #deletions: RowDeletions
  readonly #analyses: ScanAnalyses
  readonly #aggregations: AggregateSections
  #tablet: Tablet | null = null
  #isDropped = false
  #asking: { readonly tableId: string; readonly table: Promise<Outcome<TableEntry>> } | null = null

  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env)
    this.#log = new Log(env.NYALA_LOG_LEVEL, { object: 'tablet', tabletId: state.id.name ?? '' })
    this.#guard = new ObjectGuard(state, this.#log)
    this.#sql = new MeteredSql(state.storage.sql)
    this.#transact = (work) => state.storage.transactionSync(work)
    this.#maintenance = new TabletMaintenance({
      storage: state.storage,
      guard: this.#guard,
      tablet: () => this.#storedTablet(),
      nowMicros: () => this.#clock.nowMicros(),
      elapsedMs: () => this.#clock.elapsedMs(),
      pause: () => scheduler.wait(0),
    })
    this.#relief = new MemoryRelief({
      accountant: isolateMemory,
      maintain: (tabletId, call) => tabletStub(env, tabletId).maintain(call),
      randomId: () => new SystemRandom().nextId(),
      elapsedMs: () => this.#clock.elapsedMs(),
    })
    this.#deletions = new RowDeletions({
      section: (call, work) => this.#serve('delete', call, work),
      during: (tabletId, bytes, write) => this.#relief.during(tabletId, bytes, write),
      pause: () => scheduler.wait(0),
      elapsedMs: () => this.#clock.elapsedMs(),
    })
    this.#analyses = new ScanAnalyses({
      section: (call, work) => this.#serve('analyze', call, work),
      pause: () => scheduler.wait(0),
    })
    this.#aggregations = new AggregateSections({
      section: (call, work) => this.#serve('aggregate', call, work),
      pause: () => scheduler.wait(0),
    })
    this.#streams = new ScanStreams({
      openPipe: () => new IdentityTransformStream(),
      sync: () => state.storage.sync(),
      delay: (work, milliseconds) => {
        const timer = setTimeout(work, milliseconds)
        return () => clearTimeout(timer)
      },
      elapsedMs: () => this.#clock.elapsedMs(),
      guard: this.#guard,
      log: this.#log,
    })
  }

  /** Applies one share of a write. The platform holds the answer until it is durable. */
  async write(call: WriteCall): Promise<TabletAnswer<WriteAnswer>> {
    const answer = await this.#relief.during(call.tabletId, call.block.length, () =>
      this.#serve('write', call, (tablet) => tablet.write(call)),
    )
    if (answer.kind === 'ok') await this.#maintenance.arm()
    return answer
  }

  /** Rows of a scan, up to a number of rows and bytes. */
  read(call: ScanCall): Promise<TabletAnswer<ReadAnswer>> {
    return this.#serve('read', call, (tablet) =>
      withValue(tablet.openScan(call), ({ snapshot, scanner }) => {
        return { snapshot, ...readPage(scanner, call.rowCountMax, call.bytesMax) }
      }),
    )
  }

  /** All rows of a scan, as a stream. */
  scan(call: ScanCall): Promise<TabletAnswer<StreamAnswer>> {
    return this.#serve('scan', call, (tablet) => {
      if (this.#streams.openCount >= SCAN_STREAM_COUNT_MAX) throw tooManyScans()
      // Whole scans read far ahead, which only a few at a time may do.
      const isWhole =
        this.#streams.openCount < WHOLE_SCAN_COUNT_MAX && call.rowCountMax >= WHOLE_SCAN_ROW_COUNT
      return withValue(tablet.openScan({ ...call, isWhole }), ({ snapshot, scanner }) => {
        return { snapshot, stream: this.#streams.open(scanner, call.rowCountMax) }
      })
    })
  }

  /** What a scan does, without its rows. */
  analyze(call: ScanCall): Promise<TabletAnswer<AnalyzeAnswer>> {
    return this.#analyses.run(call)
  }

  /** What the rows add to an aggregation. */
  aggregate(call: AggregateCall): Promise<TabletAnswer<AggregateAnswer>> {
    return this.#aggregations.run(call)
  }

  /** Rows by their keys. */
  lookup(call: LookupCall): Promise<TabletAnswer<LookupAnswer>> {
    return this.#serve('lookup', call, (tablet) => withValue(tablet.lookup(call), lookupAnswerOf))
  }

  /** Works for a while on the deletion of the rows that a snapshot selects. */
  async deleteRows(call: DeleteRowsCall): Promise<TabletAnswer<DeleteRowsAnswer>> {
    const answer = await this.#deletions.work(call)
    if (answer.kind === 'ok') await this.#maintenance.arm()
    return answer
  }

  /** Where to cut the tablet's keys so that reading each part takes about as much. */
  splitKeys(call: SplitKeysCall): Promise<TabletAnswer<SplitKeysAnswer>> {
    return this.#serve('splitKeys', call, (tablet) => tablet.splitKeys(call))
  }

  /** Promises that no later op gets a timestamp at or below a snapshot. */
  offer(call: OfferCall): Promise<TabletAnswer<OfferAnswer>> {
    return this.#serve('offer', call, (tablet) => tablet.offerSnapshot(call))
  }

  /** Makes the tablet of a dropped table refuse everything from now on, durably. */
  async refuse(tableId: string): Promise<Outcome<null>> {
    const outcome = this.#guard.run('refuse', () => {
      this.#isDropped = true
      this.#forget()
      this.#streams.refuse(tableDropped())
      if (!this.#sql.isEmpty) this.#sql.all(TABLET_SQL.markDropped)
      this.#log.info('tablet refuses', { tableId })
      return null
    })
    await this.ctx.storage.sync()
    return outcome
  }

  /**
   * Gives back the storage of a tablet that refuses. In a turn of its own: it undoes what a turn
   * wrote.
   */
  async free(tableId: string): Promise<Outcome<null>> {
    const outcome = this.#guard.run('free', () => {
      const canFree = this.#sql.isEmpty || this.#isMarkedDropped()
      if (!canFree) throw new StatusError('ILLEGAL_STATE', 'tablet does not refuse yet')
      return null
    })
    if (!outcome.ok) return outcome
    await this.ctx.storage.deleteAll()
    this.#log.info('tablet freed', { tableId })
    return outcome
  }

  /** Counters since the object woke. */
  counters(): Outcome<TabletCounters> {
    return this.#inspect('counters', this.ctx.id.name ?? '', (tablet) => tablet.figures())
  }

  /** What there is to know of the tablet; null when no write ever reached it. */
  status(tabletId: string): Outcome<TabletStatusAnswer | null> {
    return this.#inspect('status', tabletId, (tablet) =>
      tabletPage(tablet, {
        now: this.#clock.nowMicros(),
        isolateBytes: isolateMemory.heldBytes,
        isolateBytesMax: isolateMemory.hardBytes,
      }),
    )
  }

  /** Works on a maintenance op for a while, or until it is done; null as in `status`. */
  async maintain(call: MaintainCall): Promise<Outcome<MaintainAnswer | null>> {
    const checked = this.#inspect('maintain', call.tabletId, () => null)
    return checked.ok ? this.#maintenance.maintain(call) : checked
  }

  /** Flushes and compacts. */
  override alarm(): Promise<void> {
    return this.#maintenance.ring()
  }

  /** Runs one section that an operator asks for. */
  #inspect<T>(operation: string, tabletId: string, work: (tablet: Tablet) => T): Outcome<T> {
    return this.#guard.run(operation, () => {
      if (tabletId !== this.ctx.id.name) throw invalidArgument('call is for another tablet')
      if (this.#looksDropped()) throw tableDropped()
      return work(this.#open())
    })
  }

  /** Answers a call: one section, or, where the tablet must first be initialized, a second one. */
  async #serve<T>(
    operation: string,
    call: TabletCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ): Promise<TabletAnswer<T>> {
    const first = this.#section(operation, call, work, null)
    this.ctx.waitUntil(this.#maintenance.armOnce())
    if (!first.ok || first.value.kind !== 'uninitialized' || !first.value.mustInitialize) {
      return this.#answer(first)
    }
    const table = await this.#askCatalog(call)
    if (table.ok) return this.#answer(this.#section(operation, call, work, table.value))
    // The catalog knows no such tablet: its table was dropped, or never was.
    return this.#answer(
      table.code === 'NOT_FOUND' ? { ok: true, value: { kind: 'dropped' } } : table,
    )
  }

  /** Runs one section: everything a call does between two moments at which others may run. */
  #section<T>(
    operation: string,
    call: TabletCall,
    work: (tablet: Tablet) => TabletReply<T>,
    table: TableEntry | null,
  ): Outcome<SectionReply<T>> {
    return this.#guard.run<SectionReply<T>>(
      operation,
      () => {
        checkWireVersion(call.wire)
        if (call.tabletId !== this.ctx.id.name) throw invalidArgument('call is for another tablet')
        if (this.#looksDropped()) return { kind: 'dropped' }
        const tablet = this.#open()
        if (table !== null && !tablet.isInitialized) this.#initialize(tablet, table, call.tabletId)
        return work(tablet)
      },
      { tableId: call.tableId },
    )
  }

  #answer<T>(outcome: Outcome<SectionReply<T>>): TabletAnswer<T> {
    return answerOf(outcome, this.#tablet?.newestTime ?? this.#clock.nowMicros())
  }

  /**
   * The tablet in this object's storage. Writes nothing: a schema that is an older one is brought
   * up to date by the first write.
   */
  #open(): Tablet {
    if (this.#tablet === null) {
      const prepare = () => migrate(this.#sql, this.#transact, TABLET_MIGRATIONS)
      this.#tablet = Tablet.open({
        store: new SqlTabletStore(this.#sql, this.#transact, prepare),
        clock: this.#clock,
        prng: new Prng(new SystemRandom().seed()),
        accountant: isolateMemory,
        cache: isolateCache,
      })
    }
    return this.#tablet
  }

  /** The tablet; null when it was dropped or never written to. Throws: CORRUPTION. */
  #storedTablet(): Tablet | null {
    if (this.#looksDropped()) return null
    // One that is open need not be looked for in storage.
    return this.#tablet ?? (this.#sql.isEmpty ? null : this.#open())
  }

  #initialize(tablet: Tablet, table: TableEntry, tabletId: string): void {
    tablet.initialize(table, tabletId)
    this.#log.info('tablet initialized', { tableId: table.id })
  }

  /** Forgets what is in memory. */
  #forget(): void {
    isolateMemory.drop(this.ctx.id.name ?? '')
    this.#tablet = null
  }

  /** Whether the tablet is known to be dropped; storage is asked once, before it is opened. */
  #looksDropped(): boolean {
    if (!this.#isDropped && this.#tablet === null) this.#isDropped = this.#isMarkedDropped()
    return this.#isDropped
  }

  #isMarkedDropped(): boolean {
    if (this.#sql.isEmpty) return false
    try {
      this.#sql.all(TABLET_SQL.readDropped)
      return true
    } catch (error) {
      if (isMissingTable(error)) return false
      throw error
    }
  }

  /**
   * The table of this tablet, which the catalog marks initialized. Calls at the same time share one
   * question.
   */
  #askCatalog({ tableId, tabletId }: TabletCall): Promise<Outcome<TableEntry>> {
    if (this.#asking?.tableId === tableId) return this.#asking.table
    const table = this.#ask(tableId, tabletId).finally(() => {
      if (this.#asking?.table === table) this.#asking = null
    })
    this.#asking = { tableId, table }
    return table
  }

  async #ask(tableId: string, tabletId: string): Promise<Outcome<TableEntry>> {
    try {
      const outcome = await catalogStub(this.env).initializeTablet(tableId, tabletId)
      return outcome.ok ? { ok: true, value: outcome.value.table } : outcome
    } catch (error) {
      if (error instanceof StatusError) return failure(error)
      this.#log.info('catalog is not reached', { message: String(error) })
      return failure(new StatusError('SERVICE_UNAVAILABLE', 'catalog cannot be reached'))
    }
  }
}

function tableDropped(): StatusError {
  return new StatusError('NOT_FOUND', 'table was dropped', { resource: 'table' })
}

function tooManyScans(): StatusError {
  return new StatusError('SERVICE_UNAVAILABLE', 'tablet has too many open scans', {
    limit: SCAN_STREAM_COUNT_MAX,
  })
}

/**
 * The service's objects in one process: the real engine and the real catalog behind the interfaces
 * that fronts call, with clocks that lie, memory that vanishes and calls that interleave, all out
 * of one seed.
 */

import { Catalog, type NewTable } from '../../src/catalog/catalog.ts'
import { PageCache } from '../../src/cfile/page-cache.ts'
import { type Clock, HybridClock } from '../../src/common/hybrid-clock.ts'
import { PAGE_CACHE_BYTES_MAX } from '../../src/common/limits.ts'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { type Outcome, outcomeOf, StatusError } from '../../src/common/status.ts'
import type { TableEntry } from '../../src/common/table.ts'
import type { RouterPorts } from '../../src/router/ports.ts'
import { AggregateSections } from '../../src/server/aggregate-sections.ts'
import { MemoryRelief } from '../../src/server/memory-relief.ts'
import { readPage } from '../../src/server/read-page.ts'
import { RowDeletions } from '../../src/server/row-deletions.ts'
import { ScanAnalyses } from '../../src/server/scan-analyses.ts'
import { TabletMaintenance } from '../../src/server/tablet-maintenance.ts'
import { tabletPage } from '../../src/server/tablet-page.ts'
import { MemoryAccountant } from '../../src/tablet/memory-accountant.ts'
import { Tablet } from '../../src/tablet/tablet.ts'
import type { TabletLayout } from '../../src/tablet/tablet-layout.ts'
import type { TabletReply } from '../../src/tablet/tablet-request.ts'
import { Prng } from '../../src/util/prng.ts'
import type { CatalogStub } from '../../src/wire/catalog-protocol.ts'
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
  TabletStub,
  WriteAnswer,
  WriteCall,
} from '../../src/wire/tablet-protocol.ts'
import { MemoryCatalogStore } from './memory-catalog-store.ts'
import { MemoryTabletStore } from './memory-tablet-store.ts'

/** Time that a test moves. */
export class TestTime {
  micros = 1_800_000_000_000_000

  /** A clock that is off by `skewMicros`, in steps of a millisecond as the platform's. */
  clock(skewMicros = 0): Clock {
    return { nowMicros: () => Math.floor((this.micros + skewMicros) / 1000) * 1000 }
  }
}

/** Options of a local service. */
export interface LocalOptions {
  readonly seed: number
  /** Greatest difference of an object's clock from the true time, either way. */
  readonly skewMicrosMax?: number
  /** How likely it is that a tablet's memory vanishes before a call. */
  readonly evictChance?: number
  readonly memoryBytesMax?: number
  /** Of the page cache of each tablet; left out: as of an isolate. */
  readonly cacheBytesMax?: number
  /** How tablets cut what they store. */
  readonly layout?: TabletLayout
}

/** Alarms after which one call of `runAlarms` gives up: something is due for ever. */
const ALARM_COUNT_MAX = 10_000

/** A tablet object: `TabletObject` without the platform. */
export class LocalTablet implements TabletStub {
  store = new MemoryTabletStore()
  /** Fails the next calls like an object that was reset: before or after they were done. */
  resets: ('before' | 'after')[] = []
  isDropped = false
  evictions = 0
  /** When the alarm goes off: durable, as the platform keeps it. `runAlarms` lets it. */
  alarmMs: number | null = null
  /** Alarms that were set: each bills a row. */
  alarmsSet = 0
  #maintenance = this.#makeMaintenance()
  #tablet: Tablet | null = null
  readonly #relief: MemoryRelief
  readonly #service: LocalService
  readonly #tabletId: string
  readonly #clock: Clock

  constructor(service: LocalService, tabletId: string, clock: Clock) {
    this.#service = service
    this.#tabletId = tabletId
    this.#clock = clock
    this.#relief = new MemoryRelief({
      accountant: service.accountant,
      maintain: (other, call) => service.tablet(other).maintain(call),
      randomId: () => `relief ${++service.reliefCount}`,
      elapsedMs: () => service.time.micros / 1000,
    })
  }

  async write(call: WriteCall): Promise<TabletAnswer<WriteAnswer>> {
    const answer = await this.#relief.during(call.tabletId, call.block.length, () =>
      this.#serve(call, (tablet) => tablet.write(call)),
    )
    if (answer.kind === 'ok') await this.#maintenance.arm()
    return answer
  }

  read(call: ScanCall): Promise<TabletAnswer<ReadAnswer>> {
    return this.#serve(call, (tablet) =>
      withValue(tablet.openScan(call), ({ snapshot, scanner }) => ({
        snapshot,
        ...readPage(scanner, call.rowCountMax, call.bytesMax),
      })),
    )
  }

  scan(call: ScanCall): Promise<TabletAnswer<StreamAnswer>> {
    return this.#serve(call, (tablet) =>
      withValue(tablet.openScan({ ...call, isWhole: true }), ({ snapshot, scanner }) => {
        const { frames } = readPage(scanner, call.rowCountMax, Number.MAX_SAFE_INTEGER)
        return { snapshot, stream: byteStream(frames) }
      }),
    )
  }

  async analyze(call: ScanCall): Promise<TabletAnswer<AnalyzeAnswer>> {
    const { section } = this.#sectionsOf(call)
    const analyses = new ScanAnalyses({ section, pause: () => this.#service.wander() })
    return analyses.run(call)
  }

  async aggregate(call: AggregateCall): Promise<TabletAnswer<AggregateAnswer>> {
    const { section } = this.#sectionsOf(call)
    return new AggregateSections({ section, pause: () => this.#service.wander() }).run(call)
  }

  lookup(call: LookupCall): Promise<TabletAnswer<LookupAnswer>> {
    return this.#serve(call, (tablet) =>
      withValue(tablet.lookup(call), ({ snapshot, block, keyIndexes, keyCount }) => ({
        snapshot,
        block: encodeRowBlock(block),
        keyIndexes: keyIndexes.slice(),
        keyCount,
      })),
    )
  }

  async deleteRows(call: DeleteRowsCall): Promise<TabletAnswer<DeleteRowsAnswer>> {
    const deletions = new RowDeletions({
      section: this.#sectionsOf(call).section,
      during: (tabletId, bytes, write) => this.#relief.during(tabletId, bytes, write),
      pause: () => this.#service.wander(),
      elapsedMs: () => this.#service.time.micros / 1000,
    })
    const answer = await deletions.work(call)
    if (answer.kind === 'ok') await this.#maintenance.arm()
    return answer
  }

  /** Sections of one call. */
  #sectionsOf(call: TabletCall) {
    let evictions: number | null = null
    const section = <T>(_: TabletCall, work: (tablet: Tablet) => TabletReply<T>) =>
      this.#serve(call, (tablet) => {
        // Whatever runs in an object ends with its memory.
        if (evictions !== null && evictions !== this.evictions) throw this.#reset()
        evictions = this.evictions
        return work(tablet)
      })
    return { section }
  }

  splitKeys(call: SplitKeysCall): Promise<TabletAnswer<SplitKeysAnswer>> {
    return this.#serve(call, (tablet) => tablet.splitKeys(call))
  }

  offer(call: OfferCall): Promise<TabletAnswer<OfferAnswer>> {
    return this.#serve(call, (tablet) => tablet.offerSnapshot(call))
  }

  async maintain(call: MaintainCall): Promise<Outcome<MaintainAnswer | null>> {
    const checked = await this.#inspect(() => null)
    return checked.ok ? structuredClone(await this.#maintenance.maintain(call)) : checked
  }

  status(): Promise<Outcome<TabletStatusAnswer | null>> {
    const { accountant } = this.#service
    return this.#inspect((tablet) =>
      tabletPage(tablet, {
        now: this.#clock.nowMicros(),
        isolateBytes: accountant.heldBytes,
        isolateBytesMax: accountant.hardBytes,
      }),
    )
  }

  counters(): Promise<Outcome<TabletCounters>> {
    return this.#inspect((tablet) => tablet.figures())
  }

  /** What the platform does when the alarm is due. */
  async ring(): Promise<void> {
    this.alarmMs = null
    await this.#maintenance.ring()
    this.store.release()
  }

  async #inspect<T>(work: (tablet: Tablet) => T): Promise<Outcome<T>> {
    await this.#service.wander()
    return structuredClone(
      outcomeOf(() => {
        if (this.isDropped) throw new StatusError('NOT_FOUND', 'table was dropped')
        return work(this.#open())
      }),
    )
  }

  #makeMaintenance(): TabletMaintenance {
    return new TabletMaintenance({
      storage: {
        getAlarm: async () => this.alarmMs,
        setAlarm: async (scheduledMs) => {
          this.alarmMs = scheduledMs
          this.alarmsSet++
        },
      },
      guard: { run: (_operation, work) => outcomeOf(work) },
      tablet: () => (this.isDropped ? null : this.#open()),
      nowMicros: () => this.#clock.nowMicros(),
      elapsedMs: () => this.#service.time.micros / 1000,
      pause: () => this.#service.wander(),
    })
  }

  /** Forgets memory; storage keeps what was committed. */
  evict(): void {
    this.#tablet = null
    this.#maintenance = this.#makeMaintenance()
    this.store = this.store.crash()
    this.evictions++
  }

  async #serve<T>(
    call: TabletCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ): Promise<TabletAnswer<T>> {
    await this.#service.wander()
    const reset = this.resets.shift()
    if (reset === 'before') throw this.#reset()
    if (this.#service.chance('evict')) this.evict()
    let answer = this.#section(call, work)
    if (answer.kind === 'uninitialized' && answer.mustInitialize) {
      const table = await this.#service.catalogStub.initializeTablet(call.tableId, call.tabletId)
      if (table.ok) {
        this.#open().initialize(table.value.table, this.#tabletId)
        answer = this.#section(call, work)
      } else if (table.code === 'NOT_FOUND') {
        answer = { kind: 'dropped', clock: this.#open().newestTime }
      }
    }
    this.store.release()
    if (reset === 'after') throw this.#reset()
    await this.#maintenance.armOnce()
    await this.#service.wander()
    // What crosses an object boundary is a copy. A stream moves.
    const isStream = answer.kind === 'ok' && isStreamAnswer(answer.value)
    return isStream ? answer : structuredClone(answer)
  }

  #section<T>(
    call: TabletCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ): TabletAnswer<T> & { mustInitialize?: boolean } {
    if (this.isDropped) return { kind: 'dropped', clock: this.#clock.nowMicros() }
    if (call.tabletId !== this.#tabletId) throw new Error('call is for another tablet')
    const tablet = this.#open()
    try {
      return work(tablet)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { kind: 'error', clock: tablet.newestTime, ...failureOf(error) }
    }
  }

  #open(): Tablet {
    const { layout, cacheBytesMax = PAGE_CACHE_BYTES_MAX } = this.#service.options
    this.#tablet ??= Tablet.open({
      store: this.store,
      clock: this.#clock,
      prng: new Prng(this.#service.options.seed),
      accountant: this.#service.accountant,
      cache: new PageCache(cacheBytesMax),
      ...(layout === undefined ? {} : { layout }),
    })
    return this.#tablet
  }

  #reset(): Error {
    this.evict()
    return Object.assign(new Error('Durable Object reset'), { durableObjectReset: true })
  }
}

/** All objects of one service. */
export class LocalService {
  readonly time = new TestTime()
  readonly options: LocalOptions
  readonly accountant: MemoryAccountant
  readonly tablets = new Map<string, LocalTablet>()
  readonly catalogStub: CatalogStub
  /** Ops that tablets asked of others for memory. */
  reliefCount = 0
  /** Calls to the catalog's `getTable`. */
  getTableCount = 0
  readonly #catalog: Catalog
  readonly #prng: Prng

  constructor(options: LocalOptions) {
    this.options = options
    this.#prng = new Prng(options.seed)
    this.accountant = new MemoryAccountant(options.memoryBytesMax ?? 2 ** 30)
    this.#catalog = new Catalog({
      store: new MemoryCatalogStore(),
      clock: new HybridClock(this.time.clock()),
      ids: { nextId: () => this.#hexId() },
    })
    this.catalogStub = this.#makeCatalogStub()
  }

  /** Makes a table. */
  createTable(table: NewTable): TableEntry {
    return this.#catalog.createTable(table)
  }

  /** Drops a table and makes its tablets refuse. */
  dropTable(name: string): void {
    for (const tabletId of this.#catalog.dropTable({ name }, null).toRefuse) {
      this.tablet(tabletId).isDropped = true
    }
  }

  /** The object of a tablet. */
  tablet(tabletId: string): LocalTablet {
    let tablet = this.tablets.get(tabletId)
    if (tablet === undefined) {
      tablet = new LocalTablet(this, tabletId, this.time.clock(this.#drawSkew()))
      this.tablets.set(tabletId, tablet)
    }
    return tablet
  }

  /** A front with a clock of its own. */
  front(): RouterPorts {
    return {
      tablet: (tabletId) => this.tablet(tabletId),
      catalog: () => this.catalogStub,
      clock: new HybridClock(this.time.clock(this.#drawSkew())),
      prng: new Prng(this.options.seed + 1),
      elapsedMs: () => this.time.micros / 1000,
      sleep: async (milliseconds) => {
        this.time.micros += milliseconds * 1000
      },
      randomId: () => this.#hexId(),
    }
  }

  /**
   * Lets every alarm go off that is due within `micros` from now, each at its time, those that are
   * set by then too. Time goes on to the end. Returns: how many went off.
   */
  async runAlarms(micros = 0): Promise<number> {
    const endMicros = this.time.micros + micros
    for (let count = 0; ; count++) {
      const next = [...this.tablets.values()]
        .filter(({ alarmMs }) => alarmMs !== null && alarmMs * 1000 <= endMicros)
        .sort((a, b) => (a.alarmMs ?? 0) - (b.alarmMs ?? 0))[0]
      if (next === undefined || count === ALARM_COUNT_MAX) {
        this.time.micros = Math.max(this.time.micros, endMicros)
        return count
      }
      this.time.micros = Math.max(this.time.micros, (next.alarmMs ?? 0) * 1000)
      await next.ring()
    }
  }

  /** Lets others run for a while, and some time pass. */
  async wander(): Promise<void> {
    for (let turns = this.#prng.below(6); turns > 0; turns--) {
      this.time.micros += this.#prng.below(300)
      await Promise.resolve()
    }
  }

  /** Whether something happens this time. */
  chance(what: 'evict'): boolean {
    return what === 'evict' && this.#prng.chance(this.options.evictChance ?? 0)
  }

  #drawSkew(): number {
    const max = this.options.skewMicrosMax ?? 0
    return max === 0 ? 0 : this.#prng.between(-max, max)
  }

  #hexId(): string {
    let id = ''
    for (let i = 0; i < 4; i++) id += this.#prng.uint32().toString(16).padStart(8, '0')
    return id
  }

  #makeCatalogStub(): CatalogStub {
    const catalog = this.#catalog
    return {
      createTable: async (call) => outcomeOf(() => catalog.createTable(call)),
      getTable: async (ref) => {
        this.getTableCount++
        await this.wander()
        return outcomeOf(() => catalog.getTable(ref))
      },
      initializeTablet: async (tableId, tabletId) => {
        await this.wander()
        return outcomeOf(() => ({
          table: catalog.initializeTablet(tableId, tabletId),
          clock: catalog.clock.now(),
        }))
      },
      listTables: async (call) =>
        outcomeOf(() => {
          const page = catalog.listTables(call.namePrefix, call.afterName, call.pageSize)
          const tables = page.tables.map(({ name, tableId }) => ({ id: tableId, name }))
          return { tables, hasMore: page.hasMore }
        }),
      dropTable: async (ref, ifVersion) =>
        outcomeOf(() => {
          const { toRefuse } = catalog.dropTable(ref, ifVersion)
          for (const tabletId of toRefuse) this.tablet(tabletId).isDropped = true
          return null
        }),
      ping: async () => ({ ok: true, value: null }),
    }
  }
}

function withValue<T, U>(reply: TabletReply<T>, map: (value: T) => U): TabletReply<U> {
  return reply.kind === 'ok' ? { ...reply, value: map(reply.value) } : reply
}

function failureOf(error: StatusError): Pick<StatusError, 'code' | 'message' | 'details'> {
  return { code: error.code, message: error.message, details: error.details }
}

function isStreamAnswer(value: unknown): boolean {
  return (value as { stream?: unknown } | null)?.stream instanceof ReadableStream
}

/** A byte stream in pieces that fit no frame. */
function byteStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const end = Math.min(offset + 1009, bytes.length)
      controller.enqueue(bytes.slice(offset, end))
      offset = end
      if (offset === bytes.length) {
        controller.close()
        controller.byobRequest?.respond(0)
      }
    },
  })
}

/**
 * The catalog as a Durable Object: one for an installation, never on the path of data.
 *
 * A thin shell: each call is one synchronous section in which `Catalog` decides and stores. Only a
 * drop goes on after that:
 *
 *   turn 1   table gone, tablets to tell noted, alarm set         one transaction
 *   then     every initialized tablet is told to refuse           32 at a time
 *   answer   204
 *   alarm    tablets give their storage back; what an outage left untold is told again
 *
 * The answer waits until the tablets refuse, so whoever has it never again meets a row of the
 * table. Only a tablet out of reach stays untold until the alarm: a front may then read old rows
 * from it for as long as it remembers the table, a few seconds. A client that goes away changes
 * nothing: the alarm was set first.
 */

import { retryable } from 'cloudflare:durable-objects'
import { DurableObject } from 'cloudflare:workers'
import { Catalog } from '../catalog/catalog.ts'
import type { DropWork } from '../catalog/drop-work.ts'
import { isDone } from '../catalog/drop-work.ts'
import { HybridClock } from '../common/hybrid-clock.ts'
import type { Outcome } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import type {
  CreateTableCall,
  GetTableAnswer,
  InitializeTabletAnswer,
  ListTablesAnswer,
  ListTablesCall,
  TableRef,
} from '../wire/catalog-protocol.ts'
import type { TabletControlStub } from '../wire/tablet-protocol.ts'
import { checkWireVersion } from '../wire/wire-version.ts'
import { Log } from './log.ts'
import { MeteredSql } from './metered-sql.ts'
import { migrate } from './migrate.ts'
import { CATALOG_MIGRATIONS } from './migrations.ts'
import { ObjectGuard } from './object-guard.ts'
import { SqlCatalogStore } from './sql-catalog-store.ts'
import { tabletStub } from './stubs.ts'
import { SystemClock } from './system-clock.ts'
import { SystemRandom } from './system-random.ts'
import { tellTablets } from './tell-tablets.ts'

/** How long after it was noted, or after it failed, a drop is taken up by the alarm. */
const DROP_RETRY_MS = 30_000
/** Drops that one alarm works on. */
const DROP_COUNT_MAX = 256

/** See the file's header. */
export class CatalogObject extends DurableObject<Cloudflare.Env> {
  static {
    // What only reads, and what is the same when done twice.
    const { getTable, listTables, initializeTablet, ping } = CatalogObject.prototype
    retryable(getTable, listTables, initializeTablet, ping)
  }

  readonly #clock = new SystemClock()
  readonly #log: Log
  readonly #guard: ObjectGuard
  #catalog: Catalog | undefined

  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env)
    this.#log = new Log(env.NYALA_LOG_LEVEL, { object: 'catalog' })
    this.#guard = new ObjectGuard(state, this.#log)
  }

  /** Makes a table. */
  createTable(call: CreateTableCall): Outcome<TableEntry> {
    return this.#decide('createTable', (catalog) => {
      checkWireVersion(call.wire)
      const table = catalog.createTable(call)
      this.#log.info('table created', { tableId: table.id, tablets: table.tablets.length })
      return table
    })
  }

  /** A table and which of its tablets are initialized. */
  getTable(ref: TableRef): Outcome<GetTableAnswer> {
    return this.#decide('getTable', (catalog) => catalog.getTable(ref))
  }

  /** A page of table names. */
  listTables(call: ListTablesCall): Outcome<ListTablesAnswer> {
    return this.#decide('listTables', (catalog) => {
      checkWireVersion(call.wire)
      const page = catalog.listTables(call.namePrefix, call.afterName, call.pageSize)
      const tables = page.tables.map(({ name, tableId }) => ({ id: tableId, name }))
      return { tables, hasMore: page.hasMore }
    })
  }

  /** Drops a table; answers when no tablet of it answers any more. */
  async dropTable(ref: TableRef, ifVersion: number | null): Promise<Outcome<null>> {
    const dropped = this.#decide('dropTable', (catalog) => catalog.dropTable(ref, ifVersion))
    if (!dropped.ok) return dropped
    this.#log.info('table dropped', { tableId: dropped.value.tableId })
    if (isDone(dropped.value)) return { ok: true, value: null }
    // In the same turn as the decision, so that both are durable or neither is.
    await this.#setAlarm(DROP_RETRY_MS)
    await this.#refuse(dropped.value)
    await this.#setAlarm(0)
    return { ok: true, value: null }
  }

  /** Hands a tablet its table, and marks it initialized. */
  initializeTablet(tableId: string, tabletId: string): Outcome<InitializeTabletAnswer> {
    return this.#decide('initializeTablet', (catalog) => {
      const table = catalog.initializeTablet(tableId, tabletId)
      return { table, clock: catalog.clock.now() }
    })
  }

  /** Answers if the catalog can be read. */
  ping(): Outcome<null> {
    return this.#decide('ping', () => null)
  }

  /** Finishes drops. */
  override async alarm(): Promise<void> {
    const drops = this.#decide('alarm', (catalog) => catalog.unfinishedDrops(DROP_COUNT_MAX))
    let isLeft = !drops.ok || drops.value.length === DROP_COUNT_MAX
    for (const work of drops.ok ? drops.value : []) {
      const left = await this.#free(await this.#refuse(work))
      if (!isDone(left)) isLeft = true
    }
    if (isLeft) await this.#setAlarm(DROP_RETRY_MS)
  }

  async #refuse(work: DropWork): Promise<DropWork> {
    const told = await this.#tell(work.toRefuse, (stub) => stub.refuse(work.tableId))
    if (told.length === 0) return work
    return this.#mustDecide('noteRefusing', work, (catalog) =>
      catalog.noteRefusing(work.tableId, told),
    )
  }

  async #free(work: DropWork): Promise<DropWork> {
    const told = await this.#tell(work.toFree, (stub) => stub.free(work.tableId))
    if (told.length === 0) return work
    return this.#mustDecide('noteFreed', work, (catalog) => catalog.noteFreed(work.tableId, told))
  }

  #tell(
    tabletIds: readonly string[],
    say: (stub: TabletControlStub) => Promise<Outcome<null>>,
  ): Promise<string[]> {
    const stub = (tabletId: string): TabletControlStub => tabletStub(this.env, tabletId)
    return tellTablets({ tabletIds, stub, say, log: this.#log })
  }

  /** Runs one synchronous section of the catalog. */
  #decide<T>(operation: string, decide: (catalog: Catalog) => T): Outcome<T> {
    return this.#guard.run(operation, () => decide(this.#open()))
  }

  /** The same where a failure leaves the work as it was. */
  #mustDecide(operation: string, work: DropWork, decide: (catalog: Catalog) => DropWork): DropWork {
    const outcome = this.#decide(operation, decide)
    return outcome.ok ? outcome.value : work
  }

  #open(): Catalog {
    if (this.#catalog === undefined) {
      const sql = new MeteredSql(this.ctx.storage.sql)
      const transact = <T>(work: () => T): T => this.ctx.storage.transactionSync(work)
      migrate(sql, transact, CATALOG_MIGRATIONS)
      this.#catalog = new Catalog({
        store: new SqlCatalogStore(sql, transact),
        clock: new HybridClock(this.#clock),
        ids: new SystemRandom(),
      })
    }
    return this.#catalog
  }

  #setAlarm(delayMs: number): Promise<void> {
    return this.ctx.storage.setAlarm(Math.floor(this.#clock.nowMicros() / 1000) + delayMs)
  }
}

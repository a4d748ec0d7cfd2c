/**
 * A tablet over storage in memory that can be written to, read and crashed in a line each.
 */

import { PageCache } from '../../src/cfile/page-cache.ts'
import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import { encodeRowBlock, type RowBlock } from '../../src/common/row-block.ts'
import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import type { TableEntry } from '../../src/common/table.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import { MemoryAccountant } from '../../src/tablet/memory-accountant.ts'
import { Tablet } from '../../src/tablet/tablet.ts'
import { DEFAULT_TABLET_LAYOUT, type TabletLayout } from '../../src/tablet/tablet-layout.ts'
import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import type {
  ResultKey,
  TabletReply,
  TabletRequest,
  WriteResult,
} from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import { EMPTY_BYTES, utf8Decode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aTableEntry, TABLE_ID, TABLET_ID } from './a-table-entry.ts'
import { aWriteBlock, type PlainOperation, type PlainRow } from './a-write-block.ts'
import { MemoryTabletStore } from './memory-tablet-store.ts'
import { TestClock } from './test-clock.ts'

/** How a harness begins. */
export interface HarnessOptions {
  readonly extraConfigs?: Record<string, string>
  /** The table whose tablet TABLET_ID it is; left out: one of that tablet alone. */
  readonly table?: TableEntry
  readonly memoryBytesMax?: number
  readonly cacheBytesMax?: number
  readonly seed?: number
  readonly layout?: TabletLayout
  /** Whether the tablet is left uninitialized. */
  readonly isNew?: boolean
}

/** See the file's header. */
export class TabletHarness {
  readonly schema: Schema
  readonly table: TableEntry
  readonly clock = new TestClock()
  readonly accountant: MemoryAccountant
  readonly cache: PageCache
  store = new MemoryTabletStore()
  tablet: Tablet
  readonly #prng: Prng
  readonly #layout: TabletLayout

  constructor(schema: Schema, options: HarnessOptions = {}, store?: MemoryTabletStore) {
    this.schema = schema
    this.table = options.table ?? aTableEntry(schema, options.extraConfigs)
    this.accountant = new MemoryAccountant(options.memoryBytesMax ?? 512 * 1024 * 1024)
    this.cache = new PageCache(options.cacheBytesMax ?? 8 * 1024 * 1024)
    this.#layout = options.layout ?? DEFAULT_TABLET_LAYOUT
    this.#prng = new Prng(options.seed ?? 1)
    if (store !== undefined) this.store = store
    this.tablet = this.#open()
    if (options.isNew !== true && store === undefined) {
      this.tablet.initialize(this.table, TABLET_ID)
      this.store.release()
    }
  }

  #open(): Tablet {
    const { store, clock, accountant, cache } = this
    const layout = this.#layout
    return Tablet.open({ store, clock, accountant, cache, layout, prng: this.#prng })
  }

  /** The tablet's insides. Requires: it is initialized. */
  get parts(): TabletParts {
    const { parts } = this.tablet
    assert(parts !== null, 'the tablet is initialized')
    return parts
  }

  /** Runs a maintenance task to its end, a transaction a step. Returns: how many steps. */
  runTask(makeTask: (parts: TabletParts, now: Timestamp) => MaintenanceTask): number {
    const task = makeTask(this.parts, this.clock.nowMicros())
    let stepCount = 1
    while (!this.step(task)) stepCount++
    return stepCount
  }

  /** Runs one step of a task, as a manager does. Returns: whether it was the last. */
  step(task: MaintenanceTask): boolean {
    return this.tablet.maintain((parts) => stepTask(parts, task)) === true
  }

  /** What every request carries. */
  request(clock: Timestamp = 0): TabletRequest {
    return { tableId: TABLE_ID, tabletId: TABLET_ID, tableVersion: 1, clock }
  }

  /** Sends a share and gives the result; its answer is sent, so no crash can undo it. */
  write(operations: readonly PlainOperation[], key: ResultKey | null = null): WriteResult {
    const result = this.writeBlock(encodeRowBlock(aWriteBlock(this.schema, operations)), key)
    this.store.release()
    return result
  }

  /** Sends a share and gives the result, whose answer is still held back. */
  writeBlock(block: Uint8Array, resultKey: ResultKey | null = null, clock = 0): WriteResult {
    return okValue(this.tablet.write({ ...this.request(clock), block, resultKey }))
  }

  /** All rows at a snapshot, in key order; null: the tablet's present. */
  rows(snapshot: Timestamp | null = null): PlainRow[] {
    return this.scan(snapshot).rows
  }

  /** All rows and the snapshot they were read at. The answer is sent. */
  scan(snapshot: Timestamp | null, clock = 0): { snapshot: Timestamp; rows: PlainRow[] } {
    const scanned = this.peek(snapshot, clock)
    this.store.release()
    return scanned
  }

  /**
   * All rows and the snapshot they were read at, for nobody: a crash may undo what they tell of.
   */
  peek(snapshot: Timestamp | null, clock = 0): { snapshot: Timestamp; rows: PlainRow[] } {
    const opened = okValue(
      this.tablet.openScan({
        ...this.request(clock),
        columnIds: this.schema.columns.map((column) => column.id),
        predicates: [],
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
        order: 'ORDERED',
        snapshot,
        withKeys: false,
      }),
    )
    const rows: PlainRow[] = []
    for (;;) {
      const batch = opened.scanner.nextBatch(1000, 1 << 20)
      if (batch === null) return { snapshot: opened.snapshot, rows }
      rows.push(...plainRowsOf(this.schema, batch.block))
    }
  }

  /** Loses all memory and nothing of the storage, damage included. */
  evict(): void {
    // Nobody tells the accountant: the tablet that wakes takes the place of this one.
    this.tablet = this.#open()
  }

  /** What a crash that keeps the first `keptCount` transactions would leave, beside this one. */
  fork(keptCount: number): TabletHarness {
    return new TabletHarness(this.schema, { table: this.table }, this.store.crash(keptCount))
  }

  /** Loses all memory, and of the storage what came after the first `keptCount` transactions. */
  crash(keptCount = this.store.committedCount): void {
    this.store = this.store.crash(keptCount)
    this.evict()
  }
}

function stepTask(parts: TabletParts, task: MaintenanceTask): boolean {
  try {
    return parts.transact(() => task.step())
  } catch (error) {
    if (error instanceof StatusError && !parts.isTorn) task.abort()
    throw error
  }
}

/** The value of a reply. Asserts that it has one. */
export function okValue<T>(reply: TabletReply<T>): T {
  assert(reply.kind === 'ok', `the tablet answers ${reply.kind}`)
  return reply.value
}

/** Rows of a read block as plain values: texts for UTF-8. */
export function plainRowsOf(schema: Schema, block: RowBlock): PlainRow[] {
  const rows: PlainRow[] = []
  for (let row = 0; row < block.rowCount; row++) {
    const plain: Record<string, number | bigint | string | null> = {}
    for (let index = 0; index < block.columns.length; index++) {
      const cell = block.columns[index].cell(row)
      const { name } = schema.mustById(block.columnIds[index])
      plain[name] = cell instanceof Uint8Array ? utf8Decode(cell) : cell
    }
    rows.push(plain)
  }
  return rows
}

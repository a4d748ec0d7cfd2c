/**
 * A tablet's life drawn from a seed: writes over few keys, repeats of keyed ones, reads at any
 * time, flushes in steps, storage that fails, and crashes that keep any prefix of what was not yet
 * answered. Held against the model after each step.
 *
 * The physical clock may lie up to 250 ms behind the true time, and by how much changes at each
 * restart.
 */

import { SNAPSHOT_AHEAD_MICROS_MAX } from '../../src/common/limits.ts'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { ROW_ERRORS } from '../../src/common/row-error.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushDeltaTask } from '../../src/tablet/maintenance/flush-delta-task.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import type { MaintenanceTask } from '../../src/tablet/maintenance/maintenance-task.ts'
import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from './a-schema.ts'
import { asImmutable, withDefault } from './a-table-entry.ts'
import { aWriteBlock } from './a-write-block.ts'
import { StorageFault } from './memory-tablet-store.ts'
import { TabletHarness } from './tablet-harness.ts'
import {
  type ModelColumn,
  type ModelOperation,
  type ModelResult,
  type ModelRow,
  type ModelValue,
  TabletModel,
} from './tablet-model.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('s STRING KEY', 11),
  aColumnDefinition('v INT32 NULL', 12),
  withDefault(aColumnDefinition('d INT32', 13), 7),
  asImmutable(aColumnDefinition('i INT32 NULL', 14)),
  aColumnDefinition('t STRING', 15),
])
const COLUMNS: readonly ModelColumn[] = [
  { name: 'k', isKey: true, isNullable: false, isImmutable: false },
  { name: 's', isKey: true, isNullable: false, isImmutable: false },
  { name: 'v', isKey: false, isNullable: true, isImmutable: false },
  { name: 'd', isKey: false, isNullable: false, isImmutable: false, default: 7 },
  { name: 'i', isKey: false, isNullable: true, isImmutable: true },
  { name: 't', isKey: false, isNullable: false, isImmutable: false },
]
const OPERATIONS = Object.keys(ROW_OPERATIONS) as RowOperationName[]
const ERROR_NAMES = new Map<number, string>(
  Object.entries(ROW_ERRORS).map(([name, code]) => [code, name]),
)
const KEPT_MICROS = { client: 600_000_000, front: 30_000_000 }

/** A share that was sent, and what became of it. */
interface SentShare {
  readonly operations: readonly ModelOperation[]
  readonly key: ResultKey | null
  /** Transactions committed when it was applied. */
  readonly committed: number
  readonly at: number
  readonly result: WriteResult | null
  readonly expiresAt: number
}

/** See the file's header. */
export class TabletSim {
  readonly #prng: Prng
  readonly #harness: TabletHarness
  #model = new TabletModel(COLUMNS)
  /** Shares that are in the storage, oldest first; those after the last crash may still be lost. */
  #sent: SentShare[] = []
  readonly #keys: { key: ResultKey; operations: readonly ModelOperation[] }[] = []
  readonly #shown: { at: number; rows: readonly ModelRow[] }[] = []
  #behindMicros = 0
  /** A flush under way. */
  #task: MaintenanceTask | null = null
  #keyCount = 0
  /** How often each step was taken, and what came of it: a run that never crashes proves little. */
  readonly counts = new Map<string, number>()

  constructor(seed: number) {
    this.#prng = new Prng(seed)
    this.#harness = new TabletHarness(SCHEMA, { seed })
  }

  /** Takes a step and holds the tablet against the model. */
  step(): void {
    const prng = this.#prng
    this.#harness.clock.advance(prng.chance(0.02) ? 400_000_000 : prng.below(5000))
    const dice = prng.unit()
    if (dice < 0.44) this.#write()
    else if (dice < 0.55) this.#repeat()
    else if (dice < 0.7) this.#scanSome()
    else if (dice < 0.75) this.#offer()
    else if (dice < 0.8) this.#writeOnFailingStorage()
    else if (dice < 0.93) this.#maintain()
    else this.#crash()
    this.#check()
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  #write(): void {
    const operations = this.#drawOperations()
    const key = this.#prng.chance(0.4) ? this.#drawKey() : null
    if (key !== null) this.#keys.push({ key, operations })
    this.#send(operations, key)
  }

  #repeat(): void {
    if (this.#keys.length === 0) return
    const { key, operations } = this.#prng.pick(this.#keys.slice(-8))
    this.#send(operations, key)
  }

  /** Sends a share. Its answer may or may not leave, before the next crash. */
  #send(operations: readonly ModelOperation[], key: ResultKey | null): void {
    const { store, clock } = this.#harness
    const now = clock.nowMicros()
    const first = key === null ? undefined : this.#remembered(key, now)
    const billed = store.rowsWritten
    const heard = this.#prng.chance(0.1) ? now + this.#prng.below(3_000_000) : 0
    const result = this.#harness.writeBlock(blockOf(operations), key, heard)
    if (this.#prng.chance(0.6)) store.release()
    if (first !== undefined) {
      this.#count('repeat answered')
      assertEqual(result, { ...first.result, isReplayed: true }, 'a repeat gets the first result')
      assert(store.rowsWritten === billed, 'a repeat bills nothing')
      return
    }
    const at = result.timestamp ?? 0
    if (result.timestamp !== null) this.#checkTime(at, heard)
    assertEqual(plainResult(result), this.#model.apply(operations, at), 'outcomes are as the model')
    const isLogged = key !== null || result.timestamp !== null
    assert(store.rowsWritten - billed === (isLogged ? 1 : 0), 'a share bills one row, or none')
    this.#remember(operations, key, at, result, now)
    this.#count(isLogged ? 'write logged' : 'write without effect')
  }

  #remember(
    operations: readonly ModelOperation[],
    key: ResultKey | null,
    at: number,
    result: WriteResult | null,
    now: number,
  ): void {
    const kept = key?.isInternal === true ? KEPT_MICROS.front : KEPT_MICROS.client
    const committed = this.#harness.store.committedCount
    this.#sent.push({ operations, key, committed, at, result, expiresAt: now + kept })
  }

  #remembered(key: ResultKey, now: number): SentShare | undefined {
    const share = this.#sent.findLast(
      (sent) => sent.key?.key === key.key && sent.key.share === key.share,
    )
    return share !== undefined && share.expiresAt > now ? share : undefined
  }

  #checkTime(at: number, heard: number): void {
    assert(at > heard, 'an op is above what its request carried')
    for (const shown of this.#shown) assert(at > shown.at, 'an op is above every snapshot shown')
    for (const sent of this.#sent) assert(at > sent.at, 'an op is above every op before')
  }

  #scanSome(): void {
    const prng = this.#prng
    const now = this.#harness.clock.nowMicros()
    const asked = prng.pick([
      null,
      now - prng.below(20_000),
      now + prng.below(SNAPSHOT_AHEAD_MICROS_MAX + 1),
      now + prng.below(20_000_000),
    ])
    this.#show(asked, prng.chance(0.2) ? now + prng.below(1_000_000) : 0)
    this.#count('scan')
  }

  /** Reads at a snapshot, which must never change from then on. The answer leaves. */
  #show(asked: number | null, heard = 0): void {
    const { snapshot, rows } = this.#harness.scan(asked, heard)
    if (asked !== null) assert(snapshot === asked, 'a scan reads where it was told to')
    else assert(snapshot >= heard, 'a scan of the present is no older than its caller')
    assertEqual(rows, this.#model.rowsAt(snapshot), 'a scan shows the rows of the model')
    this.#shown.push({ at: snapshot, rows: rows as ModelRow[] })
  }

  #offer(): void {
    const { tablet, clock, store } = this.#harness
    const snapshot = clock.nowMicros() + this.#prng.below(2_000_000)
    const reply = tablet.offerSnapshot({ ...this.#harness.request(), snapshot })
    assert(reply.kind === 'ok', 'an offer is answered')
    assert(reply.value.lastApplied === this.#lastApplied(), 'an offer tells the newest op')
    store.release()
    this.#shown.push({ at: snapshot, rows: this.#model.rowsAt(snapshot) })
  }

  #lastApplied(): number {
    return this.#sent.reduce((newest, sent) => Math.max(newest, sent.at), 0)
  }

  #writeOnFailingStorage(): void {
    const { store, clock } = this.#harness
    const operations = this.#drawOperations()
    const key = this.#prng.chance(0.5) ? this.#drawKey() : null
    const now = clock.nowMicros()
    const moment = this.#prng.pick(['before-durable', 'after-durable'] as const)
    const committed = store.committedCount
    store.failNext(moment)
    try {
      this.#harness.writeBlock(blockOf(operations), key)
    } catch (error) {
      if (!(error instanceof StorageFault)) throw error
      this.#count(`write failed ${moment}`)
    }
    if (key !== null) this.#keys.push({ key, operations })
    const isDurable = store.committedCount > committed
    // Whoever asked learned nothing, so the time of the op is known only to the storage.
    this.#restart(store.committedCount)
    if (!isDurable) return
    const before = this.#lastApplied()
    const at = this.#harness.tablet.lastApplied
    const isApplied = at > before
    const result = plainWriteResult(this.#model.apply(operations, isApplied ? at : 0))
    this.#sent.push({
      operations,
      key,
      committed: 0,
      at: isApplied ? at : 0,
      result: { ...result, timestamp: isApplied ? at : null },
      expiresAt: now + (key?.isInternal === true ? KEPT_MICROS.front : KEPT_MICROS.client),
    })
  }

  /** Takes some steps of a flush, begins one, or ends one before it is done. */
  #maintain(): void {
    const prng = this.#prng
    const { parts, clock, store } = this.#harness
    if (this.#task !== null && prng.chance(0.25)) {
      this.#count('flush aborted')
      this.#task.abort()
      this.#task = null
    }
    const stepBytes = prng.pick([1, 200, 1_000_000])
    const Task = prng.chance(0.5) ? FlushMemRowSetTask : FlushDeltaTask
    this.#task ??= new Task(parts, clock.nowMicros(), { stepBytes })
    const task = this.#task
    const fault = prng.chance(0.05) ? prng.pick(['before-durable', 'after-durable'] as const) : null
    if (fault !== null) store.failNext(fault)
    try {
      for (let step = prng.between(1, 8); step > 0 && this.#task !== null; step--) {
        if (!this.#harness.step(task)) continue
        this.#count(task.summary.rowsOut > 0 ? `${task.op} done` : `${task.op} without work`)
        this.#task = null
      }
    } catch (error) {
      if (!(error instanceof StorageFault)) throw error
      this.#count('flush failed')
      this.#restart(store.committedCount)
    }
    if (prng.chance(0.3)) store.release()
  }

  #crash(): void {
    const { store } = this.#harness
    const kept = this.#prng.between(store.releasedCount, store.committedCount)
    this.#count(kept < store.committedCount ? 'crash that lost ops' : 'crash that lost nothing')
    this.#restart(kept)
  }

  /** Goes on from what a prefix of the transactions left. */
  #restart(keptCount: number): void {
    const behindMicros = this.#prng.below(SNAPSHOT_AHEAD_MICROS_MAX + 1)
    this.#harness.clock.advance(this.#behindMicros - behindMicros)
    this.#behindMicros = behindMicros
    this.#sent = this.#sent
      .filter((share) => share.committed <= keptCount)
      .map((share) => ({ ...share, committed: 0 }))
    this.#task = null
    this.#harness.crash(keptCount)
    this.#model = new TabletModel(COLUMNS)
    for (const share of this.#sent) this.#model.apply(share.operations, share.at)
  }

  #check(): void {
    // It reads every file.
    if (this.#prng.chance(0.2)) checkTablet(this.#harness.tablet)
    assert(this.#harness.tablet.lastApplied === this.#lastApplied(), 'the newest op is known')
    if (this.#shown.length === 0) return
    for (let i = 0; i < 2; i++) {
      const shown = this.#prng.pick(this.#shown)
      const { rows } = this.#harness.peek(shown.at)
      assertEqual(rows, shown.rows, 'a snapshot shows what it showed before')
    }
  }

  #drawKey(): ResultKey {
    const isInternal = this.#prng.chance(0.3)
    const key = `key ${this.#keyCount++}`
    return { key, share: this.#prng.below(2), digest: 'digest', isInternal }
  }

  #drawOperations(): ModelOperation[] {
    const count = this.#prng.chance(0.05) ? 40 : this.#prng.between(1, 6)
    const isUniform = this.#prng.chance(0.4)
    const first = this.#prng.pick(OPERATIONS)
    return Array.from({ length: count }, (): ModelOperation => {
      const operation = isUniform ? first : this.#prng.pick(OPERATIONS)
      return [operation, this.#drawRow(operation)]
    })
  }

  #drawRow(operation: RowOperationName): ModelRow {
    const prng = this.#prng
    const row: Record<string, ModelValue> = {}
    const isHot = prng.chance(0.8)
    if (prng.chance(0.98)) row.k = isHot ? prng.between(-1, 1) : prng.between(-1000, 1000)
    if (prng.chance(0.99)) row.s = prng.chance(0.01) ? null : prng.pick(['', 'a'])
    if (operation.startsWith('DELETE') && prng.chance(0.95)) return row
    if (prng.chance(0.6)) row.v = prng.chance(0.2) ? null : prng.below(100)
    if (prng.chance(0.4)) row.d = prng.chance(0.05) ? null : prng.below(100)
    if (prng.chance(0.3)) row.i = prng.chance(0.3) ? null : prng.below(100)
    if (prng.chance(0.9)) row.t = prng.chance(0.03) ? null : `t${prng.below(100)}`
    return row
  }
}

function blockOf(operations: readonly ModelOperation[]): Uint8Array {
  const plain = operations.map(([name, row]) => [name as RowOperationName, row] as const)
  return encodeRowBlock(aWriteBlock(SCHEMA, plain))
}

/** A result in the words of the model. */
function plainResult(result: WriteResult): ModelResult {
  const { inserted, upserted, updated, deleted, ignored, failed, created } = result
  const errors = [...result.errors.rows].map((row, index) => ({
    row,
    error: ERROR_NAMES.get(result.errors.codes[index]) ?? 'unknown',
    column: SCHEMA.byId(result.errors.columnIds[index])?.name ?? null,
  }))
  return { inserted, upserted, updated, deleted, ignored, failed, created, errors }
}

/** The model's result in the words of the engine. */
function plainWriteResult(result: ModelResult): Omit<WriteResult, 'timestamp'> {
  const { errors, ...counts } = result
  const codes = errors.map(({ error }) => ROW_ERRORS[error as keyof typeof ROW_ERRORS])
  const columnIds = errors.map(({ column }) => SCHEMA.byName(column ?? '')?.id ?? -1)
  return {
    ...counts,
    errors: {
      rows: Uint32Array.from(errors.map(({ row }) => row)),
      codes: Uint8Array.from(codes),
      columnIds: Int32Array.from(columnIds),
    },
    isReplayed: false,
  }
}

function assertEqual(found: unknown, expected: unknown, law: string): void {
  const [foundText, expectedText] = [textOf(found), textOf(expected)]
  if (foundText === expectedText) return
  throw new Error(`${law}\nfound    ${foundText}\nexpected ${expectedText}`)
}

/** JSON with members in one order and typed arrays as lists. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (ArrayBuffer.isView(member)) return Array.from(member as unknown as ArrayLike<number>)
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

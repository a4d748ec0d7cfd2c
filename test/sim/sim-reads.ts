/** The reads of a simulated tablet: scans at all times, held open meanwhile, and lookups. */

import type { ColumnPredicate } from '../../src/common/column-predicate.ts'
import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import type { TabletScanner } from '../../src/tablet/scan/tablet-scanner.ts'
import type { ScanRequest } from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import { EMPTY_BYTES, utf8Encode } from '../../src/util/bytes.ts'
import { okValue, plainRowsOf } from '../support/tablet-harness.ts'
import type { ModelOperation, ModelRow, ModelValue } from '../support/tablet-model.ts'
import { assertSame } from './same.ts'
import type { SimPredicate, SimScan } from './sim-event.ts'
import { expectedRows } from './sim-history.ts'
import { encodeSimKeys, keysOf, type SimKey } from './sim-keys.ts'
import { chosen, SECOND_MICROS, type SimState, STEP_BACK_MICROS } from './sim-state.ts'

const OPEN_SCAN_COUNT_MAX = 4

interface OpenScan {
  readonly scanner: TabletScanner
  readonly at: number
  readonly expected: readonly ModelRow[]
  readonly batchRows: number
  given: number
}

/** See the file's header. */
export class SimReads {
  readonly #state: SimState
  #scans: OpenScan[] = []

  constructor(state: SimState) {
    this.#state = state
    state.onRestart(() => {
      this.#scans = []
    })
  }

  /** Scans that are open. */
  get openCount(): number {
    return this.#scans.length
  }

  /** The snapshot that a scan asks for; null for the present. */
  #snapshotFor({ at: where, dice }: SimScan): number | null {
    const now = this.#state.harness.clock.nowMicros()
    if (where === 'present') return null
    if (where === 'ahead') return now + Math.floor(dice * 5_000_000)
    const { shown } = this.#state.history
    const isSeenBefore = shown.length > 0 && dice < 0.7
    if (isSeenBefore) return chosen(shown, dice / 0.7).at
    return now - Math.floor(dice * 80 * SECOND_MICROS)
  }

  #scanRequest(scan: SimScan, snapshot: number | null, heard: number): ScanRequest {
    const ids = scan.columns.map((name) => this.#state.schema.byName(name)?.id ?? 0)
    return {
      ...this.#state.harness.request(heard),
      columnIds: ids,
      predicates: scan.predicates.map((one) => enginePredicate(this.#state.schema, one)),
      lowerKey: this.#bound(scan.bounds?.[0]),
      upperKey: this.#bound(scan.bounds?.[1]),
      order: scan.isDescending ? 'DESCENDING' : 'ORDERED',
      snapshot,
      withKeys: false,
    }
  }

  #bound(key: SimKey | null | undefined): Uint8Array {
    return key ? encodeSimKeys(this.#state.schema, [key]).key(0) : EMPTY_BYTES
  }

  /** Opens a scan, or finds that its snapshot is too old, as it must then be. */
  #open(scan: SimScan): OpenScan | null {
    const { tablet, store, clock } = this.#state.harness
    const snapshot = this.#snapshotFor(scan)
    const { horizon } = this.#state
    const heard = scan.heardMicros ? clock.nowMicros() + scan.heardMicros : 0
    let opened: OpenScan | null = null
    const isAnswered = this.#state.withFault('scan', () => {
      try {
        const found = okValue(tablet.openScan(this.#scanRequest(scan, snapshot, heard)))
        assert(snapshot === null || found.snapshot === snapshot, 'a scan reads where it was told')
        assert(snapshot !== null || found.snapshot >= heard, 'a present is not before its reader')
        assert(found.snapshot >= horizon, 'a scan below the history of the table is refused')
        const rows = this.#state.history.model.rowsAt(found.snapshot)
        this.#state.history.show({ at: found.snapshot, rows })
        const expected = expectedRows(rows, scan)
        const { scanner } = found
        opened = { scanner, at: found.snapshot, expected, batchRows: scan.batchRows, given: 0 }
      } catch (error) {
        if (!(error instanceof StatusError) || error.code !== 'INVALID_SNAPSHOT') throw error
        const isOld = snapshot !== null && snapshot < horizon + STEP_BACK_MICROS
        assert(isOld, 'a snapshot within the history of the table is served')
        this.#state.count('snapshot too old')
      }
      store.release()
    })
    if (!isAnswered) this.#state.restart(store.committedCount, this.#state.behindMicros)
    return isAnswered ? opened : null
  }

  scan(scan: SimScan): void {
    const open = this.#open(scan)
    if (open === null) return
    this.#readBatches(open, Number.POSITIVE_INFINITY)
    this.#state.count(`scan of the ${scan.at}`)
  }

  openScan(scan: SimScan): void {
    if (this.#scans.length >= OPEN_SCAN_COUNT_MAX) return
    const open = this.#open(scan)
    if (open !== null) this.#scans.push(open)
  }

  /** Looks for rows by one cell of a row that is there: pages must not be skipped that have it. */
  probe(at: number, rows: readonly ModelRow[]): void {
    const { prng, harness } = this.#state
    if (rows.length === 0) return
    const column = prng.pick(['k', 'v', 'd', 'i', 't'])
    const value = prng.pick(rows)[column]
    const scan: SimScan = {
      at: 'past',
      dice: 0,
      columns: ['s', column],
      predicates: [predicateFor(column, value, prng.chance(0.5))],
      isDescending: prng.chance(0.3),
      batchRows: 1000,
    }
    const { scanner } = okValue(harness.tablet.openScan(this.#scanRequest(scan, at, 0)))
    const expected = expectedRows(rows, scan)
    this.#readBatches({ scanner, at, expected, batchRows: 1000, given: 0 }, Infinity)
  }

  readOn(dice: number, batches: number): void {
    if (this.#scans.length === 0) return
    const open = chosen(this.#scans, dice)
    this.#state.count('scan read on')
    if (!this.#readBatches(open, batches)) return
    this.#scans = this.#scans.filter((other) => other !== open)
  }

  /** Reads batches of a scan and compares them. Returns: whether it has ended. */
  #readBatches(open: OpenScan, batches: number): boolean {
    for (let left = batches; left > 0; left--) {
      const batch = open.scanner.nextBatch(open.batchRows, 1 << 20)
      if (batch === null) {
        assert(open.given === open.expected.length, 'a scan ends with its last row')
        return true
      }
      const rows = plainRowsOf(this.#state.schema, batch.block)
      const expected = open.expected.slice(open.given, open.given + rows.length)
      assertSame(rows, expected, `a scan at ${open.at} shows the rows of the model`)
      open.given += rows.length
    }
    return false
  }

  closeScan(dice: number): void {
    if (this.#scans.length === 0) return
    const open = chosen(this.#scans, dice)
    open.scanner.close()
    this.#scans = this.#scans.filter((other) => other !== open)
    this.#state.count('scan closed midway')
  }

  lookup(dice: number, operations: readonly ModelOperation[]): void {
    const { tablet } = this.#state.harness
    const keys = keysOf(operations)
    const arena = encodeSimKeys(this.#state.schema, keys)
    const isPast = dice < 0.5 && this.#state.history.shown.length > 0
    const snapshot = isPast ? chosen(this.#state.history.shown, dice * 2).at : null
    const { horizon } = this.#state
    if (snapshot !== null && snapshot < horizon + STEP_BACK_MICROS) return
    const found = okValue(
      tablet.lookup({
        ...this.#state.harness.request(),
        columnIds: this.#state.schema.columns.map((column) => column.id),
        keyBytes: arena.bytes.slice(0, arena.length),
        keyEnds: arena.ends.slice(0, arena.count),
        snapshot,
      }),
    )
    const expected = new Map(
      this.#state.history.model
        .rowsAt(found.snapshot)
        .map((row) => [JSON.stringify([row.k, row.s]), row] as const),
    )
    const rows = plainRowsOf(this.#state.schema, found.block)
    const byKey = new Map<number, unknown>()
    for (let row = 0; row < rows.length; row++) byKey.set(found.keyIndexes[row], rows[row])
    keys.forEach((key, index) => {
      assertSame(
        byKey.get(index) ?? null,
        expected.get(JSON.stringify(key)) ?? null,
        `a lookup at ${found.snapshot} finds the row of the model`,
      )
    })
    this.#state.count('lookup')
  }

  offer(aheadMicros: number): void {
    const { tablet, clock, store } = this.#state.harness
    const snapshot = clock.nowMicros() + aheadMicros
    const isAnswered = this.#state.withFault('offer', () => {
      const reply = okValue(tablet.offerSnapshot({ ...this.#state.harness.request(), snapshot }))
      assert(reply.lastApplied === this.#state.history.lastApplied, 'an offer tells the newest op')
      store.release()
      this.#state.history.show({ at: snapshot, rows: this.#state.history.model.rowsAt(snapshot) })
    })
    if (!isAnswered) this.#state.restart(store.committedCount, this.#state.behindMicros)
  }
}

/** What a cell passes, and few others do. */
function predicateFor(column: string, value: ModelValue, asRange: boolean): SimPredicate {
  if (value === null) return { kind: 'null', column, isNull: true }
  if (typeof value === 'number' && asRange) {
    return { kind: 'range', column, low: value, high: value + 1 }
  }
  return { kind: 'equal', column, value }
}

function enginePredicate(schema: Schema, predicate: SimPredicate): ColumnPredicate {
  const columnId = schema.byName(predicate.column)?.id ?? 0
  const plain = { columnId, lower: null, upper: null, values: [] }
  switch (predicate.kind) {
    case 'null':
      return { ...plain, kind: predicate.isNull ? 'IS_NULL' : 'IS_NOT_NULL' }
    case 'equal': {
      const { value } = predicate
      return {
        ...plain,
        kind: 'EQUALITY',
        lower: typeof value === 'string' ? utf8Encode(value) : value,
      }
    }
    case 'range': {
      const { low, high } = predicate
      return high <= low
        ? { ...plain, kind: 'NONE' }
        : { ...plain, kind: 'RANGE', lower: low, upper: high }
    }
  }
}

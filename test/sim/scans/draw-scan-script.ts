/** Draws scripts over whole tables from seeds. */

import { MAINTENANCE_OPS, type MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { ScanOrder } from '../../../src/wire/tablet-protocol.ts'
import { drawAggregation } from './draw-aggregate.ts'
import { drawDiff, drawScan, drawSelection, drawTokenScan, type QueryGround } from './draw-query.ts'
import { drawTable, shuffled } from './draw-table.ts'
import { drawPlan, drawPlanned, type ValuePlan } from './draw-value.ts'
import type { ModelTable } from './model-table.ts'
import type { ModelColumn, Value } from './model-value.ts'
import {
  type ModelQuery,
  type ScanEvent,
  type ScanQuery,
  type ScanScript,
  WRITE_FORMATS,
  type WriteEvent,
} from './scan-script.ts'
import type { ModelOperation } from './version-model.ts'

const OPERATIONS = [
  'INSERT',
  'INSERT_IGNORE',
  'UPSERT',
  'UPSERT',
  'UPSERT_IGNORE',
  'UPDATE',
  'UPDATE_IGNORE',
  'UPDATE_IGNORE',
  'DELETE',
  'DELETE_IGNORE',
]
/** Those that others need come more often. */
const ASKED_OPS = [
  ...MAINTENANCE_OPS,
  'FLUSH_MRS',
  'FLUSH_MRS',
  'FLUSH_DMS',
  'COMPACT',
  'COMPACT',
] as const
const SEEN_MAX = 300
const SEEN_LENGTH_MAX = 400
/** How many of the tables have many rows. */
const BULK_CHANCE = 0.04
const BULK_KEY_SHARE = 0.02
/** How many have long cells. */
const HEAVY_CHANCE = 0.02
/** Rows are fewer the longer they are. */
const HEAVY_BYTES = 6_000_000

/** What is special about a table. */
interface DrawerOptions {
  readonly isBulk?: boolean
  readonly longBytes?: number
}

/** The script of a seed: so many reads, and what they read. */
export function drawScanScript(seed: number, readCount: number): ScanScript {
  const prng = new Prng(seed)
  if (prng.chance(BULK_CHANCE)) return drawBulkScript(prng, seed, readCount)
  if (prng.chance(HEAVY_CHANCE)) return drawHeavyScript(prng, seed, readCount)
  const table = drawTable(prng)
  return {
    seed,
    table,
    evictChance: prng.pick([0, 0, 0, 0.02]),
    skewMicros: prng.pick([0, 0, 100_000]),
    events: new ScriptDrawer(prng, table).draw(readCount),
  }
}

/** Few reads of a table of many rows, cut as tablets cut them by themselves. */
function drawBulkScript(prng: Prng, seed: number, readCount: number): ScanScript {
  const drawn = drawTable(prng)
  const table = { ...drawn, columns: drawn.columns.slice(0, 6), layout: null }
  const events = new ScriptDrawer(prng, table, { isBulk: true }).drawBulk(Math.ceil(readCount / 4))
  return { seed, table, evictChance: 0, events }
}

/** Few reads of a table whose cells are long: answers, shares and pages are cut by their bytes. */
function drawHeavyScript(prng: Prng, seed: number, readCount: number): ScanScript {
  const drawn = drawTable(prng)
  const plain = { precision: 0, scale: 0, length: 0, encoding: 'AUTO_ENCODING', isKey: false }
  const type = prng.pick(['STRING', 'BINARY'] as const)
  const heavy: ModelColumn = { ...drawn.columns[0], ...plain, name: 'heavy', type }
  const table = { ...drawn, columns: [...drawn.columns.slice(0, 5), heavy], layout: null }
  const drawer = new ScriptDrawer(prng, table, { longBytes: prng.pick([500, 5000, 60_000]) })
  return { seed, table, evictChance: 0, events: drawer.drawHeavy(Math.ceil(readCount / 6)) }
}

/** A walk through a table in pages of one row, which is changed in all ways as it goes on. */
export function longWalk(seed: number, order: ScanOrder): ScanScript {
  const prng = new Prng(seed)
  const table = { ...drawTable(prng), ranges: [], rangeColumns: [], historySec: 604_800 }
  const events = new ScriptDrawer(prng, table).drawLongWalk(order)
  return { seed, table, evictChance: 0, events }
}

class ScriptDrawer {
  readonly #prng: Prng
  readonly #table: ModelTable
  readonly #plans: readonly ValuePlan[]
  readonly #seen: readonly Value[][]
  readonly #keys: (readonly Value[])[] = []
  readonly #ground: QueryGround
  readonly #longBytes: number
  #serial = 0

  constructor(prng: Prng, table: ModelTable, options: DrawerOptions = {}) {
    this.#prng = prng
    this.#table = table
    const { isBulk = false, longBytes = null } = options
    this.#longBytes = longBytes ?? 1
    this.#plans = table.columns.map((column, i) => {
      const plan = { ...drawPlan(prng, column), longBytes }
      // So many rows need as many keys.
      return isBulk && i === 0 ? { ...plan, poolShare: BULK_KEY_SHARE } : plan
    })
    this.#seen = table.columns.map(() => [])
    this.#ground = {
      columns: table.columns,
      seen: (column) => this.#seen[table.columns.indexOf(column)],
    }
  }

  draw(readCount: number): ScanEvent[] {
    const prng = this.#prng
    const events: ScanEvent[] = []
    const rowCount = prng.pick([1, 10, 40, 100, 100, 400])
    for (let i = prng.between(2, 12); i > 0; i--) {
      events.push(this.#write(prng.between(1, rowCount)))
      if (prng.chance(0.6)) events.push(this.#upkeep())
      if (prng.chance(0.15)) events.push(...this.#deltas())
    }
    for (let reads = 0; reads < readCount; ) {
      if (prng.chance(0.12)) events.push(this.#write(prng.between(1, 30)))
      if (prng.chance(0.12)) events.push(this.#upkeep())
      if (prng.chance(0.02)) events.push(...this.#deltas())
      if (prng.chance(0.02)) events.push(this.#deletion())
      if (prng.chance(0.06)) {
        events.push(this.#together())
        reads += 2
      }
      const query = this.#query()
      events.push({ kind: 'read', query })
      reads++
    }
    return events
  }

  /** Many rows, then reads with changes in between. */
  drawBulk(readCount: number): ScanEvent[] {
    const prng = this.#prng
    const events: ScanEvent[] = []
    for (let i = prng.between(2, 4); i > 0; i--) {
      events.push(this.#write(prng.between(2000, 6000), 'UPSERT', 'ndjson'), this.#upkeep())
    }
    for (let reads = 0; reads < readCount; reads++) {
      if (prng.chance(0.15)) events.push(this.#write(prng.between(1, 500)))
      if (prng.chance(0.2)) events.push(this.#upkeep())
      const query = this.#query()
      events.push({ kind: 'read', query: { ...query, between: [] } as ModelQuery })
    }
    return events
  }

  /** Rows of long cells, then reads with changes in between. */
  drawHeavy(readCount: number): ScanEvent[] {
    const prng = this.#prng
    const events: ScanEvent[] = []
    const rowCount = Math.min(1000, Math.ceil(HEAVY_BYTES / this.#longBytes))
    for (let i = prng.between(1, 3); i > 0; i--) {
      events.push(this.#write(rowCount, 'UPSERT'), this.#upkeep())
    }
    for (let reads = 0; reads < readCount; reads++) {
      if (prng.chance(0.1)) events.push(this.#write(prng.between(1, 10)))
      if (prng.chance(0.2)) events.push(this.#upkeep())
      const query = this.#query()
      events.push({ kind: 'read', query: { ...query, between: [] } as ModelQuery })
    }
    return events
  }

  drawLongWalk(order: ScanOrder): ScanEvent[] {
    const events: ScanEvent[] = []
    for (let i = 0; i < 5; i++) {
      events.push(this.#write(100, 'UPSERT'), this.#upkeep())
    }
    const between = MAINTENANCE_OPS.flatMap((op): ScanEvent[] => [
      this.#write(8),
      { kind: 'maintain', op, dice: null },
      { kind: 'evict', dice: this.#prng.unit() },
    ])
    const plain = drawScan(this.#prng, this.#ground)
    const query: ScanQuery = {
      ...plain,
      columns: null,
      predicates: [],
      lower: null,
      upper: null,
      order,
      limit: null,
      at: { kind: 'now', mode: null },
      format: 'json',
      nullText: '',
      pageSize: 1,
      isAnalyzed: false,
      diff: null,
      tokens: null,
      between,
    }
    return [...events, { kind: 'read', query }]
  }

  #query(): ModelQuery {
    if (this.#prng.chance(0.35)) return drawAggregation(this.#prng, this.#ground)
    if (this.#prng.chance(0.15)) return drawDiff(this.#prng, this.#ground)
    if (this.#prng.chance(0.1)) {
      const query = drawTokenScan(this.#prng, this.#ground)
      return this.#prng.chance(0.3) ? this.#interrupted(query) : query
    }
    const query = drawScan(this.#prng, this.#ground)
    return query.pageSize !== null && this.#prng.chance(0.3) ? this.#interrupted(query) : query
  }

  /** A walk through pages while the table changes. */
  #interrupted(query: ScanQuery): ScanQuery {
    const between = Array.from({ length: this.#prng.between(1, 4) }, (): ScanEvent => {
      return this.#prng.chance(0.5) ? this.#write(this.#prng.between(1, 6)) : this.#upkeep(100_000)
    })
    return { ...query, between }
  }

  /** Rows on disk with changes in several files of deltas, merged or not. */
  #deltas(): ScanEvent[] {
    const prng = this.#prng
    const request = (op: MaintenanceOp): ScanEvent => ({ kind: 'maintain', op, dice: null })
    const events = [this.#write(prng.between(1, 40)), request('FLUSH_MRS')]
    for (let i = prng.between(1, 3); i > 0; i--) {
      events.push(this.#write(prng.between(1, 20)), request('FLUSH_DMS'))
    }
    const merge = prng.pick(['MINOR_DELTA_COMPACT', 'MAJOR_DELTA_COMPACT', 'COMPACT'] as const)
    return prng.chance(0.6) ? [...events, request(merge)] : events
  }

  #together(): ScanEvent {
    const prng = this.#prng
    const reads = Array.from({ length: 2 }, (): ScanEvent => {
      return { kind: 'read', query: { ...this.#query(), between: [] } as ModelQuery }
    })
    const write = prng.chance(0.8) ? this.#write(prng.between(1, 60)) : this.#deletion()
    const upkeep: ScanEvent = { kind: 'maintain', op: prng.pick(MAINTENANCE_OPS), dice: null }
    return { kind: 'together', events: shuffled(prng, [write, upkeep, ...reads]) }
  }

  /** Rows that are deleted by predicates, or, seldom, all of them. */
  #deletion(): ScanEvent {
    const prng = this.#prng
    const options = { int64: 'number', timestamps: 'rfc3339' } as const
    for (;;) {
      const selection = drawSelection(prng, this.#ground, options, true)
      const isWide = selection.predicates.length === 0
      if (isWide && !prng.chance(0.05)) continue
      return { kind: 'delete', ...selection, options, isRepeated: prng.chance(0.3) }
    }
  }

  #upkeep(advanceMax = Number.POSITIVE_INFINITY): ScanEvent {
    const prng = this.#prng
    if (prng.chance(0.1)) return { kind: 'evict', dice: prng.unit() }
    if (prng.chance(0.1)) {
      return { kind: 'reset', dice: prng.unit(), moment: prng.pick(['before', 'after']) }
    }
    if (prng.chance(0.15)) {
      const micros = prng.pick([1000, 100_000, 6_000_000, 40_000_000])
      return { kind: 'advance', micros: Math.min(advanceMax, micros) }
    }
    const op = prng.pick(ASKED_OPS)
    return { kind: 'maintain', op, dice: prng.chance(0.5) ? prng.unit() : null }
  }

  #write(
    rowCount: number,
    forced?: string,
    format: WriteEvent['format'] = this.#prng.pick(WRITE_FORMATS),
  ): WriteEvent {
    const prng = this.#prng
    const isUniform = format !== 'json' || forced !== undefined || prng.chance(0.3)
    const usual = rowCount > 20 && prng.chance(0.7) ? 'UPSERT' : prng.pick(OPERATIONS)
    const first = forced ?? usual
    // All rows of CSV and Arrow have the same columns.
    const isLeftOut = format === 'csv' || format === 'arrow' ? this.#leftOut() : null
    const operations = Array.from({ length: rowCount }, (): ModelOperation => {
      const operation = isUniform ? first : prng.pick(OPERATIONS)
      return [operation, this.#cells(operation, isLeftOut ?? this.#leftOut())]
    })
    return { kind: 'write', format, operations }
  }

  /** Which columns a row leaves out if its operation lets it. */
  #leftOut(): readonly boolean[] {
    const share = this.#prng.pick([0, 0, 0.3, 0.8])
    return this.#table.columns.map(() => this.#prng.chance(share))
  }

  #cells(operation: string, isLeftOut: readonly boolean[]): ModelOperation[1] {
    const { columns } = this.#table
    const serial = this.#serial++
    const isOld = this.#keys.length > 0 && this.#prng.chance(operation === 'INSERT' ? 0.05 : 0.6)
    const key = isOld ? this.#prng.pick(this.#keys) : null
    const entries: [string, Value][] = []
    for (const [i, column] of columns.entries()) {
      if (!column.isKey && operation.startsWith('DELETE')) break
      if (isLeftOut[i] && mayBeLeftOut(column, operation)) continue
      const value = key !== null && column.isKey ? key[i] : this.#value(column, i, serial)
      entries.push([column.name, value])
    }
    if (!isOld && this.#keys.length < 1000) {
      this.#keys.push(columns.flatMap(({ isKey }, i) => (isKey ? [entries[i][1]] : [])))
    }
    // Not by assignment: a column may be called __proto__.
    return Object.fromEntries(entries)
  }

  #value(column: ModelColumn, index: number, serial: number): Value {
    const value = drawPlanned(this.#prng, column, this.#plans[index], serial)
    const seen = this.#seen[index]
    // Long ones fit in no query string.
    if (value !== null && String(value).length < SEEN_LENGTH_MAX) {
      if (seen.length < SEEN_MAX) seen.push(value)
      else seen[this.#prng.below(SEEN_MAX)] = value
    }
    return value
  }
}

function mayBeLeftOut(column: ModelColumn, operation: string): boolean {
  if (column.isKey) return false
  if (operation.startsWith('UPDATE')) return true
  return column.isNullable || column.defaultValue !== null
}

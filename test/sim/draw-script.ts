/** Draws scripts from seeds: which events come how often is drawn too, anew for each script. */

import { SNAPSHOT_AHEAD_MICROS_MAX } from '../../src/common/limits.ts'
import { MAINTENANCE_OPS, type MaintenanceOp } from '../../src/common/maintenance-op.ts'
import { ROW_OPERATIONS, type RowOperationName } from '../../src/common/row-operation.ts'
import { Prng } from '../../src/util/prng.ts'
import type { ModelOperation, ModelRow, ModelValue } from '../support/tablet-model.ts'
import type { SimEvent, SimLayout, SimPredicate, SimScan, SimScript } from './sim-event.ts'
import type { SimKey } from './sim-keys.ts'

const OPERATIONS = Object.keys(ROW_OPERATIONS) as RowOperationName[]
const COLUMNS = ['k', 's', 'v', 'd', 'i', 't']

/** How often each kind of event comes when nothing is said against it. */
const WEIGHTS: Readonly<Record<SimEvent['kind'] | Phrase, number>> = {
  write: 40,
  repeat: 4,
  scan: 6,
  lookup: 3,
  'open scan': 3,
  'read on': 4,
  'close scan': 1,
  offer: 2,
  maintain: 8,
  request: 12,
  advance: 4,
  lock: 2,
  unlock: 3,
  fail: 3,
  crash: 4,
  evict: 3,
  damage: 1,
  lives: 3,
  ancient: 1,
  late: 1,
  held: 2,
}
/** Ops that an operator asks for, some more often than others. */
const ASKED: readonly MaintenanceOp[] = [
  ...MAINTENANCE_OPS,
  'FLUSH_MRS',
  'FLUSH_MRS',
  'FLUSH_DMS',
  'COMPACT',
  'COMPACT',
]

/**
 * Events that follow each other on purpose:
 *
 *   lives     hot rows are deleted, that is flushed, they come back, that is flushed, and merged
 *   ancient   all is flushed, becomes too old to be read, is merged or collected
 *   held      a scan is open while what it reads is flushed and merged
 *   late      changes of an older life are in the WAL only when its time becomes too old to be read
 */
type Phrase = 'lives' | 'ancient' | 'late' | 'held'

const LARGE_MEMORY_BYTES = 1 << 29

/** The script of a seed. */
export function drawScript(seed: number, eventCount: number): SimScript {
  const prng = new Prng(seed)
  const drawer = new EventDrawer(prng)
  return {
    seed,
    historySec: prng.pick([60, 60, 604_800]),
    memoryBytes: prng.chance(0.15) ? prng.pick([16_384, 40_000]) : LARGE_MEMORY_BYTES,
    layout: drawLayout(prng),
    events: drawer.draw(eventCount),
  }
}

/** A set-up of the tablet. */
export function drawLayout(prng: Prng): SimLayout {
  return {
    pageRows: prng.pick([4, 16, 64]),
    blockBytes: prng.pick([256, 2048, 65_536]),
    flushBytes: prng.pick([4096, 16_384, 1 << 20]),
    stepBytes: prng.pick([1, 400, 4000, 1 << 20]),
    encodings: prng.pick(['auto', 'plain']),
  }
}

class EventDrawer {
  readonly #prng: Prng
  readonly #kinds: (SimEvent['kind'] | Phrase)[] = []
  readonly #hotKeys: number
  readonly #coldKeys: number
  readonly #hotChance: number
  readonly #batchChance: number

  constructor(prng: Prng) {
    this.#prng = prng
    this.#hotKeys = prng.pick([1, 3, 8])
    this.#coldKeys = prng.pick([20, 100, 100, 1000])
    this.#hotChance = prng.pick([0.3, 0.6, 0.9])
    this.#batchChance = prng.pick([0.02, 0.1, 0.3])
    for (const [kind, weight] of Object.entries(WEIGHTS) as [SimEvent['kind'] | Phrase, number][]) {
      // A swarm: each script does much of some things and nothing of others.
      const factor = prng.pick([0, 1, 1, 1, 4])
      const count = kind === 'write' ? Math.max(weight, weight * factor) : weight * factor
      for (let i = 0; i < count; i++) this.#kinds.push(kind)
    }
  }

  /** So many events. */
  draw(count: number): SimEvent[] {
    const events: SimEvent[] = []
    while (events.length < count) {
      const kind = this.#prng.pick(this.#kinds)
      if (kind === 'lives') events.push(...this.#lives())
      else if (kind === 'ancient') events.push(...this.#ancient())
      else if (kind === 'late') events.push(...this.#late())
      else if (kind === 'held') events.push(...this.#held())
      else events.push(this.#event(kind))
    }
    return events.slice(0, count)
  }

  #lives(): SimEvent[] {
    const { request } = this
    const write = (name: RowOperationName): SimEvent => {
      const count = this.#prng.between(1, 4)
      const rows = Array.from({ length: count }, () => this.#hotRow(name))
      return this.#writeOf(rows)
    }
    const events: SimEvent[] = []
    for (let life = this.#prng.between(1, 3); life > 0; life--) {
      events.push(write('UPSERT'), request('FLUSH_MRS'))
      if (this.#prng.chance(0.5)) events.push(write('UPDATE_IGNORE'))
      events.push(write('DELETE_IGNORE'))
      if (this.#prng.chance(0.7)) events.push(request('FLUSH_DMS'))
      if (this.#prng.chance(0.3)) events.push(this.#event('crash'))
    }
    events.push(write('UPSERT'))
    if (this.#prng.chance(0.7)) events.push(this.#event('request'), request('COMPACT'))
    return events
  }

  #ancient(): SimEvent[] {
    const { request } = this
    const flushed = [request('FLUSH_MRS'), request('FLUSH_DMS'), request('GC')]
    const last = this.#prng.pick([...MAINTENANCE_OPS, 'COMPACT', 'GC'] as const)
    return [...flushed, { kind: 'advance', micros: 61_000_000 }, request(last), request('GC')]
  }

  #late(): SimEvent[] {
    const { request } = this
    const key = { k: this.#prng.below(this.#hotKeys), s: '' }
    const row = { ...key, t: 'late' }
    const write = (name: RowOperationName, cells: ModelRow) => this.#writeOf([[name, cells]])
    return [
      write('UPSERT', row),
      request('FLUSH_MRS'),
      write('UPDATE_IGNORE', { ...key, v: 1 }),
      write('DELETE_IGNORE', key),
      write('UPSERT', row),
      request('FLUSH_MRS'),
      { kind: 'advance', micros: 61_000_000 },
      request(this.#prng.pick(['GC', 'GC', 'MAJOR_DELTA_COMPACT', 'MINOR_DELTA_COMPACT'])),
      { kind: 'evict', behindMicros: this.#behind() },
    ]
  }

  #held(): SimEvent[] {
    const { request } = this
    const prng = this.#prng
    const merge = prng.pick([
      'COMPACT',
      'MAJOR_DELTA_COMPACT',
      'MINOR_DELTA_COMPACT',
      'GC',
    ] as const)
    return [
      this.#writeOf([this.#hotRow('UPSERT')]),
      request('FLUSH_MRS'),
      this.#writeOf([this.#hotRow('UPSERT'), this.#hotRow('UPSERT')]),
      this.#event('open scan'),
      request('FLUSH_DMS'),
      request(merge),
      { kind: 'read on', dice: prng.unit(), batches: 2 },
      request('GC'),
      this.#event(prng.pick(['read on', 'close scan'])),
    ]
  }

  /** A request that is run to its end, or nearly so. */
  readonly request = (op: MaintenanceOp): SimEvent => {
    return { kind: 'request', op, steps: this.#prng.pick([0, 0, 0, 0, 8]) }
  }

  #writeOf(operations: readonly ModelOperation[]): SimEvent {
    const prng = this.#prng
    return {
      kind: 'write',
      operations,
      key: prng.pick(['none', 'none', 'client', 'front']),
      leaves: prng.chance(0.6),
      aheadMicros: prng.chance(0.1) ? prng.below(3_000_000) : 0,
    }
  }

  #event(kind: SimEvent['kind']): SimEvent {
    const prng = this.#prng
    switch (kind) {
      case 'write':
        return this.#writeOf(this.#operations())
      case 'scan':
      case 'open scan':
        return { kind, scan: this.#scan() }
      case 'lookup':
        return { kind, dice: prng.unit(), rows: this.#operations() }
      case 'read on':
        return { kind, dice: prng.unit(), batches: prng.between(1, 4) }
      case 'repeat':
      case 'close scan':
        return { kind, dice: prng.unit() }
      case 'offer':
        return { kind, aheadMicros: prng.below(2_000_000) }
      case 'maintain':
        return { kind, steps: prng.pick([1, 2, 5, 20]) }
      case 'request':
        return { kind, op: prng.pick(ASKED), steps: prng.pick([0, 0, 1, 2, 5, 20]) }
      case 'advance':
        return { kind, micros: prng.pick([1000, 1_000_000, 20_000_000, 70_000_000]) }
      case 'lock':
        return { kind, operations: this.#operations() }
      case 'unlock':
        return { kind, dice: prng.unit(), applies: prng.chance(0.5) }
      case 'fail':
        return { kind, moment: prng.pick(['before-durable', 'after-durable', 'refused']) }
      case 'crash':
        return { kind, dice: prng.unit(), behindMicros: this.#behind() }
      case 'evict':
        return { kind, behindMicros: this.#behind() }
      case 'damage':
        return {
          kind,
          what: prng.pick(['block', 'block', 'block', 'superblock', 'wal']),
          dice: [prng.unit(), prng.unit(), prng.unit()],
          op: prng.pick(MAINTENANCE_OPS),
        }
    }
  }

  #behind(): number {
    return this.#prng.below(SNAPSHOT_AHEAD_MICROS_MAX + 1)
  }

  #scan(): SimScan {
    const prng = this.#prng
    return {
      at: prng.pick(['present', 'past', 'past', 'ahead']),
      dice: prng.unit(),
      columns: prng.chance(0.6) ? COLUMNS : COLUMNS.filter(() => prng.chance(0.5)),
      predicates: prng.chance(0.5) ? [] : this.#predicates(),
      isDescending: prng.chance(0.3),
      heardMicros: prng.chance(0.2) ? prng.below(1_000_000) : 0,
      bounds: [this.#bound(), this.#bound()],
      batchRows: prng.pick([1, 3, 50, 1000]),
    }
  }

  #bound(): SimKey | null {
    const prng = this.#prng
    if (prng.chance(0.7)) return null
    return [prng.between(-this.#coldKeys, this.#coldKeys), prng.pick(['', 'a'])]
  }

  #predicates(): SimPredicate[] {
    const prng = this.#prng
    const drawn: SimPredicate[] = []
    for (const column of ['k', 'v', 'd', 'i']) {
      if (!prng.chance(0.3)) continue
      const low = prng.between(-5, 80)
      if (prng.chance(0.5)) drawn.push({ kind: 'range', column, low, high: low + prng.below(60) })
      else if (column === 'v' || column === 'i') {
        drawn.push({ kind: 'null', column, isNull: prng.chance(0.5) })
      } else drawn.push({ kind: 'equal', column, value: prng.between(-2, 9) })
    }
    if (prng.chance(0.2)) {
      drawn.push({ kind: 'equal', column: 't', value: `t${prng.below(100)}` })
    }
    return drawn
  }

  #operations(): ModelOperation[] {
    const prng = this.#prng
    const isBatch = prng.chance(this.#batchChance)
    const count = isBatch ? prng.between(20, 120) : prng.between(1, 6)
    const isUniform = prng.chance(0.4)
    const first = isBatch && prng.chance(0.6) ? 'INSERT' : prng.pick(OPERATIONS)
    return Array.from({ length: count }, (): ModelOperation => {
      const operation = isUniform ? first : prng.pick(OPERATIONS)
      return [operation, this.#row(operation, isBatch)]
    })
  }

  #row(operation: RowOperationName, isBatch: boolean): ModelRow {
    const prng = this.#prng
    const isHot = prng.chance(isBatch ? 0.1 : this.#hotChance)
    const row: Record<string, ModelValue> = {}
    if (prng.chance(0.98)) {
      row.k = isHot ? prng.below(this.#hotKeys) : prng.between(-this.#coldKeys, this.#coldKeys)
    }
    if (prng.chance(0.99)) row.s = prng.chance(0.01) ? null : prng.pick(['', 'a'])
    if (operation.startsWith('DELETE') && prng.chance(0.95)) return row
    return { ...row, ...this.#cells(0.03) }
  }

  /** A well-formed operation on a hot row. */
  #hotRow(operation: RowOperationName): ModelOperation {
    const key = { k: this.#prng.below(this.#hotKeys), s: this.#prng.pick(['', 'a']) }
    if (operation.startsWith('DELETE')) return [operation, key]
    return [operation, { ...key, t: `t${this.#prng.below(100)}`, ...this.#cells(0) }]
  }

  #cells(oddChance: number): Record<string, ModelValue> {
    const prng = this.#prng
    const cells: Record<string, ModelValue> = {}
    if (prng.chance(0.6)) cells.v = prng.chance(0.2) ? null : prng.below(100)
    if (prng.chance(0.4)) cells.d = prng.chance(oddChance) ? null : prng.below(100)
    if (prng.chance(0.3)) cells.i = prng.chance(0.3) ? null : prng.below(100)
    if (prng.chance(0.9)) cells.t = prng.chance(oddChance) ? null : `t${prng.below(100)}`
    return cells
  }
}

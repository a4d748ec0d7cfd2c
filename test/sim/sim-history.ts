/**
 * The truth that a simulated tablet is held against: every share that is in the storage, and the
 * model of the rows that they make.
 */

import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'
import { type ModelOperation, type ModelRow, TabletModel } from '../support/tablet-model.ts'
import type { SimPredicate, SimScan } from './sim-event.ts'
import { compareSimKeys, keyOf } from './sim-keys.ts'
import { SIM_COLUMNS } from './sim-table.ts'

/** A share that was sent, and what became of it. */
export interface SentShare {
  readonly operations: readonly ModelOperation[]
  readonly key: ResultKey | null
  /** Transactions that were committed once it was applied. */
  readonly committed: number
  /** 0 when nothing was applied. */
  readonly at: number
  readonly result: WriteResult | null
  readonly expiresAt: number
}

/** A snapshot that somebody saw, and what it showed. */
export interface Shown {
  readonly at: number
  readonly rows: readonly ModelRow[]
}

/** See the file's header. */
export class SimHistory {
  #model = new TabletModel(SIM_COLUMNS)
  #sent: SentShare[] = []
  #shown: Shown[] = []
  #newestAt = 0

  /** The rows now and at every time before. */
  get model(): TabletModel {
    return this.#model
  }

  /** Shares that are in the storage, oldest first. */
  get sent(): readonly SentShare[] {
    return this.#sent
  }

  /** Snapshots that must never change. */
  get shown(): readonly Shown[] {
    return this.#shown
  }

  /** Time of the newest op that was applied. */
  get lastApplied(): number {
    return this.#newestAt
  }

  /** Takes note of a share that the model has applied. */
  add(share: SentShare): void {
    this.#sent.push(share)
    this.#newestAt = Math.max(this.#newestAt, share.at)
  }

  /** The remembered result that a repeat must get. */
  remembered(key: ResultKey, now: number): SentShare | undefined {
    const share = this.#sent.findLast(
      (sent) => sent.key?.key === key.key && sent.key.share === key.share,
    )
    return share !== undefined && share.expiresAt > now ? share : undefined
  }

  /** Takes note of a snapshot that was shown. */
  show(shown: Shown): void {
    this.#shown.push(shown)
    if (this.#shown.length > 200) this.#shown = this.#shown.slice(-150)
  }

  /** Forgets the snapshots that no one can read any more. */
  forgetBefore(time: number): void {
    this.#shown = this.#shown.filter(({ at }) => at >= time)
  }

  /** Forgets what a crash lost: the shares behind the first `keptCount` transactions. */
  crash(keptCount: number): void {
    const isLosing = this.#sent.some((share) => share.committed > keptCount)
    this.#sent = this.#sent
      .filter((share) => share.committed <= keptCount)
      .map((share) => ({ ...share, committed: 0 }))
    if (!isLosing) return
    this.#model = new TabletModel(SIM_COLUMNS)
    for (const share of this.#sent) this.#model.apply(share.operations, share.at)
    this.#newestAt = this.#sent.reduce((newest, { at }) => Math.max(newest, at), 0)
  }
}

/** Rows of a scan as the model gives them: in its order, filtered, projected. */
export function expectedRows(rows: readonly ModelRow[], scan: SimScan): ModelRow[] {
  const [lower, upper] = scan.bounds ?? [null, null]
  const passing = rows.filter((row) => {
    const key = keyOf(row)
    if (key === null || (lower !== null && compareSimKeys(key, lower) < 0)) return false
    if (upper !== null && compareSimKeys(key, upper) >= 0) return false
    return scan.predicates.every((one) => passes(row, one))
  })
  if (scan.isDescending) passing.reverse()
  return passing.map((row) => Object.fromEntries(scan.columns.map((name) => [name, row[name]])))
}

function passes(row: ModelRow, predicate: SimPredicate): boolean {
  const value = row[predicate.column]
  switch (predicate.kind) {
    case 'null':
      return (value === null) === predicate.isNull
    case 'equal':
      return value === predicate.value
    case 'range':
      return typeof value === 'number' && value >= predicate.low && value < predicate.high
  }
}

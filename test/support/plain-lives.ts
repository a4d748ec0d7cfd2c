/**
 * Keys that come and go, spread over rowsets: as plain versions, and as the base, UNDOs and REDOs
 * that each rowset may have of them.
 */

import type { Cell } from '../../src/common/data-type.ts'
import type { Schema } from '../../src/common/schema.ts'
import {
  DELTA_KINDS,
  type DeltaKind,
  type DeltaRecords,
} from '../../src/tablet/delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../../src/tablet/delta/delta-records-builder.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import type { PlainRow } from './a-write-block.ts'
import type { PlainHistory, PlainRecord } from './plain-history.ts'

/** What happened to a row while it was there, at one place in one op. */
interface Change {
  readonly at: number
  readonly cells: PlainRow
}

/** From an insert to a delete. */
export interface Life {
  /** Index of the rowset that holds it. */
  readonly source: number
  readonly start: number
  /** null: not deleted. */
  readonly end: number | null
  readonly inserted: PlainRow
  readonly changes: readonly Change[]
}

/** A key and its lives, oldest first. */
export interface LivingKey {
  readonly key: string
  readonly lives: readonly Life[]
}

/** How lives are drawn. */
export interface LivesOptions {
  readonly sourceCount: number
  readonly timeMax: number
  /** Sources that are older than the column `b`, whose read default is `old`. */
  readonly olderSources: ReadonlySet<number>
}

/** Draws a key's lives. */
export function drawLives(prng: Prng, key: string, options: LivesOptions): LivingKey {
  const { sourceCount, timeMax, olderSources } = options
  const drafts: { source: number; start: number; end: number | null }[] = []
  for (let at = prng.between(1, timeMax); at <= timeMax; ) {
    const isLast = prng.chance(0.3)
    const end = isLast ? timeMax + 1 : at + prng.between(1, 10)
    drafts.push({ source: prng.below(sourceCount), start: at, end: end > timeMax ? null : end })
    at = prng.chance(0.2) ? end : end + prng.between(1, 5)
  }
  const lives = drafts.map(({ source, start, end }, index): Life => {
    const isOlder = olderSources.has(source)
    const isLastThere = !drafts.slice(index + 1).some((later) => later.source === source)
    const changes: Change[] = []
    for (let at = start + 1; at <= (end ?? timeMax); at++) {
      while (prng.chance(0.2)) {
        const cells: Record<string, PlainRow[string]> = {}
        if (prng.chance(0.6)) cells.a = prng.chance(0.2) ? null : prng.below(1000)
        if (prng.chance(0.6) && (isLastThere || !isOlder)) cells.b = `b${prng.below(1000)}`
        if (Object.keys(cells).length > 0) changes.push({ at, cells })
      }
    }
    const b = isOlder ? 'old' : `b${prng.below(1000)}`
    return { source, start, end, inserted: { k: key, a: prng.below(1000), b }, changes }
  })
  return { key, lives }
}

/** The row of a key at a time, or null. */
export function livingAt({ lives }: LivingKey, time: number): PlainRow | null {
  const life = lives.findLast(({ start, end }) => start <= time && (end === null || end > time))
  return life === undefined ? null : cellsOf(life, time)
}

function cellsOf({ inserted, changes }: Life, time: number): PlainRow {
  const happened = changes.filter(({ at }) => at <= time).map(({ cells }) => cells)
  return Object.assign({}, inserted, ...happened)
}

/** What one rowset has of some keys. */
export interface PlainSource extends PlainHistory {
  /** Ascending. */
  readonly keys: readonly string[]
}

/** A rowset's part of the keys' histories, with bases as of times drawn column by column. */
export function sourceOf(prng: Prng, keys: readonly LivingKey[], source: number): PlainSource {
  const isHere = (life: Life) => life.source === source
  const here = keys.filter(({ lives }) => lives.some(isHere))
  here.sort((x, y) => (x.key < y.key ? -1 : 1))
  const parts = here.map(({ lives }, ordinal) => historyOf(prng, lives.filter(isHere), ordinal))
  return {
    keys: here.map(({ key }) => key),
    base: parts.flatMap(({ base }) => base),
    undos: parts.flatMap(({ undos }) => undos),
    redos: parts.flatMap(({ redos }) => redos),
  }
}

function historyOf(prng: Prng, lives: readonly Life[], ordinal: number): PlainHistory {
  const undos: PlainRecord[] = []
  const redos: PlainRecord[] = []
  const last = lives[lives.length - 1]
  const baseTimes: Record<string, number> = {}
  for (const name of ['a', 'b']) {
    const times = [last.start, ...last.changes.map(({ at }) => at)]
    baseTimes[name] = last.inserted.b === 'old' && name === 'b' ? last.start : prng.pick(times)
  }
  for (const life of lives) {
    undos.push({ ordinal, at: life.start, kind: 'DELETE', cells: {} })
    const now: Record<string, PlainRow[string]> = { ...life.inserted }
    for (const { at, cells } of life.changes) {
      const names = Object.keys(cells)
      const isUndone = (name: string) => life !== last || at <= baseTimes[name]
      const before = names.filter(isUndone).map((name) => [name, now[name]])
      const after = names.filter((name) => !isUndone(name)).map((name) => [name, cells[name]])
      Object.assign(now, cells)
      if (before.length > 0) {
        undos.push({ ordinal, at, kind: 'UPDATE', cells: Object.fromEntries(before) })
      }
      if (after.length > 0) {
        redos.push({ ordinal, at, kind: 'UPDATE', cells: Object.fromEntries(after) })
      }
    }
    if (life.end === null) continue
    const { k: _, ...cells } = now
    if (life === last) redos.push({ ordinal, at: life.end, kind: 'DELETE', cells: {} })
    else undos.push({ ordinal, at: life.end, kind: 'REINSERT', cells })
  }
  const base = { ...cellsOf(last, 0) }
  for (const name of ['a', 'b']) base[name] = cellsOf(last, baseTimes[name])[name]
  return { base: [base], undos, redos }
}

/** Delta records of plain ones, ascending by row and time. */
export function deltaRecordsOf(
  schema: Schema,
  records: readonly PlainRecord[],
  hides: ReadonlySet<string> = new Set(),
): DeltaRecords {
  const builder = new DeltaRecordsBuilder()
  for (const { ordinal, at, kind, cells } of records) {
    builder.append(ordinal, at, DELTA_KINDS[kind as keyof typeof DELTA_KINDS] as DeltaKind)
    for (const [name, value] of Object.entries(cells)) {
      if (kind === 'REINSERT' && hides.has(name)) continue
      const column = schema.byName(name)!
      builder.addValue(column.id, column.physical, toCell(value))
    }
  }
  return builder.finish()
}

/** A plain value as a cell. */
export function toCell(value: PlainRow[string]): Cell | null {
  return typeof value === 'string' ? utf8Encode(value) : value
}

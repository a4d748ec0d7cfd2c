import { describe, expect, test } from 'vitest'
import type { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { Column } from '../../../src/common/schema.ts'
import type { BaseCells } from '../../../src/tablet/maintenance/history-cells.ts'
import {
  type MergeInput,
  MergePlanner,
  NEVER,
} from '../../../src/tablet/maintenance/merge-planner.ts'
import { RowHistory, type SourceDeltas } from '../../../src/tablet/maintenance/row-history.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { PlainRow } from '../../support/a-write-block.ts'
import {
  type PlainHistory,
  type PlainRecord,
  plainRecords,
  rowsAt,
} from '../../support/plain-history.ts'
import {
  deltaRecordsOf,
  drawLives,
  type LivingKey,
  livingAt,
  type PlainSource,
  sourceOf,
  toCell,
} from '../../support/plain-lives.ts'
import { schemaWith } from '../../support/row-data.ts'

const SCHEMA = schemaWith('k STRING KEY', 'a INT32 NULL', [
  'b STRING NULL',
  { readDefault: utf8Encode('old') },
])
const TIME_MAX = 40

/** The bases of plain sources; `b` is not stored where it is younger. */
class PlainBases implements BaseCells {
  readonly #sources: readonly PlainSource[]
  readonly #older: ReadonlySet<number>

  constructor(sources: readonly PlainSource[], older: ReadonlySet<number>) {
    this.#sources = sources
    this.#older = older
  }

  appendCells(
    target: ColumnBuilder,
    column: Column,
    source: number,
    ordinals: Uint32Array,
    start: number,
    end: number,
  ): void {
    for (let i = start; i < end; i++) {
      const isYounger = column.name === 'b' && this.#older.has(source)
      const value = this.#sources[source].base[ordinals[i]][column.name]
      target.appendCell(isYounger ? column.readDefault : toCell(value))
    }
  }
}

function inputOf({ keys, redos }: PlainSource): MergeInput {
  return {
    rowCount: keys.length,
    hasDeletes: redos.some(({ kind }) => kind === 'DELETE'),
    appendKeys: (start, end, into) => {
      for (const key of keys.slice(start, end)) {
        into.append(utf8Encode(key), 0, key.length)
        into.endKey()
      }
    },
    readDeletions: (start, end, out) => {
      out.fill(NEVER, 0, end - start)
      for (const { ordinal, at, kind } of redos) {
        if (kind === 'DELETE' && ordinal >= start && ordinal < end) out[ordinal - start] = at
      }
    },
  }
}

/** Rows as the sources hold them after all changes, by the plan; and their merged history. */
function merge(
  prng: Prng,
  sources: readonly PlainSource[],
  older: ReadonlySet<number>,
  mark: number,
): PlainHistory & { readonly keys: readonly string[] } {
  const planner = new MergePlanner(sources.map(inputOf), mark, 0)
  const { plan } = planner
  const keys = new KeyArena()
  while (planner.next(prng.between(1, 5), keys)) {}
  const history = new RowHistory(SCHEMA.columns.slice(1), mark)
  const undos: PlainRecord[] = []
  for (let row = 0; row < plan.rowCount; ) {
    const end = Math.min(plan.rowCount, row + prng.between(1, 5))
    const { firsts, ends } = plan.lifeBounds(row, end, sources.length)
    history.begin(sources.map((source, i) => deltasOf(source, firsts[i], ends[i], older.has(i))))
    history.appendRows(plan, row, end, row)
    undos.push(...plainRecords(SCHEMA.columns, history.finish(new PlainBases(sources, older))))
    row = end
  }
  const base = Array.from({ length: plan.rowCount }, (_, row): PlainRow => {
    const source = sources[plan.sources[row]]
    const ordinal = plan.ordinals[row]
    const changes = source.redos.filter((redo) => redo.ordinal === ordinal)
    return Object.assign({}, source.base[ordinal], ...changes.map(({ cells }) => cells))
  })
  const redos = Array.from({ length: plan.ghostCount }, (_, i): PlainRecord => {
    return { ordinal: plan.ghostRows[i], at: plan.ghostTimes[i], kind: 'DELETE', cells: {} }
  })
  return { keys: base.map((_, i) => utf8Decode(keys.key(i))), base, undos, redos }
}

function deltasOf(
  { undos, redos }: PlainSource,
  start: number,
  end: number,
  isOlder: boolean,
): SourceDeltas {
  const isIn = ({ ordinal }: PlainRecord) => ordinal >= start && ordinal < end
  const hidden = new Set(isOlder ? ['b'] : [])
  return {
    undos: deltaRecordsOf(SCHEMA, undos.filter(isIn), hidden),
    redos: deltaRecordsOf(SCHEMA, redos.filter(isIn).sort(byRowAndTime)),
  }
}

function byRowAndTime(x: PlainRecord, y: PlainRecord): number {
  return x.ordinal - y.ordinal || x.at - y.at
}

function modelAt(keys: readonly LivingKey[], time: number): PlainRow[] {
  const rows = keys.map((key) => livingAt(key, time)).filter((row) => row !== null)
  return rows.sort((x, y) => (String(x.k) < String(y.k) ? -1 : 1))
}

describe('RowHistory', () => {
  test('shows at every time above the mark what the rowsets showed together', () => {
    let merged = 0
    for (let seed = 1; seed <= 600; seed++) {
      const prng = new Prng(seed)
      const sourceCount = prng.between(1, 4)
      const older = new Set(prng.chance(0.3) ? [prng.below(sourceCount)] : [])
      const options = { sourceCount, timeMax: TIME_MAX, olderSources: older }
      const keys = Array.from({ length: 6 }, (_, i) => drawLives(prng, `k${i}`, options))
      const sources = Array.from({ length: sourceCount }, (_, i) => sourceOf(prng, keys, i))
      const mark = prng.chance(0.3) ? 0 : prng.below(TIME_MAX)

      const output = merge(prng, sources, older, mark)

      for (let time = 0; time <= TIME_MAX + 1; time++) {
        const expected = modelAt(keys, time)
        const before = sources.flatMap((source) => rowsAt(source, time))
        before.sort((x, y) => (String(x.k) < String(y.k) ? -1 : 1))
        expect(before, `seed ${seed}: the sources are right at ${time}`).toEqual(expected)
        if (time < mark) continue
        expect(rowsAt(output, time), `seed ${seed}, mark ${mark}, at ${time}`).toEqual(expected)
      }
      expect(output.keys, `seed ${seed}`).toEqual(output.base.map(({ k }) => k))
      expect(new Set(output.keys).size, `seed ${seed}`).toBe(output.keys.length)
      const times = [...output.undos, ...output.redos].map(({ at }) => at)
      expect(Math.min(mark + 1, ...times), `seed ${seed}: nothing below the mark`).toBe(mark + 1)
      // A row is kept only for times at which it was there.
      for (let ordinal = 0; ordinal < output.keys.length; ordinal++) {
        const end = output.redos.find((redo) => redo.ordinal === ordinal)?.at ?? TIME_MAX + 2
        const isSeen = rowsAt(output, end - 1).some(({ k }) => k === output.keys[ordinal])
        expect(isSeen && end - 1 >= mark, `seed ${seed}: row ${ordinal} is seen`).toBe(true)
      }
      if (sourceCount > 1) merged += output.undos.length
    }
    expect(merged).toBeGreaterThan(1000)
  })
})

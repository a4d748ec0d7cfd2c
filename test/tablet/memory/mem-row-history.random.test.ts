import { describe, expect, test } from 'vitest'
import { MemRecordsBuilder } from '../../../src/tablet/memory/mem-records-builder.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { PlainCell, PlainRow } from '../../support/a-write-block.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { plainHistory, plainRecords, resolved, rowsAt } from '../../support/plain-history.ts'
import { schemaWith } from '../../support/row-data.ts'
import { RowModel } from '../../support/row-model.ts'

const schema = schemaWith('k INT32 KEY', 'v INT32 NULL', 'w INT64 NULL', 't STRING NULL')
const youngerSchema = schemaWith(
  'k INT32 KEY',
  'v INT32 NULL',
  'w INT64 NULL',
  't STRING NULL',
  'late INT8 NULL',
)
const ABSENT_ROW = { v: null, w: null, t: null }

/** A MemRowSet that is written to at random, and the model that says what was at each time. */
class RandomRows {
  readonly writer = new MemRowWriter(schema)
  readonly model = new RowModel(['k'])
  at = 10
  readonly #prng: Prng
  readonly #known = new Set<number>()

  constructor(prng: Prng) {
    this.#prng = prng
  }

  /** One op of a few changes to a few keys. */
  write(): void {
    const prng = this.#prng
    this.at += prng.below(3)
    if (!this.writer.rowSet.isFrozen) this.#insert()
    for (let i = prng.below(6); i > 0; i--) this.#change(prng.below(12))
  }

  #insert(): void {
    const rows: PlainRow[] = []
    for (let i = this.#prng.below(4); i > 0; i--) {
      const k = this.#prng.below(12)
      if (this.#known.has(k)) continue
      this.#known.add(k)
      const row = { k, ...ABSENT_ROW, ...this.#cells() }
      rows.push(row)
      this.model.put(this.at, row, row)
    }
    if (rows.length > 0) this.writer.insert(this.at, ...rows)
  }

  #change(k: number): void {
    const { at, model, writer } = this
    if (!this.#known.has(k)) return
    const row = model.at(at, { k })
    if (row === null) {
      if (writer.rowSet.isFrozen) return
      const again = { k, ...ABSENT_ROW, ...this.#cells() }
      writer.reinsert(at, again)
      model.put(at, again, again)
    } else if (this.#prng.chance(0.3)) {
      writer.delete(at, { k })
      model.put(at, { k }, null)
    } else {
      const cells = this.#cells()
      const late =
        writer.rowSet.isFrozen && this.#prng.chance(0.3) ? { late: this.#prng.below(9) } : {}
      writer.update(
        at,
        { k, ...cells, ...late },
        false,
        writer.rowSet.isFrozen ? youngerSchema : schema,
      )
      model.put(at, { k }, { ...row, ...cells, ...late })
    }
  }

  #cells(): PlainRow {
    const prng = this.#prng
    const cells: Record<string, PlainCell> = {}
    if (prng.chance(0.5)) cells.v = prng.chance(0.2) ? null : prng.below(100)
    if (prng.chance(0.3)) cells.w = prng.chance(0.2) ? null : BigInt(prng.below(100)) << 40n
    if (prng.chance(0.3)) cells.t = prng.chance(0.2) ? null : 'x'.repeat(prng.below(60))
    return cells
  }

  /** Rows of the model at a time, with every column of `names`. */
  rowsAt(time: number, names: readonly string[]): PlainRow[] {
    return this.model
      .scan(time, () => true)
      .map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null])))
  }
}

describe('MemRowHistory', () => {
  test.each(Array.from({ length: 40 }, (_, i) => 1 + i))(
    'with the changes since, says of every time what a map of versions says (seed %i)',
    (seed) => {
      const prng = new Prng(seed)
      const rows = new RandomRows(prng)
      for (let i = prng.below(40); i > 0; i--) rows.write()
      const { rowSet } = rows.writer
      rowSet.freeze()
      rows.at++
      for (let i = prng.below(6); i > 0; i--) rows.write()

      const history = resolved(rowSet, prng.between(1, 20))
      const start = prng.below(history.rowCount + 1)
      const frozenAt = rows.at++
      for (let i = prng.below(12); i > 0; i--) rows.write()
      const changes = rowSet.changesSince(history)
      const parts = [
        plainHistory(history, 0, start, 3),
        plainHistory(history, start, undefined, 50),
      ]
      const later = [0, start].map((from, i) => {
        const records = new MemRecordsBuilder(changes.cells)
        changes.addTo(records, from, i === 0 ? start : history.rowCount, from)
        return plainRecords(youngerSchema.columns, records.finish())
      })

      const names = history.columns.map(({ name }) => name)
      const withLate = youngerSchema.columns.map(({ name }) => name)
      for (let time = 9; time <= rows.at; time++) {
        const shown = parts.flatMap((part, i) =>
          rowsAt({ ...part, redos: [...part.redos, ...later[i]] }, time),
        )
        expect(shown.map((row) => ({ late: null, ...row }))).toEqual(
          rows.rowsAt(time, withLate).map((row) => ({ late: null, ...row })),
        )
      }
      expect(parts.flatMap((part) => rowsAt(part, frozenAt))).toEqual(rows.rowsAt(frozenAt, names))
      expect(history.liveRowCount).toBe(rows.rowsAt(frozenAt, names).length)
      expect(history.liveRowCount - changes.deleteCount).toBe(rowSet.liveRowCount)
      rowSet.checkInvariants()
    },
  )
})

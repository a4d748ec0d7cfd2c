import { describe, expect, test } from 'vitest'
import { PageCache } from '../../../src/cfile/page-cache.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import type { Column } from '../../../src/common/schema.ts'
import { DeltaFile } from '../../../src/tablet/delta/delta-file.ts'
import { DeltaFileWriter } from '../../../src/tablet/delta/delta-file-writer.ts'
import { DeltaMemStore } from '../../../src/tablet/delta/delta-mem-store.ts'
import type { DeltaStore } from '../../../src/tablet/delta/delta-store.ts'
import { DeltaWindow } from '../../../src/tablet/delta/delta-window.ts'
import { gatherPatched } from '../../../src/tablet/delta/gather-patched.ts'
import { deletedOrdinals, existsJustBefore } from '../../../src/tablet/delta/liveness.ts'
import { lowerRecord, sliceRecords } from '../../../src/tablet/delta/slice-delta-records.ts'
import { getBit } from '../../../src/util/bitmap.ts'
import { Prng } from '../../../src/util/prng.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import {
  cellAt,
  deltaRecordsOf,
  isThereAt,
  type PlainDelta,
  sortDeltas,
} from '../../support/plain-delta-records.ts'
import { randomCell } from '../../support/random-cell.ts'
import { CHANGING, DELTA_SCHEMA, randomRedos, randomUndos } from '../../support/random-deltas.ts'

const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical

/** A rowset of drawn deltas: UNDO files, REDO files, DeltaMemStores. */
class RandomRowSet {
  readonly prng: Prng
  readonly rowCount: number
  readonly undoDeltas: PlainDelta[] = []
  readonly redoDeltas: PlainDelta[] = []
  readonly undos: DeltaStore[] = []
  readonly redos: DeltaStore[] = []
  readonly base: (Cell | null)[][]
  readonly #blocks = new MemoryBlocks()
  readonly #cache: PageCache
  #lastFile = 0

  constructor(prng: Prng) {
    this.prng = prng
    this.rowCount = prng.pick([1, 7, 60, 150])
    this.#cache = new PageCache(prng.pick([0, 4000, 1 << 20]))
    this.base = CHANGING.map((column) => {
      return Array.from({ length: this.rowCount }, () => {
        return prng.chance(0.2) ? null : randomCell(prng, column)
      })
    })
    this.#draw()
  }

  #draw(): void {
    const { prng, rowCount } = this
    for (let count = prng.below(3); count > 0; count--) {
      const only = count === 1 ? CHANGING : [prng.pick(CHANGING)]
      const deltas = randomUndos(prng, { rowCount, from: 10, to: 50, only })
      this.undoDeltas.push(...deltas)
      if (deltas.length > 0) this.undos.push(this.#file(deltas))
    }
    const deleted = new Set<number>()
    let from = 50
    for (let count = prng.below(4); count > 0; count--) {
      const deltas = randomRedos(prng, { rowCount, count: 40, from, to: from + 10 }, deleted)
      from += 11
      this.redoDeltas.push(...deltas)
      if (deltas.length > 0 && count > 1 + prng.below(2)) {
        this.redos.push(this.#file(sortDeltas(deltas)))
      } else {
        this.redos.push(memStoreOf(deltas))
      }
    }
  }

  /** Appends in runs of any length. */
  #file(deltas: readonly PlainDelta[]): DeltaFile {
    const records = deltaRecordsOf(deltas, physicalOf)
    const writer = new DeltaFileWriter(this.#blocks.createFile(++this.#lastFile))
    for (let start = 0; start < records.count; ) {
      const end = Math.min(records.count, start + this.prng.between(1, 50))
      writer.append(sliceRecords(records, start, end))
      start = end
    }
    const file = new DeltaFile(writer.finish(), this.#blocks, this.#cache, 1, 'rowset 1')
    file.checkInvariants()
    return file
  }

  /** Cells of a column as a page whose first row is `start`. */
  page(index: number, start: number, end: number) {
    const builder = new ColumnBuilder(CHANGING[index].physical)
    for (let row = start; row < end; row++) builder.appendCell(this.base[index][row])
    return builder.view()
  }
}

function memStoreOf(deltas: readonly PlainDelta[]): DeltaMemStore {
  const store = new DeltaMemStore()
  for (const delta of deltas) store.append(deltaRecordsOf([delta], physicalOf))
  store.checkInvariants()
  return store
}

/** What a window says of the rows `[start, end)`, in pages that need not be whole. */
function readRows(rowSet: RandomRowSet, window: DeltaWindow, columns: readonly Column[]) {
  const { prng, rowCount } = rowSet
  const seen: { row: number; cells: (Cell | null)[] }[] = []
  for (let start = 0; start < rowCount; ) {
    const end = Math.min(rowCount, start + prng.between(1, 100))
    window.load(start, end)
    const rows = new Uint32Array(end - start)
    let count = 0
    for (let row = start; row < end; row++) if (prng.chance(0.9)) rows[count++] = row
    const asked = [...rows.subarray(0, count)]
    count = window.keepVisible(rows, count)
    const kept = [...rows.subarray(0, count)]
    expect(asked.filter((row) => window.isVisible(row))).toEqual(kept)
    const out = new Int32Array(count + 3)
    const vectors = columns.map((column, place) => {
      const index = CHANGING.indexOf(column)
      const first = Math.min(prng.below(3), count)
      const builder = new ColumnBuilder(column.physical)
      for (const [from, to] of [
        [0, first],
        [first, count],
      ]) {
        const changed = window.positions(place, rows, from, to, out)
        if (!window.mayChange(place)) expect(changed).toBeNull()
        gatherPatched(rowSet.page(index, start, end), start, changed, out, rows, from, to, builder)
      }
      return builder.view()
    })
    kept.forEach((row, i) => {
      seen.push({ row, cells: vectors.map((vector) => copied(vector.cell(i))) })
    })
    for (const row of asked.filter((it) => !kept.includes(it))) seen.push({ row, cells: [] })
    start = end
  }
  return seen
}

function copied(cell: Cell | null): Cell | null {
  return cell instanceof Uint8Array ? cell.slice() : cell
}

const SEEDS = Array.from({ length: 60 }, (_, i) => i + 1)

describe('DeltaWindow', () => {
  test.each(SEEDS)('shows of any deltas what their meaning by the book is (seed %i)', (seed) => {
    const rowSet = new RandomRowSet(new Prng(seed))
    const { prng, undos, redos, undoDeltas, redoDeltas } = rowSet
    for (let round = 0; round < 4; round++) {
      const columns = CHANGING.filter(() => prng.chance(0.6))
      const snapshot = prng.between(5, 95)
      const window = new DeltaWindow({ undos, redos, snapshot, columns })
      for (const { row, cells } of readRows(rowSet, window, columns)) {
        const isThere = isThereAt(undoDeltas, redoDeltas, row, snapshot)
        const expected = columns.map((column) => {
          const changed = cellAt(undoDeltas, redoDeltas, row, column.id, snapshot)
          return changed === undefined ? rowSet.base[CHANGING.indexOf(column)][row] : changed
        })
        const where = `seed ${seed}, snapshot ${snapshot}, row ${row}`
        expect(cells, where).toEqual(isThere ? expected : [])
      }
    }
  })

  test.each(SEEDS.slice(0, 30))('tells which rows are there (seed %i)', (seed) => {
    const { prng, rowCount, undos, redos, undoDeltas, redoDeltas } = new RandomRowSet(
      new Prng(seed),
    )
    const deleted = deletedOrdinals(redos, rowCount)
    for (let row = 0; row < rowCount; row++) {
      const isDeleted = redoDeltas.some((it) => it.ordinal === row && it.kind === 'DELETE')
      expect(getBit(deleted, row), `seed ${seed}, row ${row}`).toBe(isDeleted)
      const at = prng.between(5, 95)
      expect(existsJustBefore(undos, redos, row, at), `seed ${seed}, row ${row} before ${at}`).toBe(
        isThereAt(undoDeltas, redoDeltas, row, at - 1),
      )
    }
  })

  test.each(SEEDS.slice(0, 30))(
    'reads the same records by rows and as a whole (seed %i)',
    (seed) => {
      const { rowCount, redos, redoDeltas, undos, undoDeltas } = new RandomRowSet(new Prng(seed))
      for (const [stores, deltas] of [
        [undos, undoDeltas],
        [redos, redoDeltas],
      ] as const) {
        for (const store of stores) {
          const whole = store.read(0, rowCount)
          expect(whole.count).toBe(store.recordCount)
          for (let row = 0; row < rowCount; row++) {
            const start = lowerRecord(whole, row)
            expect(store.read(row, row + 1).count).toBe(lowerRecord(whole, row + 1) - start)
          }
        }
        const count = stores.reduce((sum, store) => sum + store.recordCount, 0)
        expect(count, `seed ${seed}`).toBe(deltas.length)
      }
    },
  )
})

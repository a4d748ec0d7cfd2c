import { describe, expect, test } from 'vitest'
import { DeltaMemStore } from '../../../src/tablet/delta/delta-mem-store.ts'
import { sliceRecords } from '../../../src/tablet/delta/slice-delta-records.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { PlainRow } from '../../support/a-write-block.ts'
import {
  cellAt,
  deltaRecordsOf,
  isThereAt,
  type PlainDelta,
  plainDeltas,
  sortDeltas,
} from '../../support/plain-delta-records.ts'
import { CHANGING, DELTA_SCHEMA, randomRedos } from '../../support/random-deltas.ts'
import { blockOf, schemaWith } from '../../support/row-data.ts'

const SCHEMA = schemaWith(
  'k INT32 KEY',
  'a INT32 NULL',
  ['b STRING NULL', { isImmutable: true }],
  'c DOUBLE NULL',
)
const [A, B, C] = [11, 12, 13]
const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical
const ALL = 2 ** 32

/** Updates a row with what `row` sets, which is the second of a block whose first sets nothing. */
function update(store: DeltaMemStore, ordinal: number, at: number, row: PlainRow, skip = false) {
  return store.update(ordinal, blockOf(SCHEMA, [{}, row]), 1, at, SCHEMA, skip)
}

describe('DeltaMemStore', () => {
  test('records the set cells that are not of the key, by row and time', () => {
    const store = new DeltaMemStore()
    expect(update(store, 9, 5, { k: 1, a: 7, b: 'x' })).toBe(2)
    expect(update(store, 4, 6, { k: 1, a: null })).toBe(1)
    expect(update(store, 9, 6, { k: 1, c: 0.5 })).toBe(1)
    store.delete(4, 8)

    expect(plainDeltas(store.read(0, ALL))).toEqual([
      { ordinal: 4, at: 6, kind: 'UPDATE', cells: { [A]: null } },
      { ordinal: 4, at: 8, kind: 'DELETE', cells: {} },
      { ordinal: 9, at: 5, kind: 'UPDATE', cells: { [A]: 7, [B]: Uint8Array.of(120) } },
      { ordinal: 9, at: 6, kind: 'UPDATE', cells: { [C]: 0.5 } },
    ])
    expect([store.recordCount, store.deleteCount, store.rowCount]).toEqual([4, 1, 2])
    expect([store.oldest, store.newest]).toEqual([5, 8])
    expect([A, B, C, 99].map((id) => store.cellCount(id))).toEqual([2, 1, 1, 0])
    expect([4, 9, 1].map((ordinal) => store.isDeleted(ordinal))).toEqual([true, false, false])
    store.checkInvariants()
  })

  test('records nothing when only cells of the key, or immutable ones to skip, are set', () => {
    const store = new DeltaMemStore()

    expect(update(store, 1, 5, { k: 1 })).toBe(0)
    expect(update(store, 1, 5, { k: 1, b: 'x' }, true)).toBe(0)
    expect(store.isEmpty).toBe(true)
    expect(update(store, 1, 5, { k: 1, a: 2, b: 'x' }, true)).toBe(1)
    expect(plainDeltas(store.read(1, 2)).map((it) => it.cells)).toEqual([{ [A]: 2 }])
  })

  test('takes changes of columns that are younger than the first change', () => {
    const later = schemaWith('k INT32 KEY', 'a INT32 NULL', 'b STRING NULL', 'd INT64 NULL')
    const store = new DeltaMemStore()
    update(store, 1, 5, { a: 1 })
    store.update(1, blockOf(later, [{ d: 3, a: 2 }]), 0, 6, later)

    expect(plainDeltas(store.read(1, 2)).map((it) => it.cells)).toEqual([
      { [A]: 1 },
      { 11: 2, 13: 3n },
    ])
  })

  test('lets nothing follow a delete, and no row go back in time', () => {
    const store = new DeltaMemStore()
    store.delete(1, 5)
    update(store, 2, 7, { a: 1 })

    expect(() => update(store, 1, 5, { a: 1 })).toThrow('nothing follows a delete')
    expect(() => store.delete(1, 6)).toThrow('nothing follows a delete')
    expect(() => store.delete(2, 6)).toThrow('a row changes in ascending time')
  })

  test('takes over records under other ordinals and leaves some out', () => {
    const deltas: PlainDelta[] = [
      { ordinal: 0, at: 9, kind: 'UPDATE', cells: { 11: 1 } },
      { ordinal: 1, at: 3, kind: 'UPDATE', cells: { 11: 2 } },
      { ordinal: 2, at: 5, kind: 'UPDATE', cells: { 11: 3 } },
      { ordinal: 2, at: 5, kind: 'DELETE', cells: {} },
    ]
    const store = new DeltaMemStore()
    store.append(deltaRecordsOf(deltas, physicalOf), Int32Array.of(8, -1, 4))

    expect(plainDeltas(store.read(0, ALL))).toEqual([
      { ...deltas[2], ordinal: 4 },
      { ...deltas[3], ordinal: 4 },
      { ...deltas[0], ordinal: 8 },
    ])
    expect([store.oldest, store.newest, store.deleteCount]).toEqual([5, 9, 1])
    store.checkInvariants()
  })

  test('takes over no REINSERT', () => {
    const records = deltaRecordsOf([{ ordinal: 0, at: 1, kind: 'REINSERT', cells: {} }], physicalOf)

    expect(() => new DeltaMemStore().append(records)).toThrow('a REDO record is no REINSERT')
  })

  test('hands out records that later changes do not touch', () => {
    const store = new DeltaMemStore()
    update(store, 1, 5, { a: 1, b: 'x' })
    const before = store.read(0, 9)
    const plain = plainDeltas(before)
    for (let i = 0; i < 5000; i++) update(store, i % 9, 6 + i, { a: i, b: `text ${i}` })

    expect(plainDeltas(before)).toEqual(plain)
  })

  test('counts the bytes it holds as rows and changes come, in constant time', () => {
    const store = new DeltaMemStore()
    const empty = store.heldBytes
    const block = blockOf(SCHEMA, [{ a: 5 }])
    for (let i = 0; i < 50_000; i++) store.update(i * 3, block, 0, i, SCHEMA)

    const perRecord = (store.heldBytes - empty) / 50_000
    expect(perRecord).toBeGreaterThan(17 + 6 + 4 + 12)
    expect(perRecord).toBeLessThan(90)
    store.checkInvariants()
  })

  test('knows between which ends its cells of a column lie', () => {
    const store = new DeltaMemStore()
    expect(store.valueZone(A)).toBeNull()
    for (let i = 0; i < 10_000; i++) update(store, i, i, { a: (i * 7) % 10_000, b: null })

    expect(store.valueZone(A)).toMatchObject({ min: 0, max: 9999, rowCount: 10_000, nullCount: 0 })
    expect(store.valueZone(B)).toMatchObject({ min: null, max: null, nullCount: 10_000 })
    update(store, 1, 20_000, { a: -5 })
    expect(store.valueZone(A)).toMatchObject({ min: -5, max: 9999, rowCount: 10_001 })
  })

  test('knows it of the rows asked about', () => {
    const store = new DeltaMemStore()
    update(store, 5, 1, { a: 10, b: null })
    update(store, 9000, 2, { a: 900 })
    update(store, 5, 3, { a: 30 })

    expect(store.valueZone(A, 0, 4096)).toMatchObject({ min: 10, max: 30, rowCount: 2 })
    expect(store.valueZone(A, 4096, 8192)).toBeNull()
    expect(store.valueZone(A, 8192, 12_288)).toMatchObject({ min: 900, max: 900, rowCount: 1 })
    expect(store.valueZone(B, 8192, 12_288)).toBeNull()
    expect(store.valueZone(B, 0, 6)).toMatchObject({ nullCount: 1, min: null })
    for (let i = 0; i < 5000; i++) update(store, 9001, 4 + i, { a: 1000 + i })
    // Too many to look at for one stretch: more is said than is there.
    expect(store.valueZone(A, 8192, 12_288)).toMatchObject({ min: 10, max: 5999 })
    expect(store.valueZone(A, 9002, 12_288)).toBeNull()
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'makes of a row what a snapshot and the columns wanted need of it (seed %i)',
    (seed) => {
      const prng = new Prng(seed)
      const deltas = randomRedos(prng, { rowCount: 20, count: 200, from: 1, to: 60 })
      const store = new DeltaMemStore()
      for (const delta of deltas) store.append(deltaRecordsOf([delta], physicalOf))
      expect(plainDeltas(store.read(0, ALL)), `seed ${seed}`).toEqual(sortDeltas(deltas))
      for (let round = 0; round < 20; round++) {
        const snapshot = prng.below(62)
        const columns = CHANGING.filter(() => prng.chance(0.5))
        const columnIds = columns.map((column) => column.id)
        const start = prng.below(20)
        const end = prng.between(start + 1, 20)
        const runs = store.openReader({ snapshot, columnIds }).read(start, end)
        const seen = runs.flatMap((run) =>
          plainDeltas(sliceRecords(run.records, run.start, run.end)),
        )
        for (let ordinal = start; ordinal < end; ordinal++) {
          const record = seen.find((it) => it.ordinal === ordinal)
          const isThere = isThereAt([], deltas, ordinal, snapshot)
          expect(record?.kind === 'DELETE', `seed ${seed}`).toBe(!isThere)
          if (!isThere) continue
          for (const { id } of columns) {
            const cell = cellAt([], deltas, ordinal, id, snapshot)
            expect(record?.cells[id], `seed ${seed}, row ${ordinal}`).toEqual(cell)
          }
        }
        expect(seen.every((it) => it.at <= snapshot && it.ordinal >= start)).toBe(true)
        expect(new Set(seen.map((it) => it.ordinal)).size).toBe(seen.length)
      }
    },
  )
})

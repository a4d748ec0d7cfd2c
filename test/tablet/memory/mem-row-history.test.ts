import { describe, expect, test } from 'vitest'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { CHUNK_ROW_COUNT } from '../../../src/tablet/memory/chunk.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { plainHistory, resolved, rowsAt } from '../../support/plain-history.ts'
import { schemaWith, toPlain } from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY', 'v INT32 NULL', 't STRING NULL')
const youngerSchema = schemaWith('k STRING KEY', 'v INT32 NULL', 't STRING NULL', [
  'late STRING NULL',
  { readDefault: utf8Encode('old') },
])

function aWriter(): MemRowWriter {
  return new MemRowWriter(schema)
}

function historyOf(writer: MemRowWriter) {
  writer.rowSet.freeze()
  return plainHistory(resolved(writer.rowSet))
}

describe('MemRowHistory', () => {
  test('has each row in key order, not there before its insertion', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'b', v: 2, t: 'x' }, { k: 'c' })
    writer.insert(5, { k: 'a', v: 1 })

    expect(historyOf(writer)).toEqual({
      base: [
        { k: 'a', v: 1, t: null },
        { k: 'b', v: 2, t: 'x' },
        { k: 'c', v: null, t: null },
      ],
      undos: [
        { ordinal: 0, at: 5, kind: 'DELETE', cells: {} },
        { ordinal: 1, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 2, at: 3, kind: 'DELETE', cells: {} },
      ],
      redos: [],
    })
  })

  test('has the newest cells in the base and the older ones around', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a', v: 1, t: 'x' })
    writer.update(5, { k: 'a', v: 2 })
    writer.update(7, { k: 'a', v: 3, t: null })

    expect(historyOf(writer)).toEqual({
      base: [{ k: 'a', v: 3, t: null }],
      undos: [
        { ordinal: 0, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 0, at: 5, kind: 'UPDATE', cells: { v: 1 } },
        { ordinal: 0, at: 7, kind: 'UPDATE', cells: { v: 2, t: 'x' } },
      ],
      redos: [],
    })
  })

  // @3 a ──► @5 (gone) ──► @9 a again
  test('undoes a delete by all cells of the row, and its insertion again by its absence', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a', v: 1, t: 'x' })
    writer.update(4, { k: 'a', v: 2 })
    writer.delete(5, { k: 'a' })
    writer.reinsert(9, { k: 'a', t: 'y' })

    expect(historyOf(writer)).toEqual({
      base: [{ k: 'a', v: null, t: 'y' }],
      undos: [
        { ordinal: 0, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 0, at: 4, kind: 'UPDATE', cells: { v: 1 } },
        { ordinal: 0, at: 5, kind: 'REINSERT', cells: { v: 2, t: 'x' } },
        { ordinal: 0, at: 9, kind: 'DELETE', cells: {} },
      ],
      redos: [],
    })
  })

  test('has a row that is gone as it was last, and a delete behind it', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a', v: 1 }, { k: 'b', v: 1 })
    writer.update(5, { k: 'b', v: 2 })
    writer.delete(7, { k: 'b' })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet)

    expect(plainHistory(history)).toEqual({
      base: [
        { k: 'a', v: 1, t: null },
        { k: 'b', v: 2, t: null },
      ],
      undos: [
        { ordinal: 0, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 1, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 1, at: 5, kind: 'UPDATE', cells: { v: 1 } },
      ],
      redos: [{ ordinal: 1, at: 7, kind: 'DELETE', cells: {} }],
    })
    expect([history.rowCount, history.liveRowCount, history.ghostCount]).toEqual([2, 1, 1])
    expect([history.ghostsIn(0, 1), history.ghostsIn(1, 2)]).toEqual([0, 1])
  })

  test('takes of the changes of one op only what they came to', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a', v: 1 }, { k: 'b', v: 1 }, { k: 'c', v: 1 })
    writer.update(3, { k: 'a', v: 2 })
    writer.update(5, { k: 'a', v: 3 })
    writer.update(5, { k: 'a', v: 4, t: 'x' })
    writer.delete(6, { k: 'b' })
    writer.reinsert(6, { k: 'b', v: 7 })
    writer.update(6, { k: 'c', v: 8 })
    writer.delete(6, { k: 'c' })

    expect(historyOf(writer)).toEqual({
      base: [
        { k: 'a', v: 4, t: 'x' },
        { k: 'b', v: 7, t: null },
        { k: 'c', v: 1, t: null },
      ],
      undos: [
        { ordinal: 0, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 0, at: 5, kind: 'UPDATE', cells: { v: 2, t: null } },
        { ordinal: 1, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 1, at: 6, kind: 'UPDATE', cells: { v: 1, t: null } },
        { ordinal: 2, at: 3, kind: 'DELETE', cells: {} },
      ],
      redos: [{ ordinal: 2, at: 6, kind: 'DELETE', cells: {} }],
    })
  })

  test('knows nothing of a row that every op left absent', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a' }, { k: 'b', v: 1 }, { k: 'c' })
    writer.delete(3, { k: 'a' })
    writer.delete(3, { k: 'c' })
    writer.reinsert(5, { k: 'c', v: 1 })
    writer.delete(5, { k: 'c' })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet, 1)

    expect(plainHistory(history).base).toEqual([{ k: 'b', v: 1, t: null }])
    expect([history.rowCount, history.liveRowCount]).toEqual([1, 1])
  })

  test('begins a row that was absent behind its first op where it was there first', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a' })
    writer.delete(3, { k: 'a' })
    writer.reinsert(5, { k: 'a', v: 1 })

    expect(historyOf(writer)).toEqual({
      base: [{ k: 'a', v: 1, t: null }],
      undos: [{ ordinal: 0, at: 5, kind: 'DELETE', cells: {} }],
      redos: [],
    })
  })

  test('has nothing when nothing is left to be seen', () => {
    const writer = aWriter()
    expect(historyOf(writer)).toEqual({ base: [], undos: [], redos: [] })

    const other = aWriter()
    other.insert(3, { k: 'a' })
    other.delete(3, { k: 'a' })
    expect(historyOf(other)).toEqual({ base: [], undos: [], redos: [] })
  })

  test('has the cells of columns that came later, and their read default where none did', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a' }, { k: 'b' })
    writer.rowSet.freeze()
    writer.update(5, { k: 'b', late: 'new' }, false, youngerSchema)
    const history = resolved(writer.rowSet)

    expect(history.columns.map(({ name }) => name)).toEqual(['k', 'v', 't', 'late'])
    expect(plainHistory(history)).toMatchObject({
      base: [{ late: 'old' }, { late: 'new' }],
      undos: [{ at: 3 }, { at: 3 }, { at: 5, kind: 'UPDATE', cells: { late: 'old' } }],
    })
  })

  test('tells rows in parts, each with ordinals of its own', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a' }, { k: 'b' }, { k: 'c' }, { k: 'd' })
    writer.update(4, { k: 'c', v: 1 })
    writer.delete(5, { k: 'd' })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet)

    expect(plainHistory(history, 2, 4)).toEqual({
      base: [
        { k: 'c', v: 1, t: null },
        { k: 'd', v: null, t: null },
      ],
      undos: [
        { ordinal: 0, at: 3, kind: 'DELETE', cells: {} },
        { ordinal: 0, at: 4, kind: 'UPDATE', cells: { v: null } },
        { ordinal: 1, at: 3, kind: 'DELETE', cells: {} },
      ],
      redos: [{ ordinal: 1, at: 5, kind: 'DELETE', cells: {} }],
    })
    expect(plainHistory(history, 0, 2).redos).toEqual([])
  })

  test('stays as it was when rows are changed afterwards', () => {
    const writer = aWriter()
    writer.insert(3, { k: 'a', v: 1 }, { k: 'b', v: 1 })
    writer.update(5, { k: 'a', v: 2 })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet)
    const before = plainHistory(history)
    writer.update(7, { k: 'a', v: 3, t: 'x' })
    writer.update(7, { k: 'b', late: 'new' }, false, youngerSchema)
    writer.delete(8, { k: 'a' })

    expect(plainHistory(history)).toEqual(before)
    expect(before.base).toMatchObject([{ v: 2 }, { v: 1 }])
  })

  test('gathers long texts a few at a time', () => {
    const writer = aWriter()
    const names = Array.from({ length: 200 }, (_, i) => `${1000 + i}`)
    writer.insert(3, ...names.map((k) => ({ k, t: k.repeat(100) })))
    writer.update(4, { k: '1000', t: '' })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet)
    const texts = new ColumnBuilder(PHYSICAL.binary)
    const numbers = new ColumnBuilder(PHYSICAL.int32)

    const first = history.gather(2, 0, 200, texts, 30_000)
    const second = history.gather(2, first, 200, texts, 30_000)
    expect([first, second, texts.rowCount]).toEqual([128, 128, 128])
    texts.clear()
    expect(history.gather(2, 128, 200, texts, 30_000)).toBe(200)
    expect(toPlain(texts.view().cell(71))).toBe('1199'.repeat(100))
    expect(history.gather(1, 0, 200, numbers, 1)).toBe(200)
  })

  test('has the keys in order, over more than a chunk', () => {
    const writer = aWriter()
    const count = CHUNK_ROW_COUNT + 300
    const names = Array.from({ length: count }, (_, i) => `key ${(i * 7919) % count}`)
    writer.insert(3, ...names.map((k) => ({ k })))
    for (let i = 0; i < count; i += 50) writer.update(4, { k: names[i], v: i })
    writer.rowSet.freeze()
    const history = resolved(writer.rowSet, 1000)
    const keys = new KeyArena()
    const full = history.appendKeys(0, count, keys, 100)
    history.appendKeys(full, count, keys, 1e6)

    const { base } = plainHistory(history)
    expect(full).toBeLessThan(100)
    expect(Array.from({ length: count }, (_, i) => Buffer.from(keys.key(i)).toString())).toEqual(
      [...names].sort(),
    )
    expect(base.map(({ k }) => k)).toEqual([...names].sort())
    expect(base.filter(({ v }) => v !== null)).toHaveLength(Math.ceil(count / 50))
    expect(rowsAt(plainHistory(history), 3).every(({ v }) => v === null)).toBe(true)
  })
})

import { describe, expect, test } from 'vitest'
import { equalityPredicate } from '../../../src/common/column-predicate.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { ABSENT } from '../../../src/tablet/memory/key-index.ts'
import { openScan } from '../../../src/tablet/scan/tablet-scanner.ts'
import { AssertionError } from '../../../src/util/assert.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { aWriteBlock, type PlainRow } from '../../support/a-write-block.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { blockOf, hashesOf, keysOf, rowsOf, schemaWith } from '../../support/row-data.ts'
import { openScanOf } from '../../support/scan-rows.ts'

const schema = schemaWith('k STRING KEY', ['v INT32 NULL', { writeDefault: 7 }], 'w INT64 NULL', [
  't STRING NULL',
  { isImmutable: true, writeDefault: utf8Encode('none') },
])

function aRowSet(): MemRowWriter {
  return new MemRowWriter(schema)
}

function rowsAt(writer: MemRowWriter, snapshot: number, columnIds = [10, 11]): PlainRow[] {
  const scanner = openScan({
    rowSets: [writer.rowSet],
    schema: writer.schema,
    columnIds,
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'ORDERED',
    snapshot,
    withKeys: false,
  })
  const rows: PlainRow[] = []
  for (let batch = scanner.nextBatch(3, 1e6); batch !== null; batch = scanner.nextBatch(3, 1e6)) {
    rows.push(...rowsOf(writer.schema, batch.block))
  }
  writer.rowSet.checkInvariants()
  return rows
}

describe('MemRowSet', () => {
  test('gives rows in key order, whatever order they came in', () => {
    const writer = aRowSet()

    writer.insert(1, { k: 'c', v: 3 }, { k: 'a', v: 1 })
    const before = rowsAt(writer, 9)
    writer.insert(2, { k: 'd', v: 4 }, { k: 'b', v: 2 })

    expect(before).toEqual([
      { k: 'a', v: 1 },
      { k: 'c', v: 3 },
    ])
    expect(rowsAt(writer, 9).map((row) => row.k)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('finds each key in its slot and no other', () => {
    const writer = aRowSet()

    const first = writer.insert(1, { k: 'a' }, { k: 'b' })
    const second = writer.insert(2, { k: '' })

    expect([first, second]).toEqual([0, 2])
    expect(writer.slots([{ k: 'b' }, { k: 'c' }, { k: '' }, { k: 'a' }])).toEqual([1, ABSENT, 2, 0])
  })

  test('finds every key when many share a hash', () => {
    const { rowSet } = aRowSet()
    const rows = Array.from({ length: 300 }, (_, i) => ({ k: `key ${i}` }))
    const block = blockOf(schema, rows)
    const keys = keysOf(schema, block)
    const hashes = new Uint32Array(rows.length).fill(0xffff_fffe)
    const order = Uint32Array.from(rows, (_, row) => row)

    rowSet.insertRows(keys, hashes, block, order, 0, 300, 1)
    const slots = new Int32Array(300)
    rowSet.findSlots(keys, hashes, 300, slots)

    expect([...slots]).toEqual([...order])
    rowSet.checkInvariants()
  })

  test('inserts the rows that are asked for, by their place in the block', () => {
    const writer = aRowSet()
    const block = blockOf(schema, [
      { k: 'x', v: 0 },
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
      { k: 'c' },
    ])
    const keys = keysOf(schema, block)
    const hashes = hashesOf(keys)

    writer.rowSet.insertRows(keys, hashes, block, Uint32Array.of(0, 3, 1, 0), 1, 3, 1)

    expect(rowsAt(writer, 1)).toEqual([
      { k: 'a', v: 1 },
      { k: 'c', v: 7 },
    ])
    expect(writer.slots([{ k: 'a' }, { k: 'c' }, { k: 'x' }])).toEqual([1, 0, ABSENT])
  })

  test('gives unset cells their default, and explicit nulls none', () => {
    const writer = aRowSet()

    writer.insert(1, { k: 'a' }, { k: 'b', v: null, t: null }, { k: 'c', v: 1, w: 5n, t: 'x' })

    expect(rowsAt(writer, 1, [10, 11, 12, 13])).toEqual([
      { k: 'a', v: 7, w: null, t: 'none' },
      { k: 'b', v: null, w: null, t: null },
      { k: 'c', v: 1, w: 5n, t: 'x' },
    ])
  })

  test('hides a later insert and shows an older value of a changed row', () => {
    const writer = aRowSet()

    writer.insert(10, { k: 'a', v: 1 })
    writer.update(20, { k: 'a', v: 2 })
    writer.insert(30, { k: 'b', v: 3 })
    writer.update(40, { k: 'a', v: null })

    expect(rowsAt(writer, 9)).toEqual([])
    expect(rowsAt(writer, 10)).toEqual([{ k: 'a', v: 1 }])
    expect(rowsAt(writer, 29)).toEqual([{ k: 'a', v: 2 }])
    expect(rowsAt(writer, 30)).toEqual([
      { k: 'a', v: 2 },
      { k: 'b', v: 3 },
    ])
    expect(rowsAt(writer, 40)[0]).toEqual({ k: 'a', v: null })
  })

  test('changes only the cells that an update sets', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1, w: 1n, t: 'x' })

    expect(writer.update(2, { k: 'a', w: 2n })).toBe(1)
    expect(writer.update(3, { k: 'a', v: 3, t: 'y' }, true)).toBe(1)
    expect(writer.update(3, { k: 'a', t: 'y' }, true)).toBe(0)

    expect(rowsAt(writer, 3, [10, 11, 12, 13])).toEqual([{ k: 'a', v: 3, w: 2n, t: 'x' }])
    expect(writer.update(4, { k: 'a', t: 'z' })).toBe(1)
    expect(rowsAt(writer, 4, [13])).toEqual([{ t: 'z' }])
  })

  test('keeps nothing of an update that sets no cell', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1 })
    const heldBytes = writer.rowSet.heldBytes

    expect(writer.update(2, { k: 'a' })).toBe(0)

    expect(writer.rowSet.heldBytes).toBe(heldBytes)
    expect(rowsAt(writer, 2)).toEqual([{ k: 'a', v: 1 }])
  })

  test('keeps a deleted row as a ghost that older snapshots still show', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1 }, { k: 'b', v: 2 })

    writer.delete(5, { k: 'a' })

    expect(rowsAt(writer, 4).map((row) => row.k)).toEqual(['a', 'b'])
    expect(rowsAt(writer, 5).map((row) => row.k)).toEqual(['b'])
    expect(writer.slot({ k: 'a' })).toBe(0)
    expect([writer.rowSet.isLive(0), writer.rowSet.isLive(1)]).toEqual([false, true])
    expect([writer.rowSet.rowCount, writer.rowSet.liveRowCount]).toEqual([2, 1])
  })

  test('brings a ghost back with nothing of what it held before', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1, w: 1n, t: 'x' })
    writer.update(2, { k: 'a', w: 2n })
    writer.delete(3, { k: 'a' })

    writer.reinsert(4, { k: 'a', v: null })
    writer.update(5, { k: 'a', w: 5n })

    expect(rowsAt(writer, 2, [11, 12, 13])).toEqual([{ v: 1, w: 2n, t: 'x' }])
    expect(rowsAt(writer, 3)).toEqual([])
    expect(rowsAt(writer, 4, [11, 12, 13])).toEqual([{ v: null, w: null, t: 'none' }])
    expect(rowsAt(writer, 5, [11, 12, 13])).toEqual([{ v: null, w: 5n, t: 'none' }])
    expect(writer.rowSet.liveRowCount).toBe(1)
  })

  test('never shows a row that one op inserted and deleted', () => {
    const writer = aRowSet()

    writer.insert(5, { k: 'a', v: 1 })
    writer.delete(5, { k: 'a' })

    for (const snapshot of [4, 5, 6]) expect(rowsAt(writer, snapshot)).toEqual([])
  })

  test('applies the changes of one op in their order', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1 })

    writer.update(5, { k: 'a', v: 2 })
    writer.delete(5, { k: 'a' })
    writer.reinsert(5, { k: 'a', v: 3 })
    writer.update(5, { k: 'a', v: 4 })

    expect(rowsAt(writer, 4)).toEqual([{ k: 'a', v: 1 }])
    expect(rowsAt(writer, 5)).toEqual([{ k: 'a', v: 4 }])
  })

  test('reads a row that was changed twenty thousand times at any time', () => {
    const writer = aRowSet()
    writer.insert(0, { k: 'a', v: 0, w: 0n })
    const block = blockOf(schema, [{ k: 'a', v: 1 }])
    const lanes = block.columns[1].lanes
    for (let at = 1; at <= 20_000; at++) {
      lanes[0] = at
      writer.rowSet.update(0, block, 0, at)
    }

    for (const at of [0, 1, 4095, 4096, 10_000, 20_000]) {
      expect(rowsAt(writer, at, [11, 12])).toEqual([{ v: at, w: 0n }])
    }
  })

  test('takes columns of a block by their ids, whatever their order', () => {
    const writer = aRowSet()
    const block = aWriteBlock(schema, [['INSERT', { k: 'a', v: 1, w: 2n }]], ['w', 'k', 'v'])
    const keys = keysOf(schema, block)

    writer.rowSet.insertRows(keys, hashesOf(keys), block, Uint32Array.of(0), 0, 1, 1)

    expect(rowsAt(writer, 1, [12, 11, 10])).toEqual([{ k: 'a', v: 1, w: 2n }])
  })

  test('keeps every kind of cell, from the least to the greatest', () => {
    const cells: Record<string, Cell[]> = {
      INT8: [-128, 127],
      INT16: [-32_768, 32_767],
      DATE: [-719_162, 2_932_896],
      INT64: [-(2n ** 63n), 2n ** 63n - 1n],
      FLOAT: [-1.5, Number.POSITIVE_INFINITY],
      DOUBLE: [Number.MIN_VALUE, Number.NaN],
      DECIMAL: [-(10n ** 38n) + 1n, 10n ** 38n - 1n],
    }
    const wide = schemaWith(
      'k INT32 KEY',
      ...Object.keys(cells).map((type) => `${type} ${type}${type === 'DECIMAL' ? '(38,0)' : ''}`),
    )
    const writer = new MemRowWriter(wide)
    const [low, high] = [0, 1].map((place): PlainRow => {
      const pairs = Object.entries(cells).map(([type, pair]) => [type, pair[place]])
      return { k: 0, ...Object.fromEntries(pairs) }
    })

    writer.insert(1, low, { ...low, k: 1 })
    writer.update(2, { ...high, k: 1 })

    const ids = wide.columns.map((column) => column.id)
    expect(rowsAt(writer, 2, ids)).toEqual([low, { ...high, k: 1 }])
  })

  test('shows the read default of a column younger than its rows, until it is changed', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a' }, { k: 'b' })
    writer.rowSet.freeze()
    const younger = schemaWith('k STRING KEY', [
      'added INT32 NULL',
      { id: 99, readDefault: 5, writeDefault: 6 },
    ])
    const selected = (value: number, snapshot: number) => {
      const scanner = openScanOf([writer], {
        schema: younger,
        columnIds: [10, 99],
        predicates: [equalityPredicate(younger.columns[1], value)],
        snapshot,
      })
      const block = scanner.nextBatch(10, 1000)?.block
      return block === undefined ? [] : rowsOf(younger, block)
    }

    expect(selected(6, 1)).toEqual([])
    expect(selected(5, 1)).toEqual([
      { k: 'a', added: 5 },
      { k: 'b', added: 5 },
    ])
    writer.update(2, { k: 'b', added: 8 }, false, younger)
    writer.update(3, { k: 'b', added: null }, false, younger)

    expect(selected(5, 1)).toHaveLength(2)
    expect(selected(5, 2)).toEqual([{ k: 'a', added: 5 }])
    expect(selected(8, 2)).toEqual([{ k: 'b', added: 8 }])
    expect(selected(8, 3)).toEqual([])
    writer.rowSet.checkInvariants()
  })

  test('refuses to bring keys to life once it is frozen, and still changes live rows', () => {
    const writer = aRowSet()
    writer.insert(1, { k: 'a', v: 1 }, { k: 'b', v: 1 })
    writer.delete(2, { k: 'b' })

    writer.rowSet.freeze()
    writer.update(3, { k: 'a', v: 2 })

    expect(() => writer.insert(4, { k: 'c' })).toThrow(AssertionError)
    expect(() => writer.reinsert(4, { k: 'b' })).toThrow(AssertionError)
    expect(rowsAt(writer, 4)).toEqual([{ k: 'a', v: 2 }])
  })

  test('refuses what its state forbids', () => {
    const writer = aRowSet()
    writer.insert(5, { k: 'a', v: 1 })

    expect(() => writer.insert(6, { k: 'a' })).toThrow(AssertionError)
    const other = aRowSet()
    other.insert(5, { k: 'a' })
    expect(() => other.update(4, { k: 'a', v: 1 })).toThrow('in the order of their timestamps')
    expect(() => other.reinsert(6, { k: 'a' })).toThrow('a ghost is reinserted')
    const younger = schemaWith('k STRING KEY', ['added INT32', { id: 99 }])
    expect(() => other.update(6, { k: 'a', added: 1 }, false, younger)).toThrow('a new MemRowSet')
    other.delete(6, { k: 'a' })
    expect(() => other.delete(7, { k: 'a' })).toThrow('a live row is deleted')
    expect(() => other.update(7, { k: 'a', v: 1 })).toThrow('a live row is updated')
  })

  test('keeps count of its bytes as rows and changes come', () => {
    const writer = aRowSet()
    const empty = writer.rowSet.heldBytes
    const texts = Array.from({ length: 5000 }, (_, i) => ({ k: `k${i}`, t: 'x'.repeat(100) }))

    writer.insert(1, ...texts)
    const inserted = writer.rowSet.heldBytes
    for (const { k } of texts.slice(0, 1000)) writer.update(2, { k, t: 'y'.repeat(1000) })

    expect(empty).toBeLessThan(2000)
    expect(inserted).toBeGreaterThan(5000 * 140)
    expect(inserted).toBeLessThan(5000 * 240)
    expect(writer.rowSet.heldBytes - inserted).toBeGreaterThan(1000 * 1000)
    expect(writer.rowSet.heldBytes - inserted).toBeLessThan(1000 * 2200)
    writer.rowSet.checkInvariants()
  })
})

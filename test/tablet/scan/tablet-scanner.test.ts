import { describe, expect, test } from 'vitest'
import {
  equalityPredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  rangePredicate,
} from '../../../src/common/column-predicate.ts'
import { encodeKeyCells, successorKey } from '../../../src/common/encoded-key.ts'
import { SCAN_STEP_ROW_COUNT_MAX } from '../../../src/common/limits.ts'
import { optimizeScanSpec } from '../../../src/common/scan-spec.ts'
import { EMPTY_BYTES, utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { keysOf, schemaWith } from '../../support/row-data.ts'
import { batchesOf, openScanOf, scanRows } from '../../support/scan-rows.ts'

const schema = schemaWith('k STRING KEY', 'v INT32 NULL', 't STRING NULL')
const [k, v, t] = schema.columns
const key = (text: string) => utf8Encode(text)

/** Rows a = 0, b = 1, … up to a letter. */
function aWriter(lastLetter: string): MemRowWriter {
  const writer = new MemRowWriter(schema)
  const count = lastLetter.charCodeAt(0) - 96
  const rows = Array.from({ length: count }, (_, i) => ({
    k: String.fromCharCode(97 + i),
    v: i,
    t: 't'.repeat(i),
  }))
  writer.insert(1, ...rows)
  return writer
}

function keysIn(writer: MemRowWriter, options: Parameters<typeof scanRows>[1] = {}): string {
  return scanRows(writer, { columnIds: [k.id], ...options })
    .map((row) => row.k)
    .join('')
}

describe('TabletScanner', () => {
  test('gives the rows from the lower key up to but not with the upper key', () => {
    const writer = aWriter('f')

    expect(keysIn(writer, { lowerKey: key('b'), upperKey: key('d') })).toBe('bc')
    expect(keysIn(writer, { lowerKey: key('bb'), upperKey: key('d\0') })).toBe('cd')
    expect(keysIn(writer, { lowerKey: key('e') })).toBe('ef')
    expect(keysIn(writer, { upperKey: key('b') })).toBe('a')
    expect(keysIn(writer, { lowerKey: key('d'), upperKey: key('b') })).toBe('')
    expect(keysIn(writer, { lowerKey: key('g') })).toBe('')
  })

  test('gives the same rows the other way round when descending', () => {
    const writer = aWriter('f')
    const options = { order: 'DESCENDING' } as const

    expect(keysIn(writer, options)).toBe('fedcba')
    expect(keysIn(writer, { ...options, lowerKey: key('b'), upperKey: key('d') })).toBe('cb')
  })

  test('sees nothing in a rowset without rows', () => {
    const writer = new MemRowWriter(schema)

    expect(scanRows(writer)).toEqual([])
    expect(scanRows(writer, { order: 'DESCENDING', lowerKey: key('a') })).toEqual([])
  })

  test('gives columns in the order asked, and again when asked again', () => {
    const scanner = openScanOf([aWriter('b')], { columnIds: [v.id, k.id, v.id] })

    const block = scanner.nextBatch(10, 1e6)?.block

    expect(block?.columnIds).toEqual([v.id, k.id, v.id])
    expect(block?.columns.map((column) => column.cell(1))).toEqual([1, utf8Encode('b'), 1])
  })

  test('counts rows when no column is asked for', () => {
    const scanner = openScanOf([aWriter('f')], { columnIds: [], lowerKey: key('b') })

    const counts = [4, 4, 4].map((max) => scanner.nextBatch(max, 1)?.block.rowCount)

    expect(counts).toEqual([4, 1, undefined])
  })

  test('ends a batch at the rows asked for', () => {
    const writer = aWriter('g')

    const batches = batchesOf(writer, openScanOf([writer], { columnIds: [v.id] }), 3)

    expect(batches.map((rows) => rows.length)).toEqual([3, 3, 1])
  })

  test('ends a batch before the row that goes beyond the bytes, but never without a row', () => {
    const writer = aWriter('j')
    const scanner = openScanOf([writer], { columnIds: [t.id] })

    // A value of i bytes and its offset: 4, 5, 6, … bytes a row.
    expect(batchesOf(writer, scanner, 1000, 15).map((rows) => rows.length)).toEqual([
      3, 2, 1, 1, 1, 1, 1,
    ])
    const one = openScanOf([writer], { columnIds: [t.id] })
    expect(batchesOf(writer, one, 1000, 0).map((rows) => rows.length)).toEqual(Array(10).fill(1))
  })

  test('counts the bytes of changed values, and of keys when they are asked for', () => {
    const writer = aWriter('d')
    writer.update(2, { k: 'a', t: 'x'.repeat(100) })
    writer.update(2, { k: 'b', t: null })

    const plain = batchesOf(writer, openScanOf([writer], { columnIds: [t.id] }), 9, 30)
    const withKeys = openScanOf([writer], { columnIds: [t.id], withKeys: true })

    expect(plain.map((rows) => rows.length)).toEqual([1, 3])
    expect(batchesOf(writer, withKeys, 9, 19).map((rows) => rows.length)).toEqual([1, 1, 1, 1])
  })

  test('carries the encoded key of each row when asked', () => {
    const writer = aWriter('c')
    const scanner = openScanOf([writer], { withKeys: true, order: 'DESCENDING', columnIds: [] })

    const keys = scanner.nextBatch(10, 1e6)?.keys

    expect(keys?.count).toBe(3)
    expect([0, 1, 2].map((i) => utf8Decode(keys!.key(i)))).toEqual(['c', 'b', 'a'])
  })

  test('goes on in a new scan behind the last key of a batch', () => {
    const writer = aWriter('g')
    const first = openScanOf([writer]).nextBatch(3, 1e6)!
    const last = openScanOf([writer], { order: 'DESCENDING' }).nextBatch(3, 1e6)!

    expect(utf8Decode(first.lastKeyScanned)).toBe('c')
    expect(keysIn(writer, { lowerKey: successorKey(first.lastKeyScanned) })).toBe('defg')
    expect(utf8Decode(last.lastKeyScanned)).toBe('e')
    expect(keysIn(writer, { order: 'DESCENDING', upperKey: last.lastKeyScanned })).toBe('dcba')
  })

  test('pauses with progress when many rows are looked at in vain', () => {
    const numbers = schemaWith('k INT32 KEY', 'v INT32')
    const writer = new MemRowWriter(numbers)
    const count = SCAN_STEP_ROW_COUNT_MAX + 1000
    writer.insert(1, ...Array.from({ length: count }, (_, i) => ({ k: i, v: i })))
    const predicates = [equalityPredicate(numbers.columns[1], count - 1)]
    const scanner = openScanOf([writer], { predicates })

    const first = scanner.nextBatch(10, 1e6)!
    const second = scanner.nextBatch(10, 1e6)!

    expect([first.block.rowCount, first.scannedCount]).toEqual([0, SCAN_STEP_ROW_COUNT_MAX])
    expect(first.lastKeyScanned).toEqual(
      encodeKeyCells(numbers.keyColumns, [SCAN_STEP_ROW_COUNT_MAX - 1]),
    )
    expect(second.block.rowCount).toBe(1)
    expect(scanner.scannedCount).toBe(count)
    expect(scanner.nextBatch(10, 1e6)).toBeNull()
  })

  test('ends at once when no row can satisfy a predicate', () => {
    const scanner = openScanOf([aWriter('c')], { predicates: [nonePredicate(v)] })

    expect(scanner.nextBatch(1, 1)).toBeNull()
    expect(scanner.scannedCount).toBe(0)
  })

  test('gives nothing more once it is closed', () => {
    const scanner = openScanOf([aWriter('c')])
    scanner.nextBatch(1, 1)

    scanner.close()

    expect(scanner.nextBatch(1, 1)).toBeNull()
  })

  test('shows the snapshot it was opened at, whatever is written between its batches', () => {
    const writer = aWriter('d')
    const scanner = openScanOf([writer], { snapshot: 5, columnIds: [k.id, v.id] })
    scanner.nextBatch(1, 1e6)

    writer.update(6, { k: 'b', v: 100 })
    writer.delete(7, { k: 'c' })
    writer.insert(8, { k: 'bb', v: 8 }, { k: 'z', v: 9 })
    writer.reinsert(9, { k: 'c', v: 200 })

    expect(batchesOf(writer, scanner).flat()).toEqual([
      { k: 'b', v: 1 },
      { k: 'c', v: 2 },
      { k: 'd', v: 3 },
    ])
  })

  test('asks predicates of the cells as they are at the snapshot', () => {
    const writer = aWriter('d')
    writer.update(10, { k: 'a', v: 3 })
    writer.update(10, { k: 'd', v: null })
    const equal = { predicates: [equalityPredicate(v, 3)] }

    expect(keysIn(writer, { ...equal, snapshot: 9 })).toBe('d')
    expect(keysIn(writer, { ...equal, snapshot: 10 })).toBe('a')
    expect(keysIn(writer, { predicates: [isNullPredicate(v)], snapshot: 9 })).toBe('')
    expect(keysIn(writer, { predicates: [isNullPredicate(v)], snapshot: 10 })).toBe('d')
    expect(keysIn(writer, { predicates: [isNotNullPredicate(v)] })).toBe('abc')
  })

  test('asks all predicates, of columns that are shown or not', () => {
    const predicates = [
      rangePredicate(v, 1, 5),
      inListPredicate(k, ['b', 'd', 'f'].map(key)),
      rangePredicate(t, key('tt'), null),
    ]

    expect(keysIn(aWriter('g'), { predicates })).toBe('d')
  })

  test('tests texts that are too long to be copied many at a time', () => {
    const writer = new MemRowWriter(schema)
    const rows = Array.from({ length: 200 }, (_, i) => {
      return { k: String(1000 + i), v: i, t: String(i % 7).repeat(i % 3 === 0 ? 10_000 : 3) }
    })
    writer.insert(1, ...rows)
    const predicates = [rangePredicate(t, key('5'), null)]

    const found = scanRows(writer, { predicates, columnIds: [v.id] })

    expect(found).toEqual(rows.filter((row) => row.t >= '5').map((row) => ({ v: row.v })))
  })

  test('takes no longer text for the one that a range ends with', () => {
    const writer = new MemRowWriter(schema)
    const texts = ['fo', 'foo', 'foo\0', 'foobar', 'foobaz', 'fop']
    writer.insert(1, ...texts.map((text) => ({ k: text, t: text })))
    const upTo = { predicates: [rangePredicate(t, null, key('foo\0'))] }
    const prefixed = { predicates: [rangePredicate(t, key('foo'), key('fop'))] }

    expect(scanRows(writer, upTo).map((row) => row.t)).toEqual(['fo', 'foo'])
    expect(scanRows(writer, prefixed).map((row) => row.t)).toEqual(texts.slice(1, 5))
  })
})

describe('TabletScanner over a composite key', () => {
  const days = schemaWith('year INT16 KEY', 'month INT8 KEY', 'day DATE KEY', 'host STRING KEY')
  const [year, month, day, host] = days.columns
  const writer = new MemRowWriter(days)
  const hosts = ['foo', 'foobaz', 'goo']
  writer.insert(
    1,
    ...[2000, 2001, 2002].flatMap((y) =>
      [-1, 1, 2].flatMap((m) =>
        [-5, 0, 5].flatMap((d) => hosts.map((h) => ({ year: y, month: m, day: d, host: h }))),
      ),
    ),
  )

  // The predicates, how many rows they select, and how many are looked at once they are key bounds.
  test.each([
    ['equality of a prefix', [equalityPredicate(year, 2001)], 27, 27],
    [
      'equality of a longer prefix',
      [equalityPredicate(year, 2001), equalityPredicate(month, -1)],
      9,
      9,
    ],
    [
      'prefix and inequality',
      [equalityPredicate(year, 2001), rangePredicate(month, 1, null)],
      18,
      18,
    ],
    ['inequality of the first column', [rangePredicate(year, 2001, null)], 54, 54],
    [
      'prefix and a date',
      [equalityPredicate(year, 2002), equalityPredicate(month, 2), rangePredicate(day, -5, 5)],
      6,
      6,
    ],
    [
      'a whole key',
      [
        equalityPredicate(year, 2002),
        equalityPredicate(month, 2),
        equalityPredicate(day, 0),
        equalityPredicate(host, key('foo')),
      ],
      1,
      1,
    ],
    ['a later column alone', [equalityPredicate(host, key('foo'))], 27, 81],
    ['a hole in the prefix', [equalityPredicate(year, 2000), equalityPredicate(day, 0)], 9, 27],
  ])(
    'selects by %s the same rows by predicates and by key bounds',
    (_, predicates, rows, scanned) => {
      const spec = optimizeScanSpec(days, {
        predicates,
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
      })
      const pushed = openScanOf([writer], spec)

      const found = batchesOf(writer, pushed).flat()

      expect(found).toHaveLength(rows)
      expect(found).toEqual(scanRows(writer, { predicates }))
      expect(pushed.scannedCount).toBe(scanned)
    },
  )

  test('gives keys in the order of their columns', () => {
    const scanner = openScanOf([writer], { withKeys: true })
    const batch = scanner.nextBatch(1000, 1e6)!

    const encoded = keysOf(days, batch.block)

    const hex = (keys: typeof encoded) =>
      Array.from({ length: keys.count }, (_, i) => Buffer.from(keys.key(i)).toString('hex'))
    expect(hex(batch.keys!)).toEqual(hex(encoded))
    expect(hex(encoded)).toEqual(hex(encoded).sort())
  })
})

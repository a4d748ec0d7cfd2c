import { describe, expect, test } from 'vitest'
import { CorruptionError } from '../../../src/common/status.ts'
import type { DiskRowSet } from '../../../src/tablet/disk/disk-row-set.ts'
import { filesOf } from '../../../src/tablet/disk/row-set-meta.ts'
import { openScan, type TabletScanner } from '../../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES } from '../../../src/util/bytes.ts'
import type { PlainRow } from '../../support/a-write-block.ts'
import {
  aDiskRowSet,
  aMemoryContext,
  insertedAt,
  type PlainHistory,
} from '../../support/disk-row-set-builder.ts'
import {
  blockOf,
  hashesOf,
  KEY_HASH_SEED,
  keysOf,
  rowsOf,
  schemaWith,
} from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY', 'v INT32', 't STRING NULL')

function rowsOfLetters(letters: string): PlainRow[] {
  return [...letters].map((k) => ({ k, v: k.charCodeAt(0), t: k.repeat(3) }))
}

function lettersAt(at: number, letters: string, context = aMemoryContext()): DiskRowSet {
  return aDiskRowSet(insertedAt(at, rowsOfLetters(letters)), { schema, baseAt: at, context })
}

function scanOf(rowSet: DiskRowSet, snapshot = 1000): TabletScanner {
  return openScan({
    rowSets: [rowSet],
    schema,
    columnIds: [10, 11],
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'ORDERED',
    snapshot,
    withKeys: false,
  })
}

/** What is left of a scan, as `key value`. */
function restOf(scanner: TabletScanner): string[] {
  const found: string[] = []
  for (let batch = scanner.nextBatch(2, 1e6); batch !== null; batch = scanner.nextBatch(2, 1e6)) {
    found.push(...rowsOf(schema, batch.block).map(({ k, v }) => `${k} ${v}`))
  }
  return found
}

const textAt = (rowSet: DiskRowSet, snapshot?: number) => restOf(scanOf(rowSet, snapshot)).join()

function find(rowSet: DiskRowSet, letters: string): number[] {
  const keys = keysOf(
    schema,
    blockOf(
      schema,
      [...letters].map((k) => ({ k })),
    ),
  )
  const order = [...letters].map((_, i) => i).sort((a, b) => (letters[a] < letters[b] ? -1 : 1))
  const out = new Int32Array(letters.length).fill(-7)
  rowSet.findRows(keys, hashesOf(keys), Uint32Array.from(order), 0, letters.length, out)
  return [...out]
}

/** Changes `v` of a row as a write does. */
function update(rowSet: DiskRowSet, ordinal: number, v: number, at: number): number {
  return rowSet.update(ordinal, blockOf(schema, [{ v }]), 0, at, false, schema)
}

describe('DiskRowSet', () => {
  test('reads nothing before it is asked for rows', () => {
    const context = aMemoryContext()
    const rowSet = lettersAt(5, 'abc', context)

    const scanner = scanOf(rowSet)
    const { liveRowCount, rowCount, lowerKey, heldBytes, oldestUnflushed } = rowSet

    expect(context.blocks.rowsRead).toBe(0)
    expect([liveRowCount, rowCount, lowerKey[0], oldestUnflushed]).toEqual([3, 3, 0x61, null])
    expect(heldBytes).toBeLessThan(5000)
    expect(restOf(scanner)).toEqual(['a 97', 'b 98', 'c 99'])
    expect(context.blocks.rowsRead).toBeGreaterThan(0)
  })

  test('finds the rows of keys, deleted ones too, and leaves the others alone', () => {
    const rowSet = lettersAt(5, 'bdf')
    rowSet.delete(1, 9)

    expect(find(rowSet, 'abcdefg')).toEqual([-7, 0, -7, 1, -7, 2, -7])
    expect(find(rowSet, 'fdb')).toEqual([2, 1, 0])
  })

  test('shows changes from their time on', () => {
    const rowSet = lettersAt(5, 'abc')
    const { heldBytes } = rowSet

    expect(update(rowSet, 0, 7, 10)).toBe(1)
    expect(rowSet.isLive(1)).toBe(true)
    rowSet.delete(1, 12)
    update(rowSet, 2, 8, 12)
    update(rowSet, 0, 9, 15)

    expect([4, 5, 10, 12, 15].map((at) => textAt(rowSet, at))).toEqual([
      '',
      'a 97,b 98,c 99',
      'a 7,b 98,c 99',
      'a 7,c 8',
      'a 9,c 8',
    ])
    expect([0, 1, 2].map((row) => rowSet.isLive(row))).toEqual([true, false, true])
    expect([rowSet.liveRowCount, rowSet.oldestUnflushed]).toEqual([2, 10])
    expect(rowSet.heldBytes).toBeGreaterThan(heldBytes)
    rowSet.checkInvariants(KEY_HASH_SEED)
  })

  test('tells an update that changes nothing', () => {
    const rowSet = lettersAt(5, 'a')

    expect(rowSet.update(0, blockOf(schema, [{ k: 'a' }]), 0, 9, false, schema)).toBe(0)
    expect(rowSet.oldestUnflushed).toBeNull()
  })

  test('reads REDO files for liveness only when they delete', () => {
    const context = aMemoryContext()
    const [a, b] = rowsOfLetters('ab')
    const updated: PlainHistory = [
      { at: 5, row: a },
      { at: 9, row: { ...a, v: 1 } },
    ]
    const deleted: PlainHistory = [
      { at: 5, row: b },
      { at: 8, row: null },
    ]
    const options = { schema, baseAt: 5, redoCuts: [20], context }
    const without = aDiskRowSet([updated, [{ at: 5, row: b }]], options)
    const some = aDiskRowSet([updated, deleted], { ...options, id: 2 })

    expect([0, 1].map((row) => without.isLive(row))).toEqual([true, true])
    expect(context.blocks.rowsRead).toBe(0)
    expect([0, 1].map((row) => some.isLive(row))).toEqual([true, false])
    expect(context.blocks.rowsRead).toBeGreaterThan(0)
    expect([without.liveRowCount, some.liveRowCount]).toEqual([2, 1])
  })

  test('tells which life of a key was there just before a time', () => {
    const [a] = rowsOfLetters('a')
    const lives: PlainHistory = [
      { at: 5, row: a },
      { at: 9, row: null },
      { at: 12, row: a },
      { at: 20, row: null },
    ]
    const rowSet = aDiskRowSet([lives], { schema, baseAt: 15, redoCuts: [15] })

    const was = [5, 6, 9, 10, 12, 13, 20, 21].map((at) => rowSet.wasLiveBefore(0, at))

    expect(was).toEqual([false, true, true, false, false, true, true, false])
  })

  test('takes over changes that were made while it was written', () => {
    const source = lettersAt(5, 'ab')
    source.delete(1, 9)
    const rowSet = lettersAt(5, 'ab')
    expect(rowSet.isLive(1)).toBe(true)

    rowSet.appendDeltas(source.deltas.read(0, 2))

    expect([rowSet.isLive(1), rowSet.liveRowCount, textAt(rowSet)]).toEqual([false, 1, 'a 97'])
    rowSet.checkInvariants(KEY_HASH_SEED)
  })

  test('closes its store for a flush, and hands out again what a failed flush left', () => {
    const rowSet = lettersAt(5, 'ab')
    expect(rowSet.freezeDeltas()).toEqual([])

    update(rowSet, 0, 1, 10)
    const first = rowSet.freezeDeltas()
    update(rowSet, 0, 2, 11)
    const second = rowSet.freezeDeltas()

    expect(first.length).toBe(1)
    expect(second.length).toBe(2)
    expect(second[0]).toBe(first[0])
    expect(rowSet.freezeDeltas()).toEqual(second)
    expect(textAt(rowSet)).toBe('a 2,b 98')
    expect(rowSet.oldestUnflushed).toBe(10)
  })

  test('keeps an open scan as it was, whatever a commit makes of the rowset', () => {
    const context = aMemoryContext()
    const rowSet = lettersAt(5, 'abc', context)
    // Another base with the same rows at the same ordinals, but for a value.
    const rows = rowsOfLetters('abc').map((row) => ({ ...row, v: 1 }))
    const other = aDiskRowSet(insertedAt(5, rows), { schema, baseAt: 5, context })
    const scanner = scanOf(rowSet)
    const started = scanOf(rowSet)
    expect(started.nextBatch(1, 1e6)?.block.rowCount).toBe(1)

    rowSet.replaceMeta({ ...other.meta, id: rowSet.id })

    expect(textAt(rowSet)).toBe('a 1,b 1,c 1')
    expect(restOf(scanner)).toEqual(['a 97', 'b 98', 'c 99'])
    expect(restOf(started)).toEqual(['b 98', 'c 99'])
  })

  test('keeps flushed stores in memory, and counts them, until no scan reads them', () => {
    const rowSet = lettersAt(5, 'ab')
    for (let at = 10; at < 200; at++) update(rowSet, 0, at, at)
    const flushed = rowSet.freezeDeltas()
    const scanners = [scanOf(rowSet), scanOf(rowSet, 20)]
    const { heldBytes } = rowSet

    // As if they were in files: here they are dropped instead, which only later scans see.
    rowSet.replaceMeta({ ...rowSet.meta, mark: 200 }, flushed)

    expect([textAt(rowSet), rowSet.oldestUnflushed]).toEqual(['a 97,b 98', null])
    expect(rowSet.heldBytes).toBe(heldBytes)
    expect(restOf(scanners[0])).toEqual(['a 199', 'b 98'])
    // Readers may have made an index of it.
    expect(rowSet.heldBytes).toBeGreaterThanOrEqual(heldBytes)
    expect(restOf(scanners[1])).toEqual(['a 20', 'b 98'])
    expect(rowSet.heldBytes).toBeLessThan(heldBytes)
  })

  test('refuses to drop the store that changes go to', () => {
    const rowSet = lettersAt(5, 'a')

    expect(() => rowSet.replaceMeta(rowSet.meta, [rowSet.deltas])).toThrow(
      'the store that changes go to is not flushed',
    )
  })
})

describe('pins of a DiskRowSet', () => {
  function aPinned() {
    const context = aMemoryContext()
    const rowSet = lettersAt(5, 'abcdef', context)
    const arePinned = () => filesOf(rowSet.meta).map((file) => context.pins.isPinned(file))
    return { context, rowSet, arePinned, scanner: scanOf(rowSet) }
  }

  test('are held from the opening of a scan to its end', () => {
    const { rowSet, scanner, arePinned } = aPinned()

    expect([rowSet.isPinned, ...arePinned()]).toEqual([true, true, true])
    scanner.nextBatch(2, 1e6)
    expect(rowSet.isPinned).toBe(true)
    restOf(scanner)
    expect([rowSet.isPinned, ...arePinned()]).toEqual([false, false, false])
  })

  test('are let go of by a scan that is given up, once', () => {
    const { context, rowSet, scanner } = aPinned()
    const other = scanOf(rowSet)
    scanner.nextBatch(2, 1e6)

    scanner.close()
    scanner.close()

    expect([rowSet.isPinned, context.pins.fileCount]).toEqual([true, 2])
    expect(scanner.nextBatch(2, 1e6)).toBeNull()
    other.close()
    expect([rowSet.isPinned, context.pins.fileCount]).toEqual([false, 0])
  })

  test('are let go of by a scan that fails', () => {
    const { context, rowSet, scanner } = aPinned()
    context.blocks.dropBlock(rowSet.meta.directory)

    expect(() => scanner.nextBatch(2, 1e6)).toThrow(CorruptionError)

    expect([rowSet.isPinned, context.pins.fileCount]).toEqual([false, 0])
    expect(scanner.nextBatch(2, 1e6)).toBeNull()
  })

  test('hold the files of the time of the opening, not those of later commits', () => {
    const { context, rowSet, scanner } = aPinned()
    const before = filesOf(rowSet.meta)
    const other = lettersAt(5, 'abcdef', context)

    rowSet.replaceMeta({ ...other.meta, id: rowSet.id })
    const after = filesOf(rowSet.meta)

    expect(before.every((file) => context.pins.isPinned(file))).toBe(true)
    expect(after.some((file) => context.pins.isPinned(file))).toBe(false)
    scanner.close()
    expect(context.pins.fileCount).toBe(0)
  })
})

describe('a damaged DiskRowSet', () => {
  test('fails what needs the damaged page, naming it, and nothing else', () => {
    const context = aMemoryContext(0)
    const rowSet = lettersAt(5, 'abc', context)
    const { file, blocks, offsets } = rowSet.base.column(12)!.pages
    context.blocks.flipBit({ file, block: blocks[0] }, (offsets[0] + 9) * 8 + 3)

    expect(textAt(rowSet)).toBe('a 97,b 98,c 99')
    expect(find(rowSet, 'b')).toEqual([1])
    expect(() => rowSet.checkInvariants(KEY_HASH_SEED)).toThrow(
      `rowset 1, column 12: file ${file}, block ${blocks[0]}`,
    )
  })
})

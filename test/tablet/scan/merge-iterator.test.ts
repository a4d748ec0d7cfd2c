import { describe, expect, test } from 'vitest'
import { equalityPredicate } from '../../../src/common/column-predicate.ts'
import { successorKey } from '../../../src/common/encoded-key.ts'
import type { BatchLimits, RowSetScan } from '../../../src/tablet/row-set.ts'
import { compileColumnTest } from '../../../src/tablet/scan/column-test.ts'
import { MergeIterator } from '../../../src/tablet/scan/merge-iterator.ts'
import { EMPTY_BYTES, utf8Decode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { rowsOf, schemaWith } from '../../support/row-data.ts'
import { batchesOf, openScanOf } from '../../support/scan-rows.ts'

const schema = schemaWith('k STRING KEY', 'v INT32')

/** A rowset of one letter keys, in any order. */
function aRowSet(letters: string, at = 1): MemRowWriter {
  const writer = new MemRowWriter(schema)
  const rows = [...letters].map((k) => ({ k, v: k.charCodeAt(0) }))
  if (rows.length > 0) writer.insert(at, ...rows)
  return writer
}

const EVERYTHING: RowSetScan = {
  columns: schema.columns,
  snapshot: 100,
  tests: [],
  lowerKey: EMPTY_BYTES,
  upperKey: EMPTY_BYTES,
  isDescending: false,
  withKeys: false,
}
const NO_BOUNDS = { lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }
const WIDE: BatchLimits = { rowCountMax: 1000, bytesMax: 1e6, scannedMax: 1000 }

function merge(writers: readonly MemRowWriter[], scan: Partial<RowSetScan> = {}): MergeIterator {
  const whole: RowSetScan = { ...EVERYTHING, ...scan }
  const sources = writers.map(({ rowSet }) => {
    const iterator = rowSet.openIterator({ ...whole, withKeys: true })
    return { iterator, bounds: rowSet.keyBounds() ?? NO_BOUNDS }
  })
  return new MergeIterator(sources, whole)
}

/** The keys of each batch, joined. */
function batches(iterator: MergeIterator, limits: Partial<BatchLimits> = {}): string[] {
  const found: string[] = []
  for (;;) {
    const batch = iterator.next({ ...WIDE, ...limits })
    if (batch === null) return found
    found.push(
      rowsOf(schema, batch.block)
        .map((row) => row.k)
        .join(''),
    )
  }
}

describe('MergeIterator', () => {
  test('gives the rows of all rowsets in key order', () => {
    const writers = [aRowSet('hbe'), aRowSet(''), aRowSet('adg'), aRowSet('cfi')]

    expect(batches(merge(writers))).toEqual(['abcdefghi'])
    expect(batches(merge(writers, { isDescending: true }))).toEqual(['ihgfedcba'])
  })

  test('gives nothing when there is nothing, or no rowset', () => {
    expect(batches(merge([]))).toEqual([])
    expect(batches(merge([aRowSet(''), aRowSet('')]))).toEqual([])
  })

  test('ends batches at rows and bytes, whichever rowset the rows come from', () => {
    const writers = [aRowSet('abg'), aRowSet('cdef')]

    expect(batches(merge(writers), { rowCountMax: 3 })).toEqual(['abc', 'def', 'g'])
    // Twice one byte of key and its offset, and four bytes of value a row.
    const whole = merge(writers, { withKeys: true })
    expect(batches(whole, { bytesMax: 28 })).toEqual(['ab', 'cd', 'ef', 'g'])
    expect(batches(merge(writers), { bytesMax: 0 })).toEqual([...'abcdefg'])
  })

  test('shows the life of a key that is visible, wherever it is', () => {
    const old = aRowSet('abc')
    old.delete(5, { k: 'b' })
    const young = aRowSet('b', 6)

    const at = (snapshot: number) => {
      const scanner = openScanOf([young, old], { snapshot, columnIds: [10] })
      return batchesOf(old, scanner)
        .flat()
        .map((row) => row.k)
        .join('')
    }

    expect([1, 5, 6].map(at)).toEqual(['abc', 'ac', 'abc'])
  })

  test.each([false, true])('gets ahead with every step (descending: %s)', (isDescending) => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const writers = [0, 1, 2].map((part) => {
      return aRowSet([...letters].filter((_, i) => i % 3 === part).join(''))
    })
    const wanted = equalityPredicate(schema.columns[1], 'n'.charCodeAt(0))
    const tests = [compileColumnTest(schema.columns[1], wanted)]
    let bounds: Partial<RowSetScan> = {}
    let found = ''
    let steps = 0

    // Each step is a scan of its own, which looks at three rows at most and is then dropped.
    for (; steps < 100; steps++) {
      const iterator = merge(writers, { tests, isDescending, ...bounds })
      const batch = iterator.next({ ...WIDE, scannedMax: 3 })
      if (batch === null) break
      found += rowsOf(schema, batch.block)
        .map((row) => row.k)
        .join('')
      const last = batch.lastKeyScanned
      bounds = isDescending ? { upperKey: last } : { lowerKey: successorKey(last) }
    }

    expect(found).toBe('n')
    expect(steps).toBeLessThan(30)
  })

  test('looks at about as many rows as it may, over all rowsets', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const writers = [aRowSet(letters), aRowSet(''), aRowSet(letters.toUpperCase()), aRowSet('0123')]
    const never = equalityPredicate(schema.columns[1], -1)
    const iterator = merge(writers, { tests: [compileColumnTest(schema.columns[1], never)] })

    const batch = iterator.next({ ...WIDE, scannedMax: 8 })!

    expect(batch.block.rowCount).toBe(0)
    expect(batch.scannedCount).toBeLessThanOrEqual(10)
    expect(utf8Decode(batch.lastKeyScanned)).toBe('D')
  })

  test('says which key it is done with when it stops between rows', () => {
    const iterator = merge([aRowSet('acegik'), aRowSet('bdfhjl')], { withKeys: true })

    const batch = iterator.next({ ...WIDE, rowCountMax: 3 })!

    expect(utf8Decode(batch.lastKeyScanned)).toBe('c')
    expect([0, 1, 2].map((i) => utf8Decode(batch.keys!.key(i)))).toEqual(['a', 'b', 'c'])
  })

  test('is not done with a key that a rowset it did not ask yet begins with', () => {
    const old = aRowSet('abd')
    old.delete(5, { k: 'b' })
    const writers = [old, aRowSet('bc', 6)]
    let found = ''
    let lowerKey: Uint8Array = EMPTY_BYTES

    // The second step looks at the ghost of `b`, and no further.
    for (let steps = 0; steps < 20; steps++) {
      const iterator = merge(writers, { lowerKey })
      const batch = iterator.next({ ...WIDE, scannedMax: 1 })
      if (batch === null) break
      found += rowsOf(schema, batch.block)
        .map(({ k }) => k)
        .join('')
      lowerKey = successorKey(batch.lastKeyScanned)
      iterator.close()
    }

    expect(found).toBe('abcd')
  })

  test.each([false, true])('asks a rowset when its keys come (descending: %s)', (isDescending) => {
    const writers = [aRowSet('agm'), aRowSet('bc'), aRowSet('pqr')]
    const asked: string[] = []
    const whole = { ...EVERYTHING, isDescending, withKeys: true }
    const sources = writers.map(({ rowSet }, i) => {
      const iterator = rowSet.openIterator(whole)
      const next = iterator.next.bind(iterator)
      iterator.next = (limits) => {
        asked.push('xyz'[i])
        return next(limits)
      }
      return { iterator, bounds: rowSet.keyBounds()! }
    })
    const iterator = new MergeIterator(sources, whole)

    const steps = Array.from({ length: 8 }, () => {
      const batch = iterator.next({ ...WIDE, rowCountMax: 1 })!
      return `${utf8Decode(batch.keys!.key(0))} ${asked.splice(0).join('')}`
    })

    // `x` goes on where its next row may lie before those of the others.
    expect(steps).toEqual(
      isDescending
        ? ['r z', 'q z', 'p z', 'm zx', 'g x', 'c xy', 'b y', 'a y']
        : ['a x', 'b xy', 'c y', 'g y', 'm x', 'p xz', 'q z', 'r z'],
    )
    expect([iterator.next(WIDE), iterator.scannedCount]).toEqual([null, 8])
  })

  test('gives a batch of one rowset out as it is', () => {
    const first = aRowSet('abc')
    const iterator = merge([first, aRowSet('dx'), aRowSet('ey')])
    const borrowed = first.rowSet.openIterator({ ...EVERYTHING, withKeys: true })

    const batch = iterator.next(WIDE)!

    expect(rowsOf(schema, batch.block)).toEqual(rowsOf(schema, borrowed.next(WIDE)!.block))
    expect([batch.keys, utf8Decode(batch.lastKeyScanned)]).toEqual([null, 'c'])
    expect(batches(iterator)).toEqual(['dexy'])
  })

  test('closes every rowset, those that ended and those that were never asked', () => {
    const writers = [aRowSet('a'), aRowSet('bd'), aRowSet('ce'), aRowSet('z')]
    const iterator = merge(writers)
    const open = () => writers.map(({ rowSet }) => rowSet.isPinned)
    iterator.next({ ...WIDE, rowCountMax: 1 })
    iterator.next({ ...WIDE, rowCountMax: 1 })

    expect(open()).toEqual([false, true, true, true])
    iterator.close()
    iterator.close()

    expect(open()).toEqual([false, false, false, false])
  })

  test('merges runs of any length', () => {
    for (let seed = 0; seed < 30; seed++) {
      const prng = new Prng(seed)
      const texts = Array.from({ length: prng.between(1, 3000) }, (_, i) => `${10_000 + i}`)
      let home = 0
      const shares: string[][] = Array.from({ length: prng.between(1, 5) }, () => [])
      for (const text of texts) {
        if (prng.chance([0.9, 0.1, 0.001][seed % 3])) home = prng.below(shares.length)
        shares[home].push(text)
      }
      const writers = shares.map((share) => {
        const writer = new MemRowWriter(schema)
        if (share.length > 0) writer.insert(1, ...share.map((k) => ({ k, v: 1 })))
        return writer
      })
      const isDescending = prng.chance(0.5)
      const iterator = merge(writers, { isDescending, withKeys: prng.chance(0.5) })
      const found: string[] = []
      for (;;) {
        const limits = { rowCountMax: prng.pick([1, 50, 4096]), bytesMax: prng.pick([500, 1e6]) }
        const batch = iterator.next({ ...WIDE, ...limits })
        if (batch === null) break
        expect(batch.block.rowCount, `seed ${seed}`).toBeLessThanOrEqual(limits.rowCountMax)
        found.push(...rowsOf(schema, batch.block).map(({ k }) => String(k)))
        for (let row = 0; batch.keys !== null && row < batch.keys.count; row++) {
          const place = found.length - batch.keys.count + row
          expect(utf8Decode(batch.keys.key(row)), `seed ${seed}`).toBe(found[place])
        }
      }
      expect(found, `seed ${seed}`).toEqual(isDescending ? texts.reverse() : texts)
    }
  })
})

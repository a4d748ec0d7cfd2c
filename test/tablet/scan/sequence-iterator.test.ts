import { describe, expect, test } from 'vitest'
import type { BatchLimits, RowSetIterator } from '../../../src/tablet/row-set.ts'
import { SequenceIterator } from '../../../src/tablet/scan/sequence-iterator.ts'
import { EMPTY_BYTES } from '../../../src/util/bytes.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { rowsOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY')
const WIDE: BatchLimits = { rowCountMax: 1000, bytesMax: 1e6, scannedMax: 1000 }

function aScan(letters: string): { iterator: RowSetIterator; isOpen: () => boolean } {
  const writer = new MemRowWriter(schema)
  if (letters.length > 0) writer.insert(1, ...[...letters].map((k) => ({ k })))
  const iterator = writer.rowSet.openIterator({
    columns: schema.columns,
    snapshot: 1,
    tests: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    isDescending: false,
    withKeys: false,
  })
  return { iterator, isOpen: () => writer.rowSet.isPinned }
}

function next(iterator: RowSetIterator, limits: Partial<BatchLimits> = {}): string | null {
  const batch = iterator.next({ ...WIDE, ...limits })
  return (
    batch &&
    rowsOf(schema, batch.block)
      .map(({ k }) => k)
      .join('')
  )
}

describe('SequenceIterator', () => {
  test('gives the rows of one scan after those of the other', () => {
    const scans = ['abc', '', 'de'].map(aScan)
    const sequence = new SequenceIterator(scans.map(({ iterator }) => iterator))

    const found = [1, 2, 3, 4, 5].map(() => next(sequence, { rowCountMax: 2 }))

    expect(found).toEqual(['ab', 'c', 'de', null, null])
    expect(sequence.scannedCount).toBe(5)
  })

  test('closes each scan at its end', () => {
    const scans = ['a', 'b'].map(aScan)
    const sequence = new SequenceIterator(scans.map(({ iterator }) => iterator))
    const open = () => scans.map(({ isOpen }) => isOpen())

    expect([next(sequence), open()]).toEqual(['a', [true, true]])
    expect([next(sequence), open()]).toEqual(['b', [false, true]])
    expect([next(sequence), open()]).toEqual([null, [false, false]])
  })

  test('closes all that are open when it is closed', () => {
    const scans = ['ab', 'c', 'd'].map(aScan)
    const sequence = new SequenceIterator(scans.map(({ iterator }) => iterator))
    next(sequence, { rowCountMax: 1 })

    sequence.close()
    sequence.close()

    expect(scans.map(({ isOpen }) => isOpen())).toEqual([false, false, false])
  })

  test('counts what every scan looked at', () => {
    const scans = ['abc', 'de'].map(aScan)
    const sequence = new SequenceIterator(scans.map(({ iterator }) => iterator))

    const counts = [1, 2, 3].map(() => {
      next(sequence, { scannedMax: 2 })
      return sequence.scannedCount
    })

    expect(counts).toEqual([2, 3, 5])
  })
})

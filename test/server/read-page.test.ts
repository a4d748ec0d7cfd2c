import { describe, expect, test, vi } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { READ_BYTES_MAX, READ_SCANNED_ROW_COUNT_MAX } from '../../src/common/limits.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { readPage } from '../../src/server/read-page.ts'
import type { ScanBatch } from '../../src/tablet/row-set.ts'
import { ScanFrameReader } from '../../src/wire/scan-frame.ts'

const STEP = 32_768

/** A batch of rows of `cellBytes`, that looked at `scannedCount` rows up to key `last`. */
function batchOf(
  rowCount: number,
  cellBytes: number,
  scannedCount: number,
  last: number,
): ScanBatch {
  const builder = new RowBlockBuilder([{ id: 0, physical: PHYSICAL.binary }], false)
  for (let row = 0; row < rowCount; row++) {
    builder.setCell(0, new Uint8Array(cellBytes))
    builder.endRow()
  }
  const lastKeyScanned = new Uint8Array([9, 9, last, 9]).subarray(2, 3)
  return { block: builder.view(), keys: null, lastKeyScanned, scannedCount }
}

/** A scan that gives the batches in turn, and notes what it was asked for. */
function sourceOf(batches: readonly ScanBatch[]) {
  const asked: [rowCountMax: number, bytesMax: number][] = []
  const nextBatch = (rowCountMax: number, bytesMax: number): ScanBatch | null => {
    asked.push([rowCountMax, bytesMax])
    return batches[asked.length - 1] ?? null
  }
  return { asked, nextBatch, close: vi.fn() }
}

function rowCountOf(frames: Uint8Array): number {
  const reader = new ScanFrameReader()
  reader.push(frames)
  while (reader.next() !== null);
  reader.finish()
  return reader.rowCount
}

describe('readPage', () => {
  test('says that there is no more at the end of the scan', () => {
    const page = readPage(sourceOf([batchOf(3, 1, 3, 5)]), 100, 1000)

    expect(rowCountOf(page.frames)).toBe(3)
    expect(page).toMatchObject({ hasMore: false, lastKey: new Uint8Array(0) })
  })

  test('tells the key to go on from when it is full, in a buffer of its own', () => {
    const source = sourceOf([batchOf(3, 1, 3, 5), batchOf(2, 1, 2, 7), batchOf(1, 1, 1, 8)])
    const page = readPage(source, 5, 1000)

    expect(rowCountOf(page.frames)).toBe(5)
    expect(page).toMatchObject({ hasMore: true, lastKey: Uint8Array.of(7) })
    expect(page.lastKey.buffer.byteLength).toBe(1)
    expect(source.asked.map(([rowCountMax]) => rowCountMax)).toEqual([5, 2])
  })

  test('goes on behind a batch without rows', () => {
    const page = readPage(sourceOf([batchOf(0, 0, STEP, 1), batchOf(2, 1, 2, 2)]), 2, 1000)

    expect(rowCountOf(page.frames)).toBe(2)
    expect(page.lastKey).toEqual(Uint8Array.of(2))
  })

  test('answers with nothing and a key when it looked at too many rows in vain', () => {
    const source = sourceOf(Array.from({ length: 100 }, (_, index) => batchOf(0, 0, STEP, index)))
    const page = readPage(source, 10, 1000)

    expect(source.asked).toHaveLength(READ_SCANNED_ROW_COUNT_MAX / STEP)
    expect(rowCountOf(page.frames)).toBe(0)
    expect(page).toMatchObject({ hasMore: true, lastKey: Uint8Array.of(31) })
  })

  test('gives one row however few bytes are wanted', () => {
    const source = sourceOf([batchOf(1, 5000, 1, 1), batchOf(1, 5000, 1, 2)])

    expect(rowCountOf(readPage(source, 10, 0).frames)).toBe(1)
    expect(source.asked).toEqual([[10, 1]])
  })

  test('ends at its own limit whatever is wanted', () => {
    const source = sourceOf(Array.from({ length: 300 }, () => batchOf(4, 60_000, 4, 1)))
    const page = readPage(source, 1e9, Number.MAX_SAFE_INTEGER)

    expect(page.hasMore).toBe(true)
    expect(page.frames.length).toBeLessThan(READ_BYTES_MAX + 300_000)
  })

  test('lets go of the scan once, whether it ends, is full or fails', () => {
    const ended = sourceOf([])
    readPage(ended, 10, 1000)
    expect(ended.close).toHaveBeenCalledTimes(1)

    const full = sourceOf([batchOf(3, 1, 3, 5), batchOf(2, 1, 2, 7)])
    readPage(full, 3, 1000)
    expect(full.close).toHaveBeenCalledTimes(1)

    const failing = { ...sourceOf([]), nextBatch: vi.fn().mockThrow(new RangeError('damaged')) }
    expect(() => readPage(failing, 10, 1000)).toThrow('damaged')
    expect(failing.close).toHaveBeenCalledTimes(1)
  })
})

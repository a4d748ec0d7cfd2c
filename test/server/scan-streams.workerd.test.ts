import { runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { TabletScanner } from '../../src/tablet/scan/tablet-scanner.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { ScanFrameReader } from '../../src/wire/scan-frame.ts'
import {
  aStoredTable,
  mustOk,
  type PlainRow,
  rowsOfBlock,
  rowsOfStream,
  type StoredTable,
} from '../support/a-stored-table.ts'

const ROW_COUNT = 24_000
const TEXT = 'x'.repeat(40)
/** So that a batch is full of bytes before it is of rows. */
const WIDE_TEXT = 'x'.repeat(1000)

afterEach(() => {
  vi.restoreAllMocks()
})

/** A table with so many rows that a scan takes many batches. */
async function aLargeTable(name: string): Promise<StoredTable> {
  const table = await aStoredTable(name)
  for (let start = 0; start < ROW_COUNT; start += 8000) {
    const rows = Array.from({ length: 8000 }, (_, index): PlainRow => [BigInt(start + index), TEXT])
    await table.write(rows)
  }
  return table
}

async function openStream(table: StoredTable): Promise<ReadableStream<Uint8Array>> {
  return mustOk(await table.tablet().scan(table.scanCall())).stream
}

/** Reads as a front does: at least what is missing, into buffers of its own. */
async function readBatch(
  reader: ReadableStreamBYOBReader,
  frames: ScanFrameReader,
): Promise<ReturnType<ScanFrameReader['next']>> {
  for (;;) {
    const batch = frames.next()
    if (batch !== null || frames.isEnded) return batch
    const bytes = Math.max(frames.missingBytes, 64 * 1024)
    const { value, done } = await reader.readAtLeast(frames.missingBytes, new Uint8Array(bytes))
    if (value !== undefined) frames.push(value)
    if (done) return frames.next()
  }
}

describe('ScanStreams of a tablet object', () => {
  test('gives every row to a reader that brings its own buffers, then the end frame', async () => {
    const table = await aLargeTable('whole')
    const reader = (await openStream(table)).getReader({ mode: 'byob' })
    const frames = new ScanFrameReader()
    let next = 0n
    let batchCount = 0
    for (;;) {
      const batch = await readBatch(reader, frames)
      if (batch === null) break
      batchCount++
      for (const [id, text] of rowsOfBlock(table.schema, batch.block)) {
        if (id !== next++ || text !== TEXT) throw new Error(`row ${id} is not ${next - 1n}`)
      }
    }
    frames.finish()

    expect(next).toBe(BigInt(ROW_COUNT))
    expect(batchCount).toBeGreaterThan(5)
  })

  test('shows the snapshot it was opened at, whatever is written meanwhile', async () => {
    const table = await aLargeTable('meanwhile')
    const stream = await openStream(table)
    await table.write([[BigInt(ROW_COUNT - 1)]], 'DELETE')
    await table.write([[BigInt(ROW_COUNT - 2), 'changed']], 'UPDATE')
    await table.write([
      [-1n, 'new'],
      [BigInt(ROW_COUNT), 'new'],
    ])
    const rows = await rowsOfStream(table.schema, stream)

    expect(rows).toHaveLength(ROW_COUNT)
    expect(rows.at(-2)).toEqual([BigInt(ROW_COUNT - 2), TEXT])
    expect(await table.scanRows()).toHaveLength(ROW_COUNT + 1)
  })

  test('halts within two batches of a reader that stalls, and goes on with it', async () => {
    const table = await aStoredTable('stalls')
    for (let start = 0; start < 6000; start += 1500) {
      await table.write(Array.from({ length: 1500 }, (_, i) => [BigInt(start + i), WIDE_TEXT]))
    }
    const made = vi.spyOn(TabletScanner.prototype, 'nextBatch')
    const reader = (await openStream(table)).getReader({ mode: 'byob' })
    const frames = new ScanFrameReader()
    let rowCount = 0
    let batchCount = 0
    for (;;) {
      const batch = await readBatch(reader, frames)
      if (batch === null) break
      batchCount++
      rowCount += batch.block.rowCount
      // Calls are delivered in turn: what the object does by itself, it has done by then.
      for (let i = 0; i < 5; i++) await table.counters()
      expect(made.mock.calls.length - batchCount).toBeLessThanOrEqual(2)
    }

    expect(rowCount).toBe(6000)
    expect(batchCount).toBeGreaterThan(15)
  })

  test('gives nothing while a row it could show can still be lost', async () => {
    const table = await aStoredTable('unsynced')
    const diffFrom = mustOk(await table.write([[0n, TEXT]])).timestamp
    await table.write([[1n, TEXT]])
    let isHeld = true
    const sync = vi.fn(async () => {
      while (isHeld) await scheduler.wait(1)
    })
    await runInDurableObject(table.object(), (_instance, { storage }) => {
      vi.spyOn(storage, 'sync').mockImplementation(sync)
    })
    const made = vi.spyOn(TabletScanner.prototype, 'nextBatch')
    const calls = ['ORDERED', 'DESCENDING', 'UNORDERED'] as const
    const scans = calls.map(async (order) => {
      const { stream } = mustOk(await table.tablet().scan(table.scanCall({ order })))
      return rowsOfStream(table.schema, stream)
    })
    const diff = mustOk(await table.tablet().scan(table.scanCall({ diffFrom })))
    for (let i = 0; i < 5; i++) await table.counters()
    expect(sync).toHaveBeenCalledTimes(calls.length + 1)
    expect(made).not.toHaveBeenCalled()

    await diff.stream.cancel()
    isHeld = false
    for (const rows of await Promise.all(scans)) expect(rows).toHaveLength(2)
  })

  test('works no further than its reader, and stops when the reader goes away', async () => {
    const table = await aLargeTable('stalled')
    const made = vi.spyOn(TabletScanner.prototype, 'nextBatch')
    const closed = vi.spyOn(TabletScanner.prototype, 'close')
    const reader = (await openStream(table)).getReader({ mode: 'byob' })
    await readBatch(reader, new ScanFrameReader())
    await table.counters()
    expect(made.mock.calls.length).toBeLessThan(5)
    expect(closed).not.toHaveBeenCalled()

    await reader.cancel('enough')
    await vi.waitFor(() => expect(closed).toHaveBeenCalled())
    expect(made.mock.calls.length).toBeLessThan(5)
    expect((await table.counters()).liveRowCount).toBe(ROW_COUNT)
  })

  test('is never taken for whole when its object ends midway', async () => {
    const table = await aLargeTable('ended')
    const reader = (await openStream(table)).getReader({ mode: 'byob' })
    const frames = new ScanFrameReader()
    await readBatch(reader, frames)
    await runInDurableObject(table.object(), (_instance, state) => state.abort('deployed')).catch(
      () => undefined,
    )
    const rest = async () => {
      while ((await readBatch(reader, frames)) !== null);
      frames.finish()
    }

    await expect(rest()).rejects.toThrow()
    expect(frames.isEnded).toBe(false)
    expect(await table.scanRows()).toHaveLength(ROW_COUNT)
  })

  test('ends the object when a batch fails as none may, and the next scan works', async () => {
    const table = await aLargeTable('failed')
    vi.spyOn(TabletScanner.prototype, 'nextBatch').mockImplementationOnce(() => {
      throw new AssertionError('impossible')
    })
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const failing = openStream(table).then((stream) => rowsOfStream(table.schema, stream))

    await expect(failing.catch((error: unknown) => error)).resolves.toBeInstanceOf(Error)
    expect(await table.scanRows()).toHaveLength(ROW_COUNT)
  })

  test('ends with an error frame when its table is dropped midway', async () => {
    const table = await aLargeTable('dropped')
    const reader = (await openStream(table)).getReader({ mode: 'byob' })
    const frames = new ScanFrameReader()
    await readBatch(reader, frames)
    expect(await table.tablet().refuse(table.entry.id)).toEqual({ ok: true, value: null })
    const rest = async () => {
      while ((await readBatch(reader, frames)) !== null);
    }

    await expect(rest()).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'table was dropped' })
  })
})

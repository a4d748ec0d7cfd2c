import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { successorKey } from '../../src/common/encoded-key.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { StatusError } from '../../src/common/status.ts'
import type { ReadSession } from '../../src/router/read-session.ts'
import {
  type CursorRequest,
  PageCursor,
  StreamCursor,
  type TabletCursor,
  WholeCursor,
} from '../../src/router/tablet-cursor.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { concatBytes } from '../../src/util/bytes.ts'
import {
  encodeErrorFrame,
  type ScanFrameBatch,
  ScanFrameWriter,
} from '../../src/wire/scan-frame.ts'
import type { ScanCall, TabletStub } from '../../src/wire/tablet-protocol.ts'

const SNAPSHOT = 1_800_000_000_000_000
const TABLET_ID = 'f'.repeat(32)
const REQUEST: CursorRequest = {
  columnIds: [0],
  predicates: [],
  lowerKey: new Uint8Array(0),
  upperKey: new Uint8Array(0),
  order: 'ORDERED',
  snapshot: null,
  rowCountMax: 1000,
  bytesMax: 1_000_000,
  withKeys: true,
}

const keyOf = (row: number): Uint8Array => Uint8Array.of(row)

/** Rows `[start, end)` as a batch; the key of a row is its number as a byte. */
function batch(start: number, end: number): ScanFrameBatch {
  const builder = new RowBlockBuilder([{ id: 0, physical: PHYSICAL.int8 }], false)
  const keys = new KeyArena()
  for (let row = start; row < end; row++) {
    builder.setNumber(0, row)
    builder.endRow()
    keys.append(keyOf(row), 0, 1)
    keys.endKey()
  }
  return { block: builder.view(), keys }
}

function rowsIn(found: ScanFrameBatch): number[] {
  return Array.from(found.block.columns[0].lanes)
}

async function drain(cursor: TabletCursor): Promise<number[]> {
  const rows: number[] = []
  while (!cursor.isDone) {
    const found = await cursor.next()
    if (found !== null) rows.push(...rowsIn(found))
  }
  return rows
}

/** A session with one tablet, of which the calls are noted. */
function sessionOf(stub: Partial<TabletStub>, calls: ScanCall[] = []): ReadSession {
  const noting = {
    read: (call: ScanCall) => {
      calls.push(call)
      return stub.read?.(call)
    },
    scan: (call: ScanCall) => {
      calls.push(call)
      return stub.scan?.(call)
    },
  }
  const call = async (
    _: number,
    send: (stub: object, call: object) => Promise<{ value?: unknown }>,
  ) => {
    const { value = null } = await send(noting, {})
    return { value, clock: SNAPSHOT }
  }
  const table = { tabletId: () => TABLET_ID }
  return { call, table } as unknown as ReadSession
}

function framesOf(batches: readonly ScanFrameBatch[]): Uint8Array {
  const writer = new ScanFrameWriter()
  return concatBytes(...batches.map((it) => writer.encodeBatch(it)), writer.encodeEnd())
}

function streamOf(bytes: Uint8Array, failure?: Error, piece = 100): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (offset < bytes.length) {
        controller.enqueue(bytes.slice(offset, offset + piece))
        offset += piece
      } else if (failure !== undefined) {
        controller.error(failure)
      } else {
        controller.close()
        controller.byobRequest?.respond(0)
      }
    },
  } as UnderlyingByteSource) as ReadableStream<Uint8Array>
}

function pageOf(batches: readonly ScanFrameBatch[], lastKey: Uint8Array | null) {
  const hasMore = lastKey !== null
  const value = {
    snapshot: SNAPSHOT,
    frames: framesOf(batches),
    hasMore,
    lastKey: lastKey ?? new Uint8Array(0),
  }
  return Promise.resolve({ kind: 'ok', clock: SNAPSHOT, value } as const)
}

function scanOf(stream: ReadableStream<Uint8Array>) {
  return Promise.resolve({
    kind: 'ok',
    clock: SNAPSHOT,
    value: { snapshot: SNAPSHOT, stream },
  } as const)
}

/** Bytes of whole batches without the end. */
function cutFrames(batches: readonly ScanFrameBatch[]): Uint8Array {
  const frames = framesOf(batches)
  return frames.slice(0, frames.length - 32)
}

describe('PageCursor', () => {
  test('goes on behind the key a page ends with, at the snapshot of the first', async () => {
    const calls: ScanCall[] = []
    const pages = [
      pageOf([batch(0, 3), batch(3, 5)], keyOf(9)),
      pageOf([], keyOf(50)),
      pageOf([batch(60, 61)], null),
    ]
    const session = sessionOf({ read: () => pages[calls.length - 1] }, calls)
    const cursor = new PageCursor(session, 0, REQUEST)

    expect(await drain(cursor)).toEqual([0, 1, 2, 3, 4, 60])
    expect(calls.map((call) => call.lowerKey)).toEqual([
      REQUEST.lowerKey,
      successorKey(keyOf(9)),
      successorKey(keyOf(50)),
    ])
    expect(calls.map((call) => call.snapshot)).toEqual([null, SNAPSHOT, SNAPSHOT])
  })

  test('says how far its tablet looked in vain', async () => {
    const session = sessionOf({ read: () => pageOf([], keyOf(50)) })
    const cursor = new PageCursor(session, 0, REQUEST)

    expect(await cursor.next()).toBeNull()
    expect(cursor.isExhausted).toBe(false)
    expect(cursor.doneKey).toEqual(keyOf(50))
  })

  test('descending goes on below the key, and ends at the empty one', async () => {
    const calls: ScanCall[] = []
    const pages = [pageOf([batch(5, 6)], keyOf(5)), pageOf([batch(1, 2)], new Uint8Array(0))]
    const session = sessionOf({ read: () => pages[calls.length - 1] }, calls)
    const cursor = new PageCursor(session, 0, { ...REQUEST, order: 'DESCENDING' })

    expect(await drain(cursor)).toEqual([5, 1])
    expect(calls.map((call) => call.upperKey)).toEqual([REQUEST.upperKey, keyOf(5)])
  })

  test('of a tablet that no write reached is empty, read at the tablet’s time', async () => {
    const session = sessionOf({ read: () => Promise.resolve({ kind: 'uninitialized', clock: 1 }) })
    const cursor = new PageCursor(session, 0, REQUEST)

    expect(await drain(cursor)).toEqual([])
    expect(cursor.snapshot).toBe(SNAPSHOT)
  })
})

describe('StreamCursor', () => {
  test('uses memory again that was given back, and no other', async () => {
    const large = (first: number) => {
      const builder = new RowBlockBuilder([{ id: 0, physical: PHYSICAL.float64 }], false)
      for (let row = 0; row < 4000; row++) {
        builder.setNumber(0, first + row)
        builder.endRow()
      }
      return { block: builder.view(), keys: null }
    }
    const stream = () => scanOf(streamOf(framesOf([0, 1, 2, 3].map(large)), undefined, 100_000))
    const session = sessionOf({ scan: stream })
    const cursor = new StreamCursor(session, 0, { ...REQUEST, withKeys: false })
    const firstOf = (found: ScanFrameBatch | null) => found?.block.columns[0].lanes[0]
    const memoryOf = (found: ScanFrameBatch | null) => found?.block.columns[0].bytes.byteLength

    const [first, second] = [await cursor.next(), await cursor.next()]
    expect([firstOf(first), firstOf(second)]).toEqual([0, 1])
    cursor.recycle()
    expect(firstOf(await cursor.next())).toBe(2)
    // What a pending read fills is taken from whoever held it.
    expect([memoryOf(first), memoryOf(second)].filter((bytes) => bytes === 0)).toHaveLength(1)
    expect(firstOf(await cursor.next())).toBe(3)
    expect(await cursor.next()).toBeNull()
  })

  test('reads a stream to its end, however it is cut', async () => {
    const batches = [batch(0, 50), batch(50, 50), batch(50, 120)]
    const session = sessionOf({ scan: () => scanOf(streamOf(framesOf(batches))) })

    expect(await drain(new StreamCursor(session, 0, REQUEST))).toHaveLength(120)
  })

  test.each([undefined, new Error('gone')])(
    'that is cut off goes on behind its last row, at its snapshot (%s)',
    async (failure) => {
      const calls: ScanCall[] = []
      const streams = [
        streamOf(cutFrames([batch(0, 5), batch(5, 9)]), failure),
        streamOf(cutFrames([batch(9, 12)]), failure),
        streamOf(framesOf([batch(12, 14)])),
      ]
      const session = sessionOf({ scan: () => scanOf(streams[calls.length - 1]) }, calls)
      const rows = await drain(new StreamCursor(session, 0, REQUEST))

      expect(rows).toEqual(Array.from({ length: 14 }, (_, row) => row))
      expect(calls.map((call) => call.snapshot)).toEqual([null, SNAPSHOT, SNAPSHOT])
      expect(calls[2].lowerKey).toEqual(successorKey(keyOf(11)))
    },
  )

  test('that is cut off again and again without a row fails', async () => {
    const calls: ScanCall[] = []
    const session = sessionOf({ scan: () => scanOf(streamOf(new Uint8Array(0))) }, calls)

    await expect(drain(new StreamCursor(session, 0, REQUEST))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(calls).toHaveLength(3)
  })

  test('that is cut off and carries no keys fails', async () => {
    const calls: ScanCall[] = []
    const keyless = { block: batch(0, 5).block, keys: null }
    const session = sessionOf({ scan: () => scanOf(streamOf(cutFrames([keyless]))) }, calls)
    const cursor = new StreamCursor(session, 0, { ...REQUEST, withKeys: false })

    await expect(drain(cursor)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(calls).toHaveLength(1)
  })

  test('fails with the error that its tablet sends, named, and is not opened again', async () => {
    const calls: ScanCall[] = []
    const frame = encodeErrorFrame(new StatusError('NOT_FOUND', 'table was dropped'))
    const bytes = concatBytes(cutFrames([batch(0, 5)]), frame)
    const session = sessionOf({ scan: () => scanOf(streamOf(bytes)) }, calls)

    await expect(drain(new StreamCursor(session, 0, REQUEST))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { tablet_id: TABLET_ID },
    })
    expect(calls).toHaveLength(1)
  })
})

describe('WholeCursor', () => {
  const calls: ScanCall[] = []
  const whole = (stub: Partial<TabletStub>) => {
    calls.length = 0
    return new WholeCursor(sessionOf(stub, calls), 0, REQUEST)
  }

  test('of a tablet with few rows takes one page and opens no stream', async () => {
    const cursor = whole({ read: () => pageOf([batch(0, 5), batch(5, 6)], null) })

    expect(await drain(cursor)).toHaveLength(6)
    expect(calls).toHaveLength(1)
  })

  test('of a tablet with many streams what lies behind the page', async () => {
    const cursor = whole({
      read: () => pageOf([batch(0, 5), batch(5, 9)], keyOf(8)),
      scan: () => scanOf(streamOf(framesOf([batch(9, 100)]))),
    })

    expect(await drain(cursor)).toEqual(Array.from({ length: 100 }, (_, row) => row))
    expect(calls).toHaveLength(2)
    expect(calls[1].lowerKey).toEqual(successorKey(keyOf(8)))
    expect(calls[1].snapshot).toBe(SNAPSHOT)
  })

  test('keeps no stream open while nobody asks for more than a page', async () => {
    const cursor = whole({ read: () => pageOf([batch(0, 5)], keyOf(8)) })
    await cursor.next()
    await cursor.close()

    expect(await cursor.next()).toBeNull()
    expect(cursor.isDone).toBe(true)
    expect(calls).toHaveLength(1)
  })
})

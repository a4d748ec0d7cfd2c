import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { CorruptionError, invalidArgument, StatusError } from '../../src/common/status.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { concatBytes, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import {
  END_FRAME_BYTES,
  encodeErrorFrame,
  FRAME_PAYLOAD_BYTES_MAX,
  type ScanFrameBatch,
  ScanFrameReader,
  ScanFrameWriter,
} from '../../src/wire/scan-frame.ts'

const COLUMNS = [
  { id: 0, physical: PHYSICAL.int64 },
  { id: 7, physical: PHYSICAL.binary },
  { id: 9, physical: PHYSICAL.int8 },
]

function batchOf(prng: Prng, rowCount: number, withKeys: boolean): ScanFrameBatch {
  const builder = new RowBlockBuilder(COLUMNS, false)
  const keys = new KeyArena()
  for (let row = 0; row < rowCount; row++) {
    const text = utf8Encode('x'.repeat(prng.below(20)))
    builder.setPair(0, prng.uint32(), prng.uint32())
    builder.setBytes(1, text, 0, text.length)
    if (prng.chance(0.5)) builder.setNumber(2, prng.below(100))
    else builder.setNull(2)
    builder.endRow(0)
    keys.append(text, 0, text.length)
    keys.endKey()
  }
  return { block: builder.view(), keys: withKeys ? keys : null }
}

function cellsOf(block: RowBlock): unknown[] {
  return block.columns.map((column) =>
    Array.from({ length: block.rowCount }, (_, row) => {
      const cell = column.cell(row)
      return cell instanceof Uint8Array ? [...cell] : cell
    }),
  )
}

function keysOf({ block, keys }: ScanFrameBatch): number[][] | null {
  if (keys === null) return null
  return Array.from({ length: block.rowCount }, (_, row) => [...keys.key(row)])
}

function framesOf(batches: readonly ScanFrameBatch[]): Uint8Array {
  const writer = new ScanFrameWriter()
  const frames = batches.map((batch) => writer.encodeBatch(batch))
  return concatBytes(...frames, writer.encodeEnd())
}

/** Cuts bytes at random places; every piece lies at a random offset in a buffer of its own. */
function piecesOf(prng: Prng, bytes: Uint8Array, pieceBytesMax: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let offset = 0; offset < bytes.length; ) {
    const count = Math.min(prng.between(0, pieceBytesMax), bytes.length - offset)
    const shift = prng.below(9)
    const piece = new Uint8Array(shift + count).subarray(shift)
    piece.set(bytes.subarray(offset, offset + count))
    pieces.push(piece)
    offset += count
  }
  return pieces
}

function readAll(reader: ScanFrameReader): ScanFrameBatch[] {
  const batches: ScanFrameBatch[] = []
  for (let batch = reader.next(); batch !== null; batch = reader.next()) batches.push(batch)
  return batches
}

describe('ScanFrameReader', () => {
  test('gives the batches that were written, however the bytes are cut', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const prng = new Prng(seed)
      const batches = Array.from({ length: prng.below(5) }, () =>
        batchOf(prng, prng.below(40), prng.chance(0.5)),
      )
      const reader = new ScanFrameReader()
      const read: ScanFrameBatch[] = []
      for (const piece of piecesOf(prng, framesOf(batches), prng.pick([1, 7, 64, 4000]))) {
        reader.push(piece)
        read.push(...readAll(reader))
      }
      reader.finish()

      expect(reader.isEnded, `seed ${seed}`).toBe(true)
      expect(reader.missingBytes === 16, `seed ${seed}`).toBe(true)
      expect(read.map(keysOf), `seed ${seed}`).toEqual(batches.map(keysOf))
      expect(read.map(({ block }) => [block.columnIds, cellsOf(block)])).toEqual(
        batches.map(({ block }) => [block.columnIds, cellsOf(block)]),
      )
    }
  })

  test('reads a frame that lies aligned in one chunk without copying it', () => {
    const frames = framesOf([batchOf(new Prng(1), 10, true)])
    const reader = new ScanFrameReader()
    reader.push(frames)

    const batch = reader.next()

    expect(batch?.block.columns[0].bytes.buffer).toBe(frames.buffer)
    expect(batch?.keys?.bytes.buffer).toBe(frames.buffer)
  })

  test('says how many bytes it waits for', () => {
    const frames = framesOf([batchOf(new Prng(1), 10, false)])
    const frameBytes = frames.length - END_FRAME_BYTES
    const reader = new ScanFrameReader()

    expect(reader.missingBytes).toBe(16)
    reader.push(frames.slice(0, 10))
    expect(reader.missingBytes).toBe(6)
    reader.push(frames.slice(10, 20))
    expect(reader.missingBytes).toBe(frameBytes - 20)
    expect(reader.next()).toBeNull()
    reader.push(frames.slice(20, frameBytes))
    expect(reader.missingBytes).toBe(0)
    expect(reader.next()).not.toBeNull()
  })

  test('reads rows without columns', () => {
    const batch = { block: new RowBlockBuilder([], false).view(), keys: null }
    const reader = new ScanFrameReader()
    reader.push(framesOf([batch]))

    expect(readAll(reader).map(({ block }) => block.rowCount)).toEqual([0])
    expect(reader.isEnded).toBe(true)
  })

  test('never takes a cut stream for a whole one', () => {
    const frames = framesOf([batchOf(new Prng(3), 5, true), batchOf(new Prng(4), 5, false)])
    for (let length = 0; length < frames.length; length++) {
      const reader = new ScanFrameReader()
      reader.push(frames.slice(0, length))
      readAll(reader)

      expect(reader.isEnded).toBe(false)
      expect(() => reader.finish()).toThrow(StatusError)
    }
  })

  test('never takes a stream in which any one bit was turned for a whole one', () => {
    const frames = framesOf([batchOf(new Prng(5), 3, true), batchOf(new Prng(6), 2, false)])
    for (let bit = 0; bit < frames.length * 8; bit++) {
      const bytes = frames.slice()
      bytes[bit >>> 3] ^= 1 << (bit & 7)
      const read = () => {
        const reader = new ScanFrameReader()
        reader.push(bytes)
        readAll(reader)
        reader.finish()
      }

      // Two fields of the end frame's header mean nothing.
      const isUnused = bit >= (frames.length - 24) * 8 && bit < (frames.length - 16) * 8
      if (!isUnused) expect(read, `bit ${bit}`).toThrow(StatusError)
    }
  })

  test('misses a batch that was left out, and refuses one that came twice', () => {
    const writer = new ScanFrameWriter()
    const first = writer.encodeBatch(batchOf(new Prng(1), 4, false))
    const second = writer.encodeBatch(batchOf(new Prng(2), 4, false))
    const end = writer.encodeEnd()
    const read = (...frames: Uint8Array[]) => {
      const reader = new ScanFrameReader()
      reader.push(concatBytes(...frames))
      readAll(reader)
      return reader.isEnded
    }

    expect(read(first, second, end)).toBe(true)
    expect(() => read(first, end)).toThrow(CorruptionError)
    expect(() => read(first, first, second, end)).toThrow(CorruptionError)
    expect(() => read(second, first, end)).toThrow(CorruptionError)
  })

  test('refuses bytes behind the end frame', () => {
    const frames = framesOf([])
    const reader = new ScanFrameReader()
    reader.push(frames)
    readAll(reader)
    reader.push(new Uint8Array(1))

    expect(() => reader.next()).toThrow(CorruptionError)
    expect(() => reader.finish()).toThrow(CorruptionError)
  })

  test('refuses a frame over the limit before it waits for its bytes', () => {
    const header = new Uint8Array(16)
    new DataView(header.buffer).setUint32(0, 1, true)
    new DataView(header.buffer).setUint32(4, FRAME_PAYLOAD_BYTES_MAX + 8, true)
    const reader = new ScanFrameReader()
    reader.push(header)

    expect(() => reader.next()).toThrow(CorruptionError)
    expect(() => reader.missingBytes).toThrow(CorruptionError)
  })

  test('throws what an error frame carries, after the batches before it', () => {
    const writer = new ScanFrameWriter()
    const sent = invalidArgument('column "ä": no', { column: 'ä', extra: { a: [1] } })
    const reader = new ScanFrameReader()
    reader.push(writer.encodeBatch(batchOf(new Prng(1), 2, false)))
    reader.push(encodeErrorFrame(sent))

    expect(reader.next()?.block.rowCount).toBe(2)
    let received: unknown
    try {
      reader.next()
    } catch (error) {
      received = error
    }
    expect(received).toBeInstanceOf(StatusError)
    expect(received).toMatchObject({
      code: sent.code,
      message: sent.message,
      details: sent.details,
    })
    expect(() => reader.finish()).toThrow('cut off')
  })
})

describe('ScanFrameWriter', () => {
  test('writes frames one behind the other into one buffer', () => {
    const batches = [batchOf(new Prng(1), 3, true), batchOf(new Prng(2), 9, false)]
    const writer = new ScanFrameWriter()
    const bytes = batches.reduce((sum, batch) => sum + writer.batchBytes(batch), 0)
    const target = new Uint8Array(8 + bytes)
    let offset = 8
    for (const batch of batches) offset = writer.writeBatch(batch, target, offset)

    expect(offset).toBe(target.length)
    expect(concatBytes(target.subarray(8), writer.encodeEnd())).toEqual(framesOf(batches))
  })
})

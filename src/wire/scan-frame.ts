/**
 * Frames in which the rows of a scan leave a tablet, in a stream or joined in one answer. Hot.
 *
 * All integers little-endian, every frame a multiple of 8 long, so that the block inside can be
 * read where it lies:
 *
 *   offset  bytes  field
 *        0      4  kind          1 batch, 2 end, 3 error
 *        4      4  payloadBytes  bytes behind this header, a multiple of 8
 *        8      4  bodyBytes     batch: bytes of the row block; error: bytes of the text; end: 0
 *       12      4  keyBytes      batch: bytes of all keys, 0xffffffff when it carries none; else 0
 *       16      …  batch: row block (docs/formats/row-block.md); key ends, u32 × rowCount, and
 *                         keys, each padded with zeros to a multiple of 8
 *                  end:   batchCount u32 | checksum u32, src/util/word-checksum.ts, of all batch
 *                         payloads in order
 *                         | rowCount f64
 *                  error: JSON of code, message and details, padded with zeros
 *
 * A scan is whole only if its last frame is an end frame whose counts and checksum are right: a
 * stream that was cut or changed anywhere cannot pass for a whole one.
 */

import {
  decodeRowBlock,
  encodedRowBlockBytes,
  type RowBlock,
  writeRowBlock,
} from '../common/row-block.ts'
import { CorruptionError, failure, mustValue, StatusError } from '../common/status.ts'
import { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { align8, utf8DecodeStrict, utf8Encode } from '../util/bytes.ts'
import { wordChecksum } from '../util/word-checksum.ts'

/** Bytes in front of every frame's payload. */
export const FRAME_HEADER_BYTES = 16
/** Bytes of a whole end frame. */
export const END_FRAME_BYTES = 32
/** Payload of one frame: a batch of one row of the widest table, with room. */
export const FRAME_PAYLOAD_BYTES_MAX = 32 * 1024 * 1024

const KIND_BATCH = 1
const KIND_END = 2
const KIND_ERROR = 3
const NO_KEYS = 0xffffffff

/** Rows of a scan, and the encoded primary key of each if the scan asked for keys. */
export interface ScanFrameBatch {
  readonly block: RowBlock
  readonly keys: KeyArena | null
}

/**
 * Encodes the frames of one scan and keeps what its end frame tells.
 *
 *  I1  every batch that was written is in the counts and the checksum of the end frame.
 */
export class ScanFrameWriter {
  #batchCount = 0
  #rowCount = 0
  #checksum = 0

  /** Bytes of the frame of a batch. */
  batchBytes(batch: ScanFrameBatch): number {
    return FRAME_HEADER_BYTES + encodedRowBlockBytes(batch.block) + keySectionBytes(batch)
  }

  /**
   * Writes the frame of a batch to `target` at `start`. Returns: the offset behind it.
   *
   * Requires: `batchBytes(batch)` zero bytes there, beginning at a multiple of 8 in the buffer.
   */
  writeBatch(batch: ScanFrameBatch, target: Uint8Array, start: number): number {
    const { block, keys } = batch
    const blockStart = start + FRAME_HEADER_BYTES
    const keysStart = writeRowBlock(block, target, blockStart)
    const end = keysStart + keySectionBytes(batch)
    assert(end <= target.length, 'frame does not fit')
    assert(end - blockStart <= FRAME_PAYLOAD_BYTES_MAX, 'frame is within its limit')
    const keyBytes = keys === null ? NO_KEYS : keys.length
    writeHeader(target, start, KIND_BATCH, end - blockStart, keysStart - blockStart, keyBytes)
    if (keys !== null) writeKeys(keys, block.rowCount, target, keysStart)
    this.#checksum = wordChecksum(target, blockStart, end, this.#checksum)
    this.#batchCount++
    this.#rowCount += block.rowCount
    return end
  }

  /** The frame of a batch, in a new buffer. */
  encodeBatch(batch: ScanFrameBatch): Uint8Array {
    const frame = new Uint8Array(this.batchBytes(batch))
    this.writeBatch(batch, frame, 0)
    return frame
  }

  /** The end frame of everything written so far. */
  encodeEnd(): Uint8Array {
    const frame = new Uint8Array(END_FRAME_BYTES)
    writeHeader(frame, 0, KIND_END, END_FRAME_BYTES - FRAME_HEADER_BYTES, 0, 0)
    const view = new DataView(frame.buffer)
    view.setUint32(16, this.#batchCount, true)
    view.setUint32(20, this.#checksum, true)
    view.setFloat64(24, this.#rowCount, true)
    return frame
  }
}

/** The frame that ends a scan which failed midway. */
export function encodeErrorFrame(error: StatusError): Uint8Array {
  const text = utf8Encode(JSON.stringify(failure(error)).toWellFormed())
  const payloadBytes = align8(text.length)
  const frame = new Uint8Array(FRAME_HEADER_BYTES + payloadBytes)
  writeHeader(frame, 0, KIND_ERROR, payloadBytes, text.length, 0)
  frame.set(text, FRAME_HEADER_BYTES)
  return frame
}

/**
 * Takes the bytes of a scan as they come and gives its batches.
 *
 * A frame that lies whole and aligned inside one chunk is read where it lies; any other is copied
 * once.
 *
 *  I1  `#available` is the sum of the chunks' bytes, less `#offset` of the first, consumed;
 *  I2  after the end frame there is nothing.
 */
export class ScanFrameReader {
  readonly #chunks: Uint8Array[] = []
  #offset = 0
  #available = 0
  #batchCount = 0
  #rowCount = 0
  #checksum = 0
  #isEnded = false

  /** Whether the end frame was read and its counts and checksum were right. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Rows of the batches given so far. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Bytes that are missing before `next` can give anything: how much to read at least. */
  get missingBytes(): number {
    if (this.#available < FRAME_HEADER_BYTES) return FRAME_HEADER_BYTES - this.#available
    const frameBytes = FRAME_HEADER_BYTES + this.#header().payloadBytes
    return Math.max(0, frameBytes - this.#available)
  }

  /** Takes the next bytes. They belong to the reader, and to the batches it gives, from now on. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#available += chunk.length
  }

  /**
   * The next batch, or null when more bytes are needed or the end frame was read.
   *
   * Throws: the StatusError that an error frame carries; CORRUPTION when the bytes are no frames,
   * or are not those that the end frame tells of.
   */
  next(): ScanFrameBatch | null {
    if (this.#isEnded && this.#available > 0) throw malformed('bytes behind the end frame')
    if (this.#available < FRAME_HEADER_BYTES) return null
    const { kind, payloadBytes, bodyBytes, keyBytes } = this.#header()
    if (this.#available < FRAME_HEADER_BYTES + payloadBytes) return null
    this.#skip(FRAME_HEADER_BYTES)
    const payload = this.#take(payloadBytes)
    switch (kind) {
      case KIND_BATCH:
        return this.#readBatch(payload, bodyBytes, keyBytes)
      case KIND_END:
        this.#readEnd(payload)
        return null
      default:
        throw errorOf(payload, bodyBytes)
    }
  }

  /** Ends the reading. Throws: SERVICE_UNAVAILABLE when no end frame came: rows are missing. */
  finish(): void {
    if (this.#isEnded && this.#available === 0) return
    if (this.#isEnded) throw malformed('bytes behind the end frame')
    throw new StatusError('SERVICE_UNAVAILABLE', 'scan of a tablet was cut off before its end')
  }

  #readBatch(payload: Uint8Array, blockBytes: number, keyBytes: number): ScanFrameBatch {
    if (blockBytes > payload.length || blockBytes % 8 !== 0) throw malformed('its block is cut')
    this.#checksum = wordChecksum(payload, 0, payload.length, this.#checksum)
    const block = decodeRowBlock(payload.subarray(0, blockBytes))
    const keys =
      keyBytes === NO_KEYS
        ? null
        : decodeKeys(payload.subarray(blockBytes), block.rowCount, keyBytes)
    this.#batchCount++
    this.#rowCount += block.rowCount
    return { block, keys }
  }

  #readEnd(payload: Uint8Array): void {
    if (payload.length !== END_FRAME_BYTES - FRAME_HEADER_BYTES) throw malformed('its end is cut')
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length)
    const isWhole =
      view.getUint32(0, true) === this.#batchCount &&
      view.getUint32(4, true) === this.#checksum &&
      view.getFloat64(8, true) === this.#rowCount
    if (!isWhole) throw malformed('its rows are not those that were sent')
    this.#isEnded = true
    if (this.#available > 0) throw malformed('bytes behind the end frame')
  }

  /** Reads the header in front of the bytes at hand. Requires: that many are available. */
  #header(): FrameHeader {
    const view = new DataView(this.#peek(FRAME_HEADER_BYTES).slice().buffer)
    const kind = view.getUint32(0, true)
    const payloadBytes = view.getUint32(4, true)
    if (kind < KIND_BATCH || kind > KIND_ERROR) throw malformed('unknown kind of frame')
    if (payloadBytes > FRAME_PAYLOAD_BYTES_MAX) throw malformed('frame is over its limit')
    if (payloadBytes % 8 !== 0) throw malformed('frame is not a multiple of 8')
    return {
      kind,
      payloadBytes,
      bodyBytes: view.getUint32(8, true),
      keyBytes: view.getUint32(12, true),
    }
  }

  /** The next `bytes` bytes, not consumed: a view if they lie in one chunk. */
  #peek(bytes: number): Uint8Array {
    const first = this.#chunks[0]
    if (first !== undefined && first.length - this.#offset >= bytes) {
      return first.subarray(this.#offset, this.#offset + bytes)
    }
    const joined = new Uint8Array(bytes)
    let filled = 0
    for (let index = 0, offset = this.#offset; filled < bytes; index++, offset = 0) {
      const chunk = this.#chunks[index]
      const count = Math.min(chunk.length - offset, bytes - filled)
      joined.set(chunk.subarray(offset, offset + count), filled)
      filled += count
    }
    return joined
  }

  /** The next `bytes` bytes, consumed and beginning at a multiple of 8 in their buffer. */
  #take(bytes: number): Uint8Array {
    const peeked = this.#peek(bytes)
    this.#skip(bytes)
    return peeked.byteOffset % 8 === 0 ? peeked : peeked.slice()
  }

  #skip(bytes: number): void {
    this.#available -= bytes
    this.#offset += bytes
    let whole = 0
    while (whole < this.#chunks.length && this.#offset >= this.#chunks[whole].length) {
      this.#offset -= this.#chunks[whole].length
      whole++
    }
    this.#chunks.splice(0, whole)
  }
}

interface FrameHeader {
  readonly kind: number
  readonly payloadBytes: number
  readonly bodyBytes: number
  readonly keyBytes: number
}

function writeHeader(
  target: Uint8Array,
  start: number,
  kind: number,
  payloadBytes: number,
  bodyBytes: number,
  keyBytes: number,
): void {
  const view = new DataView(target.buffer, target.byteOffset + start, FRAME_HEADER_BYTES)
  view.setUint32(0, kind, true)
  view.setUint32(4, payloadBytes, true)
  view.setUint32(8, bodyBytes, true)
  view.setUint32(12, keyBytes, true)
}

function keySectionBytes({ block, keys }: ScanFrameBatch): number {
  return keys === null ? 0 : align8(block.rowCount * 4) + align8(keys.length)
}

function writeKeys(keys: KeyArena, rowCount: number, target: Uint8Array, start: number): void {
  assert(keys.count === rowCount, 'every row of a batch has its key')
  const ends = new Uint32Array(target.buffer, target.byteOffset + start, rowCount)
  ends.set(keys.ends.subarray(0, rowCount))
  target.set(keys.bytes.subarray(0, keys.length), start + align8(rowCount * 4))
}

function decodeKeys(section: Uint8Array, rowCount: number, keyBytes: number): KeyArena {
  const keysStart = align8(rowCount * 4)
  if (section.length !== keysStart + align8(keyBytes)) throw malformed('its keys are cut')
  const keys = new KeyArena(0, 0)
  keys.ends = new Uint32Array(section.buffer, section.byteOffset, rowCount)
  keys.bytes = section.subarray(keysStart, keysStart + keyBytes)
  keys.length = keyBytes
  keys.count = rowCount
  let last = 0
  for (let row = 0; row < rowCount; row++) {
    if (keys.ends[row] < last) throw malformed('its keys descend')
    last = keys.ends[row]
  }
  if (last !== keyBytes) throw malformed('its keys miss their bytes')
  return keys
}

function errorOf(payload: Uint8Array, textBytes: number): StatusError {
  const text = utf8DecodeStrict(payload.subarray(0, textBytes))
  if (text === undefined) return malformed('its error is no text')
  try {
    mustValue(JSON.parse(text))
  } catch (error) {
    if (error instanceof StatusError) return error
  }
  return malformed('its error cannot be read')
}

function malformed(what: string): CorruptionError {
  return new CorruptionError(`scan of a tablet is malformed: ${what}`)
}

/**
 * The buffers of one batch, all in one run of bytes: the body as it came, or what it unpacks to.
 *
 * A compressed buffer is its plain size i64, −1 for one left plain, and a ZSTD frame.
 */

import { constants, zstdDecompressSync } from 'node:zlib'
import { ARROW_HELD_BYTES_MAX, ARROW_MESSAGE_BYTES_MAX } from '../../../common/limits.ts'
import { invalidArgument } from '../../../common/status.ts'
import { align8, EMPTY_BYTES } from '../../../util/bytes.ts'
import { type ArrowBatch, tooLarge } from './arrow-message.ts'
import type { HoldBytes } from './arrow-message-reader.ts'

const SIZE_BYTES = 8
/**
 * Frames may ask for a window of their own beside their plain bytes: not for more than this power
 * of two.
 */
const WINDOW_LOG_MAX = 23
/**
 * The platform counts the room that it makes for output and not what is in it, which is up to twice
 * as much; how much there is in the end is looked at here.
 */
const SLACK_BYTES = 256 * 1024

/**
 * Buffers in turn, as `columns` take them.
 *
 *  I1  every buffer lies in `bytes`; no two of a body overlap, so what a batch costs to read is
 *      bounded by what it has sent.
 */
export class ArrowBuffers {
  /** Begins at a multiple of 8 in its buffer. */
  bytes: Uint8Array = EMPTY_BYTES
  /** Where the last taken buffer lies in `bytes`. */
  start = 0
  end = 0
  readonly #offsets: Float64Array
  readonly #lengths: Float64Array
  #next = 0

  /**
   * Throws: INVALID_ARGUMENT when buffers do not lie in the body, or do not unpack to what they
   * say.
   */
  constructor(batch: ArrowBatch, body: Uint8Array, hold: HoldBytes) {
    const count = batch.buffers.length / 2
    this.#offsets = new Float64Array(count)
    this.#lengths = new Float64Array(count)
    let total = 0
    for (let i = 0; i < count; i++) {
      const offset = batch.buffers[i * 2]
      const length = batch.buffers[i * 2 + 1]
      if (offset < 0 || length < 0 || offset + length > body.length) {
        throw invalidArgument(`buffer ${i} does not lie in the body of its message`)
      }
      this.#offsets[i] = length === 0 ? 0 : offset
      this.#lengths[i] = length
      total += length
    }
    if (total > body.length) throw invalidArgument('buffers overlap in the body of their message')
    this.bytes = batch.isCompressed ? this.#unpack(body, hold) : body
  }

  /** Moves on to the next buffer, which is left in `start` and `end`. */
  take(): void {
    if (this.#next === this.#offsets.length) throw invalidArgument('batch has too few buffers')
    this.start = this.#offsets[this.#next]
    this.end = this.start + this.#lengths[this.#next]
    this.#next++
  }

  /** Buffers that were not taken. */
  get leftCount(): number {
    return this.#offsets.length - this.#next
  }

  /** Throws: INVALID_ARGUMENT when not all buffers were taken. */
  finish(): void {
    if (this.#next < this.#offsets.length) throw invalidArgument('batch has too many buffers')
  }

  #unpack(body: Uint8Array, hold: HoldBytes): Uint8Array {
    const view = new DataView(body.buffer, body.byteOffset, body.length)
    let total = 0
    for (let i = 0; i < this.#offsets.length; i++) {
      total += align8(this.#plainSize(view, i))
      if (total > ARROW_MESSAGE_BYTES_MAX) throw tooLarge(total)
    }
    if (total + body.length > ARROW_HELD_BYTES_MAX) {
      throw tooLarge(total + body.length, ARROW_HELD_BYTES_MAX)
    }
    hold(total)
    const plain = new Uint8Array(total)
    let at = 0
    for (let i = 0; i < this.#offsets.length; i++) {
      const bytes = this.#plainSize(view, i)
      const start = this.#offsets[i] + SIZE_BYTES
      const packed = body.subarray(start, this.#offsets[i] + this.#lengths[i])
      const isPlain = bytes > 0 && view.getInt32(start - 4, true) < 0
      if (bytes > 0) plain.set(isPlain ? packed : unpackFrame(packed, bytes, i), at)
      this.#offsets[i] = at
      this.#lengths[i] = bytes
      at += align8(bytes)
    }
    return plain
  }

  /** Bytes that a buffer unpacks to, as it says. */
  #plainSize(view: DataView, index: number): number {
    const length = this.#lengths[index]
    if (length === 0) return 0
    if (length < SIZE_BYTES) throw invalidArgument(`buffer ${index} is too short to be compressed`)
    const offset = this.#offsets[index]
    const low = view.getUint32(offset, true)
    const high = view.getInt32(offset + 4, true)
    if (high === -1 && low === 0xffff_ffff) return length - SIZE_BYTES
    if (high < 0) throw invalidArgument(`buffer ${index} has a size that is none`)
    if (high > 0 || low > ARROW_MESSAGE_BYTES_MAX) throw tooLarge(high * 2 ** 32 + low)
    return low
  }
}

function unpackFrame(packed: Uint8Array, bytes: number, index: number): Uint8Array {
  const options = {
    maxOutputLength: bytes * 2 + SLACK_BYTES,
    chunkSize: Math.max(64, bytes),
    params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX },
  }
  let plain: Uint8Array = EMPTY_BYTES
  try {
    plain = zstdDecompressSync(packed, options)
  } catch {
    // The platform's library throws errors of its own for bytes that are not its.
  }
  if (plain.length === bytes) return plain
  throw invalidArgument(`buffer ${index} does not unpack to its ${bytes} bytes`)
}

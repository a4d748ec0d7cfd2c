/**
 * The rows of one tablet in a scan, batch by batch.
 *
 * Ways to fetch behind one interface: pages of bounded size, which keep nothing open and go on by
 * key; a stream of frames; a page and then a stream.
 */

import { successorKey } from '../common/encoded-key.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { FRONT_RETRY_COUNT_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { type ScanFrameBatch, ScanFrameReader } from '../wire/scan-frame.ts'
import type { ScanCall, TabletCall } from '../wire/tablet-protocol.ts'
import type { ReadSession } from './read-session.ts'

/** What a cursor asks of its tablet: a scan call without what every call carries. */
export type CursorRequest = Omit<ScanCall, keyof TabletCall>

/** Rows of one tablet in the order of the scan. */
export interface TabletCursor {
  /** Index of the tablet in its table. */
  readonly index: number
  /** The snapshot read at; null until `next` resolved for the first time. */
  readonly snapshot: Timestamp | null
  /** Whether nothing is left to be fetched: what `next` still gives is at hand. */
  readonly isExhausted: boolean
  /** Whether, besides, nothing is at hand: no batch will come. */
  readonly isDone: boolean
  /**
   * Encoded key up to which, itself included, the scan is done when no row is at hand; null: it has
   * not begun, or does not know.
   */
  readonly doneKey: Uint8Array | null
  /**
   * The next batch, which has at least one row. Returns: null at the end, when `isExhausted`, or
   * else when the tablet looked in vain for a while: ask again. Not called again before it
   * resolved.
   */
  next(): Promise<ScanFrameBatch | null>
  /** Gives back the memory of all batches given so far, at which nobody looks any more. */
  recycle(): void
  /** Lets go of the tablet. */
  close(): Promise<void>
}

/** Fetches bounded pages, each behind the last key of the one before. */
export class PageCursor implements TabletCursor {
  readonly index: number
  snapshot: Timestamp | null
  isExhausted = false
  doneKey: Uint8Array | null = null
  readonly #session: ReadSession
  #request: CursorRequest
  readonly #batches: ScanFrameBatch[] = []

  constructor(session: ReadSession, index: number, request: CursorRequest) {
    this.index = index
    this.snapshot = request.snapshot
    this.#session = session
    this.#request = request
  }

  /** What is left to ask of the tablet. */
  get rest(): CursorRequest {
    return this.#request
  }

  /** Whether a batch was fetched that `next` has not given yet. */
  get hasBatch(): boolean {
    return this.#batches.length > 0
  }

  get isDone(): boolean {
    return this.isExhausted && this.#batches.length === 0
  }

  async next(): Promise<ScanFrameBatch | null> {
    if (this.#batches.length === 0 && !this.isExhausted) await this.#fetch()
    return this.#batches.shift() ?? null
  }

  recycle(): void {
    // Several batches came in one message, which goes with the last of them.
  }

  async close(): Promise<void> {
    this.isExhausted = true
    this.#batches.length = 0
  }

  async #fetch(): Promise<void> {
    const { value: answer, clock } = await this.#session.call(this.index, (stub, call) =>
      stub.read({ ...call, ...this.#request }),
    )
    if (answer === null) {
      this.snapshot ??= clock
      this.isExhausted = true
      return
    }
    this.snapshot = answer.snapshot
    this.isExhausted = !answer.hasMore
    this.#read(answer.frames)
    if (answer.hasMore) this.#goOnBehind(answer.lastKey, answer.snapshot)
  }

  #read(frames: Uint8Array): void {
    const reader = new ScanFrameReader()
    reader.push(frames)
    for (let batch = reader.next(); batch !== null; batch = reader.next()) {
      if (batch.block.rowCount > 0) this.#batches.push(batch)
    }
    reader.finish()
  }

  #goOnBehind(key: Uint8Array, snapshot: Timestamp): void {
    this.doneKey = key
    // Nothing sorts before the empty key, and as an upper bound it would mean none.
    if (this.#request.order === 'DESCENDING' && key.length === 0) this.isExhausted = true
    this.#request = { ...requestBehind(this.#request, key), snapshot }
  }
}

/** The part of a request that lies behind a key in its order. */
function requestBehind(request: CursorRequest, key: Uint8Array): CursorRequest {
  return request.order === 'DESCENDING'
    ? { ...request, upperKey: key }
    : { ...request, lowerKey: successorKey(key) }
}

/**
 * Reads one stream to its end frame. One that is cut off is opened again behind the last row, at
 * the same snapshot, if its batches carry keys; else the scan fails. A stream that nobody reads for
 * a while is cut off by its tablet, and in a merge one may have to wait for long.
 */
export class StreamCursor implements TabletCursor {
  readonly index: number
  snapshot: Timestamp | null
  isExhausted = false
  readonly doneKey = null
  readonly #session: ReadSession
  #request: CursorRequest
  #frames = new ScanFrameReader()
  #source: ByteSource | null = null
  /** Times the stream was opened since it last gave a row. */
  #openCount = 0

  constructor(session: ReadSession, index: number, request: CursorRequest) {
    this.index = index
    this.snapshot = request.snapshot
    this.#session = session
    this.#request = request
  }

  get isDone(): boolean {
    return this.isExhausted
  }

  async next(): Promise<ScanFrameBatch | null> {
    while (!this.isExhausted) {
      if (this.#source === null) await this.#open()
      const batch = this.#naming(() => this.#frames.next())
      if (batch === null) await this.#readOn()
      else if (batch.block.rowCount > 0) return this.#note(batch)
    }
    return null
  }

  recycle(): void {
    this.#source?.recycle()
  }

  async close(): Promise<void> {
    this.isExhausted = true
    await this.#source?.cancel()
  }

  #note(batch: ScanFrameBatch): ScanFrameBatch {
    this.#openCount = 1
    if (batch.keys !== null) {
      const lastKey = batch.keys.key(batch.keys.count - 1)
      this.#request = requestBehind(this.#request, lastKey)
    }
    return batch
  }

  async #open(): Promise<void> {
    this.#openCount++
    const { value: answer, clock } = await this.#session.call(this.index, (stub, call) =>
      stub.scan({ ...call, ...this.#request }),
    )
    if (answer === null) {
      this.snapshot ??= clock
      this.isExhausted = true
      return
    }
    this.snapshot = answer.snapshot
    this.#request = { ...this.#request, snapshot: answer.snapshot }
    this.#frames = new ScanFrameReader()
    this.#source = new ByteSource(answer.stream)
    // Closed while the tablet was opening the stream: nobody else would let go of it.
    if (this.isExhausted) await this.#source.cancel()
  }

  async #readOn(): Promise<void> {
    if (this.isExhausted) return
    const chunk = (await this.#source?.read(this.#frames.missingBytes)) ?? null
    if (chunk !== null) {
      this.#frames.push(chunk)
      return
    }
    const canResume = this.#request.withKeys && this.#openCount <= FRONT_RETRY_COUNT_MAX
    if (!this.#frames.isEnded && canResume) {
      this.#source = null
      return
    }
    this.isExhausted = true
    this.#naming(() => this.#frames.finish())
  }

  /** What frames tell of failures names the tablet, as what calls tell does. */
  #naming<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const details = { ...error.details, tablet_id: this.#session.table.tabletId(this.index) }
      throw new StatusError(error.code, error.message, details)
    }
  }
}

/**
 * Fetches one page, and what lies behind it as a stream. Most tablets of a narrow scan are done
 * with their page, and a tablet that is asked ahead keeps no stream open that nobody reads yet.
 */
export class WholeCursor implements TabletCursor {
  readonly index: number
  readonly doneKey = null
  readonly #session: ReadSession
  readonly #page: PageCursor
  #stream: StreamCursor | null = null
  #hasBegun = false
  #isClosed = false

  constructor(session: ReadSession, index: number, request: CursorRequest) {
    this.index = index
    this.#session = session
    this.#page = new PageCursor(session, index, request)
  }

  get snapshot(): Timestamp | null {
    return this.#page.snapshot
  }

  get isExhausted(): boolean {
    return this.#isClosed || this.#page.isExhausted || this.#stream?.isExhausted === true
  }

  get isDone(): boolean {
    return this.#isClosed || this.#page.isDone || this.#stream?.isDone === true
  }

  async next(): Promise<ScanFrameBatch | null> {
    if (this.#isClosed) return null
    if (!this.#hasBegun || this.#page.hasBatch) {
      this.#hasBegun = true
      return this.#page.next()
    }
    if (this.#page.isExhausted) return null
    this.#stream ??= new StreamCursor(this.#session, this.index, this.#page.rest)
    return this.#stream.next()
  }

  recycle(): void {
    this.#stream?.recycle()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#page.close()
    await this.#stream?.close()
  }
}

/** Memory of this size and above is used again. */
const RECYCLED_BYTES_MIN = 16 * 1024
/** Pieces of memory that wait to be used again: a record batch of Arrow is a few frames. */
const SPARE_COUNT_MAX = 8

/** A reader that waits until so many bytes are there, as the standard has it but not its types. */
interface FillingReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>>
  cancel(): Promise<void>
}

/**
 * Reads a byte stream in pieces of the size that is asked for: by default they are of 4 KiB, and
 * of 64 KiB at most. To make memory for each piece would cost more than to fill it.
 */
class ByteSource {
  readonly #reader: FillingReader
  /** Memory of pieces that were given, and of pieces that were given back. */
  #lent: ArrayBuffer[] = []
  #spare: ArrayBuffer[] = []

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader({ mode: 'byob' })
  }

  /**
   * The next `bytes` bytes; fewer at the end; null behind it and where the stream broke off, which
   * its frames tell apart. Asked for what is missing of a frame, it has the frame in one piece.
   */
  async read(bytes: number): Promise<Uint8Array | null> {
    try {
      const view = new Uint8Array(this.#memory(bytes), 0, bytes)
      const { value } = await this.#reader.read(view, { min: bytes })
      // The last piece may come with the news that it is the last.
      if (value === undefined || value.length === 0) return null
      if (value.buffer.byteLength >= RECYCLED_BYTES_MIN) this.#lent.push(value.buffer)
      return value
    } catch {
      return null
    }
  }

  /** Takes the memory of all pieces given so far back. */
  recycle(): void {
    for (const memory of this.#lent) {
      if (this.#spare.length < SPARE_COUNT_MAX) this.#spare.push(memory)
    }
    this.#lent = []
  }

  #memory(bytes: number): ArrayBuffer {
    if (bytes < RECYCLED_BYTES_MIN) return new ArrayBuffer(bytes)
    const spare = this.#spare.pop()
    if (spare !== undefined && spare.byteLength >= bytes) return spare
    // Frames are of about the same size: with some room the next one fits too.
    return new ArrayBuffer(bytes + (bytes >>> 3))
  }

  async cancel(): Promise<void> {
    this.#lent = []
    this.#spare = []
    try {
      await this.#reader.cancel()
    } catch {
      // The other end is gone already, which is what was wanted.
    }
  }
}

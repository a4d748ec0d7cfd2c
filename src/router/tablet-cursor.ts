/**
 * The rows of one tablet in a scan, batch by batch.
 *
 * Two ways to fetch behind one interface: pages of bounded size, which keep nothing open and go on
 * by key, or a stream of frames, for whole scans.
 */

import { successorKey } from '../common/encoded-key.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { SCAN_BATCH_BYTES } from '../common/limits.ts'
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
  /**
   * The next batch, which has at least one row; null at the end. Not called again before it
   * resolved.
   */
  next(): Promise<ScanFrameBatch | null>
  /** Lets go of the tablet. */
  close(): Promise<void>
}

/** Fetches bounded pages, each behind the last key of the one before. */
export class PageCursor implements TabletCursor {
  readonly index: number
  snapshot: Timestamp | null
  readonly #session: ReadSession
  #request: CursorRequest
  #hasMore = true
  readonly #batches: ScanFrameBatch[] = []

  constructor(session: ReadSession, index: number, request: CursorRequest) {
    this.index = index
    this.snapshot = request.snapshot
    this.#session = session
    this.#request = request
  }

  async next(): Promise<ScanFrameBatch | null> {
    for (;;) {
      const batch = this.#batches.shift()
      if (batch !== undefined) return batch
      if (!this.#hasMore) return null
      await this.#fetch()
    }
  }

  async close(): Promise<void> {
    this.#hasMore = false
    this.#batches.length = 0
  }

  async #fetch(): Promise<void> {
    const { value: answer, clock } = await this.#session.call(this.index, (stub, call) =>
      stub.read({ ...call, ...this.#request }),
    )
    if (answer === null) {
      this.snapshot ??= clock
      this.#hasMore = false
      return
    }
    this.snapshot = answer.snapshot
    this.#hasMore = answer.hasMore
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
    // Nothing sorts before the empty key, and as an upper bound it would mean none.
    if (this.#request.order === 'DESCENDING' && key.length === 0) this.#hasMore = false
    this.#request =
      this.#request.order === 'DESCENDING'
        ? { ...this.#request, snapshot, upperKey: key }
        : { ...this.#request, snapshot, lowerKey: successorKey(key) }
  }
}

/** Reads one stream to its end frame. A stream that is cut fails the scan. */
export class StreamCursor implements TabletCursor {
  readonly index: number
  snapshot: Timestamp | null
  readonly #session: ReadSession
  readonly #request: CursorRequest
  readonly #frames = new ScanFrameReader()
  #source: ByteSource | null = null
  #isDone = false

  constructor(session: ReadSession, index: number, request: CursorRequest) {
    this.index = index
    this.snapshot = request.snapshot
    this.#session = session
    this.#request = request
  }

  async next(): Promise<ScanFrameBatch | null> {
    if (this.#source === null && !this.#isDone) await this.#open()
    while (!this.#isDone) {
      const batch = this.#frames.next()
      if (batch !== null && batch.block.rowCount > 0) return batch
      if (batch === null) await this.#readOn()
    }
    return null
  }

  async close(): Promise<void> {
    this.#isDone = true
    await this.#source?.cancel()
  }

  async #open(): Promise<void> {
    const { value: answer, clock } = await this.#session.call(this.index, (stub, call) =>
      stub.scan({ ...call, ...this.#request }),
    )
    if (answer === null) {
      this.snapshot ??= clock
      this.#isDone = true
      return
    }
    this.snapshot = answer.snapshot
    this.#source = new ByteSource(answer.stream)
    // Closed while the tablet was opening the stream: nobody else would let go of it.
    if (this.#isDone) await this.#source.cancel()
  }

  async #readOn(): Promise<void> {
    const chunk = (await this.#source?.read(this.#frames.missingBytes)) ?? null
    if (chunk !== null) {
      this.#frames.push(chunk)
      return
    }
    this.#isDone = true
    this.#frames.finish()
  }
}

/** Reads a byte stream in large pieces: by default they come 4 KiB at a time. */
class ByteSource {
  readonly #reader: ReadableStreamBYOBReader

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader({ mode: 'byob' })
  }

  /** At least one byte, or null at the end. `missingBytes` is how much the caller waits for. */
  async read(missingBytes: number): Promise<Uint8Array | null> {
    const bytes = Math.max(missingBytes, SCAN_BATCH_BYTES)
    const { done, value } = await this.#reader.read(new Uint8Array(bytes))
    return done || value === undefined ? null : value
  }

  async cancel(): Promise<void> {
    try {
      await this.#reader.cancel()
    } catch {
      // The other end is gone already, which is what was wanted.
    }
  }
}

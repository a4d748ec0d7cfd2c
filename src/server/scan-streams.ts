/**
 * Scans that leave an object as streams of frames (src/wire/scan-frame.ts).
 *
 *   scanner ──next batch──► frame ──write──► pipe ══════► front
 *                            │ waits until the front has taken it: at most one frame is in memory
 *                            └ not taken for 60 s: the stream is broken off
 *
 * A stream does not wait for the platform's output gate, only the call that hands it out does. So
 * before its first batch everything written is made durable: no reader sees what could still be
 * lost.
 *
 * A batch is made when the one before it was taken, in one synchronous section. Between two batches
 * anything may happen to the tablet; what the scanner needs of the past it holds.
 *
 * The sixty seconds are a timer, one for each stream, set anew when it finds that less has passed
 * since the frame that waits was written. It keeps the object in memory no longer than the stream
 * does by itself, and unlike an alarm it bills no row.
 */

import { SCAN_BATCH_BYTES, SCAN_BATCH_ROW_COUNT, SCAN_UNREAD_MS_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { encodeErrorFrame, type ScanFrameBatch, ScanFrameWriter } from '../wire/scan-frame.ts'
import type { Log } from './log.ts'
import type { ObjectGuard } from './object-guard.ts'

/** Where the batches of one scan come from. */
export interface FrameSource {
  /**
   * The next batch, or null at the end. One without rows is sent too: while it is taken, others may
   * run.
   */
  nextBatch(rowCountMax: number, bytesMax: number): ScanFrameBatch | null
  /** Lets go of what the scan holds. */
  close(): void
}

/** A pipe whose writes resolve when their bytes were copied to whoever reads. */
export interface BytePipe {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}

/** What streams need of their object. */
export interface StreamPorts {
  readonly openPipe: () => BytePipe
  /** Resolves when everything written so far is durable. */
  readonly sync: () => Promise<void>
  /** Runs `work` after a time, unless the function returned is called before. */
  readonly delay: (work: () => void, milliseconds: number) => () => void
  /** Milliseconds that only ever grow. */
  readonly elapsedMs: () => number
  readonly guard: ObjectGuard
  readonly log: Log
}

/** The open streams of one object. */
export class ScanStreams {
  readonly #ports: StreamPorts
  #openCount = 0
  #refusal: StatusError | undefined

  constructor(ports: StreamPorts) {
    this.#ports = ports
  }

  /** Streams that are not at their end. */
  get openCount(): number {
    return this.#openCount
  }

  /** A stream of at most `rowCountMax` rows of a scan. Borrows the source until the stream ends. */
  open(source: FrameSource, rowCountMax: number): ReadableStream<Uint8Array> {
    const { readable, writable } = this.#ports.openPipe()
    const writer = writable.getWriter()
    this.#openCount++
    this.#pump(source, rowCountMax, writer)
      .catch((error: unknown) => {
        // The reader went away, or the object ends: both are told by the pipe itself.
        this.#ports.log.debug('scan stream broken off', { message: String(error) })
        return writer.abort(error)
      })
      .catch(() => undefined)
      .finally(() => {
        this.#openCount--
        source.close()
      })
    return readable
  }

  /** Ends every open stream with an error at its next batch. */
  refuse(error: StatusError): void {
    this.#refusal = error
  }

  async #pump(
    source: FrameSource,
    rowCountMax: number,
    writer: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    const frames = new FrameSequence(source, rowCountMax)
    const watch = new ReadWatch(this.#ports, () => this.#giveUp(writer))
    await this.#ports.sync()
    try {
      while (!frames.isEnded) {
        const outcome = this.#ports.guard.run('scan', () => {
          if (this.#refusal !== undefined) throw this.#refusal
          return frames.next()
        })
        watch.begin()
        if (!outcome.ok) {
          const error = new StatusError(outcome.code, outcome.message, outcome.details)
          await writer.write(encodeErrorFrame(error))
          break
        }
        await writer.write(outcome.value)
        watch.end()
      }
      await writer.close()
    } finally {
      watch.close()
    }
  }

  #giveUp(writer: WritableStreamDefaultWriter<Uint8Array>): void {
    this.#ports.log.info('scan stream unread', { milliseconds: SCAN_UNREAD_MS_MAX })
    writer.abort(new StatusError('TIMED_OUT', 'scan was not read')).catch(() => undefined)
  }
}

/** Tells when what was written has waited for its reader too long. */
class ReadWatch {
  readonly #ports: Pick<StreamPorts, 'delay' | 'elapsedMs'>
  readonly #giveUp: () => void
  #waitsSinceMs: number | null = null
  #cancel: (() => void) | null = null

  constructor(ports: Pick<StreamPorts, 'delay' | 'elapsedMs'>, giveUp: () => void) {
    this.#ports = ports
    this.#giveUp = giveUp
  }

  /** Something was written. */
  begin(): void {
    this.#waitsSinceMs = this.#ports.elapsedMs()
    if (this.#cancel === null) this.#arm(SCAN_UNREAD_MS_MAX)
  }

  /** It was read. */
  end(): void {
    this.#waitsSinceMs = null
  }

  /** Nothing more will be written. */
  close(): void {
    this.#cancel?.()
  }

  #arm(milliseconds: number): void {
    this.#cancel = this.#ports.delay(() => this.#look(), milliseconds)
  }

  #look(): void {
    this.#cancel = null
    if (this.#waitsSinceMs === null) return
    const waitedMs = this.#ports.elapsedMs() - this.#waitsSinceMs
    if (waitedMs >= SCAN_UNREAD_MS_MAX) this.#giveUp()
    else this.#arm(SCAN_UNREAD_MS_MAX - waitedMs)
  }
}

/** The frames of one scan: batches up to a number of rows, then the end frame. */
export class FrameSequence {
  readonly #source: FrameSource
  readonly #frames = new ScanFrameWriter()
  /** Where frames are made. To make memory costs more than to clear it. */
  #memory: Uint8Array = EMPTY_BYTES
  #rowCountLeft: number
  #isEnded = false

  constructor(source: FrameSource, rowCountMax: number) {
    this.#source = source
    this.#rowCountLeft = rowCountMax
  }

  /** Whether the end frame was given. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The next frame. Borrowed until the next call. Requires: not ended. */
  next(): Uint8Array {
    const rowCountMax = Math.min(this.#rowCountLeft, SCAN_BATCH_ROW_COUNT)
    const batch = rowCountMax > 0 ? this.#source.nextBatch(rowCountMax, SCAN_BATCH_BYTES) : null
    if (batch === null) {
      this.#isEnded = true
      return this.#frames.encodeEnd()
    }
    this.#rowCountLeft -= batch.block.rowCount
    const frame = this.#room(this.#frames.batchBytes(batch))
    this.#frames.writeBatch(batch, frame, 0)
    return frame
  }

  /** Zero bytes for a frame: those of the one before, which was read. */
  #room(bytes: number): Uint8Array {
    if (this.#memory.length < bytes) {
      this.#memory = new Uint8Array(bytes + (bytes >>> 3))
      return this.#memory.subarray(0, bytes)
    }
    return this.#memory.subarray(0, bytes).fill(0)
  }
}

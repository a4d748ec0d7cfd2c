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
 * The sixty seconds are a timer that runs only while a frame waits to be taken. It keeps the object
 * in memory no longer than the stream does by itself, and unlike an alarm it bills no row.
 */

import { SCAN_BATCH_BYTES, SCAN_BATCH_ROW_COUNT, SCAN_UNREAD_MS_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
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

/** A pipe whose writes resolve when they were read. */
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
    await this.#ports.sync()
    while (!frames.isEnded) {
      const outcome = this.#ports.guard.run('scan', () => {
        if (this.#refusal !== undefined) throw this.#refusal
        return frames.next()
      })
      if (!outcome.ok) {
        const error = new StatusError(outcome.code, outcome.message, outcome.details)
        await this.#write(writer, encodeErrorFrame(error))
        break
      }
      await this.#write(writer, outcome.value)
    }
    await writer.close()
  }

  async #write(writer: WritableStreamDefaultWriter<Uint8Array>, frame: Uint8Array): Promise<void> {
    const giveUp = (): void => {
      this.#ports.log.info('scan stream unread', { milliseconds: SCAN_UNREAD_MS_MAX })
      writer.abort(new StatusError('TIMED_OUT', 'scan was not read')).catch(() => undefined)
    }
    const cancel = this.#ports.delay(giveUp, SCAN_UNREAD_MS_MAX)
    try {
      await writer.write(frame)
    } finally {
      cancel()
    }
  }
}

/** The frames of one scan: batches up to a number of rows, then the end frame. */
export class FrameSequence {
  readonly #source: FrameSource
  readonly #frames = new ScanFrameWriter()
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

  /** The next frame. Requires: not ended. */
  next(): Uint8Array {
    const rowCountMax = Math.min(this.#rowCountLeft, SCAN_BATCH_ROW_COUNT)
    const batch = rowCountMax > 0 ? this.#source.nextBatch(rowCountMax, SCAN_BATCH_BYTES) : null
    if (batch === null) {
      this.#isEnded = true
      return this.#frames.encodeEnd()
    }
    this.#rowCountLeft -= batch.block.rowCount
    return this.#frames.encodeBatch(batch)
  }
}

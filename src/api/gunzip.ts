/**
 * Unzips a body as it comes, of one gzip member or of several, one behind the other.
 *
 * The source is not piped: a pipe would destroy it when what it carries turns out to be no gzip,
 * and then it could not be read to its end.
 */

import { createGunzip, type Gunzip as GunzipStream } from 'node:zlib'
import { StatusError } from '../common/status.ts'

/** Unzipped bytes that are made before they are asked for. */
const CHUNK_BYTES = 64 * 1024

/** Where zipped bytes come from: borrowed until the next call, null at the end. */
export interface ZippedSource {
  read(): Promise<Uint8Array | null>
}

/**
 * Unzips one source.
 *
 *  I1  the source is read by one call at a time, and by nobody once `stop` is done.
 */
export class Gunzip {
  readonly #source: ZippedSource
  readonly #stream: GunzipStream
  readonly #chunks: AsyncIterator<Uint8Array>
  #pumping: Promise<void> | null = null
  #sourceError: unknown = null
  #takenBytes = 0
  #isEnded = false

  constructor(source: ZippedSource) {
    this.#source = source
    this.#stream = createGunzip({ chunkSize: CHUNK_BYTES })
    // Failures come out of `#chunks`; one that nobody waits for any more must not end the process.
    this.#stream.on('error', () => undefined)
    this.#chunks = this.#stream[Symbol.asyncIterator]()
  }

  /**
   * The next bytes, at least one, or null at the end.
   *
   * Throws: INVALID_ARGUMENT when the source is not gzip to its last byte; what the source throws.
   */
  async read(): Promise<Uint8Array | null> {
    this.#pumping ??= this.#pump()
    let next: IteratorResult<Uint8Array>
    try {
      next = await this.#chunks.next()
    } catch (error) {
      if (this.#sourceError !== null) throw this.#sourceError
      throw notGzip(error)
    }
    if (next.done !== true) return next.value
    // Zeros behind a member end the stream without a word, whatever comes behind them.
    if (this.#isEnded && this.#stream.bytesWritten === this.#takenBytes) return null
    throw notGzip(undefined)
  }

  /** Lets go of the source, wherever it is. Never rejects. */
  async stop(): Promise<void> {
    this.#stream.destroy()
    await this.#pumping
  }

  async #pump(): Promise<void> {
    const stream = this.#stream
    try {
      for (;;) {
        const chunk = await this.#source.read()
        if (chunk === null || stream.destroyed) break
        this.#takenBytes += chunk.length
        if (!stream.write(chunk.slice())) await writable(stream)
        if (stream.destroyed) return
      }
      this.#isEnded = true
      stream.end()
    } catch (error) {
      this.#sourceError = error
      stream.destroy()
    }
  }
}

/** Waits until a stream takes more, or never will. */
function writable(stream: GunzipStream): Promise<void> {
  if (stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

function notGzip(cause: unknown): StatusError {
  return new StatusError('INVALID_ARGUMENT', 'body is not valid gzip', {}, cause)
}

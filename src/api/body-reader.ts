/**
 * The body of a request, as it comes: in large pieces, unzipped, and read to its end whatever
 * happens.
 *
 * A client that is answered while it still sends may never see the answer, so a body once begun is
 * read to its end, and thrown away, before an error is answered. One that was never begun is left
 * alone.
 */

import { DRAIN_BYTES_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { ByteArena } from '../util/arena.ts'
import type { FrontMemory, Holding } from './front-memory.ts'
import { Gunzip } from './gunzip.ts'
import { isGzipped } from './media-type.ts'

/** The platform gives 4 KiB at a time to who does not ask for more. */
const READ_BYTES = 256 * 1024
/** Room for a body that does not say how large it is. */
const FIRST_BYTES = 16 * 1024
/** A body that says it has no more is asked for in one piece, which saves a second read. */
const SMALL_BYTES_MAX = 128 * 1024
/** Stands behind the last byte of a whole body: decoders stop at it. */
const SENTINEL = 0x0a

/** Reads one body. */
export class BodyReader {
  readonly #source: ByteSource
  readonly #gunzip: Gunzip | null

  /** `bytesMax`: what the body says that it has at most, if it does. */
  constructor(
    body: ReadableStream<Uint8Array> | null,
    isZipped: boolean,
    bytesMax = Number.POSITIVE_INFINITY,
  ) {
    this.#source = new ByteSource(body, Math.min(READ_BYTES, bytesMax + 1))
    this.#gunzip = isZipped && body !== null ? new Gunzip(this.#source) : null
  }

  /**
   * The next bytes, at least one, or null at the end. Borrowed: until the next call.
   *
   * Throws: INVALID_ARGUMENT when the body breaks off or is not the gzip that it claims to be.
   */
  read(): Promise<Uint8Array | null> {
    return this.#gunzip === null ? this.#source.read() : this.#gunzip.read()
  }

  /** Reads what is left of a body that was begun, and throws it away. Never rejects. */
  async drain(): Promise<void> {
    await this.#gunzip?.stop()
    await this.#source.drain()
  }
}

/** A whole body: `bytes[0, end)`, and a byte behind it that ends all text. */
export interface WholeBody {
  readonly bytes: Uint8Array
  readonly end: number
}

/** Bytes that a request says it sends; infinity when it does not say. */
export function declaredBytes(request: Request): number {
  const text = request.headers.get('Content-Length')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
}

/**
 * Hands a request's body to `work` and sees to it that it is read to its end if it was begun.
 *
 * Throws: what `work` throws; UNSUPPORTED_MEDIA_TYPE for an encoding other than gzip.
 */
export async function withBody<T>(
  request: Request,
  work: (body: BodyReader) => Promise<T>,
): Promise<T> {
  const body = new BodyReader(request.body, isGzipped(request), declaredBytes(request))
  try {
    return await work(body)
  } finally {
    await body.drain()
  }
}

/**
 * Hands a request's whole body to `work`, and holds it in `memory` until that is done.
 *
 * Throws: what `work` throws; PAYLOAD_TOO_LARGE when the body has more than `bytesMax` bytes;
 * SERVICE_UNAVAILABLE when there is no room for it.
 */
export function withWholeBody<T>(
  memory: FrontMemory,
  request: Request,
  bytesMax: number,
  work: (body: WholeBody) => Promise<T> | T,
): Promise<T> {
  return memory.lend(async (holding) => {
    if (isSmall(request)) return work(await readSmall(request, bytesMax, holding))
    return work(await withBody(request, (body) => readAll(request, body, bytesMax, holding)))
  })
}

function isSmall(request: Request): boolean {
  return declaredBytes(request) <= SMALL_BYTES_MAX && !isGzipped(request)
}

async function readSmall(request: Request, bytesMax: number, holding: Holding): Promise<WholeBody> {
  const declared = declaredBytes(request)
  if (declared > bytesMax) throw tooLarge(bytesMax)
  holding.grow(declared + 1)
  const body = new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  const end = body.length
  if (end > bytesMax) throw tooLarge(bytesMax)
  const bytes = new Uint8Array(end + 1)
  bytes.set(body)
  bytes[end] = SENTINEL
  return { bytes, end }
}

async function readAll(
  request: Request,
  body: BodyReader,
  bytesMax: number,
  holding: Holding,
): Promise<WholeBody> {
  const declared = declaredBytes(request)
  const isDeclared = declared > 0 && declared < Number.POSITIVE_INFINITY && !isGzipped(request)
  if (isDeclared && declared > bytesMax) throw tooLarge(bytesMax)
  const firstBytes = isDeclared ? declared + 1 : FIRST_BYTES
  holding.grow(firstBytes)
  const arena = new ByteArena(firstBytes)
  for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) {
    if (arena.length + chunk.length > bytesMax) throw tooLarge(bytesMax)
    reserve(arena, chunk.length, holding)
    arena.append(chunk, 0, chunk.length)
  }
  reserve(arena, 1, holding)
  arena.bytes[arena.length] = SENTINEL
  return { bytes: arena.bytes, end: arena.length }
}

/** Makes room as the arena would, once there is some. */
function reserve(arena: ByteArena, extraBytes: number, holding: Holding): void {
  const needed = arena.length + extraBytes
  if (needed > arena.bytes.length) holding.grow(Math.max(needed, arena.bytes.length * 2))
  arena.reserve(extraBytes)
}

function tooLarge(bytesMax: number): StatusError {
  return new StatusError(
    'PAYLOAD_TOO_LARGE',
    `body is larger than the limit of ${bytesMax} bytes; send it in parts`,
    { limit: bytesMax },
  )
}

function brokenOff(error: unknown): never {
  throw new StatusError('INVALID_ARGUMENT', 'body broke off before its end', {}, error)
}

interface ChunkReader {
  read(): Promise<Uint8Array | null>
  cancel(): Promise<void>
}

/**
 * Bytes as they were sent.
 *
 *  I1  `read` does not overlap itself.
 */
class ByteSource {
  readonly #body: ReadableStream<Uint8Array> | null
  readonly #readBytes: number
  #reader: ChunkReader | null = null
  #isEnded: boolean

  constructor(body: ReadableStream<Uint8Array> | null, readBytes: number) {
    this.#body = body
    this.#readBytes = readBytes
    this.#isEnded = body === null
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#isEnded || this.#body === null) return null
    this.#reader ??= chunkReaderOf(this.#body, this.#readBytes)
    try {
      const chunk = await this.#reader.read()
      if (chunk === null) this.#isEnded = true
      return chunk
    } catch (error) {
      this.#isEnded = true
      return brokenOff(error)
    }
  }

  async drain(): Promise<void> {
    if (this.#reader === null) return
    try {
      let bytes = 0
      while (bytes <= DRAIN_BYTES_MAX) {
        const chunk = await this.read()
        if (chunk === null) return
        bytes += chunk.length
      }
      this.#isEnded = true
      await this.#reader.cancel()
    } catch {
      // The client is gone, so nobody waits for the answer.
    }
  }
}

function chunkReaderOf(body: ReadableStream<Uint8Array>, readBytes: number): ChunkReader {
  try {
    return new ByobReader(body.getReader({ mode: 'byob' }), readBytes)
  } catch {
    // Not a byte stream: another part of this process made it.
    return new PlainReader(body.getReader())
  }
}

class ByobReader implements ChunkReader {
  readonly #reader: ReadableStreamBYOBReader
  #buffer: Uint8Array<ArrayBuffer>

  constructor(reader: ReadableStreamBYOBReader, readBytes: number) {
    this.#reader = reader
    this.#buffer = new Uint8Array(readBytes)
  }

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.#reader.read(this.#buffer)
    if (value !== undefined) this.#buffer = new Uint8Array(value.buffer)
    return done || value === undefined ? null : value
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}

class PlainReader implements ChunkReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader
  }

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.#reader.read()
    return done ? null : value
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}

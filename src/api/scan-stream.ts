/**
 * The whole of a scan as it comes: a stream that produces no more than its reader takes. A failure
 * midway breaks the transfer, so that a part can never be taken for the whole.
 */

import { encodedRowBlockBytes } from '../common/row-block.ts'
import type { RowFeed, RowRun } from '../router/row-feed.ts'
import { ByteArena } from '../util/arena.ts'
import type { StreamEncoder } from './format/row-encoder.ts'
import { FIRST_PAUSE_BYTES, type StreamPauses } from './stream-pauses.ts'

const CHUNK_BYTES = 128 * 1024
/** A chunk of more than that is handed on in the memory that it was made in. */
const COPIED_BYTES_MAX = 512 * 1024
/** Room that the chunk after such a one finds at most. */
const ROOM_BYTES_MAX = 2 * 1024 * 1024

/** Where the rows of a stream come from. */
export type RowSource = Pick<RowFeed, 'take' | 'more' | 'recycle' | 'close'>

/** What a stream is made of. */
export interface StreamOptions {
  readonly feed: RowSource
  readonly encoder: StreamEncoder
  /** Rows in all, or infinity. */
  readonly rowCountMax: number
  /** Let others run, those too who wait for bytes from outside. */
  readonly pauses: Pick<StreamPauses, 'next'>
  /** Told of a failure once the transfer is under way. */
  readonly onFailure: (error: unknown) => void
}

/** A stream of encoded rows. */
export function rowStream(options: StreamOptions): ReadableStream<Uint8Array> {
  const { feed, onFailure } = options
  const source = new ChunkSource(options)
  let isCancelled = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = isCancelled ? null : await source.next()
          // A chunk that was being made when its reader went away is nobody's.
          if (isCancelled) return
          if (chunk === null) controller.close()
          else controller.enqueue(chunk)
        } catch (error) {
          if (isCancelled) return
          onFailure(error)
          controller.error(error)
          await feed.close()
        }
      },
      cancel() {
        isCancelled = true
        return feed.close()
      },
    },
    { highWaterMark: 1 },
  )
}

class ChunkSource {
  readonly #options: StreamOptions
  #out = new ByteArena(CHUNK_BYTES * 2)
  #run: RowRun | null = null
  /** The first row of the run that is not encoded yet. */
  #row = 0
  #bytesPerRow = 0
  /** Bytes until the next pause. */
  #bytesLeft = FIRST_PAUSE_BYTES
  #rowsLeft: number
  #isEnded = false

  constructor(options: StreamOptions) {
    this.#options = options
    this.#rowsLeft = options.rowCountMax
    options.encoder.appendHeader(this.#out)
  }

  /** The next bytes, at least one, or null at the end. */
  async next(): Promise<Uint8Array | null> {
    const { feed, encoder, pauses } = this.#options
    while (!this.#isEnded && this.#out.length < CHUNK_BYTES) {
      if (this.#bytesLeft <= 0) this.#bytesLeft = await pauses.next()
      if (this.#catchUp()) continue
      if (this.#rowsLeft > 0 && this.#encodeStep()) continue
      // What there is goes out before more is waited for.
      if (this.#rowsLeft > 0 && this.#out.length > 0) break
      if (this.#rowsLeft > 0 && (await feed.more())) continue
      this.#isEnded = true
      encoder.appendFooter(this.#out)
    }
    if (this.#out.length === 0) {
      await feed.close()
      return null
    }
    return this.#takeChunk()
  }

  /** Lets the encoder do a part of what it has to. Returns: whether there was any. */
  #catchUp(): boolean {
    const bytes = this.#options.encoder.catchUp?.(this.#out) ?? 0
    this.#bytesLeft -= bytes
    return bytes > 0
  }

  /** Encodes some of the rows at hand. Returns: whether there were any. */
  #encodeStep(): boolean {
    const { feed, encoder } = this.#options
    if (this.#run === null) {
      this.#run = feed.take()
      if (this.#run === null) return false
      this.#row = this.#run.start
      const { block } = this.#run.batch
      this.#bytesPerRow = encodedRowBlockBytes(block) / Math.max(block.rowCount, 1)
    }
    const { batch, end } = this.#run
    const start = this.#row
    const next = Math.min(end, start + encoder.stepRowCount, start + this.#rowsLeft)
    const before = this.#out.length
    encoder.appendRows(batch.block, start, next, this.#out)
    this.#bytesLeft -= this.#out.length - before + (next - start) * this.#bytesPerRow
    this.#rowsLeft -= next - start
    this.#row = next
    if (next < end) return true
    this.#run = null
    if (!encoder.holdsRows) feed.recycle()
    return true
  }

  #takeChunk(): Uint8Array {
    const { bytes, length } = this.#out
    if (length > COPIED_BYTES_MAX) {
      // The next is most often as large: it shall not have to grow.
      this.#out = new ByteArena(Math.min(length + (length >>> 3), ROOM_BYTES_MAX))
      return bytes.subarray(0, length)
    }
    this.#out.truncate(0)
    return bytes.slice(0, length)
  }
}

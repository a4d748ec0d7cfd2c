/**
 * The whole of a scan as it comes: a stream that produces no more than its reader takes. A failure
 * midway breaks the transfer, so that a part can never be taken for the whole.
 */

import type { RowFeed } from '../router/row-feed.ts'
import { ByteArena } from '../util/arena.ts'
import type { RowEncoder } from './format/row-encoder.ts'

const CHUNK_BYTES = 128 * 1024

/** What a stream is made of. */
export interface StreamOptions {
  readonly feed: RowFeed
  readonly encoder: RowEncoder
  /** Rows in all, or infinity. */
  readonly rowCountMax: number
  /** Told of a failure once the transfer is under way. */
  readonly onFailure: (error: unknown) => void
}

/** A stream of encoded rows. */
export function rowStream(options: StreamOptions): ReadableStream<Uint8Array> {
  const { feed, onFailure } = options
  const source = new ChunkSource(options)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await source.next()
          if (chunk === null) controller.close()
          else controller.enqueue(chunk)
        } catch (error) {
          onFailure(error)
          controller.error(error)
          await feed.close()
        }
      },
      cancel: () => feed.close(),
    },
    { highWaterMark: 1 },
  )
}

class ChunkSource {
  readonly #options: StreamOptions
  readonly #out = new ByteArena(CHUNK_BYTES * 2)
  #rowsLeft: number
  #isEnded = false

  constructor(options: StreamOptions) {
    this.#options = options
    this.#rowsLeft = options.rowCountMax
    options.encoder.appendHeader(this.#out)
  }

  /** The next bytes, at least one, or null at the end. */
  async next(): Promise<Uint8Array | null> {
    const { feed } = this.#options
    const out = this.#out
    while (!this.#isEnded && out.length < CHUNK_BYTES) {
      if (this.#encodeRun()) continue
      // What there is goes out before more is waited for.
      if (out.length > 0) break
      if (!(await feed.more())) this.#isEnded = true
    }
    if (out.length === 0) {
      await feed.close()
      return null
    }
    const chunk = out.bytes.slice(0, out.length)
    out.truncate(0)
    return chunk
  }

  /** Encodes rows at hand. Returns: whether there were any. */
  #encodeRun(): boolean {
    const { feed, encoder } = this.#options
    const run = feed.take()
    if (run === null) return false
    const end = Math.min(run.end, run.start + this.#rowsLeft)
    encoder.appendRows(run.batch.block, run.start, end, this.#out)
    this.#rowsLeft -= end - run.start
    if (this.#rowsLeft === 0) this.#isEnded = true
    return true
  }
}

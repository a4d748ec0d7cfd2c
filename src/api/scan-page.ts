/**
 * One page of a scan as JSON: filled until it is large, long or late, and then a token that goes on
 * behind its last row.
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { PAGE_BYTES_MAX, PAGE_MS_MAX } from '../common/limits.ts'
import type { FeedPosition, RowFeed, RowRun } from '../router/row-feed.ts'
import { ByteArena } from '../util/arena.ts'
import { utf8Encode } from '../util/bytes.ts'
import type { RowEncoder } from './format/row-encoder.ts'
import type { Holding } from './front-memory.ts'

const COMMA = utf8Encode(',')
const OPENING = utf8Encode('{"rows":[')

/** How much a page holds. */
export interface PageOptions {
  readonly encoder: RowEncoder
  readonly rowCountMax: number
  /** Room for the page. When there is no more the page ends, once it has a row. */
  readonly holding: Holding
  /** Milliseconds that only ever grow. */
  readonly elapsedMs: () => number
  /** When the request for the page came, on that clock. */
  readonly startedAtMs: number
}

/** A page that ended. */
export interface FilledPage {
  readonly rowCount: number
  /** Where the scan goes on, or null when it is over. */
  readonly next: FeedPosition | null
}

/**
 * Fills pages; at least one row gets in, if there is one.
 *
 *  I1  `#last` is the last row in the page.
 */
export class ScanPage {
  readonly #options: PageOptions
  readonly #out = new ByteArena(64 * 1024)
  #rowCount = 0
  #last: { readonly run: RowRun; readonly row: number } | null = null

  constructor(options: PageOptions) {
    this.#options = options
    this.#out.append(OPENING, 0, OPENING.length)
  }

  /** Fills the page. Requires: the feed's batches carry keys. */
  async fill(feed: RowFeed): Promise<FilledPage> {
    const deadlineMs = this.#options.startedAtMs + PAGE_MS_MAX
    for (;;) {
      const run = feed.take()
      if (run !== null) {
        if (this.#add(run)) return this.#filled(this.#restOf(feed, run))
        if (this.#options.elapsedMs() >= deadlineMs) return this.#filled(this.#restOf(feed, run))
        continue
      }
      const step = await feed.step()
      if (step === 'end') return this.#filled(null)
      const isLate = step === 'nothing' && this.#options.elapsedMs() >= deadlineMs
      const next = isLate ? (feed.position ?? this.#behindLast()) : null
      if (next !== null) return this.#filled(next)
    }
  }

  /** The body of the answer. */
  finish(snapshot: Timestamp, nextToken: string | null): Uint8Array<ArrayBuffer> {
    const token = nextToken === null ? '' : `,"next_page_token":${JSON.stringify(nextToken)}`
    const tail = utf8Encode(`],"snapshot_timestamp":${snapshot}${token}}`)
    const out = this.#out
    out.append(tail, 0, tail.length)
    return out.bytes.subarray(0, out.length) as Uint8Array<ArrayBuffer>
  }

  /** Adds rows of a run. Returns: whether the page is full. */
  #add(run: RowRun): boolean {
    const { encoder, rowCountMax, holding } = this.#options
    const out = this.#out
    for (let row = run.start; row < run.end; row++) {
      const { length } = out
      if (this.#rowCount > 0) out.append(COMMA, 0, COMMA.length)
      encoder.appendRow(run.batch.block, row, out)
      const isTooLarge = out.length > PAGE_BYTES_MAX || !holding.tryGrow(out.bytes.length)
      if (this.#rowCount > 0 && isTooLarge) {
        out.truncate(length)
        return true
      }
      this.#rowCount++
      this.#last = { run, row }
      if (this.#rowCount === rowCountMax) return true
    }
    return false
  }

  /** Where the scan goes on after a run was taken in, or null when nothing is known to be left. */
  #restOf(feed: RowFeed, run: RowRun): FeedPosition | null {
    const isWhole = this.#last?.run === run && this.#last.row === run.end - 1
    return isWhole && feed.isEnded ? null : this.#behindLast()
  }

  #behindLast(): FeedPosition | null {
    if (this.#last === null) return null
    const { run, row } = this.#last
    return { tablet: run.tablet, afterKey: run.batch.keys?.key(row) ?? null }
  }

  #filled(next: FeedPosition | null): FilledPage {
    return { rowCount: this.#rowCount, next }
  }
}

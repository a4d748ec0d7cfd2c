/**
 * How many requests may have an idempotency key: each tablet remembers about 1,500 shares of keyed
 * requests for ten minutes and refuses more, so that the load would stand still.
 */

const WINDOW_MS = 600_000
const SHARE_COUNT_MAX = 1_000
/** Fewer than a share has at most: a body is cut by its bytes too. */
const SHARE_ROWS = 4_096

/** Counts keyed requests of the last ten minutes. */
export class KeyBudget {
  readonly #taken: { readonly atMs: number; readonly shares: number }[] = []
  #shares = 0

  /** Whether a request of so many rows may have a key; if so, it counts. */
  take(rowCount: number, nowMs: number): boolean {
    while (this.#taken.length > 0 && this.#taken[0].atMs + WINDOW_MS <= nowMs) {
      this.#shares -= this.#taken.shift()?.shares ?? 0
    }
    // As if all rows went to one tablet.
    const shares = Math.ceil(rowCount / SHARE_ROWS)
    if (this.#shares + shares > SHARE_COUNT_MAX) return false
    this.#shares += shares
    this.#taken.push({ atMs: nowMs, shares })
    return true
  }
}

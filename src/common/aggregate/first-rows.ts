/** Row numbers 0, 1, 2, …: what a whole vector is selected by. */
class RowNumbers {
  #rows = new Uint32Array(0)

  /** At least `count` row numbers. Shared: never written to. */
  upTo(count: number): Uint32Array {
    if (this.#rows.length < count) {
      this.#rows = new Uint32Array(Math.max(count, 4096)).map((_, row) => row)
    }
    return this.#rows
  }
}

/** Row numbers for whoever needs a vector's rows one by one. */
export const FIRST_ROWS = new RowNumbers()

/**
 * Room for the lanes of one page at a time: for whoever goes through many pages and looks at one
 * after the other, so that no memory is asked for and given back with each.
 */
export class LaneRoom {
  #bytes = new Uint8Array(0)
  #numbers = new Int32Array(0)

  /** Room for so many bytes, from a multiple of 8 on, of any content. Borrowed until the next. */
  take(byteCount: number): Uint8Array {
    if (this.#bytes.length < byteCount) this.#bytes = new Uint8Array(byteCount)
    return this.#bytes.subarray(0, byteCount)
  }

  /** Room for so many numbers beside the bytes, of any content. Borrowed until the next. */
  takeNumbers(count: number): Int32Array {
    if (this.#numbers.length < count) this.#numbers = new Int32Array(count)
    return this.#numbers.subarray(0, count)
  }
}

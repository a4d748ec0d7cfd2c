/**
 * Reads the body of a page part by part and never beyond its end. Hot: parts are taken as views.
 */

import { CorruptionError } from '../../common/status.ts'

/**
 * A cursor over a body.
 *
 * Requires: `bytes` begins at a multiple of 8 in its buffer.
 */
export class BodyReader {
  readonly bytes: Uint8Array
  /** Names the page in errors. */
  readonly where: string
  /** Where the next part begins. */
  offset = 0

  constructor(bytes: Uint8Array, where: string) {
    this.bytes = bytes
    this.where = where
  }

  /** The next word. Requires: the cursor is at a multiple of 4. */
  word(): number {
    return this.words(1)[0]
  }

  /** A view of the next `count` words. Requires: the cursor is at a multiple of 4. */
  words(count: number): Uint32Array {
    const start = this.#take(count * 4)
    return new Uint32Array(this.bytes.buffer, this.bytes.byteOffset + start, count)
  }

  /** A view of the next `byteCount` bytes. */
  view(byteCount: number): Uint8Array {
    const start = this.#take(byteCount)
    return this.bytes.subarray(start, start + byteCount)
  }

  /** Moves to a multiple of `unit`. */
  align(unit: 4 | 8): void {
    const start = this.offset
    this.#take(((start + unit - 1) & -unit) - start)
  }

  /** The error to throw for a body that is not what encoders write. */
  corrupt(complaint: string): CorruptionError {
    return new CorruptionError(`${this.where}: ${complaint}`)
  }

  #take(byteCount: number): number {
    const start = this.offset
    if (byteCount < 0 || start + byteCount > this.bytes.length) {
      throw this.corrupt('the page ends before its values do')
    }
    this.offset = start + byteCount
    return start
  }
}

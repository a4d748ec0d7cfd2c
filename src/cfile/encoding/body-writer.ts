/** Where encoders write the body of a page: bytes that grow, reused from page to page. Hot. */

import { assert } from '../../util/assert.ts'
import { align8, EMPTY_BYTES } from '../../util/bytes.ts'

const NO_WORDS = new Uint32Array(0)

/**
 * A growing body. Encoders write into `bytes` or `words` themselves after `reserve`, then move
 * `length`; what lies behind `length` is whatever was there before.
 *
 *  I1  `bytes` and `words` are views of one buffer, from its start.
 */
export class BodyWriter {
  /** Storage; only `[0, length)` is meaningful. Replaced when it grows. */
  bytes: Uint8Array = EMPTY_BYTES
  /** The same storage as 32-bit words. Replaced when it grows. */
  words: Uint32Array = NO_WORDS
  /** Bytes in use. */
  length = 0

  /** Makes room for `extraBytes` more behind `length`. */
  reserve(extraBytes: number): void {
    const needed = this.length + extraBytes
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(align8(Math.max(needed, this.bytes.length * 2)))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
    this.words = new Uint32Array(grown.buffer)
  }

  /** Appends one word. Requires: `length` is a multiple of 4. */
  appendWord(word: number): void {
    assert((this.length & 3) === 0, 'words of a body are aligned')
    this.reserve(4)
    this.words[this.length >>> 2] = word
    this.length += 4
  }

  /** Appends `source[start, end)`. */
  appendBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    this.bytes.set(source.subarray(start, end), this.length)
    this.length += end - start
  }

  /** Appends zeros up to a multiple of `unit`. */
  pad(unit: 4 | 8): void {
    const end = (this.length + unit - 1) & -unit
    this.reserve(end - this.length)
    this.bytes.fill(0, this.length, end)
    this.length = end
  }

  /** Forgets everything from `length` on. */
  truncate(length: number): void {
    this.length = length
  }
}

/**
 * Integers of 1 to 8 bytes, seven bits a byte, least significant first; the top bit of a byte says
 * that another follows. For what describes pages, never for cells.
 */

import { CorruptionError } from '../common/status.ts'
import type { ByteArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'

const VARINT_BYTES_MAX = 8

/** Appends a varint. Requires: a non-negative safe integer. */
export function appendVarint(target: ByteArena, value: number): void {
  assert(Number.isSafeInteger(value), 'varint is a safe integer')
  assert(value >= 0, 'varint is not negative')
  target.reserve(VARINT_BYTES_MAX)
  let rest = value
  while (rest >= 0x80) {
    target.bytes[target.length++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  target.bytes[target.length++] = rest
}

/** Appends a varint of the length and then the bytes. */
export function appendSized(target: ByteArena, bytes: Uint8Array): void {
  appendVarint(target, bytes.length)
  target.append(bytes, 0, bytes.length)
}

/** Reads varints one after the other. What is not there or too long is CORRUPTION. */
export class VarintReader {
  readonly bytes: Uint8Array
  /** Offset of the next byte. */
  offset: number
  readonly where: string

  constructor(bytes: Uint8Array, offset: number, where: string) {
    this.bytes = bytes
    this.offset = offset
    this.where = where
  }

  /** The next varint. Throws: CORRUPTION when it does not end or is above 2^53 − 1. */
  next(): number {
    const { bytes } = this
    let value = 0
    let scale = 1
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      if (this.offset >= bytes.length) throw this.corruption('ends within a number')
      const byte = bytes[this.offset++]
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw this.corruption('has a number too large')
        return value
      }
      scale *= 0x80
    }
    throw this.corruption('has a number too long')
  }

  /** The next varint, at most `max`. Throws: CORRUPTION when it is larger. */
  nextUpTo(max: number): number {
    const value = this.next()
    if (value > max) throw this.corruption(`has a number above ${max}`)
    return value
  }

  /** The next `count` bytes: a view. Throws: CORRUPTION when there are fewer. */
  take(count: number): Uint8Array {
    if (count > this.bytes.length - this.offset) throw this.corruption('ends too early')
    this.offset += count
    return this.bytes.subarray(this.offset - count, this.offset)
  }

  /** What `appendSized` wrote: a view. */
  nextSized(): Uint8Array {
    return this.take(this.next())
  }

  /** An error that says where. */
  corruption(what: string): CorruptionError {
    return new CorruptionError(`${this.where}: ${what}`)
  }
}

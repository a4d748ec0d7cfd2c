import { EMPTY_BYTES } from './bytes.ts'

/**
 * Append-only bytes that grow by doubling. Offsets stay valid as it grows, views of `bytes` do not.
 *
 * Hot: callers may write into `bytes` themselves after `reserve`, then move `length`.
 */
export class ByteArena {
  /** Storage; only `[0, length)` is meaningful. Replaced when it grows. */
  bytes: Uint8Array
  /** Bytes in use. */
  length = 0

  constructor(capacityBytes = 256) {
    this.bytes = capacityBytes === 0 ? EMPTY_BYTES : new Uint8Array(capacityBytes)
  }

  /** Makes room for `extraBytes` more behind `length`. */
  reserve(extraBytes: number): void {
    const needed = this.length + extraBytes
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  /** Appends `source[start, end)`. Returns the offset at which it begins. */
  append(source: Uint8Array, start: number, end: number): number {
    const bytes = end - start
    this.reserve(bytes)
    const offset = this.length
    copyBytes(source, start, end, this.bytes, offset)
    this.length = offset + bytes
    return offset
  }

  /** Gives spare capacity back. */
  trim(): void {
    if (this.length < this.bytes.length) this.bytes = this.bytes.slice(0, this.length)
  }

  /** Forgets everything from `length` on. */
  truncate(length: number): void {
    this.length = length
  }
}

/** Copies `source[start, end)` to `target` at `offset`; short slices by hand, which is faster. */
export function copyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  offset: number,
): void {
  if (end - start > 48) {
    target.set(source.subarray(start, end), offset)
    return
  }
  for (let i = start, j = offset; i < end; i++, j++) target[j] = source[i]
}

/**
 * Keys of a batch: all bytes in one arena, key `i` is `bytes[ends[i - 1], ends[i])` (0 before the
 * first).
 */
export class KeyArena extends ByteArena {
  /** End offsets; only `[0, count)` is meaningful. Replaced when it grows. */
  ends: Uint32Array
  /** Keys held. */
  count = 0

  constructor(capacityKeys = 16, capacityBytes = 256) {
    super(capacityBytes)
    this.ends = new Uint32Array(capacityKeys)
  }

  /** Start offset of key `index`. */
  start(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1]
  }

  /** Makes room for `extraKeys` more end offsets behind `count`. */
  reserveKeys(extraKeys: number): void {
    const needed = this.count + extraKeys
    if (needed <= this.ends.length) return
    const grown = new Uint32Array(Math.max(needed, this.ends.length * 2))
    grown.set(this.ends.subarray(0, this.count))
    this.ends = grown
  }

  /** Ends the key whose bytes were appended since the last call. Returns its index. */
  endKey(): number {
    if (this.count === this.ends.length) this.reserveKeys(1)
    this.ends[this.count] = this.length
    return this.count++
  }

  /** Appends keys `[start, end)` of another arena. Cost: two copies, however many keys. */
  appendRange(source: KeyArena, start: number, end: number): void {
    const from = source.start(start)
    const shift = this.append(source.bytes, from, source.start(end)) - from
    this.reserveKeys(end - start)
    for (let i = start, key = this.count; i < end; i++, key++) {
      this.ends[key] = source.ends[i] + shift
    }
    this.count += end - start
  }

  /** Forgets all keys and keeps the capacity. */
  clear(): void {
    this.length = 0
    this.count = 0
  }

  /** Copy of key `index`. */
  key(index: number): Uint8Array {
    return this.bytes.slice(this.start(index), this.ends[index])
  }
}

/**
 * Tables of a FlatBuffer, read where they lie. Nothing in the bytes is believed: every reference
 * and every length is checked before it is followed.
 *
 *   table     distance back to its vtable i32, then the fields
 *   vtable    its bytes u16, the table's bytes u16, offset of each field u16 (0: left out)
 *   text      bytes u32, UTF-8
 *   vector    count u32, elements
 *
 * References are distances forward, u32. All integers little-endian.
 */

import { invalidArgument, type StatusError } from '../../../common/status.ts'
import { utf8DecodeStrict } from '../../../util/bytes.ts'

/** Where the elements of a vector of structs lie. */
export interface FlatVector {
  readonly view: DataView
  readonly start: number
  readonly count: number
}

/** One table. Fields are named by their number; one that is left out has its default. */
export class FlatTable {
  readonly #view: DataView
  readonly #start: number
  readonly #vtable: number
  readonly #vtableBytes: number

  /** The table at `start`. Throws: INVALID_ARGUMENT when there is none. */
  constructor(view: DataView, start: number) {
    this.#view = view
    this.#start = start
    need(view, start, 4)
    this.#vtable = start - view.getInt32(start, true)
    need(view, this.#vtable, 4)
    this.#vtableBytes = view.getUint16(this.#vtable, true)
    if (this.#vtableBytes < 4) throw malformed()
    need(view, this.#vtable, this.#vtableBytes)
  }

  /** The table that a buffer is about. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return new FlatTable(view, follow(view, 0))
  }

  /** An unsigned integer of one byte; a boolean is 0 or 1. */
  byte(field: number, byDefault: number): number {
    const at = this.#find(field, 1)
    return at === null ? byDefault : this.#view.getUint8(at)
  }

  /** A signed integer of two bytes. */
  short(field: number, byDefault: number): number {
    const at = this.#find(field, 2)
    return at === null ? byDefault : this.#view.getInt16(at, true)
  }

  /** A signed integer of four bytes. */
  int(field: number, byDefault: number): number {
    const at = this.#find(field, 4)
    return at === null ? byDefault : this.#view.getInt32(at, true)
  }

  /** A signed integer of eight bytes; 0 unless it is there. */
  long(field: number): bigint {
    const at = this.#find(field, 8)
    return at === null ? 0n : this.#view.getBigInt64(at, true)
  }

  /** A text, or null when it is left out. */
  text(field: number): string | null {
    const at = this.#find(field, 4)
    if (at === null) return null
    const view = this.#view
    const start = follow(view, at)
    need(view, start, 4)
    const bytes = view.getUint32(start, true)
    need(view, start + 4, bytes)
    const text = utf8DecodeStrict(new Uint8Array(view.buffer, view.byteOffset + start + 4, bytes))
    if (text === undefined) throw malformed()
    return text
  }

  /** A table, or null when it is left out. */
  table(field: number): FlatTable | null {
    const at = this.#find(field, 4)
    return at === null ? null : new FlatTable(this.#view, follow(this.#view, at))
  }

  /**
   * The tables of a vector, none when it is left out.
   *
   * Throws: INVALID_ARGUMENT when there are more than `countMax`.
   */
  tables(field: number, countMax: number): FlatTable[] {
    const { view, start, count } = this.structs(field, 4)
    if (count > countMax) throw malformed()
    return Array.from({ length: count }, (_, i) => {
      return new FlatTable(view, follow(view, start + i * 4))
    })
  }

  /** The structs of a vector, or its integers, of `bytes` each; none when it is left out. */
  structs(field: number, bytes: number): FlatVector {
    const view = this.#view
    const at = this.#find(field, 4)
    if (at === null) return { view, start: 0, count: 0 }
    const start = follow(view, at)
    need(view, start, 4)
    const count = view.getUint32(start, true)
    need(view, start + 4, count * bytes)
    return { view, start: start + 4, count }
  }

  /** Where a field of `bytes` lies, or null when it is left out. */
  #find(field: number, bytes: number): number | null {
    const entry = 4 + field * 2
    if (entry + 2 > this.#vtableBytes) return null
    const offset = this.#view.getUint16(this.#vtable + entry, true)
    if (offset === 0) return null
    need(this.#view, this.#start + offset, bytes)
    return this.#start + offset
  }
}

/** Where the reference at `at` leads. */
function follow(view: DataView, at: number): number {
  need(view, at, 4)
  return at + view.getUint32(at, true)
}

function need(view: DataView, at: number, bytes: number): void {
  if (at < 0 || at + bytes > view.byteLength) throw malformed()
}

function malformed(): StatusError {
  return invalidArgument('metadata is not what Arrow describes messages with')
}

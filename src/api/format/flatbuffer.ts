/**
 * FlatBuffers, as far as Arrow's messages need them, written front to back:
 *
 *   root offset u32 | table … | what its fields refer to …
 *
 *   table     vtable (bytes u16, table bytes u16, offset of each field u16, 0: left out), then
 *             distance back to the vtable i32, then the fields, each at a multiple of its size
 *   text      bytes u32, UTF-8, a zero
 *   vector    count u32, elements
 *
 * References are distances forward, u32. All integers little-endian.
 */

import { ByteArena } from '../../util/arena.ts'
import { utf8Encode } from '../../util/bytes.ts'

/** A field of a table; `integer` takes 1, 2, 4 or 8 bytes and is exact up to 2^53. */
export type FlatField =
  | { readonly kind: 'integer'; readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | { readonly kind: 'table'; readonly table: FlatTable }
  | { readonly kind: 'tables'; readonly tables: readonly FlatTable[] }
  | { readonly kind: 'text'; readonly text: string }
  /** A vector of structs of two 64-bit integers, `[2 × i]` and `[2 × i + 1]`. */
  | { readonly kind: 'pairs'; readonly values: Float64Array }

/** A table: its fields by their number, null where one is left out. */
export type FlatTable = readonly (FlatField | null)[]

/** An integer field. */
export function flatInteger(bytes: 1 | 2 | 4 | 8, value: number): FlatField {
  return { kind: 'integer', bytes, value }
}

/** A field that refers to a table. */
export function flatTable(...table: (FlatField | null)[]): FlatField {
  return { kind: 'table', table }
}

/** The bytes of a buffer whose root is a table; a multiple of 8 long. For edges: it allocates. */
export function encodeFlatbuffer(root: FlatTable): Uint8Array {
  const writer = new FlatbufferWriter()
  writer.writeRoot(root)
  return writer.finish()
}

class FlatbufferWriter {
  readonly #arena = new ByteArena(1024)
  #view = new DataView(this.#arena.bytes.buffer)

  writeRoot(root: FlatTable): void {
    this.#skip(4)
    this.#writeTable(root, 0)
  }

  finish(): Uint8Array {
    this.#align(8, 0)
    return this.#arena.bytes.subarray(0, this.#arena.length)
  }

  /** Writes a table, and the distance to it at `reference`. */
  #writeTable(table: FlatTable, reference: number): void {
    const offsets = layoutOf(table)
    const tableBytes = offsets[table.length]
    // The table begins at a multiple of 8, its vtable right in front of it.
    const vtableBytes = 4 + table.length * 2
    this.#align(8, vtableBytes)
    const vtable = this.#skip(vtableBytes)
    const start = this.#skip(tableBytes)
    this.#refer(reference, start)
    this.#view.setUint16(vtable, vtableBytes, true)
    this.#view.setUint16(vtable + 2, tableBytes, true)
    this.#view.setInt32(start, start - vtable, true)
    for (let index = 0; index < table.length; index++) {
      const field = table[index]
      if (field === null) continue
      this.#view.setUint16(vtable + 4 + index * 2, offsets[index], true)
      this.#writeField(field, start + offsets[index])
    }
  }

  #writeField(field: FlatField, at: number): void {
    switch (field.kind) {
      case 'integer':
        this.#writeInteger(at, field.bytes, field.value)
        break
      case 'table':
        this.#writeTable(field.table, at)
        break
      case 'tables':
        this.#writeTables(field.tables, at)
        break
      case 'text':
        this.#writeText(field.text, at)
        break
      case 'pairs':
        this.#writePairs(field.values, at)
        break
    }
  }

  #writeTables(tables: readonly FlatTable[], reference: number): void {
    this.#align(4, 0)
    const start = this.#skip(4 + tables.length * 4)
    this.#refer(reference, start)
    this.#view.setUint32(start, tables.length, true)
    for (let i = 0; i < tables.length; i++) this.#writeTable(tables[i], start + 4 + i * 4)
  }

  #writeText(text: string, reference: number): void {
    const bytes = utf8Encode(text)
    this.#align(4, 0)
    const start = this.#skip(4 + bytes.length + 1)
    this.#refer(reference, start)
    this.#view.setUint32(start, bytes.length, true)
    this.#arena.bytes.set(bytes, start + 4)
  }

  #writePairs(values: Float64Array, reference: number): void {
    // The elements, behind their count, begin at a multiple of 8.
    this.#align(8, 4)
    const start = this.#skip(4 + values.length * 8)
    this.#refer(reference, start)
    this.#view.setUint32(start, values.length / 2, true)
    for (let i = 0; i < values.length; i++) this.#writeInteger(start + 4 + i * 8, 8, values[i])
  }

  #writeInteger(at: number, bytes: 1 | 2 | 4 | 8, value: number): void {
    if (bytes === 1) this.#view.setInt8(at, value)
    else if (bytes === 2) this.#view.setInt16(at, value, true)
    else this.#view.setInt32(at, value, true)
    if (bytes === 8) this.#view.setInt32(at + 4, Math.floor(value / 2 ** 32), true)
  }

  #refer(reference: number, start: number): void {
    this.#view.setUint32(reference, start - reference, true)
  }

  /** Moves on until the byte behind `ahead` bytes is at a multiple of `multiple`. */
  #align(multiple: number, ahead: number): void {
    const excess = (this.#arena.length + ahead) % multiple
    if (excess > 0) this.#skip(multiple - excess)
  }

  /** Leaves `bytes` zero bytes. Returns: where they begin. */
  #skip(bytes: number): number {
    const arena = this.#arena
    const start = arena.length
    arena.reserve(bytes)
    if (this.#view.buffer !== arena.bytes.buffer) this.#view = new DataView(arena.bytes.buffer)
    arena.length += bytes
    return start
  }
}

/** Where the fields of a table begin inside it; and, last, its bytes. */
function layoutOf(table: FlatTable): number[] {
  const offsets: number[] = []
  let end = 4
  for (const field of table) {
    const bytes = field?.kind === 'integer' ? field.bytes : 4
    if (field !== null) end = Math.ceil(end / bytes) * bytes
    offsets.push(end)
    if (field !== null) end += bytes
  }
  return [...offsets, end]
}

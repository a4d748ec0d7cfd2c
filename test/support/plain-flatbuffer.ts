/** FlatBuffers written by the book: front to back, every table with a vtable of its own. */

import { utf8Encode } from '../../src/util/bytes.ts'

/** What a field of a table holds. */
export type PlainFlat =
  | { readonly kind: 'integer'; readonly bytes: 1 | 2 | 4 | 8; readonly value: bigint | number }
  | { readonly kind: 'table'; readonly fields: PlainFlatTable }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tables'; readonly tables: readonly PlainFlatTable[] }
  | { readonly kind: 'longs'; readonly perElement: number; readonly values: readonly bigint[] }

/** Fields by number; null where one is left out. */
export type PlainFlatTable = readonly (PlainFlat | null)[]

/** An integer field. */
export function integer(bytes: 1 | 2 | 4 | 8, value: bigint | number): PlainFlat {
  return { kind: 'integer', bytes, value }
}

/** A field that is a table. */
export function table(...fields: readonly (PlainFlat | null)[]): PlainFlat {
  return { kind: 'table', fields }
}

/** The bytes of a FlatBuffer with `root`, a multiple of 8 long. */
export function plainFlatbuffer(root: PlainFlatTable): Uint8Array {
  const bytes: number[] = [0, 0, 0, 0]
  writeTable(bytes, root, 0)
  align(bytes, 8)
  return Uint8Array.from(bytes)
}

function writeTable(bytes: number[], fields: PlainFlatTable, reference: number): void {
  align(bytes, 2)
  const vtable = skip(bytes, 4 + fields.length * 2)
  align(bytes, 8)
  // A slot of eight bytes a field, behind the distance to the vtable.
  const start = skip(bytes, 8 + fields.length * 8)
  put(bytes, reference, 4, BigInt(start - reference))
  put(bytes, vtable, 2, BigInt(4 + fields.length * 2))
  put(bytes, vtable + 2, 2, BigInt(8 + fields.length * 8))
  put(bytes, start, 4, BigInt(start - vtable))
  fields.forEach((field, i) => {
    if (field === null) return
    put(bytes, vtable + 4 + i * 2, 2, BigInt(8 + i * 8))
    writeField(bytes, field, start + 8 + i * 8)
  })
}

function writeField(bytes: number[], field: PlainFlat, at: number): void {
  if (field.kind === 'integer') put(bytes, at, field.bytes, BigInt(field.value))
  else if (field.kind === 'table') writeTable(bytes, field.fields, at)
  else if (field.kind === 'text') writeText(bytes, field.text, at)
  else if (field.kind === 'tables') {
    const start = writeVector(bytes, at, field.tables.length, 4 * field.tables.length)
    field.tables.forEach((fields, i) => {
      writeTable(bytes, fields, start + i * 4)
    })
  } else {
    const { values, perElement } = field
    const start = writeVector(bytes, at, values.length / perElement, 8 * values.length)
    values.forEach((value, i) => {
      put(bytes, start + i * 8, 8, value)
    })
  }
}

function writeText(bytes: number[], text: string, at: number): void {
  const encoded = utf8Encode(text)
  const start = writeVector(bytes, at, encoded.length, encoded.length + 1)
  encoded.forEach((byte, i) => {
    bytes[start + i] = byte
  })
}

/** Returns: where the elements begin. */
function writeVector(bytes: number[], at: number, count: number, size: number): number {
  while ((bytes.length + 4) % 8 !== 0) bytes.push(0)
  const start = skip(bytes, 4 + size)
  put(bytes, at, 4, BigInt(start - at))
  put(bytes, start, 4, BigInt(count))
  return start + 4
}

function put(bytes: number[], at: number, count: number, value: bigint): void {
  for (let i = 0; i < count; i++) bytes[at + i] = Number((value >> BigInt(i * 8)) & 0xffn)
}

function skip(bytes: number[], count: number): number {
  const start = bytes.length
  for (let i = 0; i < count; i++) bytes.push(0)
  return start
}

function align(bytes: number[], multiple: number): void {
  while (bytes.length % multiple !== 0) bytes.push(0)
}

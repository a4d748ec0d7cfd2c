/** Names of columns, to be found in text without making strings of it. Hot. */

import { appendJsonString } from '../../common/json-string.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { ByteArena } from '../../util/arena.ts'
import { equalBytes, utf8Encode } from '../../util/bytes.ts'

const COLON = utf8Encode(':')

/**
 * Names of all columns of a schema by column index: as members of a JSON object begin, `"name":`,
 * to be compared by words, and alone, to be looked up.
 */
export class MemberNames {
  /** Bytes of each opening: the name, two quotes, a colon; at least four. */
  readonly lengths: Int32Array
  /** The openings' words joined. The last of each ends with it, and may overlap the one before. */
  readonly words: Int32Array
  /** Where each opening's words begin. */
  readonly starts: Int32Array
  readonly #names: readonly Uint8Array[]
  /** Open-addressed by hash: column index + 1, or 0. A power of two, at most half full. */
  readonly #slots: Int32Array

  constructor(columns: readonly Column[]) {
    const openings = columns.map((column) => openingOf(column.name))
    const words: number[] = []
    this.lengths = Int32Array.from(openings, (opening) => opening.length)
    this.starts = new Int32Array(columns.length)
    for (let index = 0; index < openings.length; index++) {
      this.starts[index] = words.length
      appendWords(openings[index], words)
    }
    this.words = Int32Array.from(words)
    this.#names = columns.map((column) => utf8Encode(column.name))
    this.#slots = new Int32Array(2 ** (33 - Math.clz32(columns.length)))
    for (let index = 0; index < columns.length; index++) {
      const name = this.#names[index]
      let slot = hashOf(name, 0, name.length) & (this.#slots.length - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1)
      this.#slots[slot] = index + 1
    }
  }

  /** Index of the column with the name `bytes[start, end)`, or −1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots
    let slot = hashOf(bytes, start, end) & (slots.length - 1)
    while (slots[slot] !== 0) {
      const name = this.#names[slots[slot] - 1]
      if (equalBytes(name, 0, name.length, bytes, start, end)) return slots[slot] - 1
      slot = (slot + 1) & (slots.length - 1)
    }
    return -1
  }
}

/** FNV-1a, folded: the low bits are those that count. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c_9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x0100_0193)
  return hash ^ (hash >>> 15)
}

const namesOfSchemas = new WeakMap<Schema, MemberNames>()

/** The names of a schema's columns; made once for each schema. */
export function memberNamesOf(schema: Schema): MemberNames {
  let names = namesOfSchemas.get(schema)
  if (names === undefined) {
    names = new MemberNames(schema.columns)
    namesOfSchemas.set(schema, names)
  }
  return names
}

/** A member's name as JSON has it, in quotes, and the colon. */
export function openingOf(name: string): Uint8Array {
  const arena = new ByteArena(64)
  const bytes = utf8Encode(name)
  appendJsonString(arena, bytes, 0, bytes.length)
  arena.append(COLON, 0, COLON.length)
  return arena.bytes.slice(0, arena.length)
}

/** Appends the words of at least four bytes; the last one ends with them. */
function appendWords(bytes: Uint8Array, words: number[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const last = bytes.length - 4
  for (let offset = 0; offset < last; offset += 4) words.push(view.getInt32(offset, true))
  words.push(view.getInt32(last, true))
}

/** Names of columns as members of a JSON object begin, `"name":`, to be compared by words. */

import { appendJsonString } from '../../common/json-string.ts'
import type { Column, Schema } from '../../common/schema.ts'
import { ByteArena } from '../../util/arena.ts'
import { utf8Encode } from '../../util/bytes.ts'

const COLON = utf8Encode(':')

/** The openings of members of all columns of a schema, by column index. */
export class MemberNames {
  /** Bytes of each opening: the name, two quotes, a colon; at least four. */
  readonly lengths: Int32Array
  /** The openings' words joined. The last of each ends with it, and may overlap the one before. */
  readonly words: Int32Array
  /** Where each opening's words begin. */
  readonly starts: Int32Array

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
  }
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

/**
 * Reads a whole JSON text that is not of rows, exactly: numbers stay as they were written, of
 * repeated members the last counts, and every name is an ordinary name.
 */

import { shownValue } from '../common/cell-error.ts'
import { JSON_VALUE_COUNT_MAX } from '../common/limits.ts'
import { NumberLiteral } from '../common/number-literal.ts'
import { StatusError } from '../common/status.ts'
import { utf8Decode } from '../util/bytes.ts'
import { JSON_BYTE, JsonCursor, JsonSyntaxError, syntaxFailure } from './format/json-cursor.ts'

/**
 * The value of a JSON text in `bytes[0, end)`, named `what` in errors: null, booleans, strings,
 * NumberLiterals, arrays and plain objects of such.
 *
 * Requires: `bytes[end]` is a readable byte below 0x20. Throws: INVALID_ARGUMENT when the bytes are
 * not JSON or nested too deep, PAYLOAD_TOO_LARGE when they hold too many values.
 */
export function readJsonTree(bytes: Uint8Array, end: number, what = 'body'): unknown {
  const reader = new TreeReader(bytes, end)
  try {
    return reader.readWhole()
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw syntaxFailure(what, error)
  }
}

class TreeReader {
  readonly #cursor = new JsonCursor()
  #valueCount = 0

  constructor(bytes: Uint8Array, end: number) {
    this.#cursor.reset(bytes, 0, end)
  }

  readWhole(): unknown {
    const value = this.#readValue(0)
    this.#cursor.expectEnd()
    return value
  }

  #readValue(depth: number): unknown {
    this.#count()
    const cursor = this.#cursor
    switch (cursor.peek()) {
      case JSON_BYTE.quote:
        cursor.readString()
        return this.#text()
      case JSON_BYTE.openObject:
        return this.#readObject(depth + 1)
      case JSON_BYTE.openArray:
        return this.#readArray(depth + 1)
      case 0x74:
      case 0x66:
      case 0x6e:
        return WORDS[cursor.readWord()]
      default: {
        const start = cursor.position
        cursor.readNumber()
        return new NumberLiteral(utf8Decode(cursor.bytes.subarray(start, cursor.position)))
      }
    }
  }

  #count(): void {
    if (++this.#valueCount <= JSON_VALUE_COUNT_MAX) return
    throw new StatusError(
      'PAYLOAD_TOO_LARGE',
      `JSON has more values than the limit of ${JSON_VALUE_COUNT_MAX}`,
      { limit: JSON_VALUE_COUNT_MAX },
    )
  }

  #readObject(depth: number): Record<string, unknown> {
    const cursor = this.#cursor
    const members: Record<string, unknown> = {}
    this.#cursor.checkDepth(depth)
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeObject) {
      cursor.position++
      return members
    }
    do {
      cursor.readName()
      const name = this.#text()
      const value = this.#readValue(depth)
      // Assigning to `__proto__` would change what the object inherits.
      if (name === '__proto__') Object.defineProperty(members, name, { value, ...ORDINARY })
      else members[name] = value
    } while (!cursor.endsList(JSON_BYTE.closeObject))
    return members
  }

  #readArray(depth: number): unknown[] {
    const cursor = this.#cursor
    const elements: unknown[] = []
    this.#cursor.checkDepth(depth)
    cursor.position++
    if (cursor.peek() === JSON_BYTE.closeArray) {
      cursor.position++
      return elements
    }
    do elements.push(this.#readValue(depth))
    while (!cursor.endsList(JSON_BYTE.closeArray))
    return elements
  }

  /**
   * The string just read; one with half a surrogate pair ends with such a half, as nothing else
   * does.
   */
  #text(): string {
    const { stringBytes, stringStart, stringEnd, hasLoneSurrogate } = this.#cursor
    const text = utf8Decode(stringBytes.subarray(stringStart, stringEnd))
    return hasLoneSurrogate ? `${text}\ud800` : text
  }
}

const ORDINARY = { enumerable: true, configurable: true, writable: true } as const

const WORDS: Readonly<Record<number, boolean | null>> = { 116: true, 102: false, 110: null }

/**
 * A JSON value as text with sorted members, such that equal requests give equal texts.
 */
export function canonicalJson(value: unknown): string {
  if (value instanceof NumberLiteral) return value.text
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${texts.join(',')}}`
}

/** A name from a client's body as errors show it. */
export function shownName(name: string): string {
  return JSON.stringify(shownValue(name).toWellFormed())
}

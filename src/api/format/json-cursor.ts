/**
 * A position in JSON bytes: skips white space, walks strings and numbers, and skips whole values
 * while checking them against RFC 8259 to the last byte. Hot: one cursor per body, no allocation
 * while scanning.
 *
 * The bytes end at `end`, and `bytes[end]` must be readable and below 0x20: it stops every inner
 * loop, which therefore need not look at `end`. A syntax error is thrown as `JsonSyntaxError`; it
 * ends the whole body, so its cost does not matter.
 */

import { JSON_DEPTH_MAX } from '../../common/limits.ts'
import { invalidArgument, type StatusError } from '../../common/status.ts'
import { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { utf8Decode } from '../../util/bytes.ts'
import { utf8SequenceBytes } from '../../util/utf8-sequence.ts'

/** Bytes are not JSON. `offset` counts from the start of the body or line. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number
  /** The bound that was passed, if it is one; the bytes may be JSON all the same. */
  readonly limit: number | null

  constructor(message: string, offset: number, limit: number | null = null) {
    super(message)
    this.offset = offset
    this.limit = limit
  }
}

/** The failure of a text, named `what`, that a syntax error ended. */
export function syntaxFailure(what: string, error: JsonSyntaxError): StatusError {
  const { message, offset, limit } = error
  if (limit === null) return invalidArgument(`${what} is not JSON: ${message} at byte ${offset}`)
  return invalidArgument(`${what} is ${message} at byte ${offset}`, { limit })
}

/** Bytes with a meaning in JSON. */
export const JSON_BYTE = {
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
  t: 0x74,
  f: 0x66,
  n: 0x6e,
} as const

/**
 * Scans one JSON text. Fields are public because the row decoder reads and moves them in its loops.
 */
export class JsonCursor {
  bytes: Uint8Array
  /** The same bytes, to be read a word at a time. */
  view: DataView
  /** Next byte to read. */
  position = 0
  /** End of the text; `bytes[end]` is a readable byte below 0x20. */
  end = 0
  /** Where the text starts, for offsets in errors. */
  start = 0

  /** The last string's bytes: in `bytes` itself, or in `scratch` when it had escapes. */
  stringBytes: Uint8Array
  stringStart = 0
  stringEnd = 0
  /** Whether the last string had an escape that is half a surrogate pair; it was read as U+FFFD. */
  hasLoneSurrogate = false

  readonly #scratch = new ByteArena(256)

  constructor() {
    this.bytes = new Uint8Array(1)
    this.view = viewOf(this.bytes)
    this.stringBytes = this.bytes
  }

  /** Points the cursor at `bytes[start, end)`. Requires: `bytes[end]` exists and is below 0x20. */
  reset(bytes: Uint8Array, start: number, end: number): void {
    assert(end < bytes.length && bytes[end] < 0x20, 'JSON bytes need a sentinel behind their end')
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = viewOf(bytes)
    }
    this.start = start
    this.position = start
    this.end = end
  }

  /** Moves to the next byte that is not white space. Returns it, or −1 at the end. */
  peek(): number {
    const bytes = this.bytes
    let position = this.position
    while (position < this.end) {
      const byte = bytes[position]
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.position = position
        return byte
      }
      position++
    }
    this.position = position
    return -1
  }

  /** Moves over white space and the byte `expected`. Throws: JsonSyntaxError when another comes. */
  expect(expected: number, what: string): void {
    if (this.peek() !== expected) this.fail(`expected ${what}`)
    this.position++
  }

  /** Throws a JsonSyntaxError at the present position. */
  fail(message: string): never {
    const where = this.position >= this.end ? 'unexpected end of JSON' : message
    throw new JsonSyntaxError(where, this.position - this.start)
  }

  /** The four bytes at an offset, the first one lowest; 0 where fewer are left. */
  wordAt(offset: number): number {
    return offset + 4 <= this.bytes.length ? this.view.getInt32(offset, true) : 0
  }

  /**
   * Reads the string whose opening quote is at `position`, into `stringBytes[stringStart,
   * stringEnd)`.
   *
   * Invariant: the bytes are UTF-8. Borrowed: until the next string is read.
   */
  readString(): void {
    const bytes = this.bytes
    let position = this.position + 1
    this.hasLoneSurrogate = false
    this.stringStart = position
    for (;;) {
      const byte = bytes[position]
      if (byte === JSON_BYTE.quote) break
      if (byte >= 0x80) {
        position = this.#passUtf8(position)
      } else if (byte === JSON_BYTE.backslash) {
        this.#readEscapedString(position)
        return
      } else if (byte < 0x20) {
        this.position = position
        this.fail('control character in a string')
      } else {
        position++
      }
    }
    this.stringBytes = bytes
    this.stringEnd = position
    this.position = position + 1
  }

  /**
   * Moves over one sequence of UTF-8 that is longer than a byte. Returns the position behind it.
   */
  #passUtf8(position: number): number {
    const length = utf8SequenceBytes(this.bytes, position)
    if (length === 0) {
      this.position = position
      this.fail('not UTF-8')
    }
    return position + length
  }

  /**
   * Goes on with a string that has an escape at `firstEscape`: unescapes it into the scratch arena.
   */
  #readEscapedString(firstEscape: number): void {
    const scratch = this.#scratch
    scratch.truncate(0)
    scratch.append(this.bytes, this.stringStart, firstEscape)
    this.position = firstEscape
    for (;;) {
      const runStart = this.position
      let position = runStart
      let byte = this.bytes[position]
      while (byte !== JSON_BYTE.quote && byte !== JSON_BYTE.backslash && byte >= 0x20) {
        position = byte >= 0x80 ? this.#passUtf8(position) : position + 1
        byte = this.bytes[position]
      }
      scratch.append(this.bytes, runStart, position)
      this.position = position
      if (byte === JSON_BYTE.quote) break
      if (byte < 0x20) this.fail('control character in a string')
      this.#readEscape()
    }
    this.position++
    this.stringBytes = scratch.bytes
    this.stringStart = 0
    this.stringEnd = scratch.length
  }

  #readEscape(): void {
    const escaped = this.bytes[this.position + 1]
    if (escaped !== 0x75) {
      const byte = SIMPLE_ESCAPES[escaped] ?? 0
      if (byte === 0) this.fail('unknown escape in a string')
      this.#appendCodePoint(byte)
      this.position += 2
      return
    }
    let codePoint = this.#hexDigits(this.position + 2)
    this.position += 6
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) codePoint = this.#pairSurrogate(codePoint)
    this.#appendCodePoint(codePoint)
  }

  #pairSurrogate(unit: number): number {
    const { bytes, position } = this
    if (unit < 0xdc00 && bytes[position] === JSON_BYTE.backslash && bytes[position + 1] === 0x75) {
      const low = this.#hexDigits(position + 2)
      if (low >= 0xdc00 && low <= 0xdfff) {
        this.position += 6
        return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
      }
    }
    this.hasLoneSurrogate = true
    return 0xfffd
  }

  #hexDigits(offset: number): number {
    let value = 0
    for (let i = 0; i < 4; i++) {
      const byte = this.bytes[offset + i]
      let digit = -1
      if (byte >= 0x30 && byte <= 0x39) digit = byte - 0x30
      else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66) digit = (byte | 0x20) - 0x57
      if (digit < 0) this.fail('bad \\u escape in a string')
      value = value * 16 + digit
    }
    return value
  }

  #appendCodePoint(codePoint: number): void {
    const scratch = this.#scratch
    scratch.reserve(4)
    const { bytes } = scratch
    let { length } = scratch
    if (codePoint < 0x80) {
      bytes[length++] = codePoint
    } else if (codePoint < 0x800) {
      bytes[length++] = 0xc0 | (codePoint >> 6)
      bytes[length++] = 0x80 | (codePoint & 0x3f)
    } else {
      if (codePoint < 0x10000) {
        bytes[length++] = 0xe0 | (codePoint >> 12)
      } else {
        bytes[length++] = 0xf0 | (codePoint >> 18)
        bytes[length++] = 0x80 | ((codePoint >> 12) & 0x3f)
      }
      bytes[length++] = 0x80 | ((codePoint >> 6) & 0x3f)
      bytes[length++] = 0x80 | (codePoint & 0x3f)
    }
    scratch.length = length
  }

  /** Moves over the number at `position`, checking its grammar. */
  readNumber(): void {
    const bytes = this.bytes
    let position = this.position
    if (bytes[position] === JSON_BYTE.minus) position++
    const digitsStart = position
    let byte = bytes[position]
    while (byte >= JSON_BYTE.zero && byte <= JSON_BYTE.nine) byte = bytes[++position]
    const digits = position - digitsStart
    this.position = digitsStart
    if (digits === 0) this.fail('not a value')
    if (digits > 1 && bytes[digitsStart] === JSON_BYTE.zero) this.fail('number has a leading zero')
    this.position = position
    if (byte === JSON_BYTE.point || byte === 0x65 || byte === 0x45) this.#readFraction()
  }

  #readFraction(): void {
    const bytes = this.bytes
    if (bytes[this.position] === JSON_BYTE.point) {
      this.position++
      this.#passDigits('digits must follow the point of a number')
    }
    if ((bytes[this.position] | 0x20) === 0x65) {
      const sign = bytes[this.position + 1]
      this.position += sign === 0x2b || sign === JSON_BYTE.minus ? 2 : 1
      this.#passDigits('digits must follow the exponent of a number')
    }
  }

  #passDigits(message: string): void {
    const from = this.position
    let byte = this.bytes[this.position]
    while (byte >= JSON_BYTE.zero && byte <= JSON_BYTE.nine) byte = this.bytes[++this.position]
    if (this.position === from) this.fail(message)
  }

  /**
   * Moves over `true`, `false` or `null`, whichever begins at `position`. Returns its first byte.
   */
  readWord(): number {
    const first = this.bytes[this.position]
    const word = WORDS[first]
    if (word === undefined) this.fail('not a value')
    for (let i = 1; i < word.length; i++) {
      if (this.bytes[this.position + i] !== word[i]) this.fail('not a value')
    }
    this.position += word.length
    return first
  }

  /** Moves over the value that begins behind white space at `position`, checking all of it. */
  skipValue(depth: number): void {
    switch (this.peek()) {
      case JSON_BYTE.quote:
        this.readString()
        return
      case JSON_BYTE.openObject:
        this.#skipObject(depth + 1)
        return
      case JSON_BYTE.openArray:
        this.#skipArray(depth + 1)
        return
      case 0x74:
      case 0x66:
      case 0x6e:
        this.readWord()
        return
      default:
        this.readNumber()
    }
  }

  #skipObject(depth: number): void {
    this.checkDepth(depth)
    this.position++
    if (this.peek() === JSON_BYTE.closeObject) {
      this.position++
      return
    }
    for (;;) {
      this.readName()
      this.skipValue(depth)
      if (this.endsList(JSON_BYTE.closeObject)) return
    }
  }

  #skipArray(depth: number): void {
    this.checkDepth(depth)
    this.position++
    if (this.peek() === JSON_BYTE.closeArray) {
      this.position++
      return
    }
    for (;;) {
      this.skipValue(depth)
      if (this.endsList(JSON_BYTE.closeArray)) return
    }
  }

  /**
   * Walks the object whose `{` is at the cursor; `visit` reads the value of each member. `depth` is
   * the nesting of the object.
   */
  eachMember(depth: number, visit: (name: string) => void): void {
    this.checkDepth(depth)
    this.position++
    if (this.peek() === JSON_BYTE.closeObject) {
      this.position++
      return
    }
    do {
      this.readName()
      visit(utf8Decode(this.stringBytes.subarray(this.stringStart, this.stringEnd)))
    } while (!this.endsList(JSON_BYTE.closeObject))
  }

  /** Reads a member's name and the colon behind it. */
  readName(): void {
    if (this.peek() !== JSON_BYTE.quote) this.fail('expected a member name')
    this.readString()
    if (this.bytes[this.position] === JSON_BYTE.colon) this.position++
    else this.expect(JSON_BYTE.colon, 'a colon')
  }

  /** Moves over a comma (returns false) or over the closing byte (returns true). */
  endsList(close: number): boolean {
    const byte = this.peek()
    if (byte !== close && byte !== JSON_BYTE.comma) {
      this.fail(close === JSON_BYTE.closeObject ? 'expected , or }' : 'expected , or ]')
    }
    this.position++
    return byte === close
  }

  /** Throws when objects and arrays are nested deeper than the limit. */
  checkDepth(depth: number): void {
    if (depth > JSON_DEPTH_MAX) {
      throw new JsonSyntaxError(
        `nested deeper than the limit of ${JSON_DEPTH_MAX}`,
        this.position - this.start,
        JSON_DEPTH_MAX,
      )
    }
  }

  /** Throws unless only white space is left. */
  expectEnd(): void {
    if (this.peek() !== -1) this.fail('unexpected text behind the value')
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Bytes behind a backslash that stand for one character, and that character; 0 elsewhere. */
const SIMPLE_ESCAPES = new Uint8Array(128)
for (const [escaped, meant] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  SIMPLE_ESCAPES[escaped.charCodeAt(0)] = meant.charCodeAt(0)
}

const WORDS: Readonly<Record<number, Uint8Array>> = {
  116: new TextEncoder().encode('true'),
  102: new TextEncoder().encode('false'),
  110: new TextEncoder().encode('null'),
}

/** Random JSON texts, written in all ways that the grammar allows, and texts that are nearly so. */

import { utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'

const SPACES = ['', '', '', ' ', '\n', '\t', '\r\n', '  ']
const CHARACTERS = ['a', 'b', 'é', '水', '😀', ' ', '/', '\u007f', '0', ':', '{', '}', '[', ',']
const ESCAPES = ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0041', '\\u00e9']
const MORE_ESCAPES = ['\\u6c34', '\\ud83d\\ude00', '\\u0000', '\\uD83D\\uDE00']
const LONE_HALVES = ['\\ud800', '\\udc00', '\\ud800\\u0041', '\\udfff\\ud800']
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1.5',
  '1e3',
  '1E+2',
  '2.5e-3',
  '123456789012345678',
  '0.1',
  '1e999',
]

/** White space or nothing. */
export function randomSpace(prng: Prng): string {
  return prng.pick(SPACES)
}

/** A string with its quotes; halves of surrogate pairs only on demand. */
export function randomJsonString(prng: Prng, hasHalves = true): string {
  let text = ''
  const length = prng.below(prng.chance(0.1) ? 40 : 6)
  for (let i = 0; i < length; i++) {
    const kind = prng.below(hasHalves ? 16 : 15)
    if (kind < 11) text += prng.pick(CHARACTERS)
    else if (kind < 13) text += prng.pick(ESCAPES)
    else if (kind < 15) text += prng.pick(MORE_ESCAPES)
    else text += prng.pick(LONE_HALVES)
  }
  return `"${text}"`
}

/** Any value, nested `depth` deep at most. */
export function randomJson(prng: Prng, depth: number): string {
  const kind = prng.below(depth > 0 ? 10 : 6)
  if (kind < 2) return randomJsonString(prng)
  if (kind < 4) return prng.pick(NUMBERS)
  if (kind < 6) return prng.pick(['true', 'false', 'null'])
  const count = prng.below(4)
  const parts = Array.from({ length: count }, () => {
    const value = `${randomSpace(prng)}${randomJson(prng, depth - 1)}${randomSpace(prng)}`
    if (kind < 8) return value
    return `${randomSpace(prng)}${randomJsonString(prng)}${randomSpace(prng)}:${value}`
  })
  const body = count === 0 ? randomSpace(prng) : parts.join(',')
  return kind < 8 ? `[${body}]` : `{${body}}`
}

const BYTES = [0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x20, 0x22, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x31, 0x3a]
const MORE_BYTES = [
  0x45, 0x5b, 0x5c, 0x5d, 0x65, 0x6e, 0x75, 0x7b, 0x7d, 0x80, 0xc3, 0xed, 0xf4, 0xff,
]

/** The UTF-8 of a text with a few bytes changed, put in, taken out or doubled. */
export function mutated(prng: Prng, text: string): Uint8Array {
  const bytes = [...utf8Encode(text)]
  for (let i = prng.between(1, 3); i > 0; i--) {
    const at = prng.below(bytes.length + 1)
    const byte = prng.chance(0.2) ? prng.below(256) : prng.pick([...BYTES, ...MORE_BYTES])
    const kind = prng.below(5)
    if (kind === 0) bytes.splice(at, 1)
    else if (kind === 1) bytes.splice(at, 0, byte)
    else if (kind === 2) bytes.splice(at, prng.below(8))
    else if (kind === 3) bytes.splice(at, 0, ...bytes.slice(at, at + prng.below(8)))
    else bytes[at < bytes.length ? at : 0] = byte
  }
  return Uint8Array.from(bytes)
}

/** How deep the objects and arrays of a value are nested. */
export function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/**
 * Single values for tests of readers and printers: texts inside other bytes, and what an arena was
 * given.
 */

import { scratchWords } from '../../src/common/scalar-scratch.ts'
import { ByteArena } from '../../src/util/arena.ts'
import { utf8Decode, utf8Encode } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'

/** A text between bytes that continue it, so that a reader that leaves its slice is caught. */
export function framed(text: string): { bytes: Uint8Array; start: number; end: number } {
  const before = '-8.9'
  const bytes = utf8Encode(`${before}${text}5e7:Z`)
  return { bytes, start: before.length, end: bytes.length - 5 }
}

/** What `append` writes behind bytes that were there before, in an arena that is full. */
export function printed(append: (arena: ByteArena) => void): string {
  const arena = new ByteArena(1)
  arena.append(utf8Encode('#'), 0, 1)
  append(arena)
  const text = utf8Decode(arena.bytes.subarray(0, arena.length))
  if (!text.startsWith('#')) throw new Error(`bytes before were changed: ${text}`)
  return text.slice(1)
}

/** Words of an integer in two's complement, low word first. */
export function wordsOf(value: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, i) =>
    Number(BigInt.asUintN(32, value >> BigInt(i * 32))),
  )
}

/** The int64 in scratch. */
export function scratchInt64(): bigint {
  return BigInt.asIntN(64, (BigInt(scratchWords[1]) << 32n) | BigInt(scratchWords[0]))
}

/** The int128 in scratch. */
export function scratchInt128(): bigint {
  let value = 0n
  for (let i = 3; i >= 0; i--) value = (value << 32n) | BigInt(scratchWords[i])
  return BigInt.asIntN(128, value)
}

/** An integer of any number of bits up to `bits`, of either sign. */
export function randomInteger(prng: Prng, bits: number): bigint {
  let value = 0n
  for (let i = 0; i < 4; i++) value = (value << 32n) | BigInt(prng.uint32())
  return BigInt.asIntN(prng.between(1, bits), value)
}

/** `count` random digits. */
export function randomDigits(prng: Prng, count: number): string {
  let digits = ''
  for (let i = 0; i < count; i++) digits += prng.chance(0.2) ? '0' : String(prng.below(10))
  return digits
}

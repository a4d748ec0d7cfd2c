import type { Prng } from '../../src/util/prng.ts'

/** Bytes as codecs meet them: of no order, of words, of one byte, of any length. */
export function randomText(prng: Prng): Uint8Array {
  const length = prng.pick([0, 1, 4, 5, 12, 13, 100, 5000, 70_000])
  const kind = prng.below(4)
  const words = Array.from({ length: 30 }, () =>
    Uint8Array.from({ length: prng.between(1, 90) }, () => prng.below(256)),
  )
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; ) {
    if (kind === 0) bytes[at++] = prng.below(256)
    else if (kind === 1) bytes[at++] = 7
    else {
      const word = prng.pick(words).subarray(0, length - at)
      bytes.set(word, at)
      at += word.length
    }
  }
  return bytes
}

import { describe, expect, test } from 'vitest'
import { murmur2Bucket, murmur2Hash64 } from '../../src/common/murmur2.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Vectors {
  readonly murmur2_64: {
    readonly cases: readonly { input: string; seed: number; expect: string }[]
  }
}

const { murmur2_64 } = readVectors<Vectors>('keys')

/** MurmurHash64A as its definition says, in 64-bit integers. */
function plainHash(bytes: Uint8Array, seed: number): bigint {
  const m = 0xc6a4_a793_5bd1_e995n
  const word = (value: bigint) => BigInt.asUintN(64, value)
  let hash = word(BigInt(seed) ^ word(BigInt(bytes.length) * m))
  const whole = bytes.length - (bytes.length % 8)
  for (let i = 0; i < whole; i += 8) {
    let k = 0n
    for (let j = 7; j >= 0; j--) k = (k << 8n) | BigInt(bytes[i + j])
    k = word(k * m)
    k = word((k ^ (k >> 47n)) * m)
    hash = word((hash ^ k) * m)
  }
  if (whole < bytes.length) {
    let k = 0n
    for (let i = bytes.length - 1; i >= whole; i--) k = (k << 8n) | BigInt(bytes[i])
    hash = word((hash ^ k) * m)
  }
  hash = word((hash ^ (hash >> 47n)) * m)
  return hash ^ (hash >> 47n)
}

function randomBytes(prng: Prng, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => prng.below(256))
}

describe('murmur2Hash64', () => {
  test('gives the hashes of the vectors', () => {
    for (const { input, seed, expect: hash } of murmur2_64.cases) {
      expect(String(murmur2Hash64(utf8Encode(input), seed)), input).toBe(hash)
    }
    reportVectors('murmur2_64', murmur2_64.cases.length)
  })

  test('equals the definition in 64-bit integers, for every length and any seed', () => {
    const prng = new Prng(1)
    for (let length = 0; length <= 70; length++) {
      for (const seed of [0, 1, 0x8000_0000, 0xffff_ffff, prng.uint32()]) {
        const bytes = randomBytes(prng, length)

        expect(murmur2Hash64(bytes, seed), `length ${length} seed ${seed}`).toBe(
          plainHash(bytes, seed),
        )
      }
    }
  })
})

describe('murmur2Bucket', () => {
  test('is the unsigned hash of the slice modulo the number of buckets', () => {
    const prng = new Prng(2)
    const bytes = randomBytes(prng, 64)
    for (const bucketCount of [1, 2, 3, 7, 16, 1000, 1024, 0xfff1, 0xffff, 0x10000]) {
      for (let round = 0; round < 50; round++) {
        const start = prng.below(30)
        const end = start + prng.below(30)
        const seed = prng.uint32()

        const bucket = murmur2Bucket(bytes, start, end, seed, bucketCount)

        const hash = plainHash(bytes.slice(start, end), seed)
        const message = `count ${bucketCount} round ${round} of seed 2`
        expect(bucket, message).toBe(Number(hash % BigInt(bucketCount)))
      }
    }
  })

  test('refuses a number of buckets it cannot divide by', () => {
    const bytes = new Uint8Array(8)

    expect(() => murmur2Bucket(bytes, 0, 8, 0, 0)).toThrow('bucket count is out of bounds')
    expect(() => murmur2Bucket(bytes, 0, 8, 0, 65_537)).toThrow('bucket count is out of bounds')
  })
})

import { describe, expect, test } from 'vitest'
import { BodyReader } from '../../../src/cfile/encoding/body-reader.ts'
import { BodyWriter } from '../../../src/cfile/encoding/body-writer.ts'
import {
  appendNumbers,
  NUMBER_FORMS,
  type NumberForm,
  type RunChoice,
  readNumbers,
} from '../../../src/cfile/encoding/number-stream.ts'
import { Prng } from '../../../src/util/prng.ts'

interface Stream {
  readonly form: NumberForm
  readonly bytes: number
  readonly decoded: number[]
}

function streamOf(numbers: Int32Array, runs: RunChoice = 'may'): Stream {
  const body = new BodyWriter()
  const form = appendNumbers(numbers, numbers.length, runs, body)
  const reader = new BodyReader(body.bytes.slice(0, body.length), 'stream')
  const decoded = new Int32Array(numbers.length)
  expect(readNumbers(reader, numbers.length, decoded)).toBe(form)
  expect(reader.offset).toBe(body.length)
  return { form, bytes: body.length, decoded: [...decoded] }
}

function numbersOf(count: number, next: (i: number) => number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => next(i))
}

describe('appendNumbers', () => {
  test('keeps numbers of every width and count', () => {
    for (let width = 0; width <= 32; width++) {
      for (const count of [0, 1, 31, 32, 33, 64, 100, 129, 1000]) {
        const prng = new Prng(width * 1000 + count)
        const base = prng.uint32()
        const numbers = numbersOf(
          count,
          () => base + (width === 0 ? 0 : prng.uint32() >>> (32 - width)),
        )
        for (const runs of ['may', 'never', 'must'] as const) {
          expect(streamOf(numbers, runs).decoded, `width ${width}, ${count} numbers`).toEqual([
            ...numbers,
          ])
        }
      }
    }
  })

  test('keeps numbers that leap over the ends of the range', () => {
    const ends = [2 ** 31 - 1, -(2 ** 31), 0, -1, 2 ** 31 - 2, -(2 ** 31) + 1]
    for (let seed = 1; seed <= 100; seed++) {
      const prng = new Prng(seed)
      const numbers = numbersOf(prng.between(1, 400), () =>
        prng.chance(0.1) ? prng.pick(ends) : prng.below(10),
      )
      expect(streamOf(numbers).decoded, `seed ${seed}`).toEqual([...numbers])
    }
  })

  test('takes steps where numbers ascend', () => {
    const { form, bytes } = streamOf(numbersOf(4096, (i) => i * 1000 + (i % 7)))

    expect(form).toBe(NUMBER_FORMS.STEPS)
    expect(bytes).toBeLessThan(4096 / 2 + 100)
  })

  test('takes runs where numbers repeat, unless they are not wanted', () => {
    const numbers = numbersOf(4096, (i) => (i >>> 8) * 1000)

    expect(streamOf(numbers).form).toBe(NUMBER_FORMS.RUNS)
    expect(streamOf(numbers).bytes).toBeLessThan(120)
    expect(streamOf(numbers, 'never').form).not.toBe(NUMBER_FORMS.RUNS)
  })

  test('does not make all numbers wide for a few that are, above or below', () => {
    const prng = new Prng(5)
    const high = numbersOf(4096, (i) => (i % 100 === 3 ? 2_000_000_000 : prng.below(64)))
    const low = numbersOf(4096, (i) => (i % 100 === 3 ? -2_000_000_000 : prng.below(64)))
    const leaps = numbersOf(4096, (i) => i * 50 + Math.floor(i / 100) * 1_000_000)

    expect(streamOf(high).bytes).toBeLessThan(4096)
    expect(streamOf(low).bytes).toBeLessThan(4096)
    expect(streamOf(leaps).bytes).toBeLessThan(600)
    expect(streamOf(low).decoded).toEqual([...low])
  })
})

describe('readNumbers', () => {
  test('refuses runs within runs, however deep', () => {
    const words = new Uint32Array(30_000)
    for (let i = 0; i < words.length; i += 3) words.set([NUMBER_FORMS.RUNS, 1, 0], i)
    const reader = new BodyReader(new Uint8Array(words.buffer), 'file 7, block 1')

    expect(() => readNumbers(reader, 5, new Int32Array(5))).toThrow('file 7, block 1: runs of runs')
  })
})

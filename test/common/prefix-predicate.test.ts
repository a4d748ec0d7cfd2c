import { describe, expect, test } from 'vitest'
import { predicateMatchesCell } from '../../src/common/column-predicate.ts'
import { prefixPredicate } from '../../src/common/prefix-predicate.ts'
import { utf8DecodeStrict, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'

// Both ends of each length of UTF-8, and of the surrogates' gap.
const CODE_POINTS = [
  0, 1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffe, 0xffff, 0x10000, 0x10fffe, 0x10ffff,
]
const BYTES = [0, 1, 0x7f, 0x80, 0xfe, 0xff]

describe('prefixPredicate', () => {
  test.each(['STRING', 'VARCHAR(9)'])(
    'accepts the texts that begin so, by bounds of UTF-8: %s',
    (type) => {
      const column = aColumn(`x ${type}`)
      for (let seed = 1; seed <= 3000; seed++) {
        const prng = new Prng(seed)
        const text = () => {
          const points = Array.from({ length: prng.below(4) }, () => prng.pick(CODE_POINTS))
          return String.fromCodePoint(...points)
        }
        const prefix = text()
        const cell = prng.chance(0.5) ? prefix + text() : text()
        const predicate = prefixPredicate(column, utf8Encode(prefix))
        const where = `seed ${seed}: ${JSON.stringify([prefix, cell])}`
        const isMatch = predicateMatchesCell(column, predicate, utf8Encode(cell))
        if (isMatch !== cell.startsWith(prefix)) expect.fail(where)
        for (const bound of [predicate.lower, predicate.upper]) {
          if (bound !== null && utf8DecodeStrict(bound as Uint8Array) === undefined)
            expect.fail(where)
        }
      }
      expect(prefixPredicate(column, utf8Encode('')).kind).toBe('IS_NOT_NULL')
    },
  )

  test('accepts the bytes that begin so', () => {
    const column = aColumn('x BINARY')
    for (let seed = 1; seed <= 3000; seed++) {
      const prng = new Prng(seed)
      const bytes = () => Array.from({ length: prng.below(4) }, () => prng.pick(BYTES))
      const prefix = bytes()
      const cell = prng.chance(0.5) ? [...prefix, ...bytes()] : bytes()
      const predicate = prefixPredicate(column, Uint8Array.from(prefix))
      const isMatch = predicateMatchesCell(column, predicate, Uint8Array.from(cell))
      const expected = prefix.every((byte, i) => cell[i] === byte)
      if (isMatch !== expected) expect.fail(`seed ${seed}: ${JSON.stringify([prefix, cell])}`)
    }
    expect(prefixPredicate(column, Uint8Array.of(0xff)).upper).toBeNull()
  })
})

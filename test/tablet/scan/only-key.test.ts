import { describe, expect, test } from 'vitest'
import { equalityPredicate } from '../../../src/common/column-predicate.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { encodeKeyCells, successorKey } from '../../../src/common/encoded-key.ts'
import { optimizeScanSpec } from '../../../src/common/scan-spec.ts'
import { hashOfKey, isOnlyKey } from '../../../src/tablet/scan/only-key.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { blockOf, hashesOf, KEY_HASH_SEED, keysOf, schemaWith } from '../../support/row-data.ts'

const numbers = schemaWith('a STRING KEY', 'b INT16 KEY', 'v INT32')
const texts = schemaWith('a INT32 KEY', 'b STRING KEY', 'v INT32')

function boundsOf(schema: typeof numbers, cells: readonly Cell[]) {
  const predicates = cells.map((cell, i) => equalityPredicate(schema.columns[i], cell))
  const spec = { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }
  return optimizeScanSpec(schema, spec)
}

describe('isOnlyKey', () => {
  test('knows the bounds of an equality on every key column', () => {
    for (const number of [-300, -1, 0, 255, 256, 32_766]) {
      const { lowerKey, upperKey } = boundsOf(numbers, [utf8Encode('x'), number])
      expect(isOnlyKey(numbers, lowerKey, upperKey), String(number)).toBe(true)
    }
    for (const text of ['', 'x', 'x\0']) {
      const { lowerKey, upperKey } = boundsOf(texts, [7, utf8Encode(text)])
      expect(isOnlyKey(texts, lowerKey, upperKey), text).toBe(true)
    }
  })

  test('says no of wider bounds, and of ones that are no whole key', () => {
    const key = encodeKeyCells(numbers.keyColumns, [utf8Encode('x'), 5])
    const above = encodeKeyCells(numbers.keyColumns, [utf8Encode('x'), 7])
    expect(isOnlyKey(numbers, key, above)).toBe(false)
    expect(isOnlyKey(numbers, key, EMPTY_BYTES)).toBe(false)
    expect(isOnlyKey(numbers, EMPTY_BYTES, Uint8Array.of(0))).toBe(false)
    // All keys whose text begins with x and a lower byte.
    expect(isOnlyKey(numbers, utf8Encode('x'), utf8Encode('y'))).toBe(false)
    const first = boundsOf(texts, [7])
    expect(isOnlyKey(texts, first.lowerKey, first.upperKey)).toBe(false)
    expect(isOnlyKey(texts, key, successorKey(successorKey(key)))).toBe(false)
  })

  test('never says yes of bounds with another key between them', () => {
    let yesCount = 0
    for (let seed = 1; seed <= 3000; seed++) {
      const prng = new Prng(seed)
      const schema = prng.pick([numbers, texts])
      const draw = () => {
        const text = utf8Encode(prng.pick(['', 'x', 'x\0', 'y']))
        const number = prng.pick([-1, 0, 1, 255, 256])
        const cells = schema === numbers ? [text, number] : [number, text]
        return encodeKeyCells(schema.keyColumns, cells)
      }
      const keys = Array.from({ length: 30 }, draw)
      const lower = prng.pick(keys)
      const upper = prng.chance(0.5) ? successorKey(lower) : prng.pick(keys)
      if (!isOnlyKey(schema, lower, upper)) continue
      yesCount++
      const between = keys.filter((key) => {
        return Buffer.compare(key, lower) > 0 && Buffer.compare(key, upper) < 0
      })
      expect(between, `seed ${seed}`).toEqual([])
    }
    expect(yesCount).toBeGreaterThan(500)
  })
})

describe('hashOfKey', () => {
  test('is the hash that rowsets have of the key', () => {
    const keys = keysOf(numbers, blockOf(numbers, [{ a: 'x', b: 5 }]))

    expect(hashOfKey(keys.key(0), KEY_HASH_SEED)).toBe(hashesOf(keys)[0])
  })
})

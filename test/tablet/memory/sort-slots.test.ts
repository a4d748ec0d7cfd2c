import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { MemRowStore } from '../../../src/tablet/memory/mem-row-store.ts'
import { sortSlots } from '../../../src/tablet/memory/sort-slots.ts'
import { Prng } from '../../../src/util/prng.ts'
import { blockOf, keysOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k BINARY KEY')

/** Keys in the order of their slots, once sorted, as hexadecimal texts. */
function sorted(keys: readonly Uint8Array[]): string[] {
  const rows = new MemRowStore(schema)
  const block = blockOf(
    schema,
    keys.map((k) => ({ k })),
  )
  const slots = Uint32Array.from(keys.keys())
  rows.append(keysOf(schema, block), block, slots, 0, keys.length, 1)
  const order = slots.slice()
  sortSlots(rows, order)
  return [...order].map((slot) => Buffer.from(rows.key(slot)).toString('hex'))
}

// Hexadecimal texts order as their bytes do.
function expected(keys: readonly Uint8Array[]): string[] {
  return keys.map((key) => Buffer.from(key).toString('hex')).sort()
}

function distinct(keys: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(keys.map((key) => [Buffer.from(key).toString('hex'), key])).values()]
}

describe('sortSlots', () => {
  test('sorts keys by all their bytes, a prefix first', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const prng = new Prng(seed)
      const lengthMax = prng.pick([1, 3, 9, 40])
      const alphabet = prng.pick([[0], [0, 1], [0, 0x7f, 0x80, 0xff]])
      const keys = distinct(
        Array.from({ length: prng.pick([1, 12, 13, 200]) }, () => {
          const prefix = Array(prng.pick([0, 0, 5])).fill(7)
          return Uint8Array.from([
            ...prefix,
            ...Array.from({ length: prng.below(lengthMax + 1) }, () => prng.pick(alphabet)),
          ])
        }),
      )

      expect(sorted(keys), `seed ${seed}`).toEqual(expected(keys))
    }
  })

  test('sorts keys of nothing but zeros by their lengths', () => {
    const keys = Array.from({ length: 500 }, (_, i) => new Uint8Array((i * 7) % 500))

    expect(sorted(keys)).toEqual(expected(keys))
  })

  test('sorts keys of which each differs from the next far behind the last', () => {
    const keys = Array.from({ length: 300 }, (_, i) => {
      const key = new Uint8Array(1300).fill(0x61)
      key[(i * 4 + 3) % 1200] = 0x62
      key[1299] = i
      return key
    })

    expect(sorted(distinct(keys))).toEqual(expected(distinct(keys)))
  })
})

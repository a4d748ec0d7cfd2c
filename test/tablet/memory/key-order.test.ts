import { describe, expect, test } from 'vitest'
import { KeyOrder } from '../../../src/tablet/memory/key-order.ts'
import { MemRowStore } from '../../../src/tablet/memory/mem-row-store.ts'
import { utf8Decode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { blockOf, keysOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY')

function append(rows: MemRowStore, ...texts: string[]): void {
  const block = blockOf(
    schema,
    texts.map((k) => ({ k })),
  )
  const order = Uint32Array.from(texts.keys())
  rows.append(keysOf(schema, block), block, order, 0, texts.length, 1)
}

function textsIn(order: KeyOrder, rows: MemRowStore): string[] {
  const { slots, count } = order.sorted(rows)
  order.checkInvariants(rows)
  return [...slots.subarray(0, count)].map((slot) => utf8Decode(rows.key(slot)))
}

describe('KeyOrder', () => {
  test('sorts rows when it is asked, and takes in those that came since', () => {
    const rows = new MemRowStore(schema)
    const order = new KeyOrder()
    append(rows, 'm', 'c', 'x')

    expect(textsIn(order, rows)).toEqual(['c', 'm', 'x'])
    append(rows, 'd', 'a', 'z', 'n')
    expect(textsIn(order, rows)).toEqual(['a', 'c', 'd', 'm', 'n', 'x', 'z'])
    append(rows, 'zz', 'zzz')
    expect(textsIn(order, rows).slice(5)).toEqual(['x', 'z', 'zz', 'zzz'])
  })

  test('holds nothing before it is asked', () => {
    const rows = new MemRowStore(schema)
    const order = new KeyOrder()
    append(rows, 'a', 'b')

    expect(order.heldBytes).toBe(0)
    order.sorted(rows)
    expect(order.heldBytes).toBeGreaterThanOrEqual(8)
  })

  test('never changes an order that somebody holds', () => {
    const rows = new MemRowStore(schema)
    const order = new KeyOrder()
    const held: [{ slots: Uint32Array; count: number }, number[]][] = []
    const prng = new Prng(3)
    for (let i = 0; i < 200; i++) {
      // Now at the end, which needs no new array, now in between, which does.
      append(rows, prng.chance(0.7) ? `m${String(i).padStart(4, '0')}` : `a${prng.uint32()}`)
      const sorted = order.sorted(rows)
      held.push([sorted, [...sorted.slots.subarray(0, sorted.count)]])
    }

    for (const [{ slots, count }, copy] of held) {
      expect([...slots.subarray(0, count)]).toEqual(copy)
    }
  })

  test('merges parts of any size as sorting them all would', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const prng = new Prng(seed)
      const rows = new MemRowStore(schema)
      const order = new KeyOrder()
      const all = new Set<string>()
      for (let part = 0; part < 6; part++) {
        const fresh = new Set<string>()
        const count = prng.pick([1, 2, 30, 300])
        const width = prng.pick([10, 1000, 100_000])
        for (let i = 0; i < count; i++) {
          const text = `${prng.pick(['', 'p', 'prefix'])}${prng.below(width)}`
          if (!all.has(text)) fresh.add(text)
        }
        if (fresh.size > 0) append(rows, ...fresh)
        for (const text of fresh) all.add(text)
        expect(textsIn(order, rows), `seed ${seed}`).toEqual([...all].sort())
      }
    }
  })
})

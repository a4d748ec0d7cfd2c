import { describe, expect, test } from 'vitest'
import { type LookupResult, lookupRows } from '../../../src/tablet/scan/key-lookup.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { blockOf, hashesOf, keysOf, rowsOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k STRING KEY', 'v INT32', 't STRING NULL')

interface Asked {
  readonly snapshot?: number
  readonly columnIds?: readonly number[]
  readonly keyStart?: number
  readonly bytesMax?: number
}

function lookup(
  writers: readonly MemRowWriter[],
  texts: readonly string[],
  asked: Asked = {},
): LookupResult {
  const keys = keysOf(
    schema,
    blockOf(
      schema,
      texts.map((k) => ({ k })),
    ),
  )
  return lookupRows({
    rowSets: writers.map((writer) => writer.rowSet),
    schema,
    columnIds: [11],
    snapshot: 100,
    keys,
    hashes: hashesOf(keys),
    keyStart: 0,
    bytesMax: 1e6,
    ...asked,
  })
}

function aWriter(at: number, ...texts: string[]): MemRowWriter {
  const writer = new MemRowWriter(schema)
  writer.insert(at, ...texts.map((k, v) => ({ k, v, t: 'x'.repeat(1000) })))
  return writer
}

describe('lookupRows', () => {
  test('finds the rows of the keys that are there, and says which', () => {
    const { block, keyIndexes, keyEnd } = lookup([aWriter(1, 'a', 'b', 'c')], ['c', 'x', 'a', 'c'])

    expect(rowsOf(schema, block)).toEqual([{ v: 2 }, { v: 0 }, { v: 2 }])
    expect([...keyIndexes]).toEqual([0, 2, 3])
    expect(keyEnd).toBe(4)
  })

  test('finds rows as they were at the snapshot', () => {
    const writer = aWriter(1, 'a', 'b')
    writer.update(5, { k: 'a', v: 9 })
    writer.delete(7, { k: 'b' })
    const at = (snapshot: number) =>
      rowsOf(schema, lookup([writer], ['a', 'b'], { snapshot }).block)

    expect([0, 4, 5, 7].map(at)).toEqual([
      [],
      [{ v: 0 }, { v: 1 }],
      [{ v: 9 }, { v: 1 }],
      [{ v: 9 }],
    ])
  })

  test('asks every rowset for the keys that none before it shows', () => {
    const old = aWriter(1, 'a', 'b')
    old.delete(2, { k: 'b' })
    const young = aWriter(3, 'x', 'b', 'c')

    const { block, keyIndexes } = lookup([young, old], ['a', 'b', 'c', 'd'])
    const before = lookup([young, old], ['a', 'b', 'c', 'd'], { snapshot: 1 })

    const found = new Map([...keyIndexes].map((it, row) => [it, rowsOf(schema, block)[row].v]))
    expect([0, 1, 2, 3].map((it) => found.get(it))).toEqual([0, 1, 2, undefined])
    expect([...before.keyIndexes]).toEqual([0, 1])
  })

  test('tells which keys are there when no column is asked for', () => {
    const { block, keyIndexes } = lookup([aWriter(1, 'a')], ['b', 'a'], { columnIds: [] })

    expect(block.rowCount).toBe(1)
    expect([...keyIndexes]).toEqual([1])
  })

  test('stops soon after its rows are too many bytes, and goes on from there', () => {
    const texts = Array.from({ length: 100 }, (_, i) => `key ${i}`)
    const writer = aWriter(1, ...texts)
    const found: number[] = []
    let steps = 0

    for (let keyStart = 0; keyStart < texts.length; steps++) {
      const asked = { columnIds: [11, 12], keyStart, bytesMax: 20_000 }
      const { block, keyIndexes, keyEnd } = lookup([writer], texts, asked)
      expect(keyEnd).toBeLessThanOrEqual(keyStart + 40)
      rowsOf(schema, block).forEach((row, i) => {
        found[keyIndexes[i]] = Number(row.v)
      })
      keyStart = keyEnd
    }

    expect(found).toEqual([...texts.keys()])
    expect(steps).toBe(4)
  })

  test('gets ahead even when no byte is allowed', () => {
    const { block, keyEnd } = lookup([aWriter(1, 'a')], ['a'], { bytesMax: 0 })

    expect([block.rowCount, keyEnd]).toEqual([1, 1])
  })
})

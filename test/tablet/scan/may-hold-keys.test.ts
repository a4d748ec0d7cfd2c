import { describe, expect, test } from 'vitest'
import { type ColumnPredicate, predicateMatchesCell } from '../../../src/common/column-predicate.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { encodeKeyCells, successorKey } from '../../../src/common/encoded-key.ts'
import { compileColumnTest } from '../../../src/tablet/scan/column-test.ts'
import { mayHoldKeys } from '../../../src/tablet/scan/may-hold-keys.ts'
import { compareWhole, EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { drawPredicate } from '../../support/draw-predicate.ts'
import { schemaWith } from '../../support/row-data.ts'

const { keyColumns } = schemaWith('host STRING KEY', 'metric STRING KEY', 'time INT32 KEY')
const [host, metric, time] = keyColumns

const key = (a: string, b: string, c: number) =>
  encodeKeyCells(keyColumns, [utf8Encode(a), utf8Encode(b), c])

function mayHold(lowerKey: Uint8Array, upperKey: Uint8Array, ...predicates: ColumnPredicate[]) {
  const tests = predicates.map((predicate) => {
    const column = keyColumns.find(({ id }) => id === predicate.columnId)
    if (column === undefined) throw new Error('a predicate on a key column')
    return compileColumnTest(column, predicate)
  })
  return mayHoldKeys(keyColumns, { lowerKey, upperKey }, tests)
}

const listOf = (columnId: number, ...values: Cell[]): ColumnPredicate => {
  return { columnId, kind: 'IN_LIST', lower: null, upper: null, values }
}

describe('mayHoldKeys', () => {
  const metrics = listOf(metric.id, utf8Encode('cpu'), utf8Encode('mem'))

  test('says no of a list on the column behind those that are alike in both bounds', () => {
    expect(mayHold(key('b', 'disk', 1), key('b', 'load', 9), metrics)).toBe(false)
    expect(mayHold(key('b', 'disk', 1), key('b', 'mem', 9), metrics)).toBe(true)
    expect(mayHold(key('b', 'disk', 1), key('c', 'load', 9), metrics)).toBe(true)
  })

  test('says no of a value that is not the one of all keys', () => {
    const times = listOf(time.id, 4, 40)

    expect(mayHold(key('b', 'disk', 1), key('b', 'disk', 9), metrics)).toBe(false)
    expect(mayHold(key('b', 'cpu', 10), key('b', 'cpu', 20), metrics, times)).toBe(false)
    expect(mayHold(key('b', 'cpu', 10), successorKey(key('b', 'cpu', 40)), times)).toBe(true)
    expect(mayHold(key('b', 'cpu', 5), key('c', 'cpu', 6), times)).toBe(true)
  })

  test('says no of a list on the first column', () => {
    const hosts = listOf(host.id, utf8Encode('a'), utf8Encode('m'))

    expect(mayHold(key('b', 'x', 1), key('l', 'x', 1), hosts)).toBe(false)
    expect(mayHold(key('b', 'x', 1), key('m', 'x', 1), hosts)).toBe(true)
  })

  test('says nothing of what an unknown or a cut bound does not tell', () => {
    const lower = key('b', 'disk', 1)

    expect(mayHold(lower, EMPTY_BYTES, metrics)).toBe(true)
    expect(mayHold(lower.slice(0, 5), key('b', 'load', 9), metrics)).toBe(true)
    expect(mayHold(lower, utf8Encode('c'), metrics)).toBe(true)
  })

  test('never says no of bounds with a key between them that passes', () => {
    let noCount = 0
    for (let seed = 1; seed <= 2000; seed++) {
      const prng = new Prng(seed)
      const texts = ['', 'a', 'a\0', 'a\0b', 'b', 'ba'].map(utf8Encode)
      const domains: readonly (readonly Cell[])[] = [texts, texts, [-2, -1, 0, 1, 256]]
      const drawKey = () => {
        const cells = domains.map((domain) => prng.pick(domain))
        if (prng.chance(0.8)) cells[0] = texts[1]
        if (prng.chance(0.5)) cells[1] = texts[2]
        return { cells, bytes: encodeKeyCells(keyColumns, cells) }
      }
      const keys = Array.from({ length: prng.between(1, 4) }, drawKey)
      keys.sort((a, b) => compareWhole(a.bytes, b.bytes))
      const least = keys[0].bytes
      const lower = prng.chance(0.3) ? least.slice(0, prng.below(least.length)) : least
      const upper = successorKey(keys[keys.length - 1].bytes)
      const index = prng.below(3)
      const { predicate, text } = drawPredicate(keyColumns[index], domains[index], prng)
      if (mayHold(lower, upper, predicate)) continue

      noCount++
      const passing = keys.filter(({ cells }) => {
        return predicateMatchesCell(keyColumns[index], predicate, cells[index])
      })
      expect(passing, `seed ${seed}: ${text}`).toEqual([])
    }
    expect(noCount).toBeGreaterThan(100)
  })
})

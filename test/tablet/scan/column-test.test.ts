import { describe, expect, test } from 'vitest'
import { LaneRoom } from '../../../src/cfile/lane-room.ts'
import { decodePage, encodePage } from '../../../src/cfile/page.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { ColumnVector } from '../../../src/common/column-vector.ts'
import { type Cell, PHYSICAL } from '../../../src/common/data-type.ts'
import { compileColumnTest, passesCell } from '../../../src/tablet/scan/column-test.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aColumn } from '../../support/a-schema.ts'
import { boundaryCells } from '../../support/boundary-cells.ts'
import { drawPredicate } from '../../support/draw-predicate.ts'
import { toDictionary } from '../../support/to-dictionary.ts'

const TYPES = [
  'BOOL',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FLOAT',
  'DOUBLE',
  'STRING',
  'BINARY',
  'UNIXTIME_MICROS',
  'DATE',
  'VARCHAR(9)',
  'DECIMAL(9,2)',
  'DECIMAL(18,2)',
  'DECIMAL(38,2)',
]

/** The cells as whoever borrows them of a page has them. */
function borrowPage(cells: ColumnVector): ColumnVector {
  const options = { encoding: 'BIT_SHUFFLE', compression: 'NO_COMPRESSION' } as const
  return decodePage(encodePage(cells, options), cells.physical, 'page', new LaneRoom())
}

describe('compileColumnTest', () => {
  test.each(TYPES)('keeps of %s cells what a plain comparison accepts', (type) => {
    const column = aColumn(`c ${type} NULL`)
    const domain = boundaryCells(column)
    for (let seed = 1; seed <= 150; seed++) {
      const prng = new Prng(seed)
      const { text, predicate, accepts } = drawPredicate(column, domain, prng)
      const nullChance = prng.pick([0, 0.2, 1])
      const cells: (Cell | null)[] = []
      const builder = new ColumnBuilder(column.physical)
      for (let row = 0; row < 100; row++) {
        cells.push(prng.chance(nullChance) ? null : prng.pick(domain))
        builder.appendCell(cells[row])
      }
      const rows = Uint32Array.from(cells.keys()).filter(() => prng.chance(0.7))
      const expected = [...rows].filter((row) => accepts(cells[row]))

      const { test: cellTest } = compileColumnTest(column, predicate)
      const flat = builder.view()
      for (const vector of [toDictionary(prng, flat), flat, toDictionary(prng, flat)]) {
        const left = rows.slice()
        const kept = cellTest.keepPassing(vector, left, left.length)

        expect([...left.subarray(0, kept)], `seed ${seed}: ${text}`).toEqual(expected)
      }
    }
  })

  test.each(['INT8', 'INT16', 'INT32', 'INT64', 'DATE', 'DECIMAL(18,2)', 'DECIMAL(38,2)'])(
    'keeps of packed %s cells what a plain comparison accepts',
    (type) => {
      const column = aColumn(`c ${type}`)
      const isWide = column.physical === PHYSICAL.int64 || column.physical === PHYSICAL.int128
      let packedCount = 0
      for (let seed = 1; seed <= 200; seed++) {
        const prng = new Prng(seed)
        const unit = prng.pick([1, 1, 3, 100, 86_400])
        const base = prng.pick([0, -7, -120, isWide ? -(2 ** 47) : 5, isWide ? 2 ** 46 + 1 : 20])
        const reach = isWide ? prng.pick([2, 300, 2 ** 30]) : prng.pick([2, 40, 90])
        const step = isWide ? unit : 1
        const draw = () => base + step * prng.below(reach)
        const cellOf = (value: number) => (isWide ? BigInt(value) : value)
        const cells = Array.from({ length: prng.pick([1, 40, 1000]) }, () => cellOf(draw()))
        const domain = [...boundaryCells(column), ...cells.slice(0, 9)]
        for (const value of [draw(), draw()]) domain.push(cellOf(value), cellOf(value + 1))
        const { text, predicate, accepts } = drawPredicate(column, domain, prng)
        const builder = new ColumnBuilder(column.physical)
        for (const cell of cells) builder.appendCell(cell)
        const packed = borrowPage(builder.view())
        if (packed.packed !== null) packedCount++
        const chance = prng.pick([0, 0.1, 0.7, 1])
        const rows = Uint32Array.from(cells.keys()).filter(() => prng.chance(chance))
        const expected = [...rows].filter((row) => accepts(cells[row]))

        const { test: cellTest } = compileColumnTest(column, predicate)
        const left = rows.slice()
        const kept = cellTest.keepPassing(packed, left, left.length)

        expect([...left.subarray(0, kept)], `seed ${seed}: ${text}`).toEqual(expected)
      }
      expect(packedCount).toBeGreaterThan(50)
    },
  )

  test('keeps nothing of a range that ends where it begins, or before', () => {
    const column = aColumn('c INT64 NULL')
    const bare = { columnId: column.id, kind: 'RANGE', values: [] } as const

    for (const [lower, upper] of [
      [5n, 5n],
      [6n, 5n],
      [null, -(2n ** 63n)],
    ]) {
      const compiled = compileColumnTest(column, { ...bare, lower, upper })
      expect(passesCell(compiled, 5n)).toBe(false)
    }
  })

  test('reads no row beyond those it is given', () => {
    const column = aColumn('c INT32 NULL')
    const builder = new ColumnBuilder(column.physical)
    builder.appendRepeated(1, 8)
    const rows = Uint32Array.of(1, 3, 5, 7)
    const kind = 'EQUALITY'
    const predicate = { columnId: column.id, kind, lower: 1, upper: null, values: [] } as const

    const kept = compileColumnTest(column, predicate).test.keepPassing(builder.view(), rows, 2)

    expect(kept).toBe(2)
    expect([...rows]).toEqual([1, 3, 5, 7])
  })
})

import { describe, expect, test } from 'vitest'
import { LaneRoom } from '../../../src/cfile/lane-room.ts'
import { decodePage, encodePage } from '../../../src/cfile/page.ts'
import type { ColumnVector } from '../../../src/common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../../../src/common/data-type.ts'
import { Prng } from '../../../src/util/prng.ts'
import {
  cellsOf,
  INTEGER_BITS,
  INTEGER_SHAPES,
  integerCell,
  plainCells,
} from '../../support/page-cells.ts'

/** What a page gives to whoever borrows its cells. */
function borrowed(cells: ColumnVector): ColumnVector {
  const options = { encoding: 'AUTO_ENCODING', compression: 'DEFAULT_COMPRESSION' } as const
  return decodePage(encodePage(cells, options), cells.physical, 'page', new LaneRoom())
}

/** Integers from their distances: picked ones, or out of all. */
function integersOf({ packed }: ColumnVector, rows: Uint32Array, pick: boolean): number[] {
  if (packed === null) throw new Error('the page is not packed')
  const { base, unit, distanceMax } = packed
  const distances = new Int32Array(rows.length)
  const all = pick ? null : packed.allDistances(2 ** 32)
  if (all === null) packed.pickDistances(rows, rows.length, distances)
  else for (let i = 0; i < rows.length; i++) distances[i] = all[rows[i]]
  for (const distance of distances) {
    expect(distance).toBeGreaterThanOrEqual(0)
    expect(distance).toBeLessThanOrEqual(distanceMax)
  }
  return [...distances].map((distance) => base + unit * distance)
}

function isSmall(cell: Cell): boolean {
  return BigInt(cell as number) < 2n ** 48n && BigInt(cell as number) > -(2n ** 48n)
}

describe('pages that are borrowed', () => {
  test.each(Object.keys(INTEGER_SHAPES))('are read where they lie: %s', (shape) => {
    for (let seed = 1; seed <= 12; seed++) {
      const prng = new Prng(seed)
      for (const [physical, bits] of INTEGER_BITS) {
        const count = prng.pick([1, 2, 33, 129, 600, 4096])
        const next = INTEGER_SHAPES[shape](prng, bits)
        const values = Array.from({ length: count }, (_, i) => integerCell(physical, next(i)))
        const cells = borrowed(cellsOf(physical, values))
        const rows = Uint32Array.from({ length: count }, (_, row) => row)
        if (cells.packed !== null) {
          const expected = values.map(Number)
          expect(integersOf(cells, rows, true), `seed ${seed}`).toEqual(expected)
          expect(integersOf(cells, rows, false), `seed ${seed}`).toEqual(expected)
          expect(values.every(isSmall)).toBe(true)
        }
        expect(plainCells(cells), `seed ${seed}`).toEqual(values)
      }
    }
  })

  test.each<[string, Physical, (prng: Prng) => number | bigint]>([
    ['a decimal', PHYSICAL.int64, (prng) => BigInt(prng.below(5000) * 100)],
    ['a negative decimal', PHYSICAL.int64, (prng) => BigInt(prng.below(5000)) - 1_000_000_000_000n],
    ['a wide decimal', PHYSICAL.int128, (prng) => BigInt(prng.below(5000))],
    ['a date', PHYSICAL.int32, (prng) => 8000 + prng.below(2500)],
    ['a small integer', PHYSICAL.int8, (prng) => prng.below(16) - 8],
  ])('are packed when the column is %s', (_name, physical, next) => {
    const prng = new Prng(5)
    const cells = cellsOf(
      physical,
      Array.from({ length: 4096 }, () => next(prng)),
    )
    expect(borrowed(cells).packed).not.toBeNull()
  })

  test('are not packed where a double holds no more, where there is null, or alone', () => {
    const prng = new Prng(6)
    const draw = (base: bigint) =>
      cellsOf(
        PHYSICAL.int64,
        Array.from({ length: 4096 }, () => base + BigInt(prng.below(5000))),
      )
    expect(borrowed(draw(2n ** 62n)).packed).toBeNull()
    expect(borrowed(draw(-(2n ** 63n))).packed).toBeNull()
    expect(borrowed(draw(2n ** 52n)).packed).toBeNull()
    expect(borrowed(draw(2n ** 48n)).packed).not.toBeNull()
    expect(borrowed(cellsOf(PHYSICAL.int64, [1, null, 3])).packed).toBeNull()
    const page = encodePage(draw(0n), {
      encoding: 'AUTO_ENCODING',
      compression: 'DEFAULT_COMPRESSION',
    })
    expect(decodePage(page, PHYSICAL.int64, 'page').packed).toBeNull()
  })
})

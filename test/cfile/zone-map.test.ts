import { describe, expect, test } from 'vitest'
import {
  decodeZoneMaps,
  encodeZoneMaps,
  mergeZoneMaps,
  type ZoneMap,
  zoneAllMatch,
  zoneMapOf,
  zoneMayMatch,
} from '../../src/cfile/zone-map.ts'
import { compareCells } from '../../src/common/cell-order.ts'
import {
  type ColumnPredicate,
  equalityPredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  predicateMatchesCell,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { ZONE_CELL_BYTES_MAX } from '../../src/common/limits.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { cellsOf, plainCells } from '../support/page-cells.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'

const LONG = 'x'.repeat(ZONE_CELL_BYTES_MAX)

function textZone(...texts: (string | null)[]): ZoneMap {
  return zoneMapOf(cellsOf(PHYSICAL.binary, texts))
}

/** A cell of the column; texts are often long and begin alike. */
function drawCell(prng: Prng, column: Column): Cell | null {
  if (prng.chance(0.2)) return null
  if (column.type !== 'STRING' || prng.chance(0.3)) return randomCell(prng, column)
  const ends = ['', 'a', 'b', '\u{10ffff}', 'ab', '\u0000']
  return utf8Encode('x'.repeat(prng.between(30, 34)) + prng.pick(ends))
}

function drawPredicate(prng: Prng, column: Column): ColumnPredicate {
  const cell = (): Cell => drawCell(prng, column) ?? randomCell(prng, column)
  const ends = [cell(), cell()].sort((a, b) => compareCells(column.physical, a, b))
  switch (prng.below(7)) {
    case 0:
      return nonePredicate(column)
    case 1:
      return isNullPredicate(column)
    case 2:
      return isNotNullPredicate(column)
    case 3:
      return inListPredicate(column, [cell(), cell(), cell()])
    case 4:
      return rangePredicate(column, ends[0], prng.chance(0.3) ? null : ends[1])
    case 5:
      return rangePredicate(column, null, ends[1])
    default:
      return equalityPredicate(column, cell())
  }
}

describe('zoneMapOf', () => {
  test('has the least and the greatest cell of every type, and counts nulls', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const prng = new Prng(seed)
      for (const text of COLUMN_TEXTS) {
        const column = aColumn(`${text} NULL`)
        const values = Array.from({ length: prng.below(20) }, () =>
          prng.chance(0.2) ? null : randomCell(prng, column),
        )
        const { physical } = column
        const numbers = values.filter((cell) => cell !== null && !Number.isNaN(cell)) as Cell[]
        numbers.sort((a, b) => compareCells(physical, a, b))
        const zone = zoneMapOf(cellsOf(physical, values))

        expect(zone, `seed ${seed} ${text}`).toMatchObject({
          rowCount: values.length,
          nullCount: values.filter((cell) => cell === null).length,
          hasNaN: values.some((cell) => Number.isNaN(cell)),
        })
        if (numbers.length === 0) {
          expect([zone.min, zone.max], `seed ${seed} ${text}`).toEqual([null, null])
          continue
        }
        const [least, greatest] = [numbers[0], numbers[numbers.length - 1]]
        const isSame = (end: Cell | null, cell: Cell): boolean =>
          end !== null &&
          compareCells(physical, end, cell instanceof Uint8Array ? cell.slice(0, 32) : cell) === 0
        expect(isSame(zone.min, least), `seed ${seed} ${text}`).toBe(true)
        expect(isSame(zone.max, greatest), `seed ${seed} ${text}`).toBe(true)
      }
    }
  })

  test('cuts long ends, and says so', () => {
    expect(textZone(`${LONG}a`, 'y')).toMatchObject({
      min: utf8Encode(LONG),
      isMinCut: true,
      max: utf8Encode('y'),
      isMaxCut: false,
    })
    expect(textZone('a', LONG)).toMatchObject({ max: utf8Encode(LONG), isMaxCut: false })
    expect(textZone('a', `${LONG}a`)).toMatchObject({ max: utf8Encode(LONG), isMaxCut: true })
  })
})

describe('zoneMayMatch', () => {
  test('never says no of a page with a cell that satisfies the predicate', () => {
    let noCount = 0
    for (let seed = 1; seed <= 150; seed++) {
      const prng = new Prng(seed)
      for (const text of [
        'value INT32 NULL',
        'value INT64 NULL',
        'value STRING NULL',
        'value DOUBLE NULL',
        'value DECIMAL(38,2) NULL',
      ]) {
        const column = aColumn(text)
        const cells = cellsOf(
          column.physical,
          Array.from({ length: prng.below(5) }, () => drawCell(prng, column)),
        )
        const zone = zoneMapOf(cells)
        for (let i = 0; i < 6; i++) {
          const predicate = drawPredicate(prng, column)
          if (zoneMayMatch(zone, column.physical, predicate)) continue
          noCount++
          const matching = plainCells(cells).filter((cell) =>
            predicateMatchesCell(column, predicate, cell),
          )
          expect(matching, `seed ${seed} ${text} ${predicate.kind}`).toEqual([])
        }
      }
    }
    expect(noCount).toBeGreaterThan(500)
  })

  test('says no of what lies outside of the ends', () => {
    const column = aColumn('value INT32 NULL')
    const zone = zoneMapOf(cellsOf(PHYSICAL.int32, [10, 20, 30]))
    const may = (predicate: ColumnPredicate): boolean =>
      zoneMayMatch(zone, PHYSICAL.int32, predicate)

    expect([9, 10, 30, 31].map((value) => may(equalityPredicate(column, value)))).toEqual([
      false,
      true,
      true,
      false,
    ])
    expect(may(rangePredicate(column, null, 10))).toBe(false)
    expect(may(rangePredicate(column, null, 11))).toBe(true)
    expect(may(rangePredicate(column, 30, null))).toBe(true)
    expect(may(rangePredicate(column, 31, null))).toBe(false)
    expect(may(inListPredicate(column, [1, 9, 31, 40]))).toBe(false)
    expect(may(inListPredicate(column, [1, 15]))).toBe(true)
    expect(may(isNullPredicate(column))).toBe(false)
  })

  test('says yes of what begins as a cut end does, and no of what is above it', () => {
    const column = aColumn('value STRING NULL')
    const zone = textZone('a', `${LONG}m`)
    const may = (text: string): boolean =>
      zoneMayMatch(zone, PHYSICAL.binary, equalityPredicate(column, utf8Encode(text)))

    expect([`${LONG}z`, LONG, 'xx', `${LONG.slice(1)}y`, 'y'].map(may)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })

  test('says of nothing but NaN that it is not null, and that nothing compares with it', () => {
    const column = aColumn('value DOUBLE NULL')
    const zone = zoneMapOf(cellsOf(PHYSICAL.float64, [Number.NaN, null]))

    expect(zoneMayMatch(zone, PHYSICAL.float64, isNotNullPredicate(column))).toBe(true)
    expect(
      zoneMayMatch(zone, PHYSICAL.float64, rangePredicate(column, Number.NEGATIVE_INFINITY, null)),
    ).toBe(false)
  })
})

describe('zoneAllMatch', () => {
  test('never says yes of a page with a cell that does not satisfy the predicate', () => {
    let yesCount = 0
    for (let seed = 1; seed <= 400; seed++) {
      const prng = new Prng(seed)
      for (const text of [
        'value INT32 NULL',
        'value INT64 NULL',
        'value STRING NULL',
        'value DOUBLE NULL',
        'value DECIMAL(38,2) NULL',
      ]) {
        const column = aColumn(text)
        const cells = cellsOf(
          column.physical,
          Array.from({ length: 1 + prng.below(3) }, () => drawCell(prng, column)),
        )
        const zone = zoneMapOf(cells)
        for (let i = 0; i < 6; i++) {
          const predicate = drawPredicate(prng, column)
          if (!zoneAllMatch(zone, column.physical, predicate)) continue
          yesCount++
          const others = plainCells(cells).filter(
            (cell) => !predicateMatchesCell(column, predicate, cell),
          )
          expect(others, `seed ${seed} ${text} ${predicate.kind}`).toEqual([])
        }
      }
    }
    expect(yesCount).toBeGreaterThan(500)
  })

  test('says yes of cells that lie within a range, of one value, and of nulls alone', () => {
    const column = aColumn('value INT32 NULL')
    const zone = (...cells: (number | null)[]) => zoneMapOf(cellsOf(PHYSICAL.int32, cells))
    const all = (map: ZoneMap, predicate: ColumnPredicate) =>
      zoneAllMatch(map, PHYSICAL.int32, predicate)

    expect(all(zone(3, 5), rangePredicate(column, 3, 6))).toBe(true)
    expect(all(zone(3, 5), rangePredicate(column, 3, 5))).toBe(false)
    expect(all(zone(3, 5), rangePredicate(column, 4, null))).toBe(false)
    expect(all(zone(3, null), rangePredicate(column, 3, 6))).toBe(false)
    expect(all(zone(3, 3), equalityPredicate(column, 3))).toBe(true)
    expect(all(zone(3, 4), inListPredicate(column, [3, 4]))).toBe(false)
    expect(all(zone(4, 4), inListPredicate(column, [3, 4]))).toBe(true)
    expect(all(zone(null, null), isNullPredicate(column))).toBe(true)
    expect(all(zone(1, 2), isNotNullPredicate(column))).toBe(true)
  })

  test('says nothing of greatest ends that are cut', () => {
    const column = aColumn('value STRING')
    const [x, xa] = [utf8Encode(LONG), utf8Encode(`${LONG}a`)]

    const range = rangePredicate(column, x, xa)
    expect(zoneAllMatch(textZone(LONG, LONG), PHYSICAL.binary, range)).toBe(true)
    expect(zoneAllMatch(textZone(LONG, `${LONG}b`), PHYSICAL.binary, range)).toBe(false)
  })
})

describe('mergeZoneMaps', () => {
  test('is the zone map of the rows of both', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const prng = new Prng(seed)
      const column = aColumn(
        prng.pick(['value STRING NULL', 'value DOUBLE NULL', 'value INT64 NULL']),
      )
      const draw = (): (Cell | null)[] =>
        Array.from({ length: prng.below(4) }, () => drawCell(prng, column))
      const [a, b] = [draw(), draw()]
      const { physical } = column

      const merged = mergeZoneMaps(
        physical,
        zoneMapOf(cellsOf(physical, a)),
        zoneMapOf(cellsOf(physical, b)),
      )

      const whole = zoneMapOf(cellsOf(physical, [...a, ...b]))
      const label = `seed ${seed}`
      expect({ ...merged, min: null, max: null }, label).toEqual({ ...whole, min: null, max: null })
      for (const end of ['min', 'max'] as const) {
        const [found, expected] = [merged[end], whole[end]]
        if (found === null || expected === null) expect(found, label).toBe(expected)
        else expect(compareCells(physical, found, expected), label).toBe(0)
      }
    }
  })
})

describe('encodeZoneMaps', () => {
  test('keeps zone maps of every type', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const prng = new Prng(seed)
      for (const text of COLUMN_TEXTS) {
        const column = aColumn(`${text} NULL`)
        const zones = Array.from({ length: prng.pick([0, 1, 5, 300]) }, () =>
          zoneMapOf(
            cellsOf(
              column.physical,
              Array.from({ length: prng.below(4) }, () => drawCell(prng, column)),
            ),
          ),
        )

        const bytes = encodeZoneMaps(zones, column.physical)

        expect(bytes.length % 8).toBe(0)
        expect(decodeZoneMaps(bytes, column.physical, 'zones'), `seed ${seed} ${text}`).toEqual(
          zones,
        )
      }
    }
  })

  test('tells a flipped bit', () => {
    const bytes = encodeZoneMaps([textZone('a', 'b')], PHYSICAL.binary)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice()
      flipped[bit >>> 3] ^= 1 << (bit & 7)
      expect(() => decodeZoneMaps(flipped, PHYSICAL.binary, 'file 7'), `bit ${bit}`).toThrow(
        /^file 7: /,
      )
    }
  })
})

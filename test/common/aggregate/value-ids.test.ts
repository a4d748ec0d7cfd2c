import { describe, expect, test } from 'vitest'
import { FIRST_ROWS } from '../../../src/common/aggregate/first-rows.ts'
import { ValueIds } from '../../../src/common/aggregate/value-ids.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { ColumnVector } from '../../../src/common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../../../src/common/data-type.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aColumn } from '../../support/a-schema.ts'
import { cellText } from '../../support/plain-aggregate.ts'
import { COLUMN_TEXTS, randomCell } from '../../support/random-cell.ts'

function vectorOf(physical: Physical, cells: readonly (Cell | null)[]): ColumnVector {
  const builder = new ColumnBuilder(physical, cells.length)
  for (const cell of cells) builder.appendCell(cell)
  return builder.view()
}

function idsOf(ids: ValueIds, cells: ColumnVector): number[] {
  const out = new Uint32Array(cells.rowCount)
  ids.assign(cells, FIRST_ROWS.upTo(cells.rowCount), cells.rowCount, out)
  return Array.from(out)
}

describe('ValueIds', () => {
  test.each(COLUMN_TEXTS)('gives equal cells of %s, and no others, the same id', (text) => {
    const column = aColumn(text.replace(/$/, ' NULL'))
    for (let seed = 1; seed <= 10; seed++) {
      const prng = new Prng(seed)
      const ids = new ValueIds(column.physical)
      const known = new Map<string, number>()
      for (let batch = 0; batch < 5; batch++) {
        const cells = Array.from({ length: prng.between(1, 300) }, () =>
          prng.chance(0.05) ? null : randomCell(prng, column),
        )
        const found = idsOf(ids, vectorOf(column.physical, cells))
        cells.forEach((cell, i) => {
          const id = known.get(cellText(cell)) ?? known.size
          known.set(cellText(cell), id)
          expect(found[i], `seed ${seed}, cell ${cell}`).toBe(id)
        })
      }
      const values = ids.view()
      const texts = Array.from({ length: ids.count }, (_, id) => cellText(values.cell(id)))
      expect(texts, `seed ${seed}`).toEqual([...known.keys()])
      expect(ids.nullId).toBe(known.get('null') ?? -1)
    }
  })

  test('takes the values of dictionaries for what they are, whatever their codes', () => {
    const ids = new ValueIds(PHYSICAL.binary)
    const text = (...texts: string[]) => vectorOf(PHYSICAL.binary, texts.map(utf8Encode))
    const coded = (codes: number[], values: ColumnVector, validity: Uint8Array | null = null) =>
      ColumnVector.ofDictionary({ codes: Uint16Array.from(codes), values }, validity)

    expect(idsOf(ids, coded([1, 1], text('a', 'b')))).toEqual([0, 0])
    // A value that no row has was not met.
    expect(ids.count).toBe(1)
    expect(idsOf(ids, coded([1, 0, 1], text('a', 'b')))).toEqual([0, 1, 0])
    expect(idsOf(ids, coded([1, 0, 1], text('b', 'a')))).toEqual([1, 0, 1])
    expect(idsOf(ids, coded([1, 0, 1], text('ba', '')))).toEqual([3, 2, 3])
    expect(idsOf(ids, text('c', 'b'))).toEqual([4, 0])
    expect(idsOf(ids, coded([0, 9, 2], text('c', 'x', 'a'), Uint8Array.of(0b101)))).toEqual([
      4, 5, 1,
    ])
    expect(ids.count).toBe(6)
  })

  test('tells what it holds', () => {
    const ids = new ValueIds(PHYSICAL.int64)
    const before = ids.heldBytes
    idsOf(
      ids,
      vectorOf(
        PHYSICAL.int64,
        Array.from({ length: 10_000 }, (_, i) => BigInt(i)),
      ),
    )

    expect(ids.heldBytes - before).toBeGreaterThan(10_000 * 12)
    expect(ids.heldBytes).toBeLessThan(10_000 * 40)
  })
})

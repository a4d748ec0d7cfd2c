import { describe, expect, test } from 'vitest'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../../src/common/data-type.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Three cells of each physical type, extremes among them. */
const SAMPLES: readonly (readonly [Physical, readonly Cell[]])[] = [
  [PHYSICAL.int8, [-128, 0, 127]],
  [PHYSICAL.int16, [-32_768, 1, 32_767]],
  [PHYSICAL.int32, [-2_147_483_648, -1, 2_147_483_647]],
  [PHYSICAL.int64, [-(2n ** 63n), -1n, 2n ** 63n - 1n]],
  [PHYSICAL.float32, [-0.5, Number.POSITIVE_INFINITY, 1.5]],
  [PHYSICAL.float64, [-0.1, Number.NaN, 1e308]],
  [PHYSICAL.int128, [-(2n ** 127n), 2n ** 64n, 2n ** 127n - 1n]],
  [
    PHYSICAL.binary,
    [bytes(''), bytes('a'), bytes('a longer text of more than forty-eight bytes in all')],
  ],
]

function aBuilder(physical: Physical, cells: readonly (Cell | null | undefined)[]): ColumnBuilder {
  const builder = new ColumnBuilder(physical)
  for (const cell of cells) {
    if (cell === undefined) builder.appendNull(false)
    else builder.appendCell(cell)
  }
  return builder
}

function cellsOf(vector: ColumnVector): (Cell | null | undefined)[] {
  return Array.from({ length: vector.rowCount }, (_, row) => {
    if (!vector.hasCell(row)) return undefined
    const cell = vector.cell(row)
    return cell instanceof Uint8Array ? cell.slice() : cell
  })
}

describe('ColumnBuilder', () => {
  test.each(SAMPLES)('gathers rows of physical type %i in the order asked', (physical, cells) => {
    const [a, b, c] = cells
    const source = aBuilder(physical, [a, null, b, undefined, c]).view()
    const builder = aBuilder(physical, [b])

    builder.appendRows(source, Uint32Array.of(9, 4, 3, 0, 1, 2, 2), 1, 7)

    expect(cellsOf(builder.view())).toEqual([b, c, undefined, a, null, b, b])
    expect([builder.nullCount, builder.unsetCount]).toEqual([2, 1])
  })

  test.each(SAMPLES)('copies a range of rows of physical type %i', (physical, cells) => {
    const [a, b, c] = cells
    const source = aBuilder(physical, [a, null, b, undefined, c, a]).view()
    const builder = aBuilder(physical, [b])

    builder.appendRange(source, 1, 5)
    builder.appendRange(source, 2, 2)
    builder.appendRange(aBuilder(physical, [a, b, c]).view(), 1, 3)

    expect(cellsOf(builder.view())).toEqual([b, null, b, undefined, c, b, c])
    expect([builder.nullCount, builder.unsetCount]).toEqual([2, 1])
  })

  test.each(SAMPLES)('repeats a cell of physical type %i', (physical, cells) => {
    const builder = aBuilder(physical, [cells[0]])

    builder.appendRepeated(cells[2], 21)
    builder.appendRepeated(null, 2)
    builder.appendRepeated(cells[1], 0)
    builder.appendRepeated(cells[1], 1)

    const repeated = Array.from({ length: 21 }, () => cells[2])
    expect(cellsOf(builder.view())).toEqual([cells[0], ...repeated, null, null, cells[1]])
    expect([builder.nullCount, builder.unsetCount]).toEqual([2, 0])
  })

  test('leaves nothing of a longer life behind when it is cleared', () => {
    const builder = aBuilder(PHYSICAL.int64, [1n, 2n, 3n])

    builder.clear()
    builder.appendNull(true)
    builder.appendRepeated(null, 2)

    expect([...(builder.view().lanes as Uint32Array)]).toEqual([0, 0, 0, 0, 0, 0])
  })
})

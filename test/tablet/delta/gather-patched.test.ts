import { describe, expect, test } from 'vitest'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { type Cell, PHYSICAL } from '../../../src/common/data-type.ts'
import { gatherPatched } from '../../../src/tablet/delta/gather-patched.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aColumn } from '../../support/a-schema.ts'
import { COLUMN_TEXTS, randomCell } from '../../support/random-cell.ts'
import { toDictionary } from '../../support/to-dictionary.ts'

describe('gatherPatched', () => {
  test.each(COLUMN_TEXTS)('takes each cell from where it is: %s', (text) => {
    const column = aColumn(text)
    for (let seed = 1; seed <= 12; seed++) {
      const prng = new Prng(seed)
      const nulls = prng.pick([0, 0.3])
      const drawn = (count: number): (Cell | null)[] =>
        Array.from({ length: count }, () => (prng.chance(nulls) ? null : randomCell(prng, column)))
      const [kept, patches] = [drawn(100), drawn(30)]
      const [base, changed] = [kept, patches].map((cells) => {
        const builder = new ColumnBuilder(column.physical)
        for (const cell of cells) builder.appendCell(cell)
        return builder.view()
      })
      const shown = prng.chance(0.5) ? toDictionary(prng, base) : base
      const target = new ColumnBuilder(column.physical)
      const expected: (Cell | null)[] = []
      for (let round = 0; round < 4; round++) {
        const isRun = prng.chance(0.5)
        const shift = prng.pick([0, 5000])
        const start = prng.below(3)
        const end = start + prng.below(60)
        const rows = Uint32Array.from({ length: end }, (_, i) => {
          return shift + (isRun ? 20 + i : prng.below(100))
        })
        const isPatched = prng.chance(0.6)
        const positions = Int32Array.from({ length: end }, () => {
          return prng.chance(0.5) ? -1 : prng.below(30)
        })
        const patched = isPatched ? changed : null
        gatherPatched(shown, shift, patched, positions, rows, start, end, target)
        for (let i = start; i < end; i++) {
          const isBase = !isPatched || positions[i] < 0
          expected.push(isBase ? kept[rows[i] - shift] : patches[positions[i]])
        }
      }

      const view = target.view()
      expect(view.rowCount).toBe(expected.length)
      expect(
        expected.map((_, row) => view.cell(row)),
        `seed ${seed}`,
      ).toEqual(expected)
      for (let row = 0; row < expected.length && column.physical === PHYSICAL.binary; row++) {
        if (expected[row] === null) expect(view.offsets[row + 1]).toBe(view.offsets[row])
      }
      expect(target.nullCount).toBe(expected.filter((cell) => cell === null).length)
      expect(view.isSet).toBeNull()
    }
  })
})

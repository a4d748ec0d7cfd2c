import { describe, expect, test } from 'vitest'
import { decodePage, encodePage } from '../../src/cfile/page.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { COMPRESSIONS, ENCODINGS } from '../../src/common/schema.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'

describe('encodePage', () => {
  test('keeps random cells of every type, in every encoding and compression', () => {
    for (let seed = 1; seed <= 4; seed++) {
      const prng = new Prng(seed)
      for (const text of COLUMN_TEXTS) {
        const column = aColumn(text)
        const builder = new ColumnBuilder(column.physical)
        const count = prng.pick([0, 1, 7, 100])
        const nulls = prng.pick([0, 0, 0.1, 0.9, 1])
        for (let i = 0; i < count; i++) {
          builder.appendCell(prng.chance(nulls) ? null : randomCell(prng, column))
        }
        for (const encoding of ENCODINGS) {
          for (const compression of COMPRESSIONS) {
            const page = encodePage(builder.view(), { encoding, compression })
            const cells = decodePage(page, column.physical, 'page')
            const expected = Array.from({ length: count }, (_, row) => builder.view().cell(row))
            const found = Array.from({ length: count }, (_, row) => cells.cell(row))
            expect(found, `seed ${seed} ${text} ${encoding} ${compression}`).toEqual(expected)
          }
        }
      }
    }
  })
})

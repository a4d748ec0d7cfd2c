import { describe, expect, test } from 'vitest'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { encodedRowBlockBytes, encodeRowBlock, RowBlock } from '../../src/common/row-block.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { randomVector } from '../support/random-vector.ts'
import { toDictionary } from '../support/to-dictionary.ts'

const column = aColumn('text BINARY NULL')

/** Cells without a dictionary; few of them, or values of at most 12 bytes, for some seeds. */
function aVector(prng: Prng): ColumnVector {
  const rowCount = prng.pick([0, 1, 9, 60, 200])
  const nullChance = prng.pick([0, 0.2, 1])
  if (prng.chance(0.5)) return randomVector(prng, column, rowCount, nullChance)
  const builder = new ColumnBuilder(column.physical)
  for (let row = 0; row < rowCount; row++) {
    if (prng.chance(nullChance)) builder.appendNull(true)
    else builder.appendCell(new Uint8Array(prng.between(0, 12)).fill(97))
  }
  return builder.view()
}

function plain({ bytes, offsets, rowCount, validity }: ColumnVector) {
  return { bytes: [...bytes], offsets: [...offsets], rowCount, validity }
}

describe('a ColumnVector with a dictionary', () => {
  test('has the cells, the bytes and the offsets of the same cells without one', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const prng = new Prng(seed)
      const flat = aVector(prng)
      const coded = toDictionary(prng, flat)
      for (let row = 0; row < flat.rowCount; row++) {
        expect(coded.cell(row), `seed ${seed}`).toEqual(flat.cell(row))
      }

      expect(coded.valueBytes, `seed ${seed}`).toBe(flat.bytes.length)
      const held = coded.heldBytes
      expect(plain(coded), `seed ${seed}`).toEqual(plain(flat))
      expect(coded.valueBytes).toBe(flat.bytes.length)
      expect(coded.heldBytes).toBe(held)
      expect(plain(coded.joined)).toEqual(plain(flat))
      expect(coded.joined.dictionary).toBeNull()
    }
  })

  test('is appended to a builder as the same cells without one are', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const prng = new Prng(seed)
      const [flatBuilder, codedBuilder] = [1, 2].map(() => new ColumnBuilder(column.physical))
      for (let round = 0; round < 3; round++) {
        const flat = aVector(prng)
        const coded = toDictionary(prng, flat)
        const end = prng.between(0, flat.rowCount)
        const start = prng.between(0, end)
        flatBuilder.appendRange(flat, start, end)
        codedBuilder.appendRange(coded, start, end)
        const rows = Uint32Array.from({ length: end }, () => prng.below(flat.rowCount))
        flatBuilder.appendRows(flat, rows, start, end)
        codedBuilder.appendRows(coded, rows, start, end)
      }

      expect(plain(codedBuilder.view()), `seed ${seed}`).toEqual(plain(flatBuilder.view()))
      expect(codedBuilder.nullCount).toBe(flatBuilder.nullCount)
    }
  })

  test('is encoded in a row block as the same cells without one are', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const prng = new Prng(seed)
      const flat = aVector(prng)
      const others = randomVector(prng, aColumn('n INT32'), flat.rowCount, 0)
      const [plainBlock, block] = [flat, toDictionary(prng, flat)].map((cells) => {
        return new RowBlock(flat.rowCount, [10, 11, 12], [others, cells, cells], null)
      })

      expect(encodedRowBlockBytes(block), `seed ${seed}`).toBe(encodedRowBlockBytes(plainBlock))
      const bytes = Buffer.from(encodeRowBlock(block))
      expect(bytes.equals(encodeRowBlock(plainBlock)), `seed ${seed}`).toBe(true)
    }
  })

  test('joins its values for one reader and not for the others', () => {
    const prng = new Prng(1)
    const coded = toDictionary(prng, randomVector(prng, column, 100, 0.1))

    const other = coded.unjoined

    expect(other.dictionary).toBe(coded.dictionary)
    expect(coded.bytes).toBe(coded.bytes)
    expect(other.bytes).not.toBe(coded.bytes)
  })
})

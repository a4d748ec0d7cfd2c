import { describe, expect, test } from 'vitest'
import { HeldRows } from '../../../src/api/format/held-rows.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { Prng } from '../../../src/util/prng.ts'
import { shownCell } from '../../support/decode-rows.ts'
import { aBlock } from '../../support/encode-rows.ts'
import { randomRows } from '../../support/random-cells.ts'
import { EVERY_TYPE } from '../../support/random-rows.ts'

const { columns } = EVERY_TYPE

function shown(row: readonly (Cell | null)[]): string {
  return row.map(shownCell).join(' ')
}

function heldRows(held: HeldRows): string[] {
  return held.segments.flatMap(({ block, start, end }) => {
    return Array.from({ length: end - start }, (_, i) => {
      return shown(block.columns.map((column) => column.cell(start + i)))
    })
  })
}

describe('HeldRows', () => {
  test('holds what was added, in order and in few runs, however it comes', () => {
    for (let seed = 0; seed < 20; seed++) {
      const prng = new Prng(seed)
      const held = new HeldRows(columns)
      for (let round = 0; round < 3; round++) {
        const expected: string[] = []
        const runCount = prng.pick([0, 5, 32, 33, 150])
        for (let i = 0; i < runCount; i++) {
          const rows = randomRows(prng, columns, prng.between(1, 5))
          const start = prng.below(rows.length)
          const end = prng.between(start, rows.length)
          held.add(aBlock(columns, rows), start, end)
          expected.push(...rows.slice(start, end).map(shown))
        }

        expect(heldRows(held), `seed ${seed}`).toEqual(expected)
        expect(held.rowCount).toBe(expected.length)
        expect(held.segments.length).toBeLessThanOrEqual(32)
        held.clear()
        expect(held.segments).toEqual([])
        expect([held.rowCount, held.bytes]).toEqual([0, 0])
      }
    }
  })

  test('counts about the bytes of cells', () => {
    const held = new HeldRows(columns)
    const prng = new Prng(1)
    held.add(aBlock(columns, randomRows(prng, columns, 10)), 2, 8)

    expect(held.bytes).toBeGreaterThan(6 * 80)
    expect(held.bytes).toBeLessThan(6 * 240)
  })
})

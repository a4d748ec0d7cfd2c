import { describe, expect, test } from 'vitest'
import { LaneRoom } from '../../../src/cfile/lane-room.ts'
import { decodePage, encodePage } from '../../../src/cfile/page.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { loadPlain } from '../../../src/tablet/aggregate/load-numbers.ts'
import { NumberVector } from '../../../src/tablet/aggregate/number-vector.ts'
import { Prng } from '../../../src/util/prng.ts'
import { cellsOf } from '../../support/page-cells.ts'

describe('loadPlain', () => {
  test.each([
    ['packed', new LaneRoom()],
    ['decoded', null],
  ])('loads any rows of a page whose integers are %s, and bounds them', (_name, room) => {
    let packedCount = 0
    for (let seed = 1; seed <= 100; seed++) {
      const prng = new Prng(seed)
      const physical = prng.pick([PHYSICAL.int16, PHYSICAL.int32, PHYSICAL.int64, PHYSICAL.int128])
      const isWide = physical === PHYSICAL.int64 || physical === PHYSICAL.int128
      const unit = isWide ? prng.pick([1, 100, 86_400]) : 1
      const base = isWide ? prng.pick([0, -(2 ** 40), 2 ** 40]) : prng.pick([0, -9000, 9000])
      const count = prng.pick([1, 50, 1000])
      const numbers = Array.from({ length: count }, () => base + unit * prng.below(700))
      const options = { encoding: 'BIT_SHUFFLE', compression: 'NO_COMPRESSION' } as const
      const page = encodePage(cellsOf(physical, numbers), options)
      const cells = decodePage(page, physical, 'page', room)
      if (cells.packed !== null) packedCount++
      const chance = prng.pick([0.05, 0.5, 1])
      const rows = Uint32Array.from(numbers.keys()).filter(() => prng.chance(chance))
      const vector = new NumberVector()

      expect(loadPlain({ cells, rows, zone: null }, rows.length, vector)).toBe(true)

      const expected = [...rows].map((row) => numbers[row])
      expect([...vector.values.subarray(0, rows.length)], `seed ${seed}`).toEqual(expected)
      for (const number of expected) expect(vector.bound).toBeGreaterThanOrEqual(Math.abs(number))
    }
    expect(packedCount > 50).toBe(room !== null)
  })
})

import { describe, expect, test } from 'vitest'
import { FIRST_ROWS } from '../../../src/common/aggregate/first-rows.ts'
import { ValueIds } from '../../../src/common/aggregate/value-ids.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { StatusError } from '../../../src/common/status.ts'
import { assignBuckets } from '../../../src/tablet/aggregate/group-ids.ts'
import { Prng } from '../../../src/util/prng.ts'

/** The beginnings of the buckets of times. */
function buckets(micros: number, ...times: (bigint | null)[]): (bigint | null)[] {
  const builder = new ColumnBuilder(PHYSICAL.int64, times.length)
  for (const time of times) builder.appendCell(time)
  const values = new ValueIds(PHYSICAL.int64)
  const out = new Uint32Array(times.length)
  const column = { cells: builder.view(), rows: FIRST_ROWS.upTo(times.length), zone: null }
  assignBuckets(values, column, times.length, { micros, columnName: 'at' }, out)
  const cells = values.view()
  return Array.from(out, (id) => cells.cell(id) as bigint | null)
}

/** The greatest multiple that is not above. */
function floored(time: bigint, width: bigint): bigint {
  return time - (((time % width) + width) % width)
}

describe('assignBuckets', () => {
  test('cuts times down to the beginning of their bucket, before the epoch too', () => {
    expect(buckets(1e6, 0n, 999_999n, 1_000_000n, -1n, -1_000_000n, -1_000_001n)).toEqual([
      0n,
      0n,
      1_000_000n,
      -1_000_000n,
      -1_000_000n,
      -2_000_000n,
    ])
  })

  test('leaves null what it is', () => {
    expect(buckets(60e6, null, 61_000_000n, null)).toEqual([null, 60_000_000n, null])
  })

  test('is exact at every size of times and widths', () => {
    const prng = new Prng(5)
    const widths = [1, 7, 1e6, 3600e6, 86_400e6 * 365, 2 ** 52, 2 ** 52 + 1, 2 ** 53 - 1]
    const ends = [2n ** 31n, 2n ** 51n, 2n ** 52n, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n]
    for (let i = 0; i < 3000; i++) {
      const width = prng.pick(widths)
      // Just below a multiple the quotient of doubles is that of the next one.
      const near = prng.pick(ends) - BigInt(prng.below(3))
      const time = (prng.chance(0.5) ? floored(near, BigInt(width)) : near) - BigInt(prng.below(2))
      const signed = prng.chance(0.5) ? time : -time
      const start = floored(signed, BigInt(width))
      if (start < -(2n ** 63n)) continue

      expect(buckets(width, signed), `${signed} by ${width}`).toEqual([start])
    }
  })

  test('refuses a bucket that begins before all times', () => {
    const error = new StatusError(
      'INVALID_ARGUMENT',
      'a bucket of column "at" begins before the first time there is',
      { column: 'at' },
    )
    expect(() => buckets(3600e6, -(2n ** 63n))).toThrow(error)
  })
})

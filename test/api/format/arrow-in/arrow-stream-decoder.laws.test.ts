import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/util/prng.ts'
import { decodeArrow, shownRow } from '../../../support/decode-rows.ts'
import { type PlainArrowRow, type RandomArrow, randomArrow } from '../../../support/random-arrow.ts'

const SEED_COUNT = 1500

function shownRows(rows: readonly PlainArrowRow[]): string[] {
  return rows.map((cells) => (cells === undefined ? 'refused' : shownRow(cells)))
}

function decoded({ schema }: RandomArrow, bytes: Uint8Array, cuts: readonly number[] = []) {
  const { rows, problems, failure } = decodeArrow(schema, bytes, { cuts })
  const got: string[] = []
  for (const { index, cells } of rows) got[index] = shownRow(cells)
  for (const [index] of problems) got[index] = 'refused'
  return { rows: got, failure }
}

function randomCuts(prng: Prng, length: number): number[] {
  return Array.from({ length: prng.below(8) }, () => prng.below(length)).sort((a, b) => a - b)
}

describe('ArrowStreamDecoder', () => {
  test('reads every kind of stream, cut anywhere, as the format and the rules for values do', () => {
    let rowCount = 0
    let refusedCount = 0
    for (let seed = 0; seed < SEED_COUNT; seed++) {
      const prng = new Prng(seed)
      const stream = randomArrow(prng)
      const cuts = randomCuts(prng, stream.bytes.length)
      const { rows, failure } = decoded(stream, stream.bytes, cuts)
      const want = shownRows(stream.rows)

      expect(failure, `seed ${seed}`).toBeNull()
      expect(rows, `seed ${seed}`).toEqual(want)
      rowCount += want.length
      refusedCount += want.filter((row) => row === 'refused').length
    }
    expect(refusedCount / rowCount).toBeGreaterThan(0.1)
    expect(refusedCount / rowCount).toBeLessThan(0.6)
  })
})

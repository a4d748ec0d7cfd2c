import { describe, expect, test } from 'vitest'
import { checkCell } from '../../../../src/common/check-cell.ts'
import { Prng } from '../../../../src/util/prng.ts'
import { decodeArrow, shownRow } from '../../../support/decode-rows.ts'
import { type PlainArrowRow, type RandomArrow, randomArrow } from '../../../support/random-arrow.ts'

const SEED_COUNT = 300
const FLIP_COUNT = 5

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

/** Which message a byte of the stream is in. */
function messageAt({ messages }: RandomArrow, offset: number): number {
  let end = 0
  return messages.findIndex((message) => {
    end += message.length
    return offset < end
  })
}

function randomCuts(prng: Prng, length: number): number[] {
  return Array.from({ length: prng.below(8) }, () => prng.below(length)).sort((a, b) => a - b)
}

describe('ArrowStreamDecoder', () => {
  test('reads every kind of stream, cut anywhere, by the format and the rules for values', () => {
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

  test('reads of a stream that is cut off the batches that are whole', () => {
    for (let seed = 0; seed < SEED_COUNT; seed++) {
      const prng = new Prng(seed)
      const stream = randomArrow(prng)
      const cut = prng.below(stream.bytes.length)
      const { rows, failure } = decoded(stream, stream.bytes.subarray(0, cut))
      const message = messageAt(stream, cut)
      const start = stream.messages.slice(0, message).reduce((sum, { length }) => sum + length, 0)

      expect(failure === null, `seed ${seed}`).toBe(cut === start && message > 0)
      const want = shownRows(stream.rows.slice(0, stream.rowCounts[message] ?? stream.rows.length))
      expect(rows, `seed ${seed}`).toEqual(want)
    }
  })

  test('gives of a stream with wrong bytes the rows before, and then only what rows can be', () => {
    let failureCount = 0
    for (let seed = 0; seed < SEED_COUNT; seed++) {
      const prng = new Prng(seed)
      const stream = randomArrow(prng)
      const want = shownRows(stream.rows)
      for (let i = 0; i < FLIP_COUNT; i++) {
        const bytes = stream.bytes.slice()
        const at = prng.below(bytes.length)
        for (let to = at; to < Math.min(bytes.length, at + prng.between(1, 8)); to++) {
          bytes[to] = prng.chance(0.5) ? prng.below(256) : bytes[to] ^ (1 << prng.below(8))
        }
        const { rows, problems, failure } = decodeArrow(stream.schema, bytes)
        const rightCount = stream.rowCounts[messageAt(stream, at)] ?? want.length
        const got = shownRows(want.slice(0, rightCount).map(() => undefined))
        for (const { index, cells } of rows) {
          if (index < rightCount) got[index] = shownRow(cells)
          for (const [name, cell] of cells) {
            const column = stream.schema.byName(name)
            if (column === undefined || cell === null || checkCell(column, cell) === 0) continue
            got.push(`${index}: ${name} cannot be`)
          }
        }
        if (failure !== null) failureCount++
        expect(got, `seed ${seed}, flip ${i}`).toEqual(want.slice(0, rightCount))
        expect(rows.length + problems.length, `seed ${seed}`).toBeGreaterThanOrEqual(rightCount)
      }
    }
    expect(failureCount).toBeGreaterThan((SEED_COUNT * FLIP_COUNT) / 10)
  })
})

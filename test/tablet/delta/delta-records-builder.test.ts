import { describe, expect, test } from 'vitest'
import { DELTA_KINDS } from '../../../src/tablet/delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../../../src/tablet/delta/delta-records-builder.ts'
import { Prng } from '../../../src/util/prng.ts'
import { deltaRecordsOf, plainDeltas } from '../../support/plain-delta-records.ts'
import { DELTA_SCHEMA, randomUndos } from '../../support/random-deltas.ts'

const { UPDATE, DELETE } = DELTA_KINDS
const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical

describe('DeltaRecordsBuilder', () => {
  test('refuses a record before the last', () => {
    const builder = new DeltaRecordsBuilder()
    builder.append(4, 10, UPDATE)
    builder.append(4, 10, DELETE)

    expect(() => builder.append(4, 9, UPDATE)).toThrow('delta records ascend')
    expect(() => builder.append(3, 11, UPDATE)).toThrow('delta records ascend')
    const earlier = deltaRecordsOf([{ ordinal: 4, at: 9, kind: 'DELETE', cells: {} }], physicalOf)
    expect(() => builder.appendRecords(earlier, 0, 1)).toThrow('delta records ascend')
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'copies runs of records and single ones (seed %i)',
    (seed) => {
      const prng = new Prng(seed)
      const deltas = randomUndos(prng, { rowCount: 60, from: 1, to: 9 })
      const source = deltaRecordsOf(deltas, physicalOf)
      const builder = new DeltaRecordsBuilder()
      for (let round = 0; round < 2; round++) {
        for (let start = 0; start < source.count; ) {
          const end = Math.min(source.count, start + prng.between(1, 40))
          if (end - start === 1) builder.appendRecord(source, start)
          else builder.appendRecords(source, start, end)
          start = end
        }

        const records = builder.finish()
        expect(plainDeltas(records), `seed ${seed}`).toEqual(deltas)
        expect(builder.deleteCount).toBe(deltas.filter((it) => it.kind === 'DELETE').length)
        expect(builder.reinsertCount).toBe(deltas.filter((it) => it.kind === 'REINSERT').length)
        const next = records.columns.map(() => 0)
        const cellCount = records.cellEnds[records.count - 1]
        for (let cell = 0; cell < cellCount; cell++) {
          expect(records.cellPositions[cell]).toBe(next[records.cellColumns[cell]]++)
        }
        expect(builder.usedBytes).toBeLessThanOrEqual(builder.heldBytes)
        builder.clear()
      }
      expect(builder.finish().count).toBe(0)
    },
  )
})

import { describe, expect, test } from 'vitest'
import { lowerRecord, sliceDeltaRecords } from '../../../src/tablet/delta/slice-delta-records.ts'
import { Prng } from '../../../src/util/prng.ts'
import { deltaRecordsOf, plainDeltas } from '../../support/plain-delta-records.ts'
import { DELTA_SCHEMA, randomUndos } from '../../support/random-deltas.ts'

describe('sliceDeltaRecords', () => {
  test.each([1, 2, 3, 4, 5])('has the records of the rows, whatever the cut (seed %i)', (seed) => {
    const prng = new Prng(seed)
    const deltas = randomUndos(prng, { rowCount: 40, from: 1, to: 5 })
    const records = deltaRecordsOf(deltas, (id) => DELTA_SCHEMA.mustById(id).physical)
    for (let round = 0; round < 30; round++) {
      const start = prng.below(42)
      const end = prng.between(start, 42)
      const expected = deltas.filter((it) => it.ordinal >= start && it.ordinal < end)
      const slice = sliceDeltaRecords(records, start, end)
      expect(plainDeltas(slice), `seed ${seed}, rows ${start} to ${end}`).toEqual(expected)
      expect(slice.count === 0 || lowerRecord(slice, slice.ordinals[0]) === 0).toBe(true)
    }
  })
})

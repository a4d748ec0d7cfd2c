import { describe, expect, test } from 'vitest'
import { mergeDeltaRecords } from '../../../src/tablet/delta/merge-delta-records.ts'
import { sliceDeltaRecords } from '../../../src/tablet/delta/slice-delta-records.ts'
import { Prng } from '../../../src/util/prng.ts'
import { deltaRecordsOf, plainDeltas, sortDeltas } from '../../support/plain-delta-records.ts'
import { CHANGING, DELTA_SCHEMA, randomUndos } from '../../support/random-deltas.ts'

const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)

describe('mergeDeltaRecords', () => {
  test.each(SEEDS)('is a stable sort of all parts by row and time (seed %i)', (seed) => {
    const prng = new Prng(seed)
    const from = prng.below(40)
    const parts = Array.from({ length: prng.below(6) }, () => {
      const only = prng.chance(0.5) ? CHANGING : [prng.pick(CHANGING)]
      return randomUndos(prng, { rowCount: 60, from: 1, to: 5, only })
    }).map((deltas) => {
      const kept = deltas.filter((it) => it.ordinal >= from)
      const isSlice = prng.chance(0.5)
      const records = deltaRecordsOf(isSlice ? deltas : kept, physicalOf)
      return { kept, records: isSlice ? sliceDeltaRecords(records, from, 99) : records }
    })
    const merged = mergeDeltaRecords(parts.map((part) => part.records))

    const expected = sortDeltas(parts.flatMap((part) => part.kept))
    expect(plainDeltas(merged), `seed ${seed}`).toEqual(expected)
  })

  test('keeps records of one row and time in the order of the parts', () => {
    const parts = [1, 2, 3, 4, 5].map((value) => {
      return deltaRecordsOf([{ ordinal: 7, at: 3, kind: 'UPDATE', cells: { 11: value } }], () => 0)
    })

    const values = plainDeltas(mergeDeltaRecords(parts)).map((it) => it.cells[11])
    expect(values).toEqual([1, 2, 3, 4, 5])
  })
})

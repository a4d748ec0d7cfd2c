import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../../cli/flags.ts'
import { firstCellOf, type LoadPlan, numberSpans, planLoad } from '../../../cli/perf/load-plan.ts'
import { LOADGEN_FLAGS } from '../../../cli/perf/loadgen-flags.ts'

function aPlan(...words: string[]): LoadPlan {
  return planLoad(parseArguments(words, LOADGEN_FLAGS, []).flags)
}

describe('planLoad', () => {
  test("has Kudu's defaults", () => {
    expect(aPlan()).toEqual({
      threadCount: 2,
      rowsPerThread: 1000,
      requestRows: Number.POSITIVE_INFINITY,
      requestBytes: 2 * 2 ** 20,
      buffersPerThread: 2,
      hasClientPerThread: true,
      shownErrorCount: 0,
      seqStart: 0,
      format: 'ndjson',
      operation: 'INSERT',
      values: { isKeyRandom: false, isValueRandom: false, stringFixed: '', stringLength: 32 },
    })
  })

  test('takes the old flag for randomness as both new ones', () => {
    expect(aPlan('--use_random').values).toMatchObject({ isKeyRandom: true, isValueRandom: true })
    expect(aPlan('--use_random_pk').values).toMatchObject({ isValueRandom: false })
    expect(aPlan('--use_random_non_pk').values).toMatchObject({ isKeyRandom: false })
  })
})

describe('numberSpans', () => {
  test('gives each writer the numbers behind those of the one before', () => {
    const spans = numberSpans(aPlan('--seq_start=100', '--num_rows_per_thread=10'), 3)

    expect(firstCellOf(spans, 0, 0)).toBe(100)
    expect(firstCellOf(spans, 0, 9)).toBe(127)
    expect(firstCellOf(spans, 1, 0)).toBe(130)
    expect(firstCellOf(spans, 1, 1)).toBe(133)
  })

  test('divides all the numbers there are when nobody says how many rows', () => {
    const spans = numberSpans(aPlan('--num_rows_per_thread=-1', '--num_threads=8'), 3)
    const last = firstCellOf(spans, 7, spans.rowsPerThread - 1) + 2

    expect(last).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
    expect(last).toBeGreaterThan(Number.MAX_SAFE_INTEGER - 24)
  })

  test('refuses more rows than there are numbers for', () => {
    const plan = aPlan('--seq_start=9007199254740900', '--num_rows_per_thread=16')

    expect(() => numberSpans(plan, 2)).not.toThrow()
    expect(() => numberSpans(plan, 3)).toThrow('there are none for 16 rows of 3 columns')
  })
})

import { describe, expect, test } from 'vitest'
import { drawScanScript, longWalk } from './scans/draw-scan-script.ts'
import { reportScanFailure } from './scans/report-scan-failure.ts'
import { runScanScript } from './scans/run-scan-script.ts'
import { scriptOfText, scriptToText } from './scans/scan-script.ts'

const SEED_FIRST = Number(process.env.NYALA_SIM_SEED ?? 1)
const SEED_COUNT = Number(process.env.NYALA_SIM_SEEDS ?? 7)
const READ_COUNT = 25

describe('reads of a whole table', () => {
  test('find what a plain model finds', async () => {
    const counts = new Map<string, number>()
    for (let seed = SEED_FIRST; seed < SEED_FIRST + SEED_COUNT; seed++) {
      const script = drawScanScript(seed, READ_COUNT)
      const failure = await runScanScript(script, counts)
      if (failure !== null) throw await reportScanFailure(script, failure)
    }

    for (const name of ['FLUSH_MRS done', 'FLUSH_DMS done', 'COMPACT done', 'next page']) {
      expect(counts.get(name) ?? 0, name).toBeGreaterThan(0)
    }
  }, 120_000)
})

describe('a walk of a hundred pages', () => {
  test.each(['UNORDERED', 'ORDERED', 'DESCENDING'] as const)(
    'shows the snapshot of its first, %s, whatever is written, flushed and merged in between',
    async (order) => {
      const counts = new Map<string, number>()
      const failure = await runScanScript(longWalk(SEED_FIRST, order), counts)

      expect(failure?.error ?? null, `seed ${SEED_FIRST}`).toBeNull()
      expect(counts.get('next page')).toBeGreaterThanOrEqual(100)
      expect(counts.get('rows written')).toBeGreaterThanOrEqual(400)
    },
    60_000,
  )
})

describe('scriptToText', () => {
  test('is read back as the same script', () => {
    const script = drawScanScript(7, 20)

    expect(scriptOfText(scriptToText(script))).toEqual(script)
  })
})

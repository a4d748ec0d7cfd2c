import { describe, expect, test } from 'vitest'
import { drawScanScript } from './scans/draw-scan-script.ts'
import { reportScanFailure } from './scans/report-scan-failure.ts'
import { runScanScript } from './scans/run-scan-script.ts'
import { scriptOfText, scriptToText } from './scans/scan-script.ts'

const SEED_FIRST = Number(process.env.NYALA_SIM_SEED ?? 1)
const SEED_COUNT = Number(process.env.NYALA_SIM_SEEDS ?? 12)
const READ_COUNT = 60

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

describe('scriptToText', () => {
  test('is read back as the same script', () => {
    const script = drawScanScript(7, 20)

    expect(scriptOfText(scriptToText(script))).toEqual(script)
  })
})

/** Random reads of whole tables against a plain model: `npm run sim -- scans`. */

import { readFileSync } from 'node:fs'
import { drawScanScript } from '../test/sim/scans/draw-scan-script.ts'
import { reportScanFailure } from '../test/sim/scans/report-scan-failure.ts'
import { runScanScript } from '../test/sim/scans/run-scan-script.ts'
import { scriptOfText } from '../test/sim/scans/scan-script.ts'

/** Reads of one script, all of one table. */
const READS_A_SCRIPT = 100

/** What to run. */
export interface ScanRun {
  /** Reads in all. */
  readonly count: number
  readonly firstSeed: number
}

/** Goes from seed to seed until so many reads are made, or stops at the first that fails. */
export async function simulateScans({ count, firstSeed }: ScanRun): Promise<void> {
  const begun = performance.now()
  const counts = new Map<string, number>()
  const scriptCount = Math.ceil(count / READS_A_SCRIPT)
  let seed = firstSeed
  for (; seed < firstSeed + scriptCount; seed++) {
    const script = drawScanScript(seed, READS_A_SCRIPT)
    const failure = await runScanScript(script, counts)
    if (failure === null) continue
    process.exitCode = 1
    process.stdout.write(`${(await reportScanFailure(script, failure)).message}\n`)
    break
  }
  for (const [name, times] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    process.stdout.write(`${String(times).padStart(9)}  ${name}\n`)
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  process.stdout.write(`${seed - firstSeed} tables from seed ${firstSeed} in ${seconds} s\n`)
}

/** Runs one script out of a file. */
export async function replayScans(path: string): Promise<void> {
  const failure = await runScanScript(scriptOfText(readFileSync(path, 'utf8')))
  if (failure === null) {
    process.stdout.write('the script runs through\n')
    return
  }
  const { error, eventIndex } = failure
  process.exitCode = 1
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stdout.write(`event ${eventIndex}: ${text}\n`)
}

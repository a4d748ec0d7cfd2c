import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runScanScript, type ScanFailure } from './run-scan-script.ts'
import { type ScanScript, scriptToText } from './scan-script.ts'
import { shrinkScanScript } from './shrink-scan-script.ts'

const SHOWN_MAX = 4000

/**
 * Cuts a script that failed down, writes it to a file, and makes an error that says how to run it
 * again.
 */
export async function reportScanFailure(script: ScanScript, failure: ScanFailure): Promise<Error> {
  const short = await shrinkScanScript(script)
  const path = join(mkdtempSync(join(tmpdir(), 'nyala-scans-')), `seed-${script.seed}.json`)
  const text = scriptToText(short)
  writeFileSync(path, `${text}\n`)
  const cause = (await runScanScript(short))?.error ?? failure.error
  const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
  return new Error(
    `seed ${script.seed}, event ${failure.eventIndex}, cut down to ${short.events.length}: ` +
      `npm run sim -- scans --replay ${path}\n${shown}\n${String(cause)}`,
    { cause },
  )
}

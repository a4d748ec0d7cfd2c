import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runScript, type SimFailure } from './run-script.ts'
import { shrinkScript } from './shrink.ts'
import type { SimScript } from './sim-event.ts'

/**
 * Cuts a script that failed down, writes it to a file, and makes an error that says how to run it
 * again. The file belongs into test/regressions, under a name that says what was wrong.
 */
export function reportFailure(script: SimScript, failure: SimFailure): Error {
  const short = shrinkScript(script)
  const path = join(mkdtempSync(join(tmpdir(), 'nyala-sim-')), `seed-${script.seed}.json`)
  writeFileSync(path, `${JSON.stringify(short, null, 1)}\n`)
  const shown = short.events.map((event) => JSON.stringify(event)).join('\n')
  const cause = runScript(short)?.error ?? failure.error
  const replay = `npm run sim -- --replay ${path}`
  return new Error(
    `seed ${script.seed}, event ${failure.eventIndex}, cut down to ${short.events.length}: ` +
      `${replay}\n${shown}\n${String(cause)}`,
    { cause },
  )
}

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

/** Runs a benchmark at its smallest, as a user would. Throws when it fails. */
async function smoke(name: string): Promise<string> {
  const run = promisify(execFile)
  const found = await run(process.execPath, ['bench/run.ts', name, '--size', 'smoke'], {
    cwd: ROOT,
  })
  return found.stdout
}

describe('npm run bench', () => {
  test.each([
    ['absent-keys', /CPU of inserts into 40000 rows/],
    ['aggregates', /Q6 in the engine, .* hash d29a99f0/],
    ['billing', /ten single writes to an idle tablet: 1\d billed rows written/],
    ['bootstrap', /rows on disk, an empty WAL: \d+ billed rows read/],
    ['growth', /4 tablets, 8 clients: 8000 rows/],
    ['histories', /point reads at .*: right/],
    ['memory', /12 tablets, live heap above idle/],
    ['scans', /arrow, whole: 20000 rows/],
    ['stored-bytes', /with dates as DATE, .* × SQLite/],
    ['tpch', /Q6, right to the cent: 20000 rows/],
  ])('%s works at its smallest size', { timeout: 180_000 }, async (name, line) => {
    expect(await smoke(name)).toMatch(line)
  })
})

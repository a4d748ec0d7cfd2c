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
    ['cost', /ycsb, a billion rows for a month: .* in D1/],
    ['engine-ingest', /random keys, 1000 rows an op, flushed meanwhile: .* 20000 rows,/],
    ['full-stack-insert-scan', /scan of four INT64, inserted by 5000: 50000 rows/],
    ['growth', /4 tablets, 8 clients: 8000 rows/],
    ['histories', /point reads at .*: right/],
    ['ingest', /arrow into one tablet: 8000 rows, .* hash 7d7375de1207/],
    ['memory', /12 tablets, live heap above idle/],
    ['mt-tablet', /seed 13, \d+ turns, all right; .* hash [0-9a-f]{12}/],
    ['point-reads', /all keys, 1 at a time: 400 rows, .* × object/],
    ['scans', /arrow, whole: 20000 rows/],
    ['stored-bytes', /with dates as DATE, .* × SQLite/],
    ['tpch', /Q6, right to the cent: 20000 rows/],
    ['tpch-real-world', /Q1 alone, all rows, 3 times/],
    ['write-path', /keys in an arena, .* before: .* ns of CPU a row, 20000 rows/],
    ['ycsb', /in the end: 2,0\d\d records/],
  ])('%s works at its smallest size', { timeout: 180_000 }, async (name, line) => {
    expect(await smoke(name)).toMatch(line)
  })
})

/**
 * Plants bugs in a copy of the tree, one at a time, and lets the simulator find them. Prints of
 * each how long that took and which law did not hold; fails when one is not found.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PLANTED_BUGS, type PlantedBug } from '../test/sim/planted-bugs.ts'

const ROOT = join(import.meta.dirname, '..')
const COPIED = ['src', 'test', 'scripts', 'package.json']
const FIRST_SEED = 1

/**
 * Runs the simulator against each planted bug whose name has `only`, for at most so many minutes.
 */
export async function runPlanted(minutes: number, only: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'nyala-planted-'))
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const bugs = PLANTED_BUGS.filter(({ name }) => name.includes(only))
    const missed = bugs.filter((bug) => !isFound(copy, bug, minutes))
    process.stdout.write(`${bugs.length - missed.length} of ${bugs.length} planted bugs found\n`)
    if (missed.length > 0) process.exitCode = 1
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function isFound(copy: string, bug: PlantedBug, minutes: number): boolean {
  const path = join(copy, bug.file)
  const source = readFileSync(path, 'utf8')
  if (source.split(bug.text).length !== 2) {
    throw new Error(`${bug.file} does not have this exactly once: ${bug.text}`)
  }
  writeFileSync(
    path,
    source.replace(bug.text, () => bug.replacement),
  )
  const begun = performance.now()
  const args = ['scripts/sim.ts', '--brief', '--minutes', `${minutes}`, '--seed', `${FIRST_SEED}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy })
  writeFileSync(path, source)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(6)
  const isFound = status === 1 && stderr.length === 0
  const law = isFound ? stdout.toString().trim() : `not found ${stderr.toString().trim()}`
  process.stdout.write(`${seconds} s  ${bug.name}\n          ${law}\n`)
  return isFound
}

/** Reading and counting test vectors. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The vectors of one file of `test/vectors`, by the name of their group. */
export function readVectors<T>(file: string): T {
  const path = join(import.meta.dirname, '..', 'vectors', `${file}.json`)
  return JSON.parse(readFileSync(path, 'utf8')) as T
}

/** Prints how many cases of a group of vectors ran. */
export function reportVectors(group: string, count: number): void {
  process.stdout.write(`vectors ${group}: ${count} cases\n`)
}

/** Reading and counting test vectors. */

import { readFileSync } from 'node:fs'

/** The vectors of one file of `test/vectors`, by the name of their group. */
export function readVectors<T>(file: string): T {
  const url = new URL(`../vectors/${file}.json`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8')) as T
}

/** Prints how many cases of a group of vectors ran. */
export function reportVectors(group: string, count: number): void {
  process.stdout.write(`vectors ${group}: ${count} cases\n`)
}

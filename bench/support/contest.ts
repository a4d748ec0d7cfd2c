/** Several ways to do the same, measured in turns: what else the machine does hurts all alike. */

import { median } from './in-turns.ts'
import type { RivalFigure } from './report.ts'

/** One way. */
export interface Side {
  readonly name: string
  /** How many rows, or requests, one run is about. */
  readonly rows: number
  /** What must be there before a run, not measured. */
  readonly before?: (round: number) => Promise<unknown>
  readonly run: (round: number) => Promise<unknown>
  /** What is left to check and to take away, not measured. */
  readonly after?: (round: number) => Promise<unknown>
}

/** What the rounds of one side took. */
export interface Course {
  readonly rows: number
  readonly milliseconds: readonly number[]
  readonly cpuMs: readonly number[]
}

/**
 * Runs all sides `rounds` times in turns, each round beginning with another one, after a run of
 * each that does not count. `cpuMs` tells the CPU that was taken so far. Returns: by their names.
 */
export async function contest(
  rounds: number,
  sides: readonly Side[],
  cpuMs: () => number,
): Promise<Map<string, Course>> {
  const courses = new Map(
    sides.map(({ name, rows }) => [name, { rows, milliseconds: [], cpuMs: [] } as Writable]),
  )
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < sides.length; i++) {
      const side = sides[(i + round + 1) % sides.length]
      await side.before?.(round)
      const [begun, cpuBegun] = [performance.now(), cpuMs()]
      await side.run(round)
      const [ended, cpuEnded] = [performance.now(), cpuMs()]
      await side.after?.(round)
      if (round < 0) continue
      courses.get(side.name)?.milliseconds.push(ended - begun)
      courses.get(side.name)?.cpuMs.push(cpuEnded - cpuBegun)
    }
  }
  return courses
}

interface Writable {
  readonly rows: number
  readonly milliseconds: number[]
  readonly cpuMs: number[]
}

/** How many times as many rows a second one side takes as a rival, round by round. */
export function rivalFigure(name: string, ours: Course, rival: Course): RivalFigure {
  // Below a tick of the clock that CPU is counted in, a ratio says nothing.
  const ratio = (own: number, other: number) =>
    (Math.max(other, 1) / rival.rows) * (ours.rows / Math.max(own, 1))
  return {
    name,
    milliseconds: rival.milliseconds,
    ratios: ours.milliseconds.map((own, i) => ratio(own, rival.milliseconds[i])),
    cpuRatios: ours.cpuMs.map((own, i) => ratio(own, rival.cpuMs[i])),
  }
}

/** What all rounds of a side took in the middle. */
export function medianCpuMs({ cpuMs }: Course): number {
  return median(cpuMs)
}

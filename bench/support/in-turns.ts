/** Two ways to do the same, measured in turns: what else the machine does hurts both alike. */

/** Milliseconds of each round of both sides. */
export interface Turns {
  readonly ours: readonly number[]
  readonly rival: readonly number[]
  /** How many times as long the rival takes, round by round. */
  readonly ratios: readonly number[]
  /** CPU that our side took, round by round. */
  readonly ownCpuMs: readonly number[]
  /** The ratios of CPU: what else the machine does hardly changes it. */
  readonly cpuRatios: readonly number[]
}

/**
 * Runs both sides `rounds` times in turns, after one run of each that does not count. `cpuMs` tells
 * the CPU that was taken so far.
 */
export async function inTurns(
  rounds: number,
  ours: () => Promise<unknown>,
  rival: () => Promise<unknown>,
  cpuMs: () => number,
): Promise<Turns> {
  await ours()
  await rival()
  const turns = {
    ours: [] as number[],
    rival: [] as number[],
    ratios: [] as number[],
    ownCpuMs: [] as number[],
    cpuRatios: [] as number[],
  }
  for (let round = 0; round < rounds; round++) {
    const begun = cpuMs()
    const own = await milliseconds(ours)
    const middle = cpuMs()
    const other = await milliseconds(rival)
    turns.ours.push(own)
    turns.rival.push(other)
    turns.ratios.push(other / own)
    turns.ownCpuMs.push(middle - begun)
    turns.cpuRatios.push((cpuMs() - middle) / Math.max(middle - begun, 1))
  }
  return turns
}

/** How long something takes. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** The median of some numbers. Requires: there are any. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

/** `6.20 (5.9–6.6)`: the median with the least and the greatest. */
export function spread(numbers: readonly number[], digits = 2): string {
  const text = (number: number) => number.toFixed(digits)
  return `${text(median(numbers))} (${text(Math.min(...numbers))}–${text(Math.max(...numbers))})`
}

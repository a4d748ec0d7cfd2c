import type { SimScript } from './sim-event.ts'
import { SimWorld } from './sim-world.ts'

/** Where and how a run failed. */
export interface SimFailure {
  readonly eventIndex: number
  readonly error: unknown
}

/**
 * Runs a script. Returns: its failure, or null. Adds what happened to `counts`.
 */
export function runScript(
  script: SimScript,
  counts: Map<string, number> = new Map(),
): SimFailure | null {
  const world = new SimWorld(script)
  let eventIndex = 0
  try {
    for (; eventIndex < script.events.length; eventIndex++) world.run(script.events[eventIndex])
    return null
  } catch (error) {
    return { eventIndex, error }
  } finally {
    for (const [name, count] of world.counts) counts.set(name, (counts.get(name) ?? 0) + count)
  }
}

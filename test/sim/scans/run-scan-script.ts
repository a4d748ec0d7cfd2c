import { readAggregate } from './read-aggregate.ts'
import { readScan } from './read-scan.ts'
import type { ScanScript } from './scan-script.ts'
import { type Check, type Reader, ScanWorld } from './scan-world.ts'

/** Where and how a run failed. */
export interface ScanFailure {
  /** Index of the event; −1 when the table could not be made. */
  readonly eventIndex: number
  readonly error: unknown
}

/** Runs a script. Returns: its failure, or null. Adds what happened to `counts`. */
export async function runScanScript(
  script: ScanScript,
  counts: Map<string, number> = new Map(),
): Promise<ScanFailure | null> {
  let eventIndex = -1
  try {
    const world = new ScanWorld(script, read, counts)
    await world.start()
    for (eventIndex = 0; eventIndex < script.events.length; eventIndex++) {
      await world.run(script.events[eventIndex])
    }
    return null
  } catch (error) {
    return { eventIndex, error }
  }
}

const read: Reader = (world, query): Promise<Check> => {
  return query.kind === 'scan' ? readScan(world, query) : readAggregate(world, query)
}

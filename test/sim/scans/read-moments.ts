/** The times that the reads of a script ask for. */

import type { ModelDiff, ModelMoment } from './scan-script.ts'
import type { ScanWorld } from './scan-world.ts'

const SECOND_MICROS = 1_000_000
/** How far the clocks of a request may go on before it is looked at. */
const MARGIN_MICROS = 2 * SECOND_MICROS

/** The time to ask for; null for none. */
export function resolveMoment(world: ScanWorld, at: ModelMoment): number | null {
  switch (at.kind) {
    case 'now':
      return null
    case 'ahead':
      // Waits of the front may end between two microseconds.
      return Math.floor(world.service.time.micros) + at.micros
    case 'forgotten':
      return Math.floor(oldestTime(world)) - MARGIN_MICROS
    case 'op': {
      const times = readableTimes(world)
      if (times.length === 0) return null
      return times[Math.floor(at.dice * times.length)] + at.offset
    }
  }
}

/** Headers with the newest time that the client has seen, if it tells. */
export function heardHeaders({ model }: ScanWorld, at: ModelMoment): Record<string, string> {
  const newest = model.opTimes.at(-1)
  const isTold = at.kind === 'now' && at.hears === true && newest !== undefined
  return isTold ? { 'nyala-propagated-timestamp': String(newest) } : {}
}

/** Whether a read must show all that was written before it. */
export function isLatest(at: ModelMoment): boolean {
  return at.kind === 'now' && (at.mode !== 'READ_YOUR_WRITES' || at.hears === true)
}

/** Where a diff begins; null for none. */
export function resolveDiff(
  world: ScanWorld,
  diff: ModelDiff | null,
  time: number | null,
): number | null {
  if (diff === null) return null
  const times = readableTimes(world).filter((at) => time === null || at <= time)
  if (times.length === 0) return time ?? Math.floor(world.service.time.micros)
  const from = times[Math.floor(diff.dice * times.length)] + diff.offset
  return time === null ? from : Math.min(from, time)
}

/** Whether a snapshot may have become too old since it was read. */
export function mayBeForgotten(world: ScanWorld, snapshot: number): boolean {
  return snapshot < oldestTime(world) + MARGIN_MICROS
}

function oldestTime({ service, script }: ScanWorld): number {
  return service.time.micros - script.table.historySec * SECOND_MICROS
}

/** Times of ops that history is kept of, and will be for a while. */
function readableTimes(world: ScanWorld): number[] {
  const oldest = oldestTime(world) + 4 * MARGIN_MICROS
  return world.model.opTimes.filter((time) => time > oldest)
}

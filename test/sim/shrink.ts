/**
 * Cuts a script that fails down to few events that still fail: leaves out longer and shorter runs
 * of events as long as that helps (delta debugging, Zeller 1999, without its complements).
 */

import { runScript } from './run-script.ts'
import type { SimEvent, SimScript } from './sim-event.ts'

const TRIALS_MAX = 600

/** The shortest script found that fails as well, and how. Requires: the script fails. */
export function shrinkScript(script: SimScript): SimScript {
  let events = eventsToFailure(script)
  let trials = 0
  for (let length = Math.ceil(events.length / 2); length >= 1; length = Math.floor(length / 2)) {
    let start = 0
    while (start < events.length && trials < TRIALS_MAX) {
      const fewer = [...events.slice(0, start), ...events.slice(start + length)]
      trials++
      const failed = fewer.length > 0 && runScript({ ...script, events: fewer }) !== null
      if (failed) events = eventsToFailure({ ...script, events: fewer })
      else start += length
    }
  }
  return { ...script, events }
}

/** The events up to the one that fails. */
function eventsToFailure(script: SimScript): readonly SimEvent[] {
  const failure = runScript(script)
  return failure === null ? script.events : script.events.slice(0, failure.eventIndex + 1)
}

/**
 * Tells many tablets something that each must hear, some at a time.
 */

import { TABLET_FAN_OUT_MAX } from '../common/limits.ts'
import type { Outcome } from '../common/status.ts'
import type { TabletControlStub } from '../wire/tablet-protocol.ts'
import type { Log } from './log.ts'

/** Tries for each tablet; what then is left is told again by the alarm. */
const ATTEMPT_COUNT = 2

/** How tablets are reached and what is said to each. */
export interface Announcement {
  readonly tabletIds: readonly string[]
  /** A fresh stub. */
  readonly stub: (tabletId: string) => TabletControlStub
  readonly say: (stub: TabletControlStub) => Promise<Outcome<null>>
  readonly log: Log
}

/**
 * Says it to every tablet. Returns: the tablets that heard it, in the order given; never throws.
 */
export async function tellTablets(announcement: Announcement): Promise<string[]> {
  const { tabletIds } = announcement
  const heard = new Uint8Array(tabletIds.length)
  let next = 0
  const tellNext = async (): Promise<void> => {
    while (next < tabletIds.length) {
      const index = next++
      heard[index] = (await tellOne(announcement, tabletIds[index])) ? 1 : 0
    }
  }
  const count = Math.min(TABLET_FAN_OUT_MAX, tabletIds.length)
  await Promise.all(Array.from({ length: count }, tellNext))
  return tabletIds.filter((_, index) => heard[index] === 1)
}

async function tellOne(announcement: Announcement, tabletId: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      const outcome = await announcement.say(announcement.stub(tabletId))
      if (outcome.ok) return true
      announcement.log.error('tablet refuses its orders', { tabletId, message: outcome.message })
      return false
    } catch (error) {
      const isOverloaded = (error as { overloaded?: boolean }).overloaded === true
      announcement.log.info('tablet is not reached', { tabletId, message: String(error) })
      if (isOverloaded || attempt === ATTEMPT_COUNT) return false
    }
  }
}

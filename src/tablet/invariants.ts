/**
 * Walks a whole tablet and asserts what must hold between two calls. For the simulator, tests and
 * operators.
 */

import { assert } from '../util/assert.ts'
import type { MemoryAccountant } from './memory-accountant.ts'
import type { Tablet } from './tablet.ts'
import type { TabletParts } from './tablet-parts.ts'

/** Asserts the invariants of a tablet and of everything in it. Cost: O(rows + changes). */
export function checkTablet(tablet: Tablet): void {
  const { parts } = tablet
  if (parts === null) return
  parts.memRowSet.checkInvariants()
  parts.mvcc.checkInvariants()
  parts.locks.checkInvariants()
  parts.results.checkInvariants()
  parts.wal.checkInvariants()
  checkAtRest(parts)
  checkTimes(parts)
}

/** Asserts that an accountant knows what a tablet holds. Requires: no scan of it was read since. */
export function checkAccount(tablet: Tablet, accountant: MemoryAccountant): void {
  accountant.checkInvariants()
  const { parts } = tablet
  if (parts === null) return
  assert(accountant.heldBy(parts) === parts.heldBytes, 'a tablet holds what its account says')
}

function checkAtRest(parts: TabletParts): void {
  assert(parts.mvcc.inFlightCount === 0, 'an op is in flight between two calls')
  assert(parts.locks.isEmpty, 'a lock is held between two calls')
  assert(parts.op.rowCount === 0, 'an op holds on to its rows')
}

function checkTimes(parts: TabletParts): void {
  const { lastApplied, mvcc, memRowSet, wal } = parts
  assert(memRowSet.lastAt <= lastApplied, 'a change is newer than the newest op applied')
  assert(lastApplied <= wal.lastTimestamp, 'an op was applied that is not logged')
  assert(lastApplied <= mvcc.cleanTime, 'an op is applied and may be overtaken')
}

/**
 * Walks a whole tablet and asserts what must hold between two calls. For the simulator, tests and
 * operators.
 */

import { SCAN_BATCH_BYTES, SCAN_BATCH_ROW_COUNT } from '../common/limits.ts'
import { assert } from '../util/assert.ts'
import { compareWhole, EMPTY_BYTES } from '../util/bytes.ts'
import type { MemoryAccountant } from './memory-accountant.ts'
import type { RowSet } from './row-set.ts'
import { openScan } from './scan/tablet-scanner.ts'
import type { Tablet } from './tablet.ts'
import type { TabletParts } from './tablet-parts.ts'

/**
 * Asserts the invariants of a tablet and of everything in it. `openOpCount` ops hold locks. `known`
 * is what an earlier check of this tablet found sound and that never changes (DiskRowSet). Cost:
 * reads every row, those on disk too. Throws: CORRUPTION where what is stored is damaged.
 */
export function checkTablet(tablet: Tablet, openOpCount = 0, known = new WeakSet<object>()): void {
  const { parts } = tablet
  if (parts === null) return
  parts.memRowSet.checkInvariants()
  parts.frozen?.memRowSet.checkInvariants()
  for (const rowSet of parts.rowSets) rowSet.checkInvariants(parts.keyHashSeed, known)
  parts.checkInvariants()
  parts.mvcc.checkInvariants()
  parts.locks.checkInvariants()
  parts.results.checkInvariants()
  parts.wal.checkInvariants()
  checkLiveKeys(tablet)
  if (openOpCount === 0) assert(parts.locks.isEmpty, 'a lock is held between two calls')
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
  assert(parts.op.rowCount === 0, 'an op holds on to its rows')
}

function checkTimes(parts: TabletParts): void {
  const { lastApplied, mvcc, memRowSet, frozen, wal } = parts
  assert(memRowSet.lastAt <= lastApplied, 'a change is newer than the newest op applied')
  assert(lastApplied <= wal.lastTimestamp, 'an op was applied that is not logged')
  assert(lastApplied <= mvcc.cleanTime, 'an op is applied and may be overtaken')
  assert(parts.flushedMark <= lastApplied, 'what was flushed was applied')
  if (memRowSet.rowCount > 0) {
    assert(memRowSet.firstAt > parts.flushedMark, 'rows in memory are newer than what was flushed')
  }
  if (frozen !== null) {
    assert(frozen.memRowSet.firstAt > parts.flushedMark, 'what is flushed was not before')
    assert(memRowSet.rowCount === 0 || memRowSet.firstAt > frozen.at, 'rows go to the active one')
  }
  for (const { meta, memStores } of parts.rowSets) {
    assert(meta.mark <= lastApplied, 'what is on disk was applied')
    for (const store of memStores) {
      if (store.isEmpty) continue
      assert(store.oldest > meta.mark, 'a change in memory is not in a file too')
      assert(store.newest <= lastApplied, 'a change to a row on disk was applied')
    }
  }
  checkLogged(parts)
}

/** Asserts that what is in memory only is in the live WAL. */
function checkLogged(parts: TabletParts): void {
  const anchor = parts.oldestAnchor
  if (anchor === null) return
  assert(anchor >= parts.wal.firstTimestamp, 'a change that is in no file is in no WAL either')
}

/**
 * Asserts that no key is live in two stores, and that live rows are counted. Cost: a scan of all
 * keys.
 */
export function checkLiveKeys(tablet: Tablet): void {
  const { parts } = tablet
  if (parts === null) return
  const snapshot = parts.lastApplied
  const scanner = openScan({
    rowSets: allRowSets(parts),
    schema: parts.schema,
    columnIds: [],
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'ORDERED',
    snapshot,
    withKeys: true,
  })
  let liveCount = 0
  let before: Uint8Array | null = null
  try {
    for (;;) {
      const batch = scanner.nextBatch(SCAN_BATCH_ROW_COUNT, SCAN_BATCH_BYTES)
      if (batch === null) break
      const { keys } = batch
      assert(keys !== null, 'a scan with keys has keys')
      for (let i = 0; i < batch.block.rowCount; i++) {
        const key = keys.key(i)
        assert(before === null || compareWhole(before, key) < 0, 'a key is live in two stores')
        before = key
        liveCount++
      }
    }
  } finally {
    scanner.close()
  }
  assert(liveCount === parts.liveRowCount, 'live rows are counted')
}

function allRowSets({ memRowSet, frozen, rowSets }: TabletParts): RowSet[] {
  const inMemory = frozen === null ? [memRowSet] : [memRowSet, frozen.memRowSet]
  return [...inMemory, ...rowSets]
}

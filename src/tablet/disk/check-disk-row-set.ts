/**
 * Reads all of a DiskRowSet and checks what everybody relies on. For tests and for operators who
 * ask whether a tablet is sound.
 */

import type { CFileReader } from '../../cfile/cfile-reader.ts'
import { type ZoneMap, zoneMapOf } from '../../cfile/zone-map.ts'
import { compareCells } from '../../common/cell-order.ts'
import type { Cell, Physical } from '../../common/data-type.ts'
import { hashKeys } from '../../common/hash-keys.ts'
import { KEY_PAGE_ROWS } from '../../common/limits.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { bitmapBytes, clearBit, getBit, setBit } from '../../util/bitmap.ts'
import { compareWhole } from '../../util/bytes.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import type { DeltaStore } from '../delta/delta-store.ts'
import type { DiskRowSet } from './disk-row-set.ts'

/** Rows whose deltas are looked at together. */
const STEP_ROWS = 4096

/** See `DiskRowSet.checkInvariants`. */
export function checkDiskRowSet(
  rowSet: DiskRowSet,
  keyHashSeed: number,
  known: WeakSet<object>,
): void {
  const { meta, base, undos, redos } = rowSet
  if (!known.has(base)) checkBase(rowSet, keyHashSeed)
  for (const file of [...undos, ...redos]) if (!known.has(file)) file.checkInvariants()
  for (const store of rowSet.memStores) store.checkInvariants()
  checkTimes(rowSet)
  checkRows(rowSet)
  if (undos.some((file) => !known.has(file))) checkUndos(undos, meta.rowCount)
  for (const part of [base, ...undos, ...redos]) known.add(part)
}

function checkBase(rowSet: DiskRowSet, keyHashSeed: number): void {
  const { meta, base } = rowSet
  assert(base.rowCount === meta.rowCount, 'a directory has the rows of its rowset')
  assert(base.baseBytes === meta.baseBytes, 'bytes of a base are counted')
  checkKeys(rowSet, keyHashSeed)
  for (const columnId of base.columnIds) {
    const reader = base.column(columnId)
    assert(reader !== null && reader.rowCount === meta.rowCount, 'a column has every row')
    for (let page = 0; page < reader.pageCount; page++) checkZone(reader, page)
  }
}

/** Keys ascend within the bounds, and Bloom filter and key index find each. */
function checkKeys({ meta, base }: DiskRowSet, keyHashSeed: number): void {
  const { lowerKey, upperKey, rowCount } = meta
  const cursor = base.keys.openCursor()
  const hashes = new Uint32Array(KEY_PAGE_ROWS)
  const order = new Uint32Array(KEY_PAGE_ROWS).map((_, key) => key)
  const found = new Int32Array(KEY_PAGE_ROWS)
  let keys = new KeyArena()
  let last: Uint8Array | null = null
  for (let start = 0; start < rowCount; start += KEY_PAGE_ROWS) {
    const count = Math.min(KEY_PAGE_ROWS, rowCount - start)
    keys = new KeyArena()
    cursor.appendKeys(start, start + count, keys)
    for (let key = 0; key < count; key++) {
      const bytes = keys.key(key)
      assert(last === null || compareWhole(last, bytes) < 0, 'keys ascend')
      assert(compareWhole(lowerKey, bytes) <= 0, 'keys are at or above the lower bound')
      const isBelow = upperKey.length === 0 || compareWhole(bytes, upperKey) < 0
      assert(isBelow, 'keys are below the upper bound')
      last = bytes
    }
    hashKeys(keys, 0, keyHashSeed, hashes)
    const passing = base.bloom.filter(hashes, order, 0, count, new Uint32Array(count))
    assert(passing === count, 'the Bloom filter has every key')
    found.fill(-1)
    base.keys.findSorted(keys, order, 0, count, found)
    for (let key = 0; key < count; key++) assert(found[key] === start + key, 'a key is found')
  }
}

/** What a page's zone map says holds for its cells. */
function checkZone(reader: CFileReader, page: number): void {
  const zone = reader.zone(page)
  const actual = zoneMapOf(reader.page(page, 'scan'))
  assert(
    zone.rowCount === actual.rowCount && zone.nullCount === actual.nullCount,
    'a zone map counts rows and nulls',
  )
  assert(isEnd(reader.physical, zone, actual, 'min'), 'a zone map has the least cell')
  assert(isEnd(reader.physical, zone, actual, 'max'), 'a zone map has the greatest cell')
}

function isEnd(physical: Physical, a: ZoneMap, b: ZoneMap, end: 'min' | 'max'): boolean {
  const [cell, other]: (Cell | null)[] = [a[end], b[end]]
  if (cell === null || other === null) return cell === other
  return compareCells(physical, cell, other) === 0
}

/** Stores follow each other in time, and what is durable is at or below the mark. */
function checkTimes({ meta, undos, redos, memStores }: DiskRowSet): void {
  const newestUndo = undos.reduce((newest, file) => Math.max(newest, file.newest), -Infinity)
  assert(undos.length === 0 || newestUndo <= meta.newestUndo, 'no UNDO is newer than the newest')
  for (const file of redos) assert(file.newest <= meta.mark, 'what is durable is below the mark')
  let last = meta.mark
  for (const store of memStores) {
    if (store.isEmpty) continue
    assert(store.oldest > meta.mark, 'what is not durable is above the mark')
    assert(store.oldest >= last, 'stores follow each other')
    last = store.newest
  }
}

/** Along each row, records fit its state; live rows are counted. */
function checkRows(rowSet: DiskRowSet): void {
  const { meta, redos, memStores } = rowSet
  const deleted = new Uint8Array(bitmapBytes(meta.rowCount))
  let durableCount = meta.rowCount
  let liveCount = meta.rowCount
  for (const store of redos) durableCount -= applyDeletes(store, meta.rowCount, deleted)
  assert(durableCount === meta.liveRowCount, 'live rows are counted as of the mark')
  liveCount = durableCount
  for (const store of memStores) liveCount -= applyDeletes(store, meta.rowCount, deleted)
  assert(liveCount === rowSet.liveRowCount, 'live rows are counted')
  for (let row = 0; row < meta.rowCount; row++) {
    assert(rowSet.isLive(row) === !getBit(deleted, row), 'what is deleted is known')
  }
}

/** Marks the rows that a store of REDOs deletes. Returns: how many. */
function applyDeletes(store: DeltaStore, rowCount: number, deleted: Uint8Array): number {
  let deleteCount = 0
  for (let start = 0; start < rowCount && store.recordCount > 0; start += STEP_ROWS) {
    const records = store.read(start, Math.min(rowCount, start + STEP_ROWS))
    for (let i = 0; i < records.count; i++) {
      const row = records.ordinals[i]
      assert(!getBit(deleted, row), 'nothing follows a delete')
      assert(records.kinds[i] !== DELTA_KINDS.REINSERT, 'no REDO on disk is a reinsert')
      if (records.kinds[i] !== DELTA_KINDS.DELETE) continue
      setBit(deleted, row)
      deleteCount++
    }
  }
  return deleteCount
}

/** From new to old: DELETE and UPDATE undo changes of a row that was there, REINSERT of a ghost. */
function checkUndos(undos: readonly DeltaStore[], rowCount: number): void {
  const absent = new Uint8Array(bitmapBytes(rowCount))
  for (const store of [...undos].reverse()) {
    for (let start = 0; start < rowCount; start += STEP_ROWS) {
      const records = store.read(start, Math.min(rowCount, start + STEP_ROWS))
      for (let i = records.count - 1; i >= 0; i--) {
        const row = records.ordinals[i]
        const isReinsert = records.kinds[i] === DELTA_KINDS.REINSERT
        assert(getBit(absent, row) === isReinsert, 'an UNDO fits the state of its row')
        if (isReinsert) clearBit(absent, row)
        else if (records.kinds[i] === DELTA_KINDS.DELETE) setBit(absent, row)
      }
    }
  }
}

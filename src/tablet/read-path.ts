/**
 * Reads of a tablet: which snapshot they see, and what is asked of the rowsets.
 */

import { LANE_BYTES, PHYSICAL } from '../common/data-type.ts'
import { optimizeDiffSpec } from '../common/diff-spec.ts'
import { hashKeys } from '../common/hash-keys.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { GET_KEY_COUNT_MAX, READ_BYTES_MAX } from '../common/limits.ts'
import { pruneInLists } from '../common/prune-in-lists.ts'
import type { RowBlock } from '../common/row-block.ts'
import { optimizeScanSpec } from '../common/scan-spec.ts'
import type { Schema } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import { KeyArena } from '../util/arena.ts'
import { openDiffScan } from './diff/open-diff-scan.ts'
import type { MemRowSet } from './memory/mem-row-set.ts'
import type { RowSetIterator } from './row-set.ts'
import { lookupRows } from './scan/key-lookup.ts'
import { ScanMeter } from './scan/scan-meter.ts'
import { SequenceIterator } from './scan/sequence-iterator.ts'
import {
  openRowSetScans,
  openScan,
  type ScanOptions,
  TabletScanner,
} from './scan/tablet-scanner.ts'
import { historyMaxAgeMicros, type TabletParts } from './tablet-parts.ts'
import type { LookupRequest, ScanRequest } from './tablet-request.ts'

/** Of a large scan: rowsets of which it reads less than this share of the cache are cached. */
const BORROWED_SHARE_MIN = 1 / 16
/** Bytes of a cell of a page of few different strings. */
const CODE_BYTES = 2

/** A scan that was opened, and the snapshot that it shows. */
export interface OpenedScan {
  readonly snapshot: Timestamp
  readonly scanner: TabletScanner
}

/** What a lookup found. */
export interface LookupFound {
  readonly snapshot: Timestamp
  /** Borrowed by nobody: it is the caller's. */
  readonly block: RowBlock
  /** The index of each row's key among the keys asked for. */
  readonly keyIndexes: Uint32Array
  /** How many keys, from the first, were looked up: all, unless their rows are too many bytes. */
  readonly keyCount: number
}

/**
 * Throws INVALID_SNAPSHOT when a time is older than the history that the table keeps, or than what
 * was dropped of it. `now`: physical.
 */
export function checkHistory(parts: TabletParts, snapshot: Timestamp, now: Timestamp): void {
  const maxAgeMicros = historyMaxAgeMicros(parts.identity)
  if (snapshot >= Math.max(now - maxAgeMicros, parts.historyMark)) return
  throw new StatusError('INVALID_SNAPSHOT', 'snapshot is older than the history of the table', {
    limit: maxAgeMicros / 1_000_000,
  })
}

/**
 * Checks where a diff begins that ends at a snapshot. Throws: INVALID_ARGUMENT when it ends before,
 * INVALID_SNAPSHOT as `checkHistory`.
 */
export function checkDiff(
  parts: TabletParts,
  diffFrom: Timestamp,
  snapshot: Timestamp,
  now: Timestamp,
): void {
  if (diffFrom > snapshot) throw invalidArgument('diff_from is later than the snapshot')
  checkHistory(parts, diffFrom, now)
}

/**
 * Opens a scan at a snapshot, over the part of its keys that the tablet can hold. Throws:
 * INVALID_ARGUMENT when the table lacks a column asked for. Requires: the snapshot was promised.
 */
export function openTabletScan(
  parts: TabletParts,
  request: ScanRequest,
  snapshot: Timestamp,
): OpenedScan {
  const meter = new ScanMeter(readColumnIds(request))
  const options = scanOptionsOf(parts, request, snapshot, meter)
  const bill = parts.store
  if (options === null) return { snapshot, scanner: new TabletScanner(null, { meter, bill }) }
  const { diffFrom = null } = request
  if (diffFrom !== null) return { snapshot, scanner: openDiffScan({ ...options, diffFrom }) }
  const rowsMin = request.isWhole === true ? borrowedRowsMin(parts, request, options) : undefined
  return { snapshot, scanner: openScan(options, rowsMin) }
}

/**
 * Opens the rowsets one by one for selections: rows come in no order. Throws and requires: as
 * `openTabletScan`; whoever opens it closes it.
 */
export function openTabletSelections(
  parts: TabletParts,
  request: ScanRequest,
  snapshot: Timestamp,
): RowSetIterator {
  const meter = new ScanMeter(readColumnIds(request))
  const options = scanOptionsOf(parts, request, snapshot, meter)
  if (options === null) return new SequenceIterator([])
  return openRowSetScans(options, borrowedRowsMin(parts, request, options))
}

/**
 * From how many rows on the pages of a rowset are not put in the cache, only to push out all that
 * is there; undefined when the scan is not that large.
 */
function borrowedRowsMin(
  { tree, schema, cache }: TabletParts,
  request: ScanRequest,
  { lowerKey, upperKey }: ScanOptions,
): number | undefined {
  let rowCount = 0
  for (const { meta } of tree.inRange(lowerKey, upperKey)) rowCount += meta.rowCount
  const rowBytes = laneBytesOf(schema, readColumnIds(request))
  if (rowCount * rowBytes <= cache.bytesMax) return undefined
  return (cache.bytesMax * BORROWED_SHARE_MIN) / rowBytes
}

/** Bytes that a row of columns takes in decoded pages, about. */
function laneBytesOf(schema: Schema, columnIds: readonly number[]): number {
  let bytes = 0
  for (const id of new Set(columnIds)) {
    const { physical } = schema.mustById(id)
    bytes += physical === PHYSICAL.binary ? CODE_BYTES : LANE_BYTES[physical]
  }
  return bytes
}

/** Every column that a scan reads, for its predicates or for its result. */
function readColumnIds({ columnIds, predicates }: ScanRequest): number[] {
  return [...columnIds, ...predicates.map(({ columnId }) => columnId)]
}

/** Null when no row can pass. */
function scanOptionsOf(
  parts: TabletParts,
  request: ScanRequest,
  snapshot: Timestamp,
  meter: ScanMeter,
): ScanOptions | null {
  const { schema, identity } = parts
  checkColumnIds(schema, request.columnIds)
  for (const { columnId } of request.predicates) checkColumnIds(schema, [columnId])
  const { partitionSchema, partition } = identity
  const pruned = pruneInLists(schema, partitionSchema, partition, request)
  const isDiff = (request.diffFrom ?? null) !== null
  const spec = isDiff ? optimizeDiffSpec(schema, pruned) : optimizeScanSpec(schema, pruned)
  const memRowSets = memRowSetsOf(parts).filter(({ rowCount }) => rowCount > 0)
  const rowSetCount = memRowSets.length + parts.tree.rowSets.length
  meter.countRowSets(rowSetCount)
  if (spec.isEmpty) {
    meter.countLeftOut(rowSetCount, 'key_bounds')
    return null
  }
  const inRange = parts.tree.inRange(spec.lowerKey, spec.upperKey)
  meter.countLeftOut(parts.tree.rowSets.length - inRange.length, 'key_bounds')
  return {
    rowSets: [...memRowSets, ...inRange],
    schema,
    columnIds: request.columnIds,
    predicates: spec.predicates,
    lowerKey: spec.lowerKey,
    upperKey: spec.upperKey,
    order: request.order,
    snapshot,
    withKeys: request.withKeys,
    keyHashSeed: parts.keyHashSeed,
    meter,
    bill: parts.store,
  }
}

/**
 * Looks rows up by key at a snapshot.
 * Throws: INVALID_ARGUMENT for malformed or too many keys, or a column that the table lacks.
 */
export function lookupTabletRows(
  parts: TabletParts,
  request: LookupRequest,
  snapshot: Timestamp,
): LookupFound {
  checkColumnIds(parts.schema, request.columnIds)
  const keys = arenaOf(request.keyBytes, request.keyEnds)
  const hashes = new Uint32Array(keys.count)
  hashKeys(keys, 0, parts.keyHashSeed, hashes)
  const { block, keyIndexes, keyEnd } = lookupRows({
    rowSets: memRowSetsOf(parts),
    tree: parts.tree,
    schema: parts.schema,
    columnIds: request.columnIds,
    snapshot,
    keys,
    hashes,
    keyStart: 0,
    bytesMax: READ_BYTES_MAX,
  })
  return { snapshot, block, keyIndexes, keyCount: keyEnd }
}

/** The rowsets in memory, newest first. */
function memRowSetsOf({ memRowSet, frozen }: TabletParts): MemRowSet[] {
  return frozen === null ? [memRowSet] : [memRowSet, frozen.memRowSet]
}

/** Throws INVALID_ARGUMENT when the table lacks a column. */
export function checkColumnIds(schema: Schema, columnIds: readonly number[]): void {
  for (const id of columnIds) {
    if (schema.byId(id) === undefined) throw invalidArgument('table has no such column id')
  }
}

/** Keys of a message as an arena, without copying. */
function arenaOf(keyBytes: Uint8Array, keyEnds: Uint32Array): KeyArena {
  if (keyEnds.length > GET_KEY_COUNT_MAX) {
    throw invalidArgument(`${keyEnds.length} keys are asked for, limit is ${GET_KEY_COUNT_MAX}`, {
      limit: GET_KEY_COUNT_MAX,
    })
  }
  let start = 0
  for (let index = 0; index < keyEnds.length; index++) {
    if (keyEnds[index] < start) throw invalidArgument('ends of keys descend')
    start = keyEnds[index]
  }
  if (start !== keyBytes.length) throw invalidArgument('keys do not fill their bytes')
  const keys = new KeyArena(0, 0)
  keys.bytes = keyBytes
  keys.length = keyBytes.length
  keys.ends = keyEnds
  keys.count = keyEnds.length
  return keys
}

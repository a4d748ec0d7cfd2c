/**
 * One share of a write, from its bytes to its result, in one synchronous section
 * (docs/ARCHITECTURE.md):
 *
 *   remembered? ─► memory ─► rows checked ─► keys ─► locks ─► presence ─► outcomes ─► room?
 *        │                                                                               │
 *        └── first result                              nothing has changed up to here ───┤
 *                                                                                        ▼
 *   result ◄── remembered ◄── locks released ◄── [ timestamp, one WAL entry, applied in memory ]
 *                                                  one transaction of the store
 *
 * Where it may vanish: before the transaction is durable nothing of the op was; afterwards replay
 * brings the op and its result back as they were decided. In between there is no state: the entry
 * is one write.
 *
 * Expected failures are thrown before the transaction, and leave no trace but a raised clock. What
 * is thrown inside it leaves memory unusable, and the tablet refuses to be used again (tablet.ts).
 */

import { StatusError } from '../common/status.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import { applyOutcomes } from './apply-outcomes.ts'
import { locateKeys } from './locate-keys.ts'
import type { MemoryAccountant } from './memory-accountant.ts'
import { checkResultKey } from './result-cache.ts'
import { checkColumns, checkKeys } from './row-checker.ts'
import { areAllUndecided, decideRows } from './row-decider.ts'
import {
  changesStore,
  collectErrors,
  countOutcomes,
  hasApplied,
  NO_ROW_ERRORS,
  noCounts,
  ROW_OUTCOMES,
  type RowCounts,
} from './row-outcome.ts'
import { readShareBlock } from './share-block.ts'
import type { TabletClock } from './tablet-clock.ts'
import { keyVectorsOf, type TabletParts } from './tablet-parts.ts'
import type { ResultKey, WriteRequest, WriteResult } from './tablet-request.ts'
import type { WriteOp } from './write-op.ts'

/** What a section needs beside the parts of its tablet. */
export interface SectionContext {
  readonly parts: TabletParts
  readonly clock: TabletClock
  readonly accountant: MemoryAccountant
}

/**
 * Applies a share, or gives the remembered result of the first request with its key.
 *
 * Requires: the request is for this tablet and this version of its table, and the clock has heard
 * the request's. Throws: INVALID_ARGUMENT, SERVICE_UNAVAILABLE, THROTTLED; then nothing was applied
 * or logged. Cost: for new rows one batched pass a step, no allocation a row.
 */
export function writeShare(context: SectionContext, request: WriteRequest): WriteResult {
  const { parts, clock, accountant } = context
  const { resultKey } = request
  if (resultKey !== null) {
    checkResultKey(resultKey)
    const remembered = parts.results.find(resultKey, clock.physical)
    if (remembered !== undefined) return remembered
  }
  if (accountant.isOverHard(request.block.length)) throw memoryIsFull(accountant)
  const block = readShareBlock(request.block, parts.schema)
  if (!parts.memRowSet.hasRoomFor(block.rowCount)) throw memoryIsFull(accountant)
  // Of a client's key it is remembered that nothing was to be done.
  if (block.rowCount === 0 && (resultKey === null || resultKey.isInternal)) {
    return { ...noCounts(), timestamp: null, errors: NO_ROW_ERRORS, isReplayed: false }
  }
  const op = parts.op
  op.begin(block)
  const opNumber = parts.nextOpNumber()
  try {
    decide(parts, op, opNumber)
    const counts = countOutcomes(op.operations, op.outcomes, op.rowCount)
    if (resultKey !== null) parts.results.reserve(resultKey, counts.failed, clock.physical)
    if (!hasApplied(counts) && resultKey === null) return resultOf(op, counts, null)
    parts.wal.reserve()
    return commit(context, request, counts)
  } finally {
    parts.locks.releaseBatch(opNumber)
    op.end()
  }
}

function memoryIsFull(accountant: MemoryAccountant): StatusError {
  return new StatusError('SERVICE_UNAVAILABLE', 'memory for unflushed rows is full', {
    limit: accountant.hardBytes,
    retryable: true,
  })
}

/** Sets the outcome of every row, and takes the locks of all keys. Changes nothing else. */
function decide(parts: TabletParts, op: WriteOp, opNumber: number): void {
  const areInserts = checkColumns(op, parts.schema)
  const keyVectors = keyVectorsOf(op.block, parts.keyColumns)
  // Without a key column every row has failed already.
  if (keyVectors === null) return
  op.encodeKeys(keyVectors, parts.keyHashSeed)
  checkKeys(op)
  parts.guard.check(op, keyVectors)
  const heldBefore = parts.locks.heldCount
  const locked = parts.locks.acquireBatch(opNumber, op.keys, op.hashes, op.rowCount)
  if (locked !== 'held') {
    parts.locks.cancel(locked)
    throw new StatusError('ABORTED', 'a row is locked by another op')
  }
  op.hasDuplicates = parts.locks.heldCount - heldBefore < op.rowCount
  const areAllNew = locateKeys(parts, op)
  if (areInserts && areAllNew && !op.hasDuplicates && areAllUndecided(op)) {
    op.outcomes.fill(ROW_OUTCOMES.INSERT, 0, op.rowCount)
    return
  }
  if (op.hasDuplicates) op.findLeaders()
  decideRows(op, parts.schema)
}

function resultOf(op: WriteOp, counts: RowCounts, timestamp: number | null): WriteResult {
  return {
    ...counts,
    timestamp,
    errors: collectErrors(op.outcomes, op.errorColumnIds, op.rowCount, counts.failed),
    isReplayed: false,
  }
}

function commit(context: SectionContext, request: WriteRequest, counts: RowCounts): WriteResult {
  const { parts, clock } = context
  const { mvcc, op } = parts
  const isApplied = hasApplied(counts)
  const changes = isApplied && hasChanges(op)
  const timestamp = clock.next()
  const expiresAt =
    request.resultKey === null ? 0 : parts.results.expiryOf(request.resultKey, clock.physical)
  parts.transact(() => {
    parts.tear()
    if (isApplied) mvcc.startOp(timestamp)
    const hasBegunGeneration = parts.wal.append({
      tableVersion: parts.identity.tableVersion,
      timestamp,
      rowCount: op.rowCount,
      counts,
      outcomes: op.outcomes,
      errorColumnIds: op.errorColumnIds,
      resultKey: request.resultKey,
      expiresAt,
      block: changes ? request.block : EMPTY_BYTES,
    })
    if (hasBegunGeneration) parts.commitStorage({})
    if (!isApplied) return
    mvcc.startApplying(timestamp)
    if (changes) applyOutcomes(parts, op, timestamp)
    mvcc.finishApplying(timestamp)
    mvcc.adjustNewOpLowerBound(timestamp)
    parts.lastApplied = timestamp
  })
  const result = resultOf(op, counts, isApplied ? timestamp : null)
  if (request.resultKey !== null) remember(parts, request.resultKey, result, expiresAt)
  return result
}

function hasChanges(op: WriteOp): boolean {
  const { outcomes, rowCount } = op
  for (let row = 0; row < rowCount; row++) if (changesStore(outcomes[row])) return true
  return false
}

/** Remembers a result as it will be repeated. */
export function remember(
  parts: TabletParts,
  key: ResultKey,
  result: WriteResult,
  expiresAt: number,
): void {
  parts.results.remember(key, { ...result, isReplayed: true }, expiresAt)
}

/**
 * Deletes the rows of a tablet that a snapshot selects, a share at a time.
 *
 *   keys at the snapshot ──► share full? ─yes─► one op of DELETE_IGNOREs, which is remembered
 *     ▲ a slice a section        no                 with all that was done so far
 *     └────────── others run ◄───┴──────────────────┘
 *
 * Shares are cut by the keys alone, which are the same whenever the snapshot is read. So a call
 * that is repeated finds by what is remembered which of its shares are done, passes over them, and
 * no row is deleted or counted twice, nor one that came back since.
 *
 * With a client's key the last share is remembered as the end, even if it is empty. A request that
 * is repeated is then answered from memory; one that broke off goes on with what its own snapshot
 * still selects. Two at the same time: each share replaces what the one before it left, so the one
 * that finds something else there gives up.
 */

import { LANE_BYTES, PHYSICAL } from '../common/data-type.ts'
import {
  DELETION_CALL_MS_MAX,
  DELETION_COUNT_MAX,
  DELETION_SLICE_ROW_COUNT,
  SHARE_BYTES_MAX,
  SHARE_ROW_COUNT_MAX,
} from '../common/limits.ts'
import { decodeRowBlock, encodeRowBlock, type RowBlock } from '../common/row-block.ts'
import { RowBlockBuilder } from '../common/row-block-builder.ts'
import { ROW_OPERATIONS } from '../common/row-operation.ts'
import type { Column } from '../common/schema.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import { keyInUse, otherRequest, type StoredResult } from '../tablet/result-cache.ts'
import type { TabletScanner } from '../tablet/scan/tablet-scanner.ts'
import type { Tablet } from '../tablet/tablet.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import { assert } from '../util/assert.ts'
import { EMPTY_BYTES } from '../util/bytes.ts'
import type {
  DeleteRowsAnswer,
  DeleteRowsCall,
  DeletionFailure,
  DeletionProgress,
  TabletAnswer,
} from '../wire/tablet-protocol.ts'
import { type DeletionMark, deletionDigest, deletionMarkOf } from './deletion-mark.ts'
import { withValue } from './tablet-answer.ts'

/** What deletions need of their object. */
export interface DeletionPorts {
  /** Runs one section of a call's tablet. */
  readonly section: <T>(
    call: DeleteRowsCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ) => Promise<TabletAnswer<T>>
  /** Runs a write, again when others made room for it. */
  readonly during: <T>(
    tabletId: string,
    bytes: number,
    write: () => Promise<TabletAnswer<T>>,
  ) => Promise<TabletAnswer<T>>
  /** Lets other events in. */
  readonly pause: () => Promise<void>
  readonly elapsedMs: () => number
  /** Rows that are looked at before others run; left out: the usual. */
  readonly sliceRowCount?: number
}

/** The deletions that are under way in one object. */
export class RowDeletions {
  readonly #ports: DeletionPorts
  #openCount = 0

  constructor(ports: DeletionPorts) {
    this.#ports = ports
  }

  /** Works on a deletion for a while, or until it is done. */
  async work(call: DeleteRowsCall): Promise<TabletAnswer<DeleteRowsAnswer>> {
    const deletion = new RowDeletion(this.#ports, call)
    this.#openCount++
    try {
      const opened = await this.#ports.section(call, (tablet) => {
        if (this.#openCount > DELETION_COUNT_MAX) throw tooManyDeletions()
        return deletion.open(tablet)
      })
      return opened.kind === 'ok' ? await deletion.run(opened.clock) : opened
    } finally {
      this.#openCount--
      deletion.close()
    }
  }
}

/** A part of the work that ended otherwise than well. */
type Setback = Exclude<TabletAnswer<never>, { readonly kind: 'ok' }>

/** One call's work. */
class RowDeletion {
  readonly #ports: DeletionPorts
  readonly #call: DeleteRowsCall
  readonly #deadlineMs: number
  #share: ShareOfKeys | null = null
  #scanner: TabletScanner | null = null
  #progress: DeletionProgress
  /** Digest of what the tablet remembers of the deletion; empty: nothing. */
  #remembered = ''
  /** Shares of the request that this call met, those that were done before included. */
  #shareCount: number
  /** The end of an earlier request, or of an earlier try of this call. */
  #end: DeletionMark | null = null
  #isScanned = false
  /** Where the caller goes on, once the call has taken long enough. */
  #lastKey: Uint8Array | null = null
  #clock = 0

  constructor(ports: DeletionPorts, call: DeleteRowsCall) {
    this.#ports = ports
    this.#call = call
    this.#deadlineMs = ports.elapsedMs() + DELETION_CALL_MS_MAX
    this.#progress = call.progress
    this.#shareCount = call.progress.shareCount
  }

  /** Looks what was done before, and opens the scan if anything is left. */
  open(tablet: Tablet): TabletReply<null> {
    const call = this.#call
    const remembered = tablet.remembered(call, call.resultKey)
    if (remembered.kind !== 'ok') return remembered
    if (remembered.value !== null) this.#goOnFrom(remembered.value)
    if (this.#end !== null) return { ...remembered, value: null }
    const keyColumns = tablet.parts?.schema.keyColumns
    assert(keyColumns !== undefined, 'a tablet that answered has a schema')
    const share = new ShareOfKeys(keyColumns)
    if (call.carried.length > 0) share.add(carriedBlock(call.carried, keyColumns))
    this.#share = share
    const scan = { columnIds: share.columnIds, order: 'ORDERED', withKeys: false } as const
    return withValue(tablet.openScan({ ...call, ...scan }), ({ scanner }) => {
      this.#scanner = scanner
      return null
    })
  }

  /** Lets go of the scan. */
  close(): void {
    this.#scanner?.close()
  }

  /** Scans and deletes. Requires: `open` succeeded; `clock` is that of its answer. */
  async run(clock: number): Promise<TabletAnswer<DeleteRowsAnswer>> {
    this.#clock = clock
    while (!this.#isOver) {
      const setback = (await this.#scanOn()) ?? (await this.#writeReady())
      if (setback?.kind === 'error') return this.#answer(setback)
      if (setback !== null) return setback
      await this.#ports.pause()
    }
    return this.#answer(null)
  }

  get #isOver(): boolean {
    return this.#end !== null || this.#isScanned || this.#lastKey !== null
  }

  /** Takes over what is remembered. Throws: INVALID_ARGUMENT, ABORTED. */
  #goOnFrom(stored: StoredResult): void {
    const { resultKey, snapshot, progress } = this.#call
    const mark = deletionMarkOf(stored)
    if (mark === null || mark.request !== resultKey.digest) throw otherRequest()
    this.#remembered = stored.key.digest
    if (mark.isEnd) this.#end = mark
    else if (mark.snapshot === snapshot) this.#progress = mark.progress
    else if (progress.shareCount > 0) throw keyInUse()
    else this.#progress = { ...mark.progress, shareCount: 0 }
    if (this.#end !== null) this.#progress = mark.progress
  }

  /** Scans until a share is full, or for a slice. */
  async #scanOn(): Promise<Setback | null> {
    const answer = await this.#ports.section(this.#call, (tablet) => {
      this.#slice()
      return { kind: 'ok', clock: tablet.newestTime, value: null }
    })
    return this.#setbackOf(answer)
  }

  #slice(): void {
    const share = this.#share
    const scanner = this.#scanner
    assert(share !== null && scanner !== null, 'a deletion is opened before it runs')
    let scannedLeft = this.#ports.sliceRowCount ?? DELETION_SLICE_ROW_COUNT
    while (scannedLeft > 0) {
      const batch = scanner.nextBatch(share.roomRowCount, SHARE_BYTES_MAX)
      if (batch === null) {
        this.#isScanned = true
        return
      }
      scannedLeft -= Math.max(batch.scannedCount, 1)
      share.add(batch.block)
      if (share.hasFull) scannedLeft = 0
      if (scannedLeft > 0 || this.#ports.elapsedMs() < this.#deadlineMs) continue
      this.#lastKey = batch.lastKeyScanned.slice()
    }
  }

  /** Writes the shares that are full, and the last one if the scan is at its end. */
  async #writeReady(): Promise<Setback | null> {
    const share = this.#share
    assert(share !== null, 'a deletion is opened before it runs')
    for (let block = share.takeFull(); block !== null; block = share.takeFull()) {
      const setback = await this.#write(block, false)
      if (setback !== null) return setback
    }
    if (!this.#isScanned) return null
    const isKept = !this.#call.resultKey.isInternal
    return share.rowCount > 0 || isKept ? this.#write(share.takeRest(), isKept) : null
  }

  async #write(block: Uint8Array, isEnd: boolean): Promise<Setback | null> {
    const { snapshot, resultKey, tabletId } = this.#call
    // A call before this one did it, and its answer was lost.
    if (this.#shareCount++ < this.#progress.shareCount) return null
    const progress = { ...this.#progress, shareCount: this.#shareCount }
    const digest = deletionDigest({ request: resultKey.digest, snapshot, progress, isEnd })
    const request = {
      ...this.#call,
      block,
      resultKey: { ...resultKey, share: 0, digest, replaces: this.#remembered },
    }
    const answer = await this.#ports.during(tabletId, block.length, () =>
      this.#ports.section(this.#call, (tablet) => tablet.write(request)),
    )
    if (answer.kind === 'ok') {
      const { deleted, timestamp, failed } = answer.value
      assert(failed === 0, 'a key that was read can be deleted')
      this.#remembered = digest
      this.#progress = {
        shareCount: this.#shareCount,
        deletedCount: progress.deletedCount + deleted,
        timestamp: timestamp ?? progress.timestamp,
      }
    }
    return this.#setbackOf(answer)
  }

  #setbackOf(answer: TabletAnswer<unknown>): Setback | null {
    this.#clock = answer.clock
    return answer.kind === 'ok' ? null : answer
  }

  #carried(): Uint8Array {
    const share = this.#share
    return share !== null && share.rowCount > 0 ? share.carried() : EMPTY_BYTES
  }

  #answer(failure: DeletionFailure | null): TabletAnswer<DeleteRowsAnswer> {
    const hasMore = failure === null && this.#end === null && !this.#isScanned
    const snapshot = this.#end?.snapshot ?? this.#call.snapshot
    return {
      kind: 'ok',
      clock: this.#clock,
      value: {
        progress: this.#progress,
        snapshot,
        carried: hasMore ? this.#carried() : EMPTY_BYTES,
        lastKey: this.#lastKey ?? EMPTY_BYTES,
        hasMore,
        isReplayed: snapshot !== this.#call.snapshot,
        failure: failure === null ? null : failureOf(failure),
      },
    }
  }
}

/**
 * Gathers keys, and cuts them into shares: the same however they come in. Hot.
 *
 *  I1  at most SHARE_ROW_COUNT_MAX rows and SHARE_BYTES_MAX bytes are in a share, or one row.
 */
class ShareOfKeys {
  readonly columnIds: readonly number[]
  readonly #builder: RowBlockBuilder
  readonly #operations = new Uint8Array(SHARE_ROW_COUNT_MAX).fill(ROW_OPERATIONS.DELETE_IGNORE)
  readonly #fixedRowBytes: number
  readonly #binaryIndexes: readonly number[]
  readonly #full: Uint8Array[] = []
  #bytes = 0

  constructor(keyColumns: readonly Column[]) {
    this.columnIds = keyColumns.map(({ id }) => id)
    this.#builder = new RowBlockBuilder(keyColumns, true)
    this.#binaryIndexes = keyColumns.flatMap(({ physical }, index) =>
      physical === PHYSICAL.binary ? [index] : [],
    )
    // Lanes or offsets, the operation, and what bitmaps take.
    let bytes = 1
    for (const { physical } of keyColumns) bytes += (LANE_BYTES[physical] || 4) + 0.25
    this.#fixedRowBytes = bytes
  }

  /** Rows of the share that is not full. */
  get rowCount(): number {
    return this.#builder.rowCount
  }

  /** Rows that it still takes, at least one. */
  get roomRowCount(): number {
    return SHARE_ROW_COUNT_MAX - this.#builder.rowCount
  }

  /** Whether a share is full. */
  get hasFull(): boolean {
    return this.#full.length > 0
  }

  /** Takes in the keys of a block, whose columns are the key columns. */
  add(block: RowBlock): void {
    const fixedBytes = this.#fixedRowBytes
    let start = 0
    for (let row = 0; row < block.rowCount; row++) {
      let bytes = fixedBytes
      for (const index of this.#binaryIndexes) {
        const { offsets } = block.columns[index]
        bytes += offsets[row + 1] - offsets[row]
      }
      if (this.#bytes > 0 && this.#bytes + bytes > SHARE_BYTES_MAX) {
        this.#append(block, start, row)
        this.#cut()
        start = row
      }
      this.#bytes += bytes
      if (this.#builder.rowCount + row + 1 - start < SHARE_ROW_COUNT_MAX) continue
      this.#append(block, start, row + 1)
      this.#cut()
      start = row + 1
    }
    this.#append(block, start, block.rowCount)
  }

  /** The oldest full share, as a write's row block, or null. */
  takeFull(): Uint8Array | null {
    return this.#full.shift() ?? null
  }

  /** The share that is not full. */
  takeRest(): Uint8Array {
    const rest = this.carried()
    this.#builder.clear()
    this.#bytes = 0
    return rest
  }

  /** The share that is not full, which stays. */
  carried(): Uint8Array {
    return encodeRowBlock(this.#builder.view())
  }

  #append(block: RowBlock, start: number, end: number): void {
    if (start === end) return
    const { columns } = this.#builder
    for (let index = 0; index < columns.length; index++) {
      columns[index].appendRange(block.columns[index], start, end)
    }
    this.#builder.endRows(this.#operations, end - start)
  }

  #cut(): void {
    this.#full.push(this.takeRest())
  }
}

/** Throws: INVALID_ARGUMENT when the block is not one of these columns. */
function carriedBlock(bytes: Uint8Array, keyColumns: readonly Column[]): RowBlock {
  const block = decodeRowBlock(bytes)
  const isOfKeys =
    block.columns.length === keyColumns.length &&
    keyColumns.every(({ id, physical }, index) => {
      return block.columnIds[index] === id && block.columns[index].physical === physical
    })
  if (!isOfKeys) throw invalidArgument('rows that are carried on have other columns')
  return block
}

function failureOf({ code, message, details }: DeletionFailure): DeletionFailure {
  return { code, message, details }
}

function tooManyDeletions(): StatusError {
  return new StatusError('SERVICE_UNAVAILABLE', 'tablet has too many deletions under way', {
    limit: DELETION_COUNT_MAX,
    retryable: true,
  })
}

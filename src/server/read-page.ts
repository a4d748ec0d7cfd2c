/**
 * A bounded part of a scan in one answer: frames as in a stream, joined.
 */

import {
  READ_BYTES_MAX,
  READ_SCANNED_ROW_COUNT_MAX,
  SCAN_BATCH_BYTES,
  SCAN_BATCH_ROW_COUNT,
} from '../common/limits.ts'
import type { ScanBatch } from '../tablet/row-set.ts'
import { concatBytes, EMPTY_BYTES } from '../util/bytes.ts'
import { ScanFrameWriter } from '../wire/scan-frame.ts'

/** Where the batches of a scan come from. */
export interface BatchSource {
  /** The next batch, possibly without rows, or null at the end. */
  nextBatch(rowCountMax: number, bytesMax: number): ScanBatch | null
  /** Lets go of what the scan holds. */
  close(): void
}

/** A part of a scan: see `ReadAnswer`. */
export interface ReadPage {
  readonly frames: Uint8Array
  readonly hasMore: boolean
  readonly lastKey: Uint8Array
}

/**
 * Reads up to `rowCountMax` rows and about `bytesMax` bytes, and closes the scan: what lies behind
 * the page is read by another.
 *
 * Returns: at least one row, unless there is none or so many had to be looked at in vain that the
 * time is up.
 */
export function readPage(source: BatchSource, rowCountMax: number, bytesMax: number): ReadPage {
  try {
    return readBatches(source, rowCountMax, bytesMax)
  } finally {
    source.close()
  }
}

function readBatches(source: BatchSource, rowCountMax: number, bytesMax: number): ReadPage {
  const writer = new ScanFrameWriter()
  const frames: Uint8Array[] = []
  let rowCountLeft = rowCountMax
  let bytesLeft = Math.min(bytesMax, READ_BYTES_MAX)
  let scannedLeft = READ_SCANNED_ROW_COUNT_MAX
  let lastKey: Uint8Array = EMPTY_BYTES
  let hasMore = true
  while (rowCountLeft > 0 && scannedLeft > 0 && (bytesLeft > 0 || frames.length === 0)) {
    const batch = source.nextBatch(
      Math.min(rowCountLeft, SCAN_BATCH_ROW_COUNT),
      Math.max(1, Math.min(bytesLeft, SCAN_BATCH_BYTES)),
    )
    if (batch === null) {
      hasMore = false
      break
    }
    lastKey = batch.lastKeyScanned
    scannedLeft -= batch.scannedCount
    if (batch.block.rowCount === 0) continue
    const frame = writer.encodeBatch(batch)
    frames.push(frame)
    rowCountLeft -= batch.block.rowCount
    bytesLeft -= frame.length
  }
  frames.push(writer.encodeEnd())
  // Of views the whole buffer would be sent.
  const page = { frames: concatBytes(...frames), hasMore }
  return { ...page, lastKey: hasMore ? lastKey.slice() : EMPTY_BYTES }
}

import { encodedRowBlockBytes } from '../../src/common/row-block.ts'
import { ROW_ERROR_MIN } from '../../src/tablet/row-outcome.ts'
import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import { uniformOutcome } from '../../src/tablet/wal-entry.ts'
import type { WriteOp } from '../../src/tablet/write-op.ts'
import { align8 } from '../../src/util/bytes.ts'

/** Of an entry's header (docs/formats/wal.md). */
const FIXED_BYTES = 88
/** Who asks before there is an entry: both looks at the memory's limit, and that of a share. */
const ASKED_BEFORE = 3
/** Who asks as it is appended: its buffer, and the sum of its generation. */
const ASKED_APPENDING = 2

/**
 * Sizes of log entries found out anew by whoever asks, as before they were kept. The engine asks
 * for the size of what it logs five times an op; each is a walk of the entry: its outcomes, and
 * the columns of its row block. The entries of a whole generation are not walked: that was never
 * done.
 */
export class WalkedSizes {
  /** Bytes of all entries, as they were found out. */
  loggedBytes = 0
  readonly #op: WriteOp

  /** Lets the WAL of a tablet ask. */
  constructor({ wal, op }: TabletParts) {
    this.#op = op
    const reserve = wal.reserve.bind(wal)
    const append = wal.append.bind(wal)
    wal.reserve = () => {
      this.#ask(ASKED_BEFORE)
      reserve()
    }
    wal.append = (entry) => {
      this.loggedBytes += this.#ask(ASKED_APPENDING)
      return append(entry)
    }
  }

  #ask(times: number): number {
    const bytes = entryBytes(this.#op)
    for (let i = 1; i < times; i++) {
      if (entryBytes(this.#op) !== bytes) throw new Error('an entry has two sizes')
    }
    return bytes
  }
}

/** Bytes of the entry that an op without a result key becomes. Requires: it changes a store. */
function entryBytes({ outcomes, rowCount, block }: WriteOp): number {
  let errorCount = 0
  for (let row = 0; row < rowCount; row++) if (outcomes[row] >= ROW_ERROR_MIN) errorCount++
  const outcomeBytes = uniformOutcome(outcomes, rowCount) === 0 ? rowCount : 0
  const columnIdsAt = (FIXED_BYTES + outcomeBytes + 3) & ~3
  return align8(columnIdsAt + errorCount * 4) + encodedRowBlockBytes(block)
}

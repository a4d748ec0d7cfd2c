import { createHash } from 'node:crypto'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import type { Schema } from '../../src/common/schema.ts'
import type { BenchTablet } from './bench-tablet.ts'
import { hashOf } from './report.ts'

const BATCH_ROWS = 4096
const BATCH_BYTES = 1024 * 1024
const NO_BOUND = new Uint8Array(0)

/** Rows of a scan, and a hash of their cells however they come in batches. */
export interface ScanHash {
  readonly rowCount: number
  readonly hash: string
}

/** Scans all rows of tablets, one after the other. A null counts as zero or empty. */
export function scanHash(tablets: readonly BenchTablet[], schema: Schema): ScanHash {
  const columnIds = schema.columns.map(({ id }) => id)
  const hashes = columnIds.map(() => new ColumnHash())
  let rowCount = 0
  for (const bench of tablets) {
    const reply = bench.tablet.openScan({
      ...bench.request,
      columnIds,
      predicates: [],
      lowerKey: NO_BOUND,
      upperKey: NO_BOUND,
      order: 'ORDERED',
      snapshot: null,
      withKeys: false,
    })
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    const { scanner } = reply.value
    for (;;) {
      const batch = scanner.nextBatch(BATCH_ROWS, BATCH_BYTES)
      if (batch === null) break
      rowCount += batch.block.rowCount
      for (const [i, column] of batch.block.columns.entries()) hashes[i].update(column)
    }
  }
  return { rowCount, hash: hashOf(hashes.map((one) => one.digest()).join()) }
}

/** A hash of a column that does not depend on where its batches end. */
class ColumnHash {
  readonly #cells = createHash('sha256')
  readonly #lengths = createHash('sha256')

  update({ physical, rowCount, bytes, offsets, lanes }: ColumnVector): void {
    if (physical !== PHYSICAL.binary) {
      this.#cells.update(new Uint8Array(lanes.buffer, lanes.byteOffset, lanes.byteLength))
      return
    }
    const lengths = new Uint32Array(rowCount)
    for (let row = 0; row < rowCount; row++) lengths[row] = offsets[row + 1] - offsets[row]
    this.#lengths.update(new Uint8Array(lengths.buffer))
    this.#cells.update(bytes.subarray(offsets[0], offsets[rowCount]))
  }

  digest(): string {
    return this.#cells.digest('hex') + this.#lengths.digest('hex')
  }
}

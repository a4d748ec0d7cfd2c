/** Rows of one block in an order of their own, handed out in batches of bounded size. */

import { LANE_BYTES } from '../common/data-type.ts'
import type { RowBlock } from '../common/row-block.ts'
import { RowBlockBuilder } from '../common/row-block-builder.ts'
import type { RowRun } from '../router/row-feed.ts'
import type { RowSource } from './scan-stream.ts'

const BATCH_ROW_COUNT = 4096
const BATCH_BYTES = 256 * 1024

/** Rows `order[0, rowCount)` of a block. A batch never changes before it is given back. */
export class BlockSource implements RowSource {
  readonly #block: RowBlock
  readonly #order: Uint32Array
  readonly #rowCount: number
  readonly #onClose: () => void
  #next = 0
  /** Of the batch that was given back last, for the next one. */
  #builder: RowBlockBuilder | null = null
  /** Of the batch that was taken last. */
  #taken: RowBlockBuilder | null = null

  /** `onClose`: told each time that the source is closed. */
  constructor(block: RowBlock, order: Uint32Array, rowCount: number, onClose: () => void) {
    this.#block = block
    this.#order = order
    this.#rowCount = rowCount
    this.#onClose = onClose
  }

  take(): RowRun | null {
    const start = this.#next
    if (start === this.#rowCount) return null
    const end = this.#batchEnd()
    const builder = this.#builder ?? this.#newBuilder(end - start)
    builder.appendRows(this.#block, this.#order, start, end)
    this.#builder = null
    this.#taken = builder
    this.#next = end
    return { tablet: 0, batch: { block: builder.view(), keys: null }, start: 0, end: end - start }
  }

  async more(): Promise<boolean> {
    return this.#next < this.#rowCount
  }

  recycle(): void {
    if (this.#taken === null) return
    this.#builder = this.#taken
    this.#builder.clear()
    this.#taken = null
  }

  async close(): Promise<void> {
    this.#next = this.#rowCount
    this.#onClose()
  }

  #newBuilder(capacityRows: number): RowBlockBuilder {
    const { columns, columnIds } = this.#block
    const definitions = columns.map(({ physical }, index) => ({ id: columnIds[index], physical }))
    return new RowBlockBuilder(definitions, false, capacityRows)
  }

  /** Where the next batch ends: behind at least one row. */
  #batchEnd(): number {
    const { columns } = this.#block
    const end = Math.min(this.#rowCount, this.#next + BATCH_ROW_COUNT)
    let bytesLeft = BATCH_BYTES
    for (let i = this.#next; i < end; i++) {
      const row = this.#order[i]
      for (let index = 0; index < columns.length; index++) {
        const { physical, offsets } = columns[index]
        const width = LANE_BYTES[physical]
        bytesLeft -= width === 0 ? offsets[row + 1] - offsets[row] : width
      }
      if (bytesLeft <= 0) return i + 1
    }
    return end
  }
}

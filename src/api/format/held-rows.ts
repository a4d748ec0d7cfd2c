/**
 * Rows on their way into something large: kept where they lie while they are in few runs, copied
 * together when they are in many, so that a few rows do not keep much larger messages alive. Hot.
 */

import { ColumnBuilder } from '../../common/column-builder.ts'
import { LANE_BYTES, PHYSICAL } from '../../common/data-type.ts'
import { RowBlock } from '../../common/row-block.ts'
import type { Column } from '../../common/schema.ts'
import { bitmapBytes } from '../../util/bitmap.ts'

/** Runs that are kept where they lie. */
const SEGMENT_COUNT_MAX = 32

/** Rows `[start, end)` of a block. */
export interface RowSegment {
  readonly block: RowBlock
  readonly start: number
  readonly end: number
}

/**
 * Rows in order.
 *
 *  I1  if rows were copied, they are the first segment, and a view of `#copies`.
 */
export class HeldRows {
  /** Rows held. */
  rowCount = 0
  /** About the bytes that their cells take. */
  bytes = 0
  readonly #columns: readonly Column[]
  readonly #segments: RowSegment[] = []
  #copies: readonly ColumnBuilder[] | null = null
  #hasCopied = false

  constructor(columns: readonly Column[]) {
    this.#columns = columns
  }

  /** The rows, in runs. Good until rows are added or the holder is cleared. */
  get segments(): readonly RowSegment[] {
    return this.#segments
  }

  /** Adds rows of a block, which must not change while they are held. */
  add(block: RowBlock, start: number, end: number): void {
    if (start === end) return
    if (this.#segments.length === SEGMENT_COUNT_MAX) this.#copyTogether()
    this.#segments.push({ block, start, end })
    this.rowCount += end - start
    this.bytes += rangeBytes(block, start, end)
  }

  /** Lets go of all rows. */
  clear(): void {
    this.#segments.length = 0
    this.rowCount = 0
    this.bytes = 0
    if (!this.#hasCopied) return
    this.#hasCopied = false
    for (const column of this.#copies ?? []) column.clear()
  }

  #copyTogether(): void {
    this.#copies ??= this.#columns.map(({ physical }) => new ColumnBuilder(physical))
    const copies = this.#copies
    let rowCount = this.#hasCopied ? this.#segments[0].end : 0
    for (let i = this.#hasCopied ? 1 : 0; i < this.#segments.length; i++) {
      const { block, start, end } = this.#segments[i]
      for (let c = 0; c < copies.length; c++) copies[c].appendRange(block.columns[c], start, end)
      rowCount += end - start
    }
    const { columnIds } = this.#segments[0].block
    const vectors = copies.map((column) => column.view())
    this.#segments.length = 0
    const block = new RowBlock(rowCount, columnIds, vectors, null)
    this.#segments.push({ block, start: 0, end: rowCount })
    this.#hasCopied = true
  }
}

function rangeBytes({ columns }: RowBlock, start: number, end: number): number {
  const count = end - start
  let bytes = 0
  for (let i = 0; i < columns.length; i++) {
    const { physical, offsets, validity } = columns[i]
    bytes += physical === PHYSICAL.binary ? count * 4 : count * LANE_BYTES[physical]
    if (physical === PHYSICAL.binary) bytes += offsets[end] - offsets[start]
    if (validity !== null) bytes += bitmapBytes(count)
  }
  return bytes
}

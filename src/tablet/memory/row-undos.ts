import type { Timestamp } from '../../common/hybrid-clock.ts'
import { DELTA_KINDS } from '../delta/delta-records.ts'
import { CHUNK_MASK, CHUNK_SHIFT } from './chunk.ts'
import type { HistoryColumn } from './history-columns.ts'
import type { MemRecordsBuilder } from './mem-records-builder.ts'
import type { MemRowStore } from './mem-row-store.ts'
import { REDO_KINDS, UNCHANGED } from './redo-log.ts'
import type { RowChain } from './row-chain.ts'

/**
 * Finds the UNDO records of rows that were changed, by following each from its insertion to its
 * base, op by op. Hot.
 */
export class RowUndos {
  readonly #rows: MemRowStore
  readonly #cells: readonly HistoryColumn[]
  readonly #chain: RowChain
  readonly #keyColumnCount: number
  /** By the column's index: the position of its changed cell, or `UNCHANGED`. */
  readonly #current: Int32Array
  /** By the column's index: the last op that was found to change it. */
  readonly #seen: Uint32Array
  #op = 0

  constructor(rows: MemRowStore, cells: readonly HistoryColumn[], chain: RowChain) {
    this.#rows = rows
    this.#cells = cells
    this.#chain = chain
    this.#keyColumnCount = rows.schema.keyColumnCount
    this.#current = new Int32Array(cells.length)
    this.#seen = new Uint32Array(cells.length)
  }

  /**
   * Adds the UNDO records of a row, oldest first. Requires: it was there at some time.
   * Cost: O(its changes and their cells).
   */
  add(slot: number, ordinal: number, records: MemRecordsBuilder): void {
    const { redos } = this.#rows
    const chain = this.#chain
    chain.load(slot)
    this.#current.fill(UNCHANGED)
    const insertedAt = this.#rows.insertedAt(slot)
    let isLive = true
    let start = 0
    if (chain.count > 0 && redos.at(chain.redos[0]) === insertedAt) {
      start = chain.opEnd(0)
      isLive = this.#isLiveAfter(start)
      this.#apply(0, start)
    }
    if (isLive) records.add(ordinal, insertedAt, DELTA_KINDS.DELETE)
    while (start < chain.count) {
      const end = chain.opEnd(start)
      const at = redos.at(chain.redos[start])
      const wasLive = isLive
      isLive = this.#isLiveAfter(end)
      if (wasLive && isLive) this.#addUpdate(slot, ordinal, at, start, end, records)
      else if (isLive) records.add(ordinal, at, DELTA_KINDS.DELETE)
      else if (wasLive) this.#addReinsert(slot, ordinal, at, records)
      this.#apply(start, end)
      start = end
    }
  }

  /** Whether the row is there behind the first `end` redos of the chain. Requires: `end > 0`. */
  #isLiveAfter(end: number): boolean {
    return this.#rows.redos.kind(this.#chain.redos[end - 1]) !== REDO_KINDS.DELETE
  }

  /** Moves the current cells behind redos `[start, end)` of the chain. */
  #apply(start: number, end: number): void {
    const { chunks } = this.#rows.redos
    const current = this.#current
    for (let i = start; i < end; i++) {
      const redo = this.#chain.redos[i]
      const chunk = chunks[redo >>> CHUNK_SHIFT]
      const record = redo & CHUNK_MASK
      const cellEnd = chunk.cellEnds[record]
      for (let cell = record === 0 ? 0 : chunk.cellEnds[record - 1]; cell < cellEnd; cell++) {
        current[chunk.cellColumns[cell]] = chunk.cellPositions[cell]
      }
    }
  }

  /** Undoes redos `[start, end)` of the chain: current cells of the columns that they change. */
  #addUpdate(
    slot: number,
    ordinal: number,
    at: Timestamp,
    start: number,
    end: number,
    records: MemRecordsBuilder,
  ): void {
    const { chunks } = this.#rows.redos
    const seen = this.#seen
    const op = ++this.#op
    let isEmpty = true
    for (let i = start; i < end; i++) {
      const redo = this.#chain.redos[i]
      const chunk = chunks[redo >>> CHUNK_SHIFT]
      const record = redo & CHUNK_MASK
      const cellEnd = chunk.cellEnds[record]
      for (let cell = record === 0 ? 0 : chunk.cellEnds[record - 1]; cell < cellEnd; cell++) {
        const index = chunk.cellColumns[cell]
        if (seen[index] === op) continue
        seen[index] = op
        if (isEmpty) records.add(ordinal, at, DELTA_KINDS.UPDATE)
        isEmpty = false
        records.addCell(index, this.#cell(index, slot))
      }
    }
  }

  /** Undoes a delete: the current cells of all columns but the key's. */
  #addReinsert(slot: number, ordinal: number, at: Timestamp, records: MemRecordsBuilder): void {
    records.add(ordinal, at, DELTA_KINDS.REINSERT)
    for (let index = this.#keyColumnCount; index < this.#cells.length; index++) {
      records.addCell(index, this.#cell(index, slot))
    }
  }

  /** The current cell of a row in a column, as records name it. */
  #cell(index: number, slot: number): number {
    const position = this.#current[index]
    if (position !== UNCHANGED) return ~position
    return this.#cells[index].isLate ? 0 : slot
  }
}

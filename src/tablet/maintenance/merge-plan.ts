/** Which rows a merge of rowsets writes, and from where each comes. */

import { assert } from '../../util/assert.ts'

const CAPACITY_MIN = 16

/** Inputs of one merge: sources are kept as single bytes. */
export const MERGE_INPUT_COUNT_MAX = 255

/**
 * The rows of a merge in the order of their keys.
 *
 *   row          0      1      2      3
 *   sources      A      B      A      B         whose base is the row's
 *   ordinals     0      0      2      1         the row there
 *   older                      C 7              inputs with another life of the same key
 *   ghosts                            @40       rows that are deleted, and when
 *
 * Takes 5 bytes a row, 9 an older life, 12 a ghost.
 *
 *  I1  of one source, ordinals ascend;
 *  I2  `olderRows` and `ghostRows` ascend, the first not strictly.
 */
export class MergePlan {
  rowCount = 0
  readonly sources: Uint8Array
  readonly ordinals: Uint32Array
  olderCount = 0
  olderRows = new Uint32Array(CAPACITY_MIN)
  olderSources = new Uint8Array(CAPACITY_MIN)
  olderOrdinals = new Uint32Array(CAPACITY_MIN)
  ghostCount = 0
  ghostRows = new Uint32Array(CAPACITY_MIN)
  ghostTimes = new Float64Array(CAPACITY_MIN)

  /** Room for `rowCountMax` rows. */
  constructor(rowCountMax: number) {
    this.sources = new Uint8Array(rowCountMax)
    this.ordinals = new Uint32Array(rowCountMax)
  }

  /** Appends a row. Requires: there is room. */
  append(source: number, ordinal: number): void {
    this.sources[this.rowCount] = source
    this.ordinals[this.rowCount] = ordinal
    this.rowCount++
  }

  /** Gives the row to be appended next another life. */
  appendOlder(source: number, ordinal: number): void {
    const index = this.olderCount
    if (index === this.olderRows.length) this.#growOlder()
    this.olderRows[index] = this.rowCount
    this.olderSources[index] = source
    this.olderOrdinals[index] = ordinal
    this.olderCount = index + 1
  }

  /** Says that the row to be appended next is deleted. */
  appendGhost(at: number): void {
    const index = this.ghostCount
    if (index === this.ghostRows.length) this.#growGhosts()
    this.ghostRows[index] = this.rowCount
    this.ghostTimes[index] = at
    this.ghostCount = index + 1
  }

  #growOlder(): void {
    const capacity = this.olderCount * 2
    const rows = new Uint32Array(capacity)
    rows.set(this.olderRows)
    this.olderRows = rows
    const sources = new Uint8Array(capacity)
    sources.set(this.olderSources)
    this.olderSources = sources
    const ordinals = new Uint32Array(capacity)
    ordinals.set(this.olderOrdinals)
    this.olderOrdinals = ordinals
  }

  #growGhosts(): void {
    const capacity = this.ghostCount * 2
    const rows = new Uint32Array(capacity)
    rows.set(this.ghostRows)
    this.ghostRows = rows
    const times = new Float64Array(capacity)
    times.set(this.ghostTimes)
    this.ghostTimes = times
  }

  /** Place of the first other life of `row` or a row behind it. */
  olderFrom(row: number): number {
    return lowerBound(this.olderRows, this.olderCount, row)
  }

  /** Place of the first ghost at or behind `row`. */
  ghostFrom(row: number): number {
    return lowerBound(this.ghostRows, this.ghostCount, row)
  }

  /**
   * Bounds of the ordinals of each source among the bases of rows `[start, end)`: the first, and
   * the one behind the last; both 0 where a source has none.
   */
  baseBounds(start: number, end: number, sourceCount: number): OrdinalBounds {
    const firsts = new Uint32Array(sourceCount)
    const ends = new Uint32Array(sourceCount)
    const { sources, ordinals } = this
    // Ordinals ascend, so the last one seen is the greatest.
    for (let row = start; row < end; row++) {
      const source = sources[row]
      if (ends[source] === 0) firsts[source] = ordinals[row]
      ends[source] = ordinals[row] + 1
    }
    return { firsts, ends }
  }

  /** As `baseBounds`, with the other lives of the rows. */
  lifeBounds(start: number, end: number, sourceCount: number): OrdinalBounds {
    const bounds = this.baseBounds(start, end, sourceCount)
    for (let older = this.olderFrom(start); older < this.olderCount; older++) {
      if (this.olderRows[older] >= end) break
      widen(bounds, this.olderSources[older], this.olderOrdinals[older])
    }
    return bounds
  }
}

/** Bounds of ordinals by source, half-open. */
export interface OrdinalBounds {
  readonly firsts: Uint32Array
  readonly ends: Uint32Array
}

function widen({ firsts, ends }: OrdinalBounds, source: number, ordinal: number): void {
  if (ends[source] === 0 || ordinal < firsts[source]) firsts[source] = ordinal
  if (ordinal >= ends[source]) ends[source] = ordinal + 1
}

function lowerBound(items: Uint32Array, count: number, item: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (items[middle] < item) low = middle + 1
    else high = middle
  }
  assert(low <= count, 'a place is within the list')
  return low
}

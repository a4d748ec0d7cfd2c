/**
 * The DiskRowSets of a tablet by where their keys lie.
 *
 * They are sorted by lower bound, and each stretch of that list, halved again and again, knows how
 * far up its keys reach:
 *
 *   rowsets    a ├────┤        c ├──┤      e ├──────┤
 *                  b ├───────┤     d ├───┤
 *
 *   stretch    [ a   b   c   d   e ]    up to the end of e
 *              [ a   b ] [ c   d   e ]  up to the end of b, of e
 *              [a] [b]   [c] [ d   e ]
 *
 * A probe goes down with the keys that can still lie in a stretch: none in most. So each rowset is
 * asked once, with all its keys, and those that can have none are never looked at.
 */

import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes, compareWhole } from '../../util/bytes.ts'
import type { KeyBounds } from '../row-set.ts'
import { KeyFences } from './key-fences.ts'
import { keyFraction } from './key-fraction.ts'

/**
 * Takes the share of a rowset: keys `order[start, end)` lie within its bounds. It leaves `order` as
 * it is.
 */
export type VisitShare<R> = (rowSet: R, start: number, end: number) => void

/** Finds rowsets by key. Immutable: a change of the rowsets makes another. */
export class RowSetTree<R extends KeyBounds> {
  /** By ascending lower bound. */
  readonly rowSets: readonly R[]
  /**
   * Of each stretch the greatest upper bound. The stretch `[0, n)` is number 1, and the halves of
   * stretch i are 2i and 2i + 1.
   */
  readonly #uppers: Uint8Array[] = []
  #fences: KeyFences | null = null

  constructor(rowSets: readonly R[]) {
    this.rowSets = [...rowSets].sort((a, b) => compareWhole(a.lowerKey, b.lowerKey))
    if (rowSets.length > 0) this.#measure(1, 0, rowSets.length)
  }

  #measure(stretch: number, start: number, end: number): Uint8Array {
    if (end - start === 1) {
      const { lowerKey, upperKey } = this.rowSets[start]
      assert(isBelow(lowerKey, upperKey), 'a rowset has keys')
      this.#uppers[stretch] = upperKey
      return upperKey
    }
    const middle = (start + end) >>> 1
    const left = this.#measure(stretch * 2, start, middle)
    const right = this.#measure(stretch * 2 + 1, middle, end)
    const upper = compareUppers(left, right) > 0 ? left : right
    this.#uppers[stretch] = upper
    return upper
  }

  /**
   * Visits every rowset that can have one of the keys `order[0, count)`, once, with those of its
   * keys, by ascending lower bound.
   *
   * Requires: `order` lists keys in ascending order; one may come more than once. Cost: no
   * allocation; about log(rowsets) comparisons for each key and rowset that meet.
   */
  candidates(keys: KeyArena, order: Uint32Array, count: number, visit: VisitShare<R>): void {
    if (count === 0 || this.rowSets.length === 0) return
    this.#visitShares(1, 0, this.rowSets.length, { keys, order, visit, start: 0, end: count })
  }

  /**
   * The same for keys in any order, which it changes: the keys of a share are in any order too.
   *
   * Cost: no allocation; tens of nanoseconds for each key, far less than sorting them, and a look
   * at each rowset.
   */
  shareOut(keys: KeyArena, order: Uint32Array, count: number, visit: VisitShare<R>): void {
    const { rowSets } = this
    if (count === 0 || rowSets.length === 0) return
    this.#fences ??= new KeyFences(rowSets)
    const { firsts, ends } = this.#fences
    const starts = this.#fences.group(keys, order, count)
    for (let i = 0; i < rowSets.length; i++) {
      const start = starts[firsts[i]]
      const end = starts[ends[i]]
      if (start < end) visit(rowSets[i], start, end)
    }
  }

  #visitShares(stretch: number, start: number, end: number, probe: Probe<R>): void {
    const { keys, order } = probe
    // Keys below the first lower bound, or above all upper ones, lie in no rowset here.
    const before = { start: probe.start, end: probe.end }
    probe.start = firstAtOrAbove(
      keys,
      order,
      before.start,
      before.end,
      this.rowSets[start].lowerKey,
    )
    const upper = this.#uppers[stretch]
    if (upper.length > 0) {
      probe.end = firstAtOrAbove(keys, order, probe.start, before.end, upper)
    }
    if (probe.start < probe.end) {
      if (end - start === 1) {
        probe.visit(this.rowSets[start], probe.start, probe.end)
      } else {
        const middle = (start + end) >>> 1
        this.#visitShares(stretch * 2, start, middle, probe)
        this.#visitShares(stretch * 2 + 1, middle, end, probe)
      }
    }
    probe.start = before.start
    probe.end = before.end
  }

  /**
   * The rowsets that can have a key in `[lowerKey, upperKey)`, by ascending lower bound; an empty
   * key is no bound.
   */
  inRange(lowerKey: Uint8Array, upperKey: Uint8Array): R[] {
    const found: R[] = []
    if (this.rowSets.length > 0) {
      this.#collect(1, 0, this.rowSets.length, { lowerKey, upperKey, found })
    }
    return found
  }

  #collect(stretch: number, start: number, end: number, range: Range<R>): void {
    const { lowerKey, upperKey, found } = range
    if (!isBelow(lowerKey, this.#uppers[stretch])) return
    if (!isBelow(this.rowSets[start].lowerKey, upperKey)) return
    if (end - start === 1) {
      found.push(this.rowSets[start])
      return
    }
    const middle = (start + end) >>> 1
    this.#collect(stretch * 2, start, middle, range)
    this.#collect(stretch * 2 + 1, middle, end, range)
  }

  /** How many rowsets can have a key. */
  heightAt(key: Uint8Array): number {
    const next = new Uint8Array(key.length + 1)
    next.set(key)
    return this.inRange(key, next).length
  }

  /**
   * How many rowsets a lookup must consult, on an average over their rows, as if keys were spread
   * evenly in each: the mean height of the stack of rowsets, weighted by what lies there.
   *
   * Returns: 0 when there are no rowsets. Cost: O(rowsets × height): for reports.
   */
  averageHeight(bytesOf: (rowSet: R) => number): number {
    const edges = this.#edges()
    let covered: R[] = []
    let next = 0
    let bytes = 0
    let heightBytes = 0
    for (let i = 0; i + 1 <= edges.length; i++) {
      const start = edges[i]
      // An empty edge behind the first is the open end.
      const end = i + 1 < edges.length ? edges[i + 1] : NO_BOUND
      covered = covered.filter((rowSet) => isBelow(start, rowSet.upperKey))
      while (next < this.rowSets.length && compareWhole(this.rowSets[next].lowerKey, start) <= 0) {
        covered.push(this.rowSets[next++])
      }
      let width = 0
      for (const rowSet of covered) width += bytesOf(rowSet) * partWithin(rowSet, start, end)
      bytes += width
      heightBytes += width * covered.length
    }
    return bytes === 0 ? 0 : heightBytes / bytes
  }

  /** All distinct bounds, ascending, without an open upper one. */
  #edges(): Uint8Array[] {
    const edges: Uint8Array[] = []
    for (const { lowerKey, upperKey } of this.rowSets) {
      edges.push(lowerKey)
      if (upperKey.length > 0) edges.push(upperKey)
    }
    edges.sort(compareWhole)
    return edges.filter((edge, i) => i === 0 || compareWhole(edges[i - 1], edge) !== 0)
  }
}

const NO_BOUND = new Uint8Array(0)

interface Probe<R> {
  readonly keys: KeyArena
  readonly order: Uint32Array
  readonly visit: VisitShare<R>
  start: number
  end: number
}

interface Range<R> extends KeyBounds {
  readonly found: R[]
}

/** Whether a key is below an upper bound, which may be none. */
function isBelow(key: Uint8Array, upperKey: Uint8Array): boolean {
  return upperKey.length === 0 || compareWhole(key, upperKey) < 0
}

/** Orders upper bounds: none is above all. */
function compareUppers(a: Uint8Array, b: Uint8Array): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0)
  return compareWhole(a, b)
}

function partWithin(bounds: KeyBounds, start: Uint8Array, end: Uint8Array): number {
  const { lowerKey, upperKey } = bounds
  const below = keyFraction(lowerKey, upperKey, start)
  return (end.length === 0 ? 1 : keyFraction(lowerKey, upperKey, end)) - below
}

/** The first place of `order[start, end)` whose key is at or above `bound`. */
function firstAtOrAbove(
  keys: KeyArena,
  order: Uint32Array,
  start: number,
  end: number,
  bound: Uint8Array,
): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    const key = order[middle]
    const keyStart = key === 0 ? 0 : keys.ends[key - 1]
    const isLess = compareBytes(keys.bytes, keyStart, keys.ends[key], bound, 0, bound.length) < 0
    if (isLess) low = middle + 1
    else high = middle
  }
  return low
}

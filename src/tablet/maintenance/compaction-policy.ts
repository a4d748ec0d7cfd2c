/**
 * Chooses which DiskRowSets to merge. Only decides; pure.
 *
 * The cost of a key lookup, and of a scan in order, is the number of rowsets that may hold a key:
 * the height of the stack at that key. Merging a set of rowsets into ones that do not overlap
 * lowers the average height by
 *
 *   the sum of their widths − the width of the keys that they span together      (key-space.ts)
 *
 *   [a ───────── g]                                      [a ─ d][d ── j]
 *          [d ──────── j]          merged: ─►                              [x ─ z]
 *                         [x ─ z]
 *
 * Rowsets that are small by the standard of a full flush are worth a little more, so that small
 * neighbours become one. How much may be merged at once is bounded, so the best set is a knapsack
 * for each left edge: items are the rowsets that begin there or later, by their ends, and from what
 * the best choice among the first of them is worth the width up to the last of them is taken.
 *
 *   1  for each left edge and end an estimate, at least half of the best, and a bound on the best;
 *   2  where the bound promises over APPROXIMATION_RATIO times the best found, exactly.
 */

import { averageHeight, type KeyInterval, type KeySpace, layOut } from './key-space.ts'
import { fillKnapsack, GreedyKnapsack } from './knapsack.ts'

/** A rowset as the policy sees it. */
export interface CompactionCandidate extends KeyInterval {
  readonly rowCount: number
  /** Its part of what a full MemRowSet is flushed to. */
  readonly fullness: number
  /** Whether it may be chosen now. One that may not counts for the heights all the same. */
  readonly isFree: boolean
}

/** What bounds a choice. */
export interface CompactionBudget {
  readonly bytes: number
  readonly rows: number
  /**
   * Gain in height that rewriting a full rowset must bring; 0: it may cost what it will. To rewrite
   * small ones costs nothing, since there is little of them.
   */
  readonly rewriteCost: number
  /**
   * What is old is merged again only with at least its bytes, divided by this, of what is new: else
   * what is much would be rewritten each time a little comes (`oldOnesOf`).
   */
  readonly rewriteRatio: number
}

/** A choice. */
export interface CompactionPick {
  /** Indexes of the candidates chosen, ascending, at least two. */
  readonly chosen: readonly number[]
  /** By how much the average height falls, and what is gained by there being fewer small ones. */
  readonly value: number
}

/** Less gain than this is not worth it. */
export const IMPROVEMENT_MIN = 0.01
/** What a rowset that holds next to nothing is worth beside its width. */
export const SMALL_ROWSET_VALUE = 0.009
/** A rowset is small below this part of a full one. */
export const SMALL_FULLNESS = 0.5

const APPROXIMATION_RATIO = 1.05
/** Of sets that are worth the same the narrow one is preferred. */
const UNION_WEIGHT = 1.003
/** The budget in units of which a rowset takes a whole number, at least one. */
const CAPACITY = 256
/** Left edges that are solved exactly. */
const EXACT_COUNT_MAX = 16
/** Rowsets among which is chosen: the smallest. */
const CANDIDATE_COUNT_MAX = 1024
/** Times that rowsets are left out because the others are too little beside them. */
const REWRITE_TRY_COUNT_MAX = 16

/**
 * The set of rowsets that is best merged.
 *
 * Returns: null when nothing is worth it. Cost: O(n² log n) for n rowsets that overlap or are
 * small; those that are neither cost next to nothing.
 */
export function pickCompaction(
  candidates: readonly CompactionCandidate[],
  budget: CompactionBudget,
): CompactionPick | null {
  if (candidates.length < 2) return null
  const space = layOut(candidates)
  let items = itemsOf(candidates, space, budget)
  for (let attempt = 0; attempt < REWRITE_TRY_COUNT_MAX; attempt++) {
    const pick = pickBest(candidates, space, items, budget.rewriteCost)
    if (pick === null) return null
    const old = oldOnesOf(candidates, space, pick.chosen)
    const oldBytes = bytesOf(candidates, old)
    const newBytes = bytesOf(candidates, pick.chosen) - oldBytes
    if (newBytes * budget.rewriteRatio >= oldBytes) return pick
    items = items.filter(({ index }) => !old.includes(index))
  }
  return null
}

/** How many rowsets a key is looked for in, on average over the data. */
export function heightOf(rowSets: readonly KeyInterval[]): number {
  return averageHeight(layOut(rowSets))
}

/** A rowset as it may be chosen. */
export interface CompactionItem {
  /** Index of the candidate. */
  readonly index: number
  readonly start: number
  readonly end: number
  readonly value: number
  readonly weight: number
}

/** What can be chosen, by its end. */
function itemsOf(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  budget: CompactionBudget,
): CompactionItem[] {
  const overlaps = overlapsOf(space)
  const items: CompactionItem[] = []
  for (let index = 0; index < candidates.length; index++) {
    const { bytes, rowCount, fullness, isFree } = candidates[index]
    if (!isFree || (overlaps[index] === 0 && fullness >= SMALL_FULLNESS)) continue
    const weight = weightOf(bytes, rowCount, budget)
    const start = space.starts[index]
    const end = space.ends[index]
    const value = end - start + sizeValue(fullness) - costOf(candidates[index], budget.rewriteCost)
    if (value > 0) items.push({ index, start, end, value, weight })
  }
  return sortItems(items)
}

/** What a rowset takes of a budget, in units of which there are CAPACITY. */
export function weightOf(
  bytes: number,
  rowCount: number,
  budget: { readonly bytes: number; readonly rows: number },
): number {
  const share = Math.max(bytes / budget.bytes, rowCount / budget.rows)
  return Math.max(1, Math.round(share * CAPACITY))
}

/** Those that the budget allows, by their ends; the smallest, when they are too many. */
export function sortItems(all: readonly CompactionItem[]): CompactionItem[] {
  const items = all.filter(({ weight }) => weight <= CAPACITY)
  if (items.length > CANDIDATE_COUNT_MAX) {
    items.sort((a, b) => a.weight - b.weight)
    items.length = CANDIDATE_COUNT_MAX
  }
  return items.sort((a, b) => a.end - b.end || a.start - b.start || a.index - b.index)
}

function costOf({ fullness }: CompactionCandidate, rewriteCost: number): number {
  return fullness < SMALL_FULLNESS ? 0 : fullness * rewriteCost
}

/** What a small rowset is worth beside its width: the less the more it holds. */
function sizeValue(fullness: number): number {
  return Math.max(0, SMALL_ROWSET_VALUE * (1 - fullness / SMALL_FULLNESS))
}

/** By rowset 1 when its keys overlap another's, else 0. Requires: there is one. */
export function overlapsOf({ starts, ends }: KeySpace): Uint8Array {
  const order = Array.from(starts.keys()).sort((a, b) => starts[a] - starts[b] || ends[a] - ends[b])
  const overlaps = new Uint8Array(starts.length)
  let furthest = order[0]
  for (let i = 1; i < order.length; i++) {
    const index = order[i]
    if (starts[index] < ends[furthest]) {
      overlaps[index] = 1
      overlaps[furthest] = 1
    }
    if (ends[index] > ends[furthest]) furthest = index
  }
  return overlaps
}

interface Solution {
  /** Indexes of items. */
  readonly chosen: readonly number[]
  readonly value: number
}

function pickBest(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  items: readonly CompactionItem[],
  rewriteCost: number,
): CompactionPick | null {
  const chosen = bestSet(items, UNION_WEIGHT)
  return worthOf(candidates, space, chosen, rewriteCost)
}

/**
 * The set that is worth most within the budget: the sum of its values less the width of its union,
 * times a weight.
 *
 * Returns: indexes of candidates, ascending; empty when none is worth more than 0. Requires: items
 * as `sortItems` gives them.
 */
export function bestSet(items: readonly CompactionItem[], unionWeight: number): number[] {
  if (items.length < 2) return []
  const { best, bounds } = approximate(items, unionWeight)
  const { chosen } = solveExactly(items, bounds, best, unionWeight)
  return chosen.map((item) => items[item].index).sort((a, b) => a - b)
}

/** The choice with its true value, or null when it is not worth it. */
function worthOf(
  candidates: readonly CompactionCandidate[],
  { starts, ends }: KeySpace,
  chosen: readonly number[],
  rewriteCost: number,
): CompactionPick | null {
  if (chosen.length < 2) return null
  let start = 1
  let end = 0
  let height = 0
  let small = 0
  let fullness = 0
  let cost = 0
  for (const index of chosen) {
    start = Math.min(start, starts[index])
    end = Math.max(end, ends[index])
    height += ends[index] - starts[index]
    small += sizeValue(candidates[index].fullness)
    fullness += candidates[index].fullness
    cost += costOf(candidates[index], rewriteCost)
  }
  height -= end - start
  // Neighbours that are merged into as many rowsets as before gain nothing.
  const isFewer = Math.max(1, Math.ceil(fullness)) < chosen.length
  const value = height + (isFewer ? small : 0)
  return value - cost >= IMPROVEMENT_MIN ? { chosen, value } : null
}

/** Pass 1: the best estimate, and for each left edge a bound on the best. */
function approximate(
  items: readonly CompactionItem[],
  unionWeight: number,
): { best: Solution; bounds: Float64Array } {
  const greedy = new GreedyKnapsack(CAPACITY, items.length)
  const bounds = new Float64Array(items.length)
  let best: Solution = { chosen: [], value: 0 }
  for (let left = 0; left < items.length; left++) {
    const { start } = items[left]
    greedy.clear()
    for (let last = 0; last < items.length; last++) {
      const item = items[last]
      if (item.start < start) continue
      greedy.add(last, item.value, item.weight)
      const union = (item.end - start) * unionWeight
      bounds[left] = Math.max(bounds[left], greedy.upperBound - union)
      const value = greedy.lowerBound - union
      if (value > best.value) best = { chosen: greedy.choice(), value }
    }
  }
  return { best, bounds }
}

/** Pass 2: the best of the left edges that promise more than the best so far. */
function solveExactly(
  items: readonly CompactionItem[],
  bounds: Float64Array,
  best: Solution,
  unionWeight: number,
): Solution {
  const lefts = Array.from(bounds.keys()).sort((a, b) => bounds[b] - bounds[a])
  let found = best
  for (const left of lefts.slice(0, EXACT_COUNT_MAX)) {
    if (bounds[left] <= found.value * APPROXIMATION_RATIO) break
    const { start } = items[left]
    const inside: number[] = []
    for (let item = 0; item < items.length; item++) {
      if (items[item].start >= start) inside.push(item)
    }
    const filled = fillKnapsack(
      CAPACITY,
      inside.map((item) => items[item].value),
      inside.map((item) => items[item].weight),
    )
    for (let count = 1; count <= inside.length; count++) {
      const union = (items[inside[count - 1]].end - start) * unionWeight
      const value = filled.values[count] - union
      if (value <= found.value) continue
      found = { chosen: filled.choice(count).map((place) => inside[place]), value }
    }
  }
  return found
}

/**
 * Those of a choice on which the others lie: the largest, or those that are not small and do not
 * overlap each other, which came of an earlier merge, where these are more.
 */
export function oldOnesOf(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  chosen: readonly number[],
): readonly number[] {
  const largest = chosen.reduce((a, b) => (candidates[b].bytes > candidates[a].bytes ? b : a))
  const large = chosen.filter((index) => candidates[index].fullness >= SMALL_FULLNESS)
  const chain = heaviestChain(candidates, space, large)
  return bytesOf(candidates, chain) > candidates[largest].bytes ? chain : [largest]
}

/**
 * Those of some rowsets that do not overlap each other and together are the most bytes, from the
 * last to the first.
 */
export function heaviestChain(
  candidates: readonly CompactionCandidate[],
  { starts, ends }: KeySpace,
  chosen: readonly number[],
): number[] {
  const order = [...chosen].sort((a, b) => ends[a] - ends[b])
  const best = new Float64Array(order.length + 1)
  const before = new Int32Array(order.length)
  for (let i = 0; i < order.length; i++) {
    let count = i
    while (count > 0 && ends[order[count - 1]] > starts[order[i]]) count--
    before[i] = count
    best[i + 1] = Math.max(best[i], best[count] + candidates[order[i]].bytes)
  }
  const chain: number[] = []
  for (let i = order.length - 1; i >= 0; ) {
    if (best[i + 1] === best[i]) i--
    else {
      chain.push(order[i])
      i = before[i] - 1
    }
  }
  return chain
}

/** Bytes of some candidates. */
export function bytesOf(
  candidates: readonly CompactionCandidate[],
  indexes: readonly number[],
): number {
  return indexes.reduce((sum, index) => sum + candidates[index].bytes, 0)
}

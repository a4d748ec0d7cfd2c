/**
 * Chooses what a tablet that is left alone merges, until the stack is about one rowset high. Only
 * decides; pure.
 *
 *   [a ──────────────────────── z]1/8           a wide little one on what was merged before
 *   [a ─ e][e ──── k][k ── q][q ─ z]     ─►     merged with it when it is 1/64 of it, else not yet
 *
 * While rows keep coming, compaction-policy.ts looks at what a merge costs. Here time is free, and
 * what is bounded is how many bytes are written for each that came:
 *
 *   1  a set is worth merging when it is HEIGHT_LEFT high or more over the keys that it spans, so
 *      that when nothing is left to do no part is higher, but for what 2 holds back;
 *   2  what is old is rewritten for at least its bytes, divided by `ratio`, of what is new;
 *   3  only rowsets that overlap are merged with each other: no others to bridge a gap.
 *
 * What covers more than one merge may take is cut first, where a merge is to begin and to end:
 *
 *   [a ────────────┆─────────── z]              then each half is merged with what it lies on
 *   [a ─ e][e ─── k┆k ── q][q ─ z]
 */

import { ROWSET_BOUND_BYTES_MAX } from '../../common/limits.ts'
import { compareWhole } from '../../util/bytes.ts'
import {
  bestSet,
  bytesOf,
  type CompactionCandidate,
  type CompactionItem,
  heaviestChain,
  oldOnesOf,
  overlapsOf,
  SMALL_FULLNESS,
  sortItems,
  weightOf,
} from './compaction-policy.ts'
import { type KeySpace, layOut } from './key-space.ts'

/** What bounds a choice. */
export interface RestBudget {
  /** Of one merge. */
  readonly bytes: number
  readonly rows: number
  /** Bytes of what is old that are rewritten for each of what is new, at most. */
  readonly ratio: number
}

/** A choice. */
export interface RestPick {
  /** Indexes of the candidates chosen, ascending. */
  readonly chosen: readonly number[]
  /** By how much the average height falls; or the height of what is cut. */
  readonly value: number
  /** Keys at which a rowset that is written ends, ascending, whatever it has by then. */
  readonly cuts: readonly Uint8Array[]
}

/** How high a stack is left. */
export const HEIGHT_LEFT = 1.2

/** Sets that are looked at. */
const TRY_COUNT_MAX = 32
/** Rowsets that are cut at once. */
const CUT_COUNT_MAX = 128

/**
 * The rowsets that are best merged, or cut.
 *
 * Returns: null when there is nothing to gain for what may be spent. Cost: as `pickCompaction`.
 */
export function pickAtRest(
  candidates: readonly CompactionCandidate[],
  budget: RestBudget,
): RestPick | null {
  if (candidates.length < 2) return null
  const space = layOut(candidates)
  const found = findWide(candidates, space, budget)
  if (found === null) return pickOverlapping(candidates, space, budget, [])
  const { wide, cuts, covered } = found
  // One that is not cut yet waits: to merge it with a part of what it lies on would leave it wide.
  if (!isPaid(candidates, covered, [...wide, ...covered], budget)) {
    return pickOverlapping(candidates, space, budget, wide)
  }
  const chosen = withinBudget(candidates, wide, budget)
  return { chosen, value: extentOf(space, chosen).widths, cuts }
}

/** How many rowsets cover more than one merge may take, and can be cut. */
export function countWide(candidates: readonly CompactionCandidate[], budget: RestBudget): number {
  return findWide(candidates, layOut(candidates), budget)?.wide.length ?? 0
}

function pickOverlapping(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  budget: RestBudget,
  excluded: readonly number[],
): RestPick | null {
  let items = itemsOf(candidates, space, budget).filter(({ index }) => !excluded.includes(index))
  for (let attempt = 0; attempt < TRY_COUNT_MAX; attempt++) {
    const chosen = bestPart(space, bestSet(items, HEIGHT_LEFT))
    if (chosen.length < 2) return null
    if (isPaid(candidates, oldOnesOf(candidates, space, chosen), chosen, budget)) {
      return { chosen, value: heightGain(space, chosen), cuts: [] }
    }
    items = items.filter(({ index }) => !chosen.includes(index))
  }
  return null
}

function itemsOf(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  budget: RestBudget,
): CompactionItem[] {
  const overlaps = overlapsOf(space)
  const items: CompactionItem[] = []
  for (let index = 0; index < candidates.length; index++) {
    const { bytes, rowCount, isFree } = candidates[index]
    const start = space.starts[index]
    const end = space.ends[index]
    if (!isFree || overlaps[index] === 0 || end <= start) continue
    items.push({ index, start, end, value: end - start, weight: weightOf(bytes, rowCount, budget) })
  }
  return sortItems(items)
}

/** Whether there is enough that is new beside what is old. */
function isPaid(
  candidates: readonly CompactionCandidate[],
  old: readonly number[],
  chosen: readonly number[],
  { ratio }: RestBudget,
): boolean {
  const oldBytes = bytesOf(candidates, old)
  return (bytesOf(candidates, chosen) - oldBytes) * ratio >= oldBytes
}

/** Of the parts of a set that do not overlap each other the one that is worth most. */
function bestPart(space: KeySpace, chosen: readonly number[]): number[] {
  let best: number[] = []
  let bestWorth = 0
  for (const part of partsOf(space, chosen)) {
    const worth = restWorth(space, part)
    if (part.length < 2 || worth <= bestWorth) continue
    best = part
    bestWorth = worth
  }
  return best.sort((a, b) => a - b)
}

function partsOf({ starts, ends }: KeySpace, chosen: readonly number[]): number[][] {
  const order = [...chosen].sort((a, b) => starts[a] - starts[b] || ends[a] - ends[b])
  const parts: number[][] = []
  let end = -1
  for (const index of order) {
    if (starts[index] < end) parts[parts.length - 1].push(index)
    else parts.push([index])
    end = Math.max(end, ends[index])
  }
  return parts
}

function heightGain(space: KeySpace, chosen: readonly number[]): number {
  const { widths, union } = extentOf(space, chosen)
  return widths - union
}

function restWorth(space: KeySpace, chosen: readonly number[]): number {
  const { widths, union } = extentOf(space, chosen)
  return widths - union * HEIGHT_LEFT
}

function extentOf({ starts, ends }: KeySpace, chosen: readonly number[]) {
  let start = 1
  let end = 0
  let widths = 0
  for (const index of chosen) {
    start = Math.min(start, starts[index])
    end = Math.max(end, ends[index])
    widths += ends[index] - starts[index]
  }
  return { widths, union: end - start }
}

/** Rowsets to be cut, where, and those on which they lie. */
interface Wide {
  readonly wide: readonly number[]
  readonly cuts: readonly Uint8Array[]
  readonly covered: readonly number[]
}

/** As many as may be cut at once. Each may be alone. */
function withinBudget(
  candidates: readonly CompactionCandidate[],
  wide: readonly number[],
  budget: RestBudget,
): number[] {
  const chosen: number[] = []
  for (const index of wide) {
    if (chosen.length === CUT_COUNT_MAX || !fits(candidates, [...chosen, index], budget)) break
    chosen.push(index)
  }
  return chosen
}

function findWide(
  candidates: readonly CompactionCandidate[],
  space: KeySpace,
  budget: RestBudget,
): Wide | null {
  const large = [...candidates.keys()].filter((i) => candidates[i].fullness >= SMALL_FULLNESS)
  const chain = heaviestChain(candidates, space, large).reverse()
  const cuts = cutsOf(candidates, chain, budget)
  if (cuts.length === 0) return null
  const isChain = new Set(chain)
  const wide: number[] = []
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index]
    if (!candidate.isFree || isChain.has(index) || !fits(candidates, [index], budget)) continue
    if (!cuts.some((cut) => spans(candidate, cut))) continue
    const under = chain.filter((it) => overlap(space, it, index))
    if (fits(candidates, [index, ...under], budget)) continue
    wide.push(index)
  }
  if (wide.length === 0) return null
  return {
    wide,
    cuts: cuts.filter((cut) => wide.some((index) => spans(candidates[index], cut))),
    covered: chain.filter((it) => wide.some((index) => overlap(space, it, index))),
  }
}

/** Where merges begin that take about half of what one may. */
function cutsOf(
  candidates: readonly CompactionCandidate[],
  chain: readonly number[],
  budget: RestBudget,
): Uint8Array[] {
  const cuts: Uint8Array[] = []
  let share = 0
  for (const index of chain) {
    const { bytes, rowCount, lowerKey } = candidates[index]
    const own = Math.max(bytes / budget.bytes, rowCount / budget.rows)
    // A bound that was shortened is below the keys: what ends there may still reach over it.
    if (share > 0 && share + own > 0.5 && lowerKey.length < ROWSET_BOUND_BYTES_MAX) {
      cuts.push(lowerKey)
      share = 0
    }
    share += own
  }
  return cuts
}

function spans({ lowerKey, upperKey }: CompactionCandidate, key: Uint8Array): boolean {
  if (compareWhole(lowerKey, key) >= 0) return false
  return upperKey.length === 0 || compareWhole(key, upperKey) < 0
}

function overlap({ starts, ends }: KeySpace, a: number, b: number): boolean {
  return starts[a] < ends[b] && starts[b] < ends[a]
}

function fits(
  candidates: readonly CompactionCandidate[],
  chosen: readonly number[],
  { bytes, rows }: RestBudget,
): boolean {
  let rowCount = 0
  for (const index of chosen) rowCount += candidates[index].rowCount
  return rowCount <= rows && bytesOf(candidates, chosen) <= bytes
}

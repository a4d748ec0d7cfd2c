/**
 * A tablet's rowsets as numbers: flushes come, the policies say what is merged, and what is written
 * is counted. A rowset's rows lie evenly over its keys, which are whole numbers of 32 bits.
 */

import {
  type CompactionBudget,
  type CompactionCandidate,
  heightOf,
  pickCompaction,
} from '../../src/tablet/maintenance/compaction-policy.ts'
import { pickAtRest, type RestBudget } from '../../src/tablet/maintenance/rest-policy.ts'
import { aCandidate, FULL_BYTES, FULL_ROWS } from './key-intervals.ts'

/** Keys are below it. */
export const KEY_END = 2 ** 32

/** Full rowsets that one merge takes: as with rows of 120 bytes. */
const MERGE_FULL = 18
const LIMITS = { bytes: MERGE_FULL * FULL_BYTES, rows: MERGE_FULL * FULL_ROWS }
const WHILE_ROWS_COME: CompactionBudget = { ...LIMITS, rewriteCost: 0.2, rewriteRatio: 2 }
const MERGE_COUNT_MAX = 2000

/** A number as a key. */
export function numberKey(number: number): Uint8Array {
  const bytes = new Uint8Array(6)
  new DataView(bytes.buffer).setUint32(0, Math.min(number, KEY_END - 1))
  return bytes
}

/** See the file's header. Amounts are in full rowsets. */
export class CompactionModel {
  rowSets: CompactionCandidate[] = []
  /** What was flushed, and what merges wrote. */
  flushed = 0
  rewritten = 0
  mergeCount = 0
  readonly #ratio: number

  /** `ratio`: what is rewritten at rest for what is new, at most. */
  constructor(ratio = 64) {
    this.#ratio = ratio
  }

  get height(): number {
    return heightOf(this.rowSets)
  }

  /** Times that a row is written by merges, on average. */
  get amplification(): number {
    return this.rewritten / this.flushed
  }

  /** Flushes rows with keys `[low, high)`. */
  flush(low: number, high: number, fullness: number): void {
    this.flushed += fullness
    this.rowSets.push(aCandidate(numberKey(low), numberKey(high), fullness))
  }

  /** Merges as while rows come. */
  keepUp(): void {
    this.#run(() => {
      const pick = pickCompaction(this.rowSets, WHILE_ROWS_COME)
      return pick && { ...pick, cuts: [] }
    })
  }

  /** Merges as when it is left alone. */
  rest(): void {
    const budget: RestBudget = { ...LIMITS, ratio: this.#ratio }
    this.#run(() => {
      const pick = pickCompaction(this.rowSets, WHILE_ROWS_COME)
      return pickAtRest(this.rowSets, budget) ?? (pick && { ...pick, cuts: [] })
    })
  }

  #run(pick: () => { chosen: readonly number[]; cuts: readonly Uint8Array[] } | null): void {
    for (let merges = 0; ; merges++) {
      const next = pick()
      if (next === null) return
      if (merges === MERGE_COUNT_MAX) throw new Error('merging does not come to an end')
      this.#merge(next.chosen, next.cuts)
    }
  }

  #merge(chosen: readonly number[], cuts: readonly Uint8Array[]): void {
    const inputs = chosen.map((index) => this.rowSets[index])
    const total = inputs.reduce((sum, { fullness }) => sum + fullness, 0)
    this.rewritten += total
    this.mergeCount++
    const target = total / Math.max(1, Math.round(total))
    const outputs = written(inputs, cuts.map(numberOf), target)
    this.rowSets = [...this.rowSets.filter((_, index) => !chosen.includes(index)), ...outputs]
  }
}

/** What a merge writes: cut at keys, and where an output is as full as it is meant to be. */
function written(
  inputs: readonly CompactionCandidate[],
  cuts: readonly number[],
  target: number,
): CompactionCandidate[] {
  const spans = inputs.map((it) => ({
    low: numberOf(it.lowerKey),
    high: numberOf(it.upperKey),
    fullness: it.fullness,
  }))
  const ends = [...new Set([...cuts, ...spans.flatMap(({ low, high }) => [low, high])])]
  ends.sort((a, b) => a - b)
  const outputs: CompactionCandidate[] = []
  let low = ends[0]
  let held = 0
  const end = (high: number): void => {
    const from = Math.floor(low)
    const to = Math.max(from + 1, Math.floor(high))
    if (held > 0) outputs.push(aCandidate(numberKey(from), numberKey(to), held))
    low = high
    held = 0
  }
  for (let i = 1; i < ends.length; i++) {
    let at = ends[i - 1]
    const covering = spans.filter((span) => span.low <= at && span.high >= ends[i])
    const density = covering.reduce((sum, it) => sum + it.fullness / (it.high - it.low), 0)
    if (density === 0 && held === 0) low = ends[i]
    while (density > 0 && held + (ends[i] - at) * density >= target * (1 + 1e-6)) {
      at += (target - held) / density
      held = target
      end(at)
    }
    held += (ends[i] - at) * density
    if (cuts.includes(ends[i])) end(ends[i])
  }
  end(ends[ends.length - 1])
  return outputs
}

function numberOf(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(0)
}

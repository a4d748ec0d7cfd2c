import { describe, expect, test } from 'vitest'
import {
  type CompactionBudget,
  type CompactionCandidate,
  heightOf,
  IMPROVEMENT_MIN,
  pickCompaction,
  SMALL_FULLNESS,
} from '../../../src/tablet/maintenance/compaction-policy.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aCandidate, drawnRowSets, FULL_BYTES, FULL_ROWS } from '../../support/key-intervals.ts'

function budget(fullCount: number, rewriteRatio = Number.POSITIVE_INFINITY): CompactionBudget {
  const bytes = fullCount * FULL_BYTES
  return { bytes, rows: fullCount * FULL_ROWS, rewriteRatio, rewriteCost: 0 }
}

/** As maintenance picks by itself. */
const THRIFTY: CompactionBudget = { ...budget(8, 2), rewriteCost: 0.2 }

function chosen(picture: string, fullCount = 8, rewriteRatio?: number): readonly number[] {
  return pickCompaction(drawnRowSets(picture), budget(fullCount, rewriteRatio))?.chosen ?? []
}

function key(number: number): Uint8Array {
  const bytes = new Uint8Array(6)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

/** The average height after a choice was merged into rowsets that do not overlap. */
function heightAfter(candidates: CompactionCandidate[], picked: readonly number[]): number {
  const merged = picked.map((index) => candidates[index])
  const lowerKey = merged.map((it) => it.lowerKey).sort(Buffer.compare)[0]
  const upperKey = merged
    .map((it) => it.upperKey)
    .sort(Buffer.compare)
    .at(-1) as Uint8Array
  const bytes = merged.reduce((sum, it) => sum + it.bytes, 0)
  const rest = candidates.filter((_, index) => !picked.includes(index))
  return heightOf([...rest, { lowerKey, upperKey, bytes }])
}

describe('pickCompaction', () => {
  test('picks nothing where there is nothing or one rowset', () => {
    expect(chosen('')).toEqual([])
    expect(chosen('[a ─ z]')).toEqual([])
  })

  test('picks all when all overlap and the budget allows', () => {
    expect(
      chosen(`
        [a ──────────── k]
          [c ──────────── m]
            [e ────────────── p]
      `),
    ).toEqual([0, 1, 2])
  })

  test('never picks large rowsets that do not overlap', () => {
    expect(chosen('[a ─ b] [c ─ d] [e ─ f] [g ─ h] [x ─ z]')).toEqual([])
  })

  test('leaves alone a large rowset beside some that overlap', () => {
    expect(
      chosen(`
        [a ───── d]
            [c ───── f]
                        [x ─ z]
      `),
    ).toEqual([0, 1])
  })

  test('prefers the narrow of two that gain the same', () => {
    expect(
      chosen(
        `
        [a ────────────────────────── z]
        [b ─ c]
        [b ─ c]
      `,
        2,
      ),
    ).toEqual([1, 2])
  })

  test('takes as many as the budget allows, and those that gain most', () => {
    const layout = `
      [a ─────────── m]
      [a ─────────── m]
      [a ─────────── m]
                        [n ─ p]0.6
                        [n ─ p]0.6
    `

    expect(chosen(layout, 3)).toEqual([0, 1, 2])
    expect(chosen(layout, 1.3)).toEqual([3, 4])
    expect(chosen(layout, 1)).toEqual([])
  })

  test('counts rows against the budget as well as bytes', () => {
    const candidates = drawnRowSets('[a ─ z] [a ─ z]').map((it) => ({ ...it, rowCount: 1_000_000 }))

    expect(pickCompaction(candidates, budget(8))).toBe(null)
    expect(pickCompaction(candidates, { ...budget(8), rows: 2_000_000 })?.chosen).toEqual([0, 1])
  })

  test('does not pick a rowset that something else is at work on', () => {
    const candidates = drawnRowSets('[a ─ z] [a ─ z] [a ─ z]').map((it, index) => {
      return { ...it, isFree: index !== 1 }
    })

    expect(pickCompaction(candidates, budget(8))?.chosen).toEqual([0, 2])
  })

  test('does not merge across a large rowset that lies between', () => {
    expect(chosen('[a ─ b]0.1 [c ─ d] [x ─ z]0.1')).toEqual([])
  })

  test('merges small neighbours', () => {
    expect(chosen('[a ─ b]0.1 [c ─ d]0.1 [e ─ f] [g ─ h]')).toEqual([0, 1])
  })

  test('does not merge neighbours of half the size and more', () => {
    expect(chosen('[a ─ b]0.5 [c ─ d]0.5 [e ─ f]0.6 [g ─ h]')).toEqual([])
  })

  test('gains less of small neighbours the larger they are', () => {
    const values = [0.01, 0.05, 0.1, 0.15, 0.2].map((size) => {
      const picture = `[a ─ b]${size} [c ─ d]${size} [e ─ f]${size}`
      return pickCompaction(drawnRowSets(picture), budget(8))?.value ?? 0
    })

    for (let i = 1; i < values.length; i++) expect(values[i]).toBeLessThan(values[i - 1])
    expect(values.at(-1)).toBeGreaterThan(IMPROVEMENT_MIN)
  })

  test('gains more by height than by the number of small rowsets', () => {
    expect(
      chosen(
        `
        [a ────────── m]0.5
        [a ────────── m]0.5
                          [n ─ o]0.01 [p ─ q]0.01 [r ─ s]0.01
      `,
        1,
      ),
    ).toEqual([0, 1])
  })

  test('picks overlapping rowsets far above the target size too', () => {
    expect(chosen('[a ─── z]40 [a ─── z]40 [a ─── z]40', 120)).toEqual([0, 1, 2])
  })

  test('counts bytes beyond 2 GiB', () => {
    const large = drawnRowSets('[a ─── m] [a ─── m] [n ─── z]').map((it) => {
      return { ...it, bytes: 3 * 2 ** 31 }
    })
    const enough = { bytes: 2 ** 36, rows: 2 ** 30, rewriteRatio: 8, rewriteCost: 0 }

    expect(pickCompaction(large, enough)?.chosen).toEqual([0, 1])
    expect(pickCompaction(large, { ...enough, bytes: 2 ** 32 })).toBe(null)
  })

  // [a ──────────────────── z]8
  //   [b ─ c]0.1
  //     [b ── d]0.1
  test('leaves out a large rowset until there is enough to merge into it', () => {
    const layout = '[a ─── z]8 [b ─ y]0.1 [c ─ x]0.1'

    expect(chosen(layout, 16)).toEqual([0, 1, 2])
    expect(chosen(layout, 16, 8)).toEqual([1, 2])
    expect(chosen('[a ─── z]8 [b ─ y]0.5 [c ─ x]0.6', 16, 8)).toEqual([0, 1, 2])
  })

  test('picks nothing when all that is little lies on what is much', () => {
    expect(chosen('[a ─── z]8 [b ─ y]0.1', 16, 8)).toEqual([])
  })

  test('does not care in which order rowsets come', () => {
    const seed = 99
    const prng = new Prng(seed)
    for (let round = 0; round < 50; round++) {
      const candidates = Array.from({ length: prng.between(2, 12) }, () => {
        const low = prng.below(1000)
        return aCandidate(key(low), key(low + 1 + prng.below(400)), prng.between(1, 20) / 10)
      })
      const pick = pickCompaction(candidates, budget(6))
      const reversed = pickCompaction(candidates.toReversed(), budget(6))
      const where = `seed ${seed}, round ${round}`
      expect(reversed?.value ?? 0, where).toBeCloseTo(pick?.value ?? 0)
    }
  })

  test('finds a set within 5 % of the best, and what it promises is what it gains', () => {
    const seed = 1234
    const prng = new Prng(seed)
    for (let round = 0; round < 60; round++) {
      const candidates = Array.from({ length: prng.between(2, 9) }, () => {
        const low = prng.below(100)
        return aCandidate(key(low), key(low + 1 + prng.below(60)), prng.between(5, 20) / 10)
      })
      const before = heightOf(candidates)
      let best = 0
      for (let set = 1; set < 2 ** candidates.length; set++) {
        const indexes = [...candidates.keys()].filter((index) => (set & (1 << index)) !== 0)
        const weight = indexes.reduce((sum, i) => {
          return sum + Math.ceil(candidates[i].fullness * (256 / 5))
        }, 0)
        if (weight <= 256) best = Math.max(best, before - heightAfter(candidates, indexes))
      }
      const pick = pickCompaction(candidates, budget(5))
      const where = `seed ${seed}, round ${round}`
      if (pick === null) {
        expect(best, where).toBeLessThan(0.02)
        continue
      }
      // What is merged is spread anew over its keys, so that heights shift a little.
      expect(pick.value, where).toBeGreaterThan(best / 1.06 - 0.08)
      expect(candidates.every(({ fullness }) => fullness >= SMALL_FULLNESS)).toBe(true)
    }
  })

  test('lowers a stack of a thousand flushes in random key order step by step', () => {
    const prng = new Prng(7)
    let candidates = Array.from({ length: 1000 }, () => {
      return aCandidate(key(prng.below(1000)), key(2 ** 32 - 1 - prng.below(1000)), 0.25)
    })
    const before = heightOf(candidates)
    const pick = pickCompaction(candidates, budget(8, 8))

    expect(before).toBeCloseTo(1000, -1)
    expect(pick?.chosen).toHaveLength(32)
    expect(pick?.value).toBeCloseTo(31, 0)
    candidates = candidates.slice(0, 400)
    expect(pickCompaction(candidates, budget(8, 8))?.chosen).toHaveLength(32)
  })

  test('picks what gains more than rewriting it costs', () => {
    const picture = '[a ──── z] [a ──── z] [c ─ d]'
    const picked = (rewriteCost: number) => {
      return pickCompaction(drawnRowSets(picture), { ...budget(8), rewriteCost })?.chosen ?? []
    }

    expect(picked(0)).toEqual([0, 1, 2])
    expect(picked(0.45)).toEqual([0, 1])
    expect(picked(0.8)).toEqual([])
  })

  test.each([
    ['tiny', 0.02, 8],
    ['small', 0.2, 6],
    ['full', 1, 4],
  ])('rewrites %s flushes in random key order a few times, and the stack stays low', (...args) => {
    const [, fullness, timesMax] = args
    const prng = new Prng(77)
    let candidates: CompactionCandidate[] = []
    let rewritten = 0
    const flushCount = Math.min(200, 48 / fullness)
    for (let flush = 0; flush < flushCount; flush++) {
      const upper = key(2 ** 32 - 1 - prng.below(1000))
      candidates.push(aCandidate(key(prng.below(1000)), upper, fullness))
      for (;;) {
        const pick = pickCompaction(candidates, THRIFTY)
        if (pick === null) break
        rewritten += pick.chosen.reduce((sum, index) => sum + candidates[index].fullness, 0)
        candidates = merged(candidates, pick.chosen)
      }
    }

    expect(rewritten / (flushCount * fullness)).toBeLessThan(timesMax)
    expect(heightOf(candidates)).toBeLessThan(10)
  })

  test('rewrites nothing of full flushes in key order, and tiny ones a few times', () => {
    for (const [fullness, timesMax] of [
      [1, 0],
      [0.02, 8],
    ]) {
      let candidates: CompactionCandidate[] = []
      let rewritten = 0
      for (let flush = 0; flush < 200; flush++) {
        candidates.push(aCandidate(key(flush * 1000), key(flush * 1000 + 900), fullness))
        for (;;) {
          const pick = pickCompaction(candidates, THRIFTY)
          if (pick === null) break
          rewritten += pick.chosen.reduce((sum, index) => sum + candidates[index].fullness, 0)
          candidates = merged(candidates, pick.chosen)
        }
      }
      expect(rewritten / (200 * fullness)).toBeLessThanOrEqual(timesMax)
      if (fullness < 1) expect(candidates.length).toBeLessThan(20)
    }
  })
})

/** The rowsets after some were merged into as few as hold them, cut evenly. */
function merged(
  candidates: readonly CompactionCandidate[],
  picked: readonly number[],
): CompactionCandidate[] {
  const inputs = picked.map((index) => candidates[index])
  const numberOf = (bytes: Uint8Array) => new DataView(bytes.buffer).getUint32(0)
  const low = Math.min(...inputs.map(({ lowerKey }) => numberOf(lowerKey)))
  const high = Math.max(...inputs.map(({ upperKey }) => numberOf(upperKey)))
  const fullness = inputs.reduce((sum, it) => sum + it.fullness, 0)
  const count = Math.max(1, Math.round(fullness))
  const edge = (index: number) => key(Math.floor(low + ((high - low) * index) / count))
  const outputs = Array.from({ length: count }, (_, index) => {
    return aCandidate(edge(index), edge(index + 1), fullness / count)
  })
  return [...candidates.filter((_, index) => !picked.includes(index)), ...outputs]
}

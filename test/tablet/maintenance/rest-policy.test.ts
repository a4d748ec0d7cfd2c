import { describe, expect, test } from 'vitest'
import { countWide, pickAtRest } from '../../../src/tablet/maintenance/rest-policy.ts'
import { Prng } from '../../../src/util/prng.ts'
import { CompactionModel, KEY_END } from '../../support/compaction-model.ts'
import { drawnRowSets, FULL_BYTES, FULL_ROWS } from '../../support/key-intervals.ts'

function pick(picture: string, fullCount = 18, ratio = 64) {
  const budget = { bytes: fullCount * FULL_BYTES, rows: fullCount * FULL_ROWS, ratio }
  return pickAtRest(drawnRowSets(picture), budget)
}

function chosen(picture: string, fullCount?: number, ratio?: number): readonly number[] {
  return pick(picture, fullCount, ratio)?.chosen ?? []
}

/** Flushes rows with keys drawn from the whole space. */
function flushRandom(model: CompactionModel, prng: Prng, fullness: number): void {
  model.flush(prng.below(1000), KEY_END - 1 - prng.below(1000), fullness)
}

function report(what: string, model: CompactionModel): void {
  const { height, amplification, rowSets, mergeCount } = model
  process.stdout.write(
    `${what}: height ${height.toFixed(2)}, ${rowSets.length} rowsets; ` +
      `${amplification.toFixed(1)} times rewritten in ${mergeCount} merges\n`,
  )
}

describe('pickAtRest', () => {
  test('picks nothing where no rowsets overlap, or hardly do', () => {
    expect(chosen('')).toEqual([])
    expect(chosen('[a ─ z]')).toEqual([])
    expect(chosen('[a ─ e] [f ─ k] [l ─ z]')).toEqual([])
    expect(chosen('[a ──── k] [j ──── z]')).toEqual([])
  })

  test('picks all that overlap, whatever there was before', () => {
    expect(chosen('[a ─ z] [b ─ y] [a ─ m] [n ─ z]')).toEqual([0, 1, 2, 3])
  })

  // [a ────── f]                 [s ────── z]
  // [a ────── f][g ─ l][m ─ r]   [s ────── z]
  test('does not rewrite what lies between two parts that are high', () => {
    expect(chosen('[a ─ f] [a ─ f] [g ─ l] [m ─ r] [s ─ y] [s ─ z]')).toHaveLength(2)
  })

  test('leaves alone what is little until it is a part of what it lies on', () => {
    expect(chosen('[a ─ z]0.12 [a ─ i]3 [j ─ q]3 [r ─ z]3')).toEqual([])
    expect(chosen('[a ─ z]0.15 [a ─ i]3 [j ─ q]3 [r ─ z]3')).toEqual([0, 1, 2, 3])
  })

  test('picks the narrowest set', () => {
    expect(chosen('[e ─ f]0.06 [a ─ l]0.8 [m ─ q]0.8 [r ─ z]0.8')).toEqual([])
    expect(chosen('[a ─ g]0.06 [a ─ g]0.8 [h ─ q]0.8 [r ─ z]0.8')).toEqual([0, 1])
  })

  test('cuts what covers more than one merge may take where merges begin', () => {
    const layout = '[a ─ z]0.2 [a ─ e] [f ─ j] [k ─ o] [p ─ z]'
    const budget = { bytes: 4 * FULL_BYTES, rows: 4 * FULL_ROWS, ratio: 64 }
    const found = pick(layout, 4)

    expect(chosen(layout, 5)).toEqual([0, 1, 2, 3, 4])
    expect(found?.chosen).toEqual([0])
    expect(found?.cuts.map((cut) => String.fromCharCode(...cut))).toEqual(['k'])
    expect(countWide(drawnRowSets(layout), budget)).toBe(1)
    expect(chosen('[a ─ j]0.1 [k ─ z]0.1 [a ─ e] [f ─ j] [k ─ o] [p ─ z]', 4)).toHaveLength(3)
    expect(chosen('[a ─ z]0.05 [a ─ e] [f ─ j] [k ─ o] [p ─ z]', 4)).toEqual([])
  })

  test('does not pick a rowset that something else is at work on', () => {
    const candidates = drawnRowSets('[a ─ z] [a ─ z] [a ─ z]').map((it, index) => {
      return { ...it, isFree: index !== 1 }
    })

    expect(pickAtRest(candidates, { bytes: 2 ** 30, rows: 2 ** 30, ratio: 64 })?.chosen).toEqual([
      0, 2,
    ])
  })
})

describe('A stack of rowsets at rest', () => {
  const seed = 20_261_130

  test.each([
    ['15 full flushes in random key order', 15, 1, 4],
    ['64 full flushes in random key order', 64, 1, 7],
    ['200 full flushes in random key order', 200, 1, 9],
    ['150 flushes of a tenth in random key order', 150, 0.1, 8],
    ['20 tiny flushes in random key order', 20, 0.01, 8],
  ])('is at most 1.2 high after %s', (what, count, fullness, timesMax) => {
    const model = new CompactionModel()
    const prng = new Prng(seed)
    for (let flush = 0; flush < count; flush++) {
      flushRandom(model, prng, fullness)
      model.keepUp()
    }
    report(`${what}, loaded`, model)
    model.rest()
    report(`${what}, at rest`, model)

    expect(model.height).toBeLessThanOrEqual(1.2)
    expect(model.amplification).toBeLessThan(timesMax)
  })

  test('is 1 high after full flushes in key order, and nothing is rewritten', () => {
    const model = new CompactionModel()
    for (let flush = 0; flush < 100; flush++) {
      model.flush(flush * 1000, flush * 1000 + 1000, flush < 99 ? 1 : 0.3)
      model.keepUp()
      model.rest()
    }
    report('100 full flushes in key order', model)

    expect(model.height).toBeCloseTo(1, 9)
    expect(model.rewritten).toBe(0)
  })

  test('is at most 1.2 high after a fiftieth of all rows came again, over all keys', () => {
    const model = new CompactionModel()
    const prng = new Prng(seed)
    for (let flush = 0; flush < 15; flush++) {
      flushRandom(model, prng, 1)
      model.keepUp()
    }
    model.rest()
    const before = model.rewritten
    flushRandom(model, prng, 15 / 50)
    model.rest()
    report('15 full flushes, then a fiftieth of them', model)

    expect(model.height).toBeLessThanOrEqual(1.2)
    expect(model.rewritten - before).toBeLessThan(15.4)
  })

  test.each([
    ['a tablet of one merge', 15, 1],
    ['a tablet of ten merges', 180, 1],
    ['a hot hundredth of ten merges', 180, 0.01],
  ])('costs a trickle into %s a bounded number of bytes each', (what, fullCount, part) => {
    const model = new CompactionModel()
    const prng = new Prng(seed)
    const step = Math.floor(KEY_END / fullCount)
    for (let i = 0; i < fullCount; i++) model.flush(i * step, (i + 1) * step, 1)
    model.flushed = 0
    let sum = 0
    const width = Math.floor((KEY_END - 2000) * part)
    for (let flush = 0; flush < 100; flush++) {
      const low = prng.below(1000)
      model.flush(low, low + width, fullCount / 1000)
      model.rest()
      sum += model.height
    }
    report(`100 flushes, a tenth in all, into ${what}, ${(sum / 100).toFixed(1)} high`, model)

    expect(model.amplification).toBeLessThan(64 + 12)
    expect(sum / 100).toBeLessThan(7)
  })

  test('is lowered however much it costs when an operator asks', () => {
    const model = new CompactionModel(Number.POSITIVE_INFINITY)
    const step = Math.floor(KEY_END / 60)
    for (let i = 0; i < 60; i++) model.flush(i * step, (i + 1) * step, 1)
    model.flush(5, KEY_END - 5, 0.01)
    model.rest()
    report('60 full rowsets below a tiny one, when asked', model)

    expect(model.height).toBeLessThanOrEqual(1.2)
  })

  test('comes to an end whatever the layout', () => {
    for (let round = 0; round < 40; round++) {
      const prng = new Prng(seed + round)
      const model = new CompactionModel(prng.chance(0.5) ? 64 : Number.POSITIVE_INFINITY)
      for (let flush = 0; flush < 40; flush++) {
        const low = prng.below(1000) * 1000
        model.flush(low, low + 1 + prng.below(1000) * 500, prng.between(1, 150) / 100)
        if (prng.chance(0.5)) model.keepUp()
        if (prng.chance(0.2)) model.rest()
      }
      model.rest()
      expect(model.height, `seed ${seed + round}`).toBeLessThanOrEqual(2.5)
    }
  })
})

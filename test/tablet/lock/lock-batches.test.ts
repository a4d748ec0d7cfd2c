import { describe, expect, test } from 'vitest'
import { LOCK_BATCH_COUNT_MAX } from '../../../src/common/limits.ts'
import { type LockBatch, LockBatches } from '../../../src/tablet/lock/lock-batches.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { Prng } from '../../../src/util/prng.ts'

const keys = new KeyArena()

function batchesOf(batches: LockBatches, op: number): LockBatch[] {
  const found: LockBatch[] = []
  for (let batch = batches.newestOf(op); batch !== 0; batch = batches.olderThan(batch)) {
    found.push(batch)
  }
  return found
}

describe('LockBatches', () => {
  test('lists the batches of an op from new to old, and of no other', () => {
    const batches = new LockBatches()
    const first = batches.take(7, keys)
    batches.take(7 + 64, keys)
    const second = batches.take(7, keys)

    expect(batchesOf(batches, 7)).toEqual([second, first])
    expect(batchesOf(batches, 8)).toEqual([])
  })

  test('uses the number of a dropped batch again, with nothing of it left', () => {
    const batches = new LockBatches()
    const batch = batches.take(7, keys)
    batches.missing[batch] = 5
    batches.firstNodes[batch] = 6
    batches.nodeCounts[batch] = 7
    batches.drop(batch)

    expect(batches.arenas[batch]).toBe(null)
    expect(batches.take(9, keys)).toBe(batch)
    expect([batches.missing[batch], batches.firstNodes[batch], batches.nodeCounts[batch]]).toEqual([
      0, 0, 0,
    ])
    expect(batches.newestOf(7)).toBe(0)
  })

  test('asserts when a batch is dropped twice', () => {
    const batches = new LockBatches()
    const batch = batches.take(7, keys)
    batches.drop(batch)

    expect(() => batches.drop(batch)).toThrow('twice')
  })

  test('holds as many as the limit and no more', () => {
    const batches = new LockBatches()
    for (let op = 0; op < LOCK_BATCH_COUNT_MAX; op++) batches.take(op, keys)

    expect(() => batches.take(0, keys)).toThrow('more batches')
    expect(batches.newestOf(LOCK_BATCH_COUNT_MAX - 1)).toBeGreaterThan(0)
  })

  test('finds what a list of (op, batch) finds', () => {
    const seed = 77
    const prng = new Prng(seed)
    const batches = new LockBatches()
    let model: { op: number; batch: LockBatch }[] = []
    for (let step = 0; step < 5000; step++) {
      const op = prng.below(20) * 32
      if (prng.chance(0.5) && model.length < 60) {
        model.unshift({ op, batch: batches.take(op, keys) })
      } else if (model.length > 0) {
        const dropped = prng.pick(model)
        batches.drop(dropped.batch)
        model = model.filter((each) => each !== dropped)
      }
      const expected = model.filter((each) => each.op === op).map((each) => each.batch)
      expect(batchesOf(batches, op), `seed ${seed} step ${step}`).toEqual(expected)
    }
    expect(batches.count).toBe(model.length)
  })
})

import { describe, expect, test } from 'vitest'
import { LOCK_BATCH_COUNT_MAX, LOCK_COUNT_MAX } from '../../../src/common/limits.ts'
import { StatusError } from '../../../src/common/status.ts'
import type { LockBatch } from '../../../src/tablet/lock/lock-batches.ts'
import { LockTable } from '../../../src/tablet/lock/lock-table.ts'
import { Prng } from '../../../src/util/prng.ts'
import { lockKeys } from '../../support/lock-keys.ts'

function add(table: LockTable, op: number, texts: string[], hash?: (text: string) => number) {
  const { keys, hashes, count } = lockKeys(texts, hash)
  const batch = table.addBatch(op, keys, hashes, count)
  table.checkInvariants()
  return batch
}

function remove(table: LockTable, batch: LockBatch): LockBatch[] {
  const ready: LockBatch[] = []
  table.removeBatch(batch, ready)
  table.checkInvariants()
  return ready
}

describe('LockTable', () => {
  test('gives a batch the keys at which nobody stands', () => {
    const table = new LockTable()
    const first = add(table, 1, ['a', 'b'])
    const second = add(table, 2, ['b', 'c'])

    expect([table.missing(first), table.missing(second)]).toEqual([0, 1])
    expect(remove(table, first)).toEqual([second])
    expect(table.missing(second)).toBe(0)
    expect(remove(table, second)).toEqual([])
    expect([table.nodeCount, table.batchCount]).toEqual([0, 0])
  })

  test('enters a key once however often the op names it', () => {
    const table = new LockTable()
    const first = add(table, 1, ['a', 'b', 'a', 'a'])
    const waiting = add(table, 2, ['a', 'c', 'a'])
    const again = add(table, 1, ['b', 'd', 'b', 'd'])

    expect([first, waiting, again].map((batch) => table.keyCount(batch))).toEqual([2, 2, 1])
    expect(table.missing(waiting)).toBe(1)
  })

  test('tells keys of one hash apart by their bytes', () => {
    const table = new LockTable()
    const sameHash = () => 42
    const first = add(table, 1, ['a', 'b', 'ab', ''], sameHash)
    const second = add(table, 2, ['c', 'abc', 'ba'], sameHash)
    const third = add(table, 3, ['ab'], sameHash)

    expect([first, second, third].map((batch) => table.missing(batch))).toEqual([0, 0, 1])
  })

  //  slots 126 127 | 0 1: a run of locks that goes around the end of the table
  test('finds locks behind one that left, also around the end of the table', () => {
    const home: Record<string, number> = { a: 126, b: 126, c: 127, d: 126, e: 0, f: 1 }
    const hash = (text: string) => home[text]
    for (const leaving of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const table = new LockTable()
      const batches = new Map<string, LockBatch>()
      for (const text of Object.keys(home)) batches.set(text, add(table, 1, [text], hash))

      remove(table, batches.get(leaving) ?? 0)

      for (const text of Object.keys(home)) {
        const missing = table.missing(add(table, 2, [text], hash))
        expect(missing, `${text} after ${leaving}`).toBe(text === leaving ? 0 : 1)
      }
    }
  })

  test('goes on finding a key by the bytes of those who still stand there', () => {
    const table = new LockTable()
    const first = add(table, 1, ['a'])
    const second = add(table, 2, ['a'])
    const third = add(table, 3, ['a'])

    expect(remove(table, second)).toEqual([])
    expect(remove(table, first)).toEqual([third])
    expect(table.missing(add(table, 4, ['a']))).toBe(1)
  })

  test('keeps a queue whole when its last and its middle leave', () => {
    const table = new LockTable()
    const [a, b, c, d] = [1, 2, 3, 4].map((op) => add(table, op, ['k']))

    remove(table, d)
    remove(table, b)
    const e = add(table, 5, ['k'])

    expect(remove(table, a)).toEqual([c])
    expect(remove(table, c)).toEqual([e])
  })

  test('keeps every lock and queue when it grows', () => {
    const table = new LockTable()
    const texts = Array.from({ length: 40 }, (_, i) => `key ${i}`)
    const holders = texts.map((text, i) => add(table, i, [text]))
    const waiter = add(table, 100, texts)
    const many = Array.from({ length: 3000 }, (_, i) => `other ${i}`)

    add(table, 101, many)

    expect(table.missing(waiter)).toBe(40)
    const ready = holders.map((batch) => remove(table, batch))
    expect(ready.flat()).toEqual([waiter])
    expect(ready.at(-1)).toEqual([waiter])
    expect(table.missing(add(table, 102, [many[0], many[2999], 'new']))).toBe(2)
  })

  test('goes back to little memory when it is empty', () => {
    const table = new LockTable()
    const small = table.capacity
    const many = Array.from({ length: 10_000 }, (_, i) => `key ${i}`)
    const batch = add(table, 1, many)
    expect(table.capacity).toBeGreaterThan(10_000)

    remove(table, batch)

    expect(table.capacity).toBe(small)
  })

  test('does not mind that keys are appended to an arena it borrows', () => {
    const table = new LockTable()
    const { keys, hashes } = lockKeys(['a', 'b'])
    const batch = table.addBatch(1, keys, hashes, 2)
    keys.append(new Uint8Array(10_000), 0, 10_000)
    keys.endKey()

    expect(table.missing(add(table, 2, ['b']))).toBe(1)
    expect(remove(table, batch)).toHaveLength(1)
  })

  test('asserts, in verify builds, when borrowed keys were changed', () => {
    const table = new LockTable()
    const { keys, hashes } = lockKeys(['a', 'b'])
    const batch = table.addBatch(1, keys, hashes, 2)
    keys.bytes[1] = 0x7a

    expect(() => table.removeBatch(batch, [])).toThrow('borrowed')
  })

  test('refuses more locks than the limit, and changes nothing', () => {
    const table = new LockTable()
    const half = Array.from({ length: LOCK_COUNT_MAX / 2 }, (_, i) => `key ${i}`)
    const { keys, hashes, count } = lockKeys(half)
    const batches = [1, 2].map((op) => table.addBatch(op, keys, hashes, count))

    const error = errorOf(() => add(table, 3, ['one more']))

    expect(error.code).toBe('SERVICE_UNAVAILABLE')
    expect(error.message).toBe('tablet has too many row locks, limit is 200000')
    expect([table.nodeCount, table.batchCount]).toEqual([LOCK_COUNT_MAX, 2])
    for (const batch of batches) table.removeBatch(batch, [])
    expect(table.missing(add(table, 3, ['one more']))).toBe(0)
  })

  test('refuses more batches than the limit, and changes nothing', () => {
    const table = new LockTable()
    const { keys, hashes } = lockKeys(['a'])
    for (let op = 0; op < LOCK_BATCH_COUNT_MAX; op++) table.addBatch(op, keys, hashes, 1)

    expect(errorOf(() => add(table, 9999, ['b'])).code).toBe('SERVICE_UNAVAILABLE')
    expect(table.batchCount).toBe(LOCK_BATCH_COUNT_MAX)
    table.checkInvariants()
  })

  test('asserts when there are fewer keys or hashes than it is told', () => {
    const { keys, hashes } = lockKeys(['a', 'b'])

    expect(() => new LockTable().addBatch(1, keys, hashes, 3)).toThrow('fewer keys')
    expect(() => new LockTable().addBatch(1, keys, hashes.subarray(0, 1), 2)).toThrow('hashes')
    expect(() => new LockTable().addBatch(1, keys, hashes, -1)).toThrow('negative')
  })

  test('is a map of queues, whatever comes and goes and however keys collide', () => {
    const seed = 4711
    const prng = new Prng(seed)
    const table = new LockTable()
    const queues = new Map<string, LockBatch[]>()
    const open: { batch: LockBatch; texts: string[] }[] = []
    const hash = (text: string) => Number(text) % 9
    for (let step = 0; step < 3000; step++) {
      const where = `seed ${seed} step ${step}`
      if (prng.chance(0.52) && open.length < 30) {
        const texts = Array.from({ length: prng.below(6) }, () => String(prng.below(25)))
        const batch = add(table, step, texts, hash)
        for (const text of new Set(texts)) {
          queues.set(text, [...(queues.get(text) ?? []), batch])
        }
        open.push({ batch, texts })
      } else if (open.length > 0) {
        const [{ batch, texts }] = open.splice(prng.below(open.length), 1)
        remove(table, batch)
        for (const text of texts) {
          queues.set(text, queues.get(text)?.filter((each) => each !== batch) ?? [])
        }
      }
      const behind = open.map(({ batch, texts }) => {
        return [...new Set(texts)].filter((text) => queues.get(text)?.[0] !== batch).length
      })
      expect(
        open.map(({ batch }) => table.missing(batch)),
        where,
      ).toEqual(behind)
    }
  })
})

function errorOf(work: () => unknown): StatusError {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

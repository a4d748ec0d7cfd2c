import { describe, expect, test } from 'vitest'
import { RowLocks } from '../../../bench/before/row-locks.ts'
import { lockKeys } from '../../support/lock-keys.ts'

describe('RowLocks', () => {
  test('takes each key once, and releases all', () => {
    const locks = new RowLocks()
    const { keys, hashes, count } = lockKeys(['a', 'b', 'a', 'c'])

    expect(locks.acquireBatch(1, keys, hashes, count)).toBe('held')
    locks.checkInvariants()
    expect(locks.heldCount).toBe(3)
    locks.releaseBatch(1)
    locks.checkInvariants()
    expect(locks.isEmpty).toBe(true)
  })

  test('waits for a key that another op has', () => {
    const locks = new RowLocks()
    const held = lockKeys(['b'])
    const wanted = lockKeys(['a', 'b'])
    locks.acquireBatch(1, held.keys, held.hashes, held.count)

    expect(locks.acquireBatch(2, wanted.keys, wanted.hashes, wanted.count)).not.toBe('held')
  })
})

import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../src/common/hybrid-clock.ts'
import type { StatusCode } from '../../src/common/status.ts'
import type { LockTicket } from '../../src/tablet/lock/lock-ticket.ts'
import { LockManager } from '../../src/tablet/lock-manager.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { lockKeys } from '../support/lock-keys.ts'

function acquire(locks: LockManager, op: number, texts: string[], deadline?: number) {
  const { keys, hashes, count } = lockKeys(texts)
  const answer = locks.acquireBatch(op, keys, hashes, count, deadline)
  locks.checkInvariants()
  return answer
}

/** Acquires and must get a ticket. */
function queue(locks: LockManager, op: number, texts: string[], deadline?: number): LockTicket {
  const answer = acquire(locks, op, texts, deadline)
  if (answer === 'held') throw new Error(`op ${op} got its locks at once`)
  return answer
}

function release(locks: LockManager, op: number): void {
  locks.releaseBatch(op)
  locks.checkInvariants()
}

/** Appends to the log who is ready, as it happens. */
function logged(log: string[], ...tickets: LockTicket[]): void {
  for (const ticket of tickets) {
    ticket.onReady = (ready) => log.push(`${ready.op} ${codeOf(ready) ?? 'held'}`)
  }
}

function codeOf(ticket: LockTicket): StatusCode | null {
  return ticket.outcome === null || ticket.outcome.ok ? null : ticket.outcome.code
}

describe('LockManager', () => {
  test('holds keys nobody has at once, and forgets them on release', () => {
    const locks = new LockManager()

    expect(acquire(locks, 1, ['a', 'b', 'c'])).toBe('held')
    expect([locks.heldCount, locks.waitingCount, locks.waitingOpCount]).toEqual([3, 0, 0])
    release(locks, 1)
    expect([locks.heldCount, locks.isEmpty]).toEqual([0, true])
  })

  test('holds different keys for different ops together', () => {
    const locks = new LockManager()

    expect(acquire(locks, 1, ['a'])).toBe('held')
    expect(acquire(locks, 2, ['b'])).toBe('held')
    expect(locks.heldCount).toBe(2)
  })

  test('lets an op take a key twice, in one batch and in several, and releases it once', () => {
    const locks = new LockManager()

    expect(acquire(locks, 1, ['a', 'b', 'a'])).toBe('held')
    expect(acquire(locks, 1, ['b', 'c', 'b'])).toBe('held')
    expect(locks.heldCount).toBe(3)
    const ticket = queue(locks, 2, ['a', 'b', 'c'])

    release(locks, 1)

    expect(ticket.state).toBe('held')
    expect(locks.heldCount).toBe(3)
  })

  test('makes a batch wait until it has all its keys, and hands none over before', () => {
    const locks = new LockManager()
    acquire(locks, 1, ['a'])
    acquire(locks, 2, ['b'])
    const ticket = queue(locks, 3, ['a', 'b', 'c'])
    expect([locks.heldCount, locks.waitingCount, locks.waitingOpCount]).toEqual([2, 3, 1])

    release(locks, 1)
    expect([ticket.state, ticket.outcome]).toEqual(['waiting', null])
    release(locks, 2)

    expect([ticket.state, ticket.outcome]).toEqual(['held', { ok: true, value: null }])
    expect([locks.heldCount, locks.waitingCount, locks.waitingOpCount]).toEqual([3, 0, 0])
  })

  test('hands a key on in the order of asking', () => {
    const locks = new LockManager()
    const log: string[] = []
    acquire(locks, 1, ['k'])
    logged(log, ...[9, 4, 7].map((op) => queue(locks, op, ['k'])))

    for (const op of [1, 9, 4]) release(locks, op)

    expect(log).toEqual(['9 held', '4 held', '7 held'])
  })

  // 1 has x, y, z; 2 wants z, 3 wants y, 4 wants x: in the table's own order 4 might be first.
  test('tells those that one release lets through in the order of asking', () => {
    const locks = new LockManager()
    const log: string[] = []
    acquire(locks, 1, ['x', 'y', 'z'])
    logged(log, queue(locks, 2, ['z']), queue(locks, 3, ['y']), queue(locks, 4, ['x']))

    release(locks, 1)

    expect(log).toEqual(['2 held', '3 held', '4 held'])
  })

  test('lets nobody overtake a waiting batch, not even on a key it does not have yet', () => {
    const locks = new LockManager()
    acquire(locks, 1, ['a'])
    const first = queue(locks, 2, ['a', 'b'])
    const second = queue(locks, 3, ['b'])

    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
    release(locks, 1)
    expect([first.state, second.state]).toEqual(['held', 'waiting'])
    release(locks, 2)
    expect(second.state).toBe('held')
  })

  //        a   b   c       1 has all; 2 and 3 ask in opposite orders; 4 comes last and is impatient
  test('ends contention of opposite orders without deadlock, in order, the third timed out', () => {
    const locks = new LockManager()
    const log: string[] = []
    expect(acquire(locks, 1, ['a', 'b', 'c'])).toBe('held')
    const second = queue(locks, 2, ['a', 'b'], 1000)
    const third = queue(locks, 3, ['b', 'a'], 1000)
    const fourth = queue(locks, 4, ['c', 'b'], 500)
    logged(log, second, third, fourth)

    expect(locks.nextDeadline()).toBe(500)
    expect(locks.expire(499)).toBe(0)
    release(locks, 1)
    expect(locks.expire(500)).toBe(1)
    locks.checkInvariants()
    release(locks, 2)
    release(locks, 3)

    expect(log).toEqual(['2 held', '4 TIMED_OUT', '3 held'])
    expect(fourth.outcome).toEqual({
      ok: false,
      code: 'TIMED_OUT',
      message: 'timed out waiting for row locks',
      details: { resource: 'row' },
    })
    expect([locks.isEmpty, locks.nextDeadline()]).toEqual([true, TIMESTAMP_MAX])
  })

  describe('expire', () => {
    test('lets those go on that waited for the one whose time is over', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const impatient = queue(locks, 2, ['a', 'b'], 10)
      const patient = queue(locks, 3, ['b'], 1000)

      expect(locks.expire(10)).toBe(1)

      expect([codeOf(impatient), patient.state]).toEqual(['TIMED_OUT', 'held'])
      locks.checkInvariants()
    })

    test('ends all whose time is over, also one that another end would have let through', () => {
      const locks = new LockManager()
      const log: string[] = []
      acquire(locks, 1, ['a'])
      logged(log, queue(locks, 2, ['a', 'b'], 10), queue(locks, 3, ['b', 'c'], 10))
      logged(log, queue(locks, 4, ['c']))

      expect(locks.expire(10)).toBe(2)

      expect(log).toEqual(['2 TIMED_OUT', '3 TIMED_OUT', '4 held'])
      locks.checkInvariants()
    })

    test('leaves an op what it held before', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      acquire(locks, 2, ['b'])
      queue(locks, 2, ['a', 'c'], 10)

      locks.expire(10)

      expect(locks.heldCount).toBe(2)
      expect(queue(locks, 3, ['b']).state).toBe('waiting')
      expect(acquire(locks, 4, ['c'])).toBe('held')
    })

    test('never ends a wait without a deadline', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const ticket = queue(locks, 2, ['a'])

      expect(locks.expire(TIMESTAMP_MAX - 1)).toBe(0)
      expect(ticket.state).toBe('waiting')
    })
  })

  describe('cancel', () => {
    test('ends a wait with ABORTED and lets others go on', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const ticket = queue(locks, 2, ['a', 'b'])
      const behind = queue(locks, 3, ['b'])

      expect(locks.cancel(ticket)).toBe(true)

      expect([codeOf(ticket), behind.state]).toEqual(['ABORTED', 'held'])
      release(locks, 1)
      release(locks, 3)
      expect(locks.isEmpty).toBe(true)
    })

    test('does nothing to a ticket that waits no more', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const ticket = queue(locks, 2, ['a'])
      release(locks, 1)

      expect(locks.cancel(ticket)).toBe(false)
      expect([ticket.state, locks.heldCount]).toEqual(['held', 1])
    })

    test('asserts on a ticket of another tablet', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const ticket = queue(locks, 2, ['a'])

      expect(() => new LockManager().cancel(ticket)).toThrow('another tablet')
    })
  })

  describe('releaseBatch', () => {
    test('ends a wait of the op itself', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      acquire(locks, 2, ['b'])
      const ticket = queue(locks, 2, ['a'])

      release(locks, 2)

      expect([codeOf(ticket), locks.heldCount]).toEqual(['ABORTED', 1])
    })

    test('of an op without locks does nothing', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])

      release(locks, 2)
      release(locks, 1)
      release(locks, 1)

      expect(locks.isEmpty).toBe(true)
    })
  })

  describe('an op that takes a second batch', () => {
    test('may wait for it while it holds the first', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      acquire(locks, 2, ['b'])
      const ticket = queue(locks, 2, ['a'])

      release(locks, 1)

      expect([ticket.state, locks.heldCount]).toEqual(['held', 2])
    })

    // 1 has a and wants b; 2 has b and wants a
    test('is refused at once where two would wait for each other', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      acquire(locks, 2, ['b'])
      const first = queue(locks, 1, ['b'])

      const second = queue(locks, 2, ['x', 'a'])

      expect(second.outcome).toMatchObject({
        code: 'ABORTED',
        message: 'waiting for row locks would end in a deadlock',
      })
      expect([first.state, locks.heldCount, locks.waitingCount]).toEqual(['waiting', 2, 1])
      release(locks, 2)
      expect(first.state).toBe('held')
    })

    // 2 holds nothing, but stands at the head of b until 1 gives it a
    test('is refused where it would wait for one that waits for the first batch', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      const waiting = queue(locks, 2, ['b', 'a'])

      expect(codeOf(queue(locks, 1, ['b']))).toBe('ABORTED')
      release(locks, 1)
      expect(waiting.state).toBe('held')
    })

    // 1 ─► 2 ─► 3 ─► 4 ─► 1
    test('is refused where a circle would close over several ops', () => {
      const locks = new LockManager()
      for (const op of [1, 2, 3, 4]) acquire(locks, op, [`key ${op}`])
      for (const op of [1, 2, 3]) queue(locks, op, [`key ${op + 1}`])
      expect(locks.waitingOpCount).toBe(3)

      expect(codeOf(queue(locks, 4, ['key 1']))).toBe('ABORTED')
      for (const op of [4, 3, 2]) release(locks, op)
      expect([locks.waitingOpCount, locks.heldCount]).toEqual([0, 2])
    })

    test('may not while it waits for one', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      queue(locks, 2, ['a'])

      expect(() => acquire(locks, 2, ['b'])).toThrow(AssertionError)
    })
  })

  describe('onReady', () => {
    test('may release and acquire; the others are told in their order', () => {
      const locks = new LockManager()
      const log: string[] = []
      acquire(locks, 1, ['a', 'b'])
      const second = queue(locks, 2, ['a'])
      const third = queue(locks, 3, ['b'])
      const fourth = queue(locks, 4, ['a'])
      logged(log, third, fourth)
      second.onReady = () => {
        log.push('2 held')
        locks.releaseBatch(2)
        log.push(`4 is ${fourth.state}`)
        expect(acquire(locks, 5, ['c'])).toBe('held')
      }

      release(locks, 1)

      expect(log).toEqual(['2 held', '4 is held', '3 held', '4 held'])
    })

    test('that throws does not stop later ones for good', () => {
      const locks = new LockManager()
      acquire(locks, 1, ['a'])
      queue(locks, 2, ['a']).onReady = () => {
        throw new Error('from the server')
      }
      const third = queue(locks, 3, ['a'])
      const log: string[] = []
      logged(log, third)

      expect(() => locks.releaseBatch(1)).toThrow('from the server')
      release(locks, 2)

      expect(log).toEqual(['3 held'])
    })
  })

  test('takes an empty batch as held', () => {
    const locks = new LockManager()

    expect(acquire(locks, 1, [])).toBe('held')
    release(locks, 1)
    expect(locks.isEmpty).toBe(true)
  })

  test('tells ops with great numbers apart', () => {
    const locks = new LockManager()
    acquire(locks, 2 ** 50 + 1, ['a'])

    expect(queue(locks, 2 ** 50 + 2, ['a']).state).toBe('waiting')
    expect(acquire(locks, 2 ** 50 + 1, ['a'])).toBe('held')
    expect(() => acquire(locks, -1, ['b'])).toThrow(AssertionError)
    expect(() => acquire(locks, 0.5, ['b'])).toThrow(AssertionError)
  })

  test('holds nothing and has not grown after a hundred thousand ops', () => {
    const locks = new LockManager()
    const { keys, hashes } = lockKeys(['a', 'b', 'a', 'c'])
    let isHeld = true
    for (let op = 0; op < 100_000; op++) {
      isHeld &&= locks.acquireBatch(op, keys, hashes, 4) === 'held'
      locks.releaseBatch(op)
    }

    expect([isHeld, locks.isEmpty, locks.heldCount]).toEqual([true, true, 0])
  })
})

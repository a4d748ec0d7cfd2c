import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../src/common/hybrid-clock.ts'
import type { LockTicket } from '../../src/tablet/lock/lock-ticket.ts'
import { LockManager } from '../../src/tablet/lock-manager.ts'
import { Prng } from '../../src/util/prng.ts'
import { lockKeys } from '../support/lock-keys.ts'

interface ModelBatch {
  readonly op: number
  readonly keys: ReadonlySet<string>
  readonly deadline: number
  isHeld: boolean
}

/**
 * Slow and obvious: all batches in order of arrival; one is held when nobody before it wants its
 * keys.
 */
class LockModel {
  batches: ModelBatch[] = []
  /** What tickets were told in this step. */
  told: string[] = []

  of(op: number): ModelBatch[] {
    return this.batches.filter((batch) => batch.op === op)
  }

  get waiting(): ModelBatch[] {
    return this.batches.filter((batch) => !batch.isHeld)
  }

  acquire(op: number, texts: string[], deadline: number): 'held' | 'waiting' | 'deadlock' {
    const had = new Set(this.of(op).flatMap((batch) => [...batch.keys]))
    const keys = new Set(texts.filter((text) => !had.has(text)))
    const batch = { op, keys, deadline, isHeld: false }
    this.batches.push(batch)
    if (this.#blockers(batch).length === 0) {
      batch.isHeld = true
      return 'held'
    }
    if (!this.#waitsFor(op, op)) return 'waiting'
    this.batches.pop()
    return 'deadlock'
  }

  release(op: number): void {
    for (const batch of this.of(op)) if (!batch.isHeld) this.told.push(`${op} ABORTED`)
    this.batches = this.batches.filter((batch) => batch.op !== op)
    this.#grant()
  }

  expire(now: number): void {
    const expired = this.waiting.filter((batch) => batch.deadline <= now)
    this.batches = this.batches.filter((batch) => !expired.includes(batch))
    for (const { op } of expired) this.told.push(`${op} TIMED_OUT`)
    this.#grant()
  }

  cancel(op: number): void {
    this.batches = this.batches.filter((batch) => batch.op !== op || batch.isHeld)
    this.told.push(`${op} ABORTED`)
    this.#grant()
  }

  #grant(): void {
    for (const batch of this.waiting) {
      if (this.#blockers(batch).length > 0) continue
      batch.isHeld = true
      this.told.push(`${batch.op} held`)
    }
  }

  /** Ops whose batches came before `batch` and share a key with it. */
  #blockers(batch: ModelBatch): number[] {
    return this.batches
      .slice(0, this.batches.indexOf(batch))
      .filter((earlier) => earlier.op !== batch.op && haveCommon(earlier.keys, batch.keys))
      .map((earlier) => earlier.op)
  }

  #waitsFor(from: number, target: number, seen = new Set<number>()): boolean {
    if (seen.has(from)) return false
    seen.add(from)
    const ahead = this.of(from)
      .filter((batch) => !batch.isHeld)
      .flatMap((batch) => this.#blockers(batch))
    return ahead.some((op) => op === target || this.#waitsFor(op, target, seen))
  }
}

/** The manager and the model side by side, told the same. */
class Pair {
  readonly locks = new LockManager()
  readonly model = new LockModel()
  readonly tickets = new Map<number, LockTicket>()
  readonly told: string[] = []

  acquire(op: number, texts: string[], deadline: number, hash?: (text: string) => number): void {
    const { keys, hashes, count } = lockKeys(texts, hash)
    const expected = this.model.acquire(op, texts, deadline)
    const answer = this.locks.acquireBatch(op, keys, hashes, count, deadline)
    if (answer === 'held') {
      expect(expected).toBe('held')
      return
    }
    expect(answer.state).toBe(expected === 'deadlock' ? 'ended' : expected)
    if (answer.state !== 'waiting') return
    this.tickets.set(op, answer)
    answer.onReady = ({ outcome }) => {
      this.told.push(`${op} ${outcome?.ok ? 'held' : outcome?.code}`)
      this.tickets.delete(op)
    }
  }

  /** What differs after a step; starts the next. */
  differences(): string[] {
    this.locks.checkInvariants()
    const { model, locks } = this
    const problems: string[] = []
    const compare = (what: string, actual: unknown, expected: unknown): void => {
      if (String(actual) !== String(expected)) problems.push(`${what}: ${actual}, not ${expected}`)
    }
    compare('told', this.told, model.told)
    const waitingOps = model.waiting.map((batch) => batch.op)
    compare('waiting', [...this.tickets.keys()], waitingOps)
    const held = model.batches.filter((batch) => batch.isHeld)
    const heldKeys = held.flatMap((batch) => [...batch.keys])
    compare('held', locks.heldCount, heldKeys.length)
    compare('exclusive', new Set(heldKeys).size, heldKeys.length)
    compare('deadline', locks.nextDeadline(), nextDeadline(model))
    compare('empty', locks.isEmpty, model.batches.length === 0)
    this.told.length = 0
    model.told.length = 0
    return problems
  }
}

function haveCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some((key) => b.has(key))
}

function nextDeadline(model: LockModel): number {
  return Math.min(TIMESTAMP_MAX, ...model.waiting.map((batch) => batch.deadline))
}

const OP_COUNT = 12
const KEY_COUNT = 14

function step(prng: Prng, pair: Pair, now: number, hash?: (text: string) => number): void {
  const { locks, model } = pair
  const op = prng.below(OP_COUNT)
  const kind = prng.below(10)
  if (kind < 6) {
    const mine = model.of(op)
    if (mine.some((batch) => !batch.isHeld) || mine.length > 2) return
    const texts = Array.from({ length: prng.between(0, 4) }, () => `k${prng.below(KEY_COUNT)}`)
    pair.acquire(op, texts, prng.chance(0.5) ? now + prng.between(0, 40) : TIMESTAMP_MAX, hash)
  } else if (kind < 8) {
    model.release(op)
    locks.releaseBatch(op)
  } else if (kind < 9) {
    model.expire(now)
    locks.expire(now)
  } else {
    const ticket = pair.tickets.get(op)
    if (ticket === undefined) return
    model.cancel(op)
    locks.cancel(ticket)
  }
}

describe('LockManager', () => {
  test.each([11, 12, 13, 14, 15, 16])(
    'excludes, hands on in order and loses no wake-up, as a model says, seed %i',
    (seed) => {
      const prng = new Prng(seed)
      const pair = new Pair()
      const hash = seed % 2 === 0 ? (text: string) => Number(text.slice(1)) % 3 : undefined
      for (let now = 0; now < 1500; now++) {
        step(prng, pair, now, hash)
        expect(pair.differences(), `seed ${seed} step ${now}`).toEqual([])
      }

      // Whoever holds lets go, one after the other: everyone must get there.
      while (pair.model.batches.length > 0) {
        const holders = pair.model.batches.filter((batch) => batch.isHeld)
        expect(holders.length, `seed ${seed}: all wait`).toBeGreaterThan(0)
        const { op } = prng.pick(holders)
        if (pair.tickets.has(op)) pair.model.cancel(op)
        const ticket = pair.tickets.get(op)
        if (ticket !== undefined) pair.locks.cancel(ticket)
        pair.model.release(op)
        pair.locks.releaseBatch(op)
        expect(pair.differences(), `seed ${seed} at the end`).toEqual([])
      }
      expect([pair.locks.isEmpty, pair.locks.heldCount, pair.locks.waitingCount]).toEqual([
        true,
        0,
        0,
      ])
    },
  )
})

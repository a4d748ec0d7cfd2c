/** The writes of a simulated tablet: once, again, on failing storage, and under locks of others. */

import { hashKeys } from '../../src/common/hash-keys.ts'
import { StatusError } from '../../src/common/status.ts'
import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import type { ModelOperation } from '../support/tablet-model.ts'
import { assertSame } from './same.ts'
import { encodeSimKeys, keysOf } from './sim-keys.ts'
import { chosen, type SimState } from './sim-state.ts'
import { engineResult, plainResult, shareOf } from './sim-table.ts'

const KEPT_MICROS = { client: 600_000_000, front: 30_000_000 }

interface HeldLocks {
  readonly op: number
  readonly operations: readonly ModelOperation[]
}

/** See the file's header. */
export class SimWrites {
  readonly #state: SimState
  readonly #keyed: { key: ResultKey; operations: readonly ModelOperation[] }[] = []
  #locks: HeldLocks[] = []
  #keyCount = 0

  constructor(state: SimState) {
    this.#state = state
    state.onRestart(() => {
      this.#locks = []
    })
  }

  /** Ops that hold locks and are not applied yet. */
  get openOpCount(): number {
    return this.#locks.length
  }

  write(
    operations: readonly ModelOperation[],
    whose: 'none' | 'client' | 'front',
    leaves: boolean,
    aheadMicros: number,
  ): void {
    const key = this.#drawKey(whose)
    if (key !== null) this.#keyed.push({ key, operations })
    this.#send(operations, key, leaves, aheadMicros)
  }

  #send(
    operations: readonly ModelOperation[],
    key: ResultKey | null,
    leaves: boolean,
    aheadMicros: number,
  ): void {
    const { store, clock } = this.#state.harness
    const now = clock.nowMicros()
    const heard = aheadMicros === 0 ? 0 : now + aheadMicros
    const committed = store.committedCount
    const isAnswered = this.#state.withFault('write', () => {
      this.#sendNow(operations, key, now, heard)
      // Of several transactions nobody here knows which one was the write.
      if (leaves || this.#state.isMemoryShort) store.release()
    })
    if (!isAnswered) this.#learnFromStorage(operations, key, now, committed)
  }

  #sendNow(
    operations: readonly ModelOperation[],
    key: ResultKey | null,
    now: number,
    heard: number,
  ): void {
    const { store } = this.#state.harness
    const first = key === null ? undefined : this.#state.history.remembered(key, now)
    const isLocked = first === undefined && this.#locks.some((held) => overlaps(held, operations))
    const billed = store.rowsWritten
    const before = store.committedCount
    let result: WriteResult
    try {
      result = this.#state.harness.writeBlock(shareOf(this.#state.schema, operations), key, heard)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.code === 'SERVICE_UNAVAILABLE') {
        this.#checkRefusal(operations)
        return
      }
      if (error.code !== 'ABORTED') throw error
      // A row without a whole key locks some key all the same.
      const hasOddKey = keysOf(operations).length < operations.length
      assert(isLocked || hasOddKey, 'a write is turned away only by a lock')
      this.#state.count('write turned away by a lock')
      return
    }
    this.#state.hasAccounted = true
    assert(!isLocked || result.created + result.failed >= 0, 'a locked row is not written')
    if (isLocked) throw new Error('a row that another op has locked was written')
    if (first !== undefined) {
      this.#state.count('repeat answered')
      assertSame(result, { ...first.result, isReplayed: true }, 'a repeat gets the first result')
      const isFree = store.committedCount > before || store.rowsWritten === billed
      assert(isFree, 'a repeat bills nothing')
      return
    }
    const at = result.timestamp ?? 0
    if (result.timestamp !== null) this.#checkTime(at, heard)
    const expected = this.#state.history.model.apply(operations, at)
    assertSame(plainResult(this.#state.schema, result), expected, 'outcomes are as the model')
    const isLogged = key !== null || result.timestamp !== null
    const ownCount = Number(isLogged)
    const hasHelped = store.committedCount > before + ownCount
    const isBilled = hasHelped || store.rowsWritten - billed === ownCount
    assert(isBilled, 'a share bills one row, or none')
    if (hasHelped) this.#state.count('write that made steps of maintenance')
    const kept = key?.isInternal === true ? KEPT_MICROS.front : KEPT_MICROS.client
    // Steps of maintenance come behind it.
    const committed = before + ownCount
    this.#state.history.add({ operations, key, committed, at, result, expiresAt: now + kept })
    this.#state.count('write')
  }

  #checkRefusal(operations: readonly ModelOperation[]): void {
    const { accountant } = this.#state.harness
    const { length } = shareOf(this.#state.schema, operations)
    assert(accountant.isOverHard(length), 'a write is refused only when memory is full')
    this.#state.count('write refused for want of memory')
  }

  #checkTime(at: number, heard: number): void {
    assert(at > heard, 'an op is above what its request carried')
    assert(at > this.#state.history.lastApplied, 'an op is above every op before')
    for (const shown of this.#state.history.shown) {
      assert(at > shown.at, 'an op is above every snapshot shown')
    }
  }

  /** Finds out what became of a share whose answer was a failure of the storage. */
  #learnFromStorage(
    operations: readonly ModelOperation[],
    key: ResultKey | null,
    now: number,
    committedBefore: number,
  ): void {
    const { store } = this.#state.harness
    const isDurable = store.committedCount > committedBefore
    const before = this.#state.history.lastApplied
    this.#state.restart(store.committedCount, this.#state.behindMicros)
    if (!isDurable) return
    const at = this.#state.harness.tablet.lastApplied
    const isApplied = at > before
    const counts = this.#state.history.model.apply(operations, isApplied ? at : 0)
    const result = engineResult(this.#state.schema, counts)
    this.#state.history.add({
      operations,
      key,
      committed: 0,
      at: isApplied ? at : 0,
      result: { ...result, timestamp: isApplied ? at : null },
      expiresAt: now + (key?.isInternal === true ? KEPT_MICROS.front : KEPT_MICROS.client),
    })
  }

  repeat(dice: number): void {
    const recent = this.#keyed.slice(-8)
    if (recent.length === 0) return
    const { key, operations } = chosen(recent, dice)
    this.#send(operations, key, true, 0)
  }

  lock(operations: readonly ModelOperation[]): void {
    const { parts } = this.#state.harness.tablet
    assert(parts !== null, 'the tablet of a run is initialized')
    const keys = keysOf(operations)
    if (keys.length === 0 || this.#locks.some((held) => overlaps(held, operations))) return
    const arena = encodeSimKeys(this.#state.schema, keys)
    const hashes = new Uint32Array(arena.count)
    hashKeys(arena, 0, parts.keyHashSeed, hashes)
    const op = parts.nextOpNumber()
    assert(
      parts.locks.acquireBatch(op, arena, hashes, arena.count) === 'held',
      'rows that nobody has locked can be locked',
    )
    this.#locks.push({ op, operations })
    this.#state.count('rows locked')
  }

  /** Ends an op that took its locks before: it is applied, or aborted. */
  unlock(dice: number, applies: boolean): void {
    if (this.#locks.length === 0) return
    const held = chosen(this.#locks, dice)
    this.#locks = this.#locks.filter((other) => other !== held)
    this.#state.harness.tablet.parts?.locks.releaseBatch(held.op)
    this.#state.count(applies ? 'locked op applied' : 'locked op aborted')
    if (applies) this.#send(held.operations, null, true, 0)
  }

  #drawKey(whose: 'none' | 'client' | 'front'): ResultKey | null {
    if (whose === 'none') return null
    const key = `key ${this.#keyCount++}`
    const share = this.#state.prng.below(2)
    return { key, share, digest: 'digest', isInternal: whose === 'front' }
  }
}

function overlaps(held: HeldLocks, operations: readonly ModelOperation[]): boolean {
  const keys = new Set(keysOf(held.operations).map((key) => JSON.stringify(key)))
  return keysOf(operations).some((key) => keys.has(JSON.stringify(key)))
}

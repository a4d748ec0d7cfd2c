/**
 * Adds up what the stores of an isolate hold in memory. One per isolate, shared by all its tablets.
 *
 * Sizes are told by their owners after each change and kept, never found by walking. An owner may
 * vanish without a word (an object is evicted): owners are held weakly, and what the vanished held
 * is given back when the sum is over its limit and somebody asks.
 *
 *  I1  `heldBytes` is the sum of what the known owners last told.
 */

import { assert } from '../util/assert.ts'

interface Account {
  readonly owner: WeakRef<object>
  readonly name: string
  bytes: number
  /** The number of the change that made it hold this. */
  change: number
}

/** The share of the hard limit above which each write helps to flush. */
const SOFT_SHARE = 0.6
/** Changes of others after which an owner counts as left alone; and some for each other. */
const IDLE_CHANGE_COUNT = 16

/** See the file's header. */
export class MemoryAccountant {
  /** Bytes at which writes are refused. */
  readonly hardBytes: number
  /** Bytes above which memory is short: each write helps to flush. */
  readonly softBytes: number
  readonly #accounts = new Set<Account>()
  readonly #byOwner = new WeakMap<object, Account>()
  readonly #byName = new Map<string, Account>()
  #heldBytes = 0
  #changeCount = 0

  constructor(hardBytes: number) {
    assert(hardBytes > 0, 'a memory limit is positive')
    this.hardBytes = hardBytes
    this.softBytes = Math.floor(hardBytes * SOFT_SHARE)
  }

  /** Bytes that all owners hold. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Bytes from which on an owner is worth a flush while memory is short: half an even share of what
   * may be held, so that when it is short somebody holds more. Less when it is scarce.
   */
  get worthwhileBytes(): number {
    const isScarce = this.#heldBytes > (this.softBytes + this.hardBytes) / 2
    return isScarce ? 0 : this.softBytes / (2 * Math.max(1, this.#accounts.size))
  }

  /** The name of whoever holds most, but for some; null when nobody else holds anything. */
  largestBut(names: ReadonlySet<string>): string | null {
    return this.#largest((account) => !names.has(account.name))
  }

  /**
   * The same of those that hold what is worth a flush, and whose holding has long been the same
   * while that of others changed.
   */
  largestIdleBut(names: ReadonlySet<string>): string | null {
    const least = Math.max(1, this.worthwhileBytes)
    const before = this.#changeCount - IDLE_CHANGE_COUNT - this.#accounts.size * 4
    return this.#largest(
      ({ name, bytes, change }) => bytes >= least && change < before && !names.has(name),
    )
  }

  #largest(isMeant: (account: Account) => boolean): string | null {
    let largest: Account | null = null
    for (const account of this.#accounts) {
      if (account.bytes <= (largest?.bytes ?? 0) || !isMeant(account)) continue
      if (account.owner.deref() !== undefined) largest = account
    }
    return largest?.name ?? null
  }

  /** Bytes that an owner last told. */
  heldBy(owner: object): number {
    return this.#byOwner.get(owner)?.bytes ?? 0
  }

  /**
   * Takes note that `owner` now holds `bytes` in all. `name` is whose memory it is: a new owner
   * takes the place of one that had the name before, which can only have vanished.
   */
  hold(owner: object, name: string, bytes: number): void {
    assert(bytes >= 0, 'held bytes are not negative')
    let account = this.#byOwner.get(owner)
    if (account === undefined) {
      this.drop(name)
      account = { owner: new WeakRef(owner), name, bytes: 0, change: 0 }
      this.#byName.set(name, account)
      this.#accounts.add(account)
      this.#byOwner.set(owner, account)
    }
    if (bytes === account.bytes) return
    this.#heldBytes += bytes - account.bytes
    account.bytes = bytes
    account.change = ++this.#changeCount
  }

  /** Forgets whoever has this name, and what it held. */
  drop(name: string): void {
    const account = this.#byName.get(name)
    if (account === undefined) return
    const owner = account.owner.deref()
    if (owner !== undefined) this.#byOwner.delete(owner)
    this.#forget(account)
  }

  /** Whether the owners would hold more than the hard limit with `extraBytes` more. */
  isOverHard(extraBytes = 0): boolean {
    return this.#isOver(this.hardBytes - extraBytes)
  }

  /** Whether the owners hold more than the soft limit. */
  isOverSoft(): boolean {
    return this.#isOver(this.softBytes)
  }

  #isOver(bytes: number): boolean {
    if (this.#heldBytes <= bytes) return false
    for (const account of this.#accounts) {
      if (account.owner.deref() === undefined) this.#forget(account)
    }
    return this.#heldBytes > bytes
  }

  /** Asserts I1. */
  checkInvariants(): void {
    let bytes = 0
    for (const account of this.#accounts) bytes += account.bytes
    assert(bytes === this.#heldBytes, 'held bytes are not the sum of the accounts')
  }

  #forget(account: Account): void {
    this.#heldBytes -= account.bytes
    this.#accounts.delete(account)
    if (this.#byName.get(account.name) === account) this.#byName.delete(account.name)
  }
}

/**
 * What requests hold whole at once. An isolate has 128 MB for the front and for tablets, and one
 * that runs out of it ends with everything it was doing: better that a request is put off.
 *
 * A client that goes away ends its request wherever that waits: nothing behind it runs, not even
 * what would give room back. So whatever takes room is known by a weak reference, and when room is
 * short, that of what is gone is taken back.
 */

import { FRONT_MEMORY_BYTES_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'

/** Room that is taken for as long as its owner lives. */
interface Loan {
  owner: WeakRef<object> | null
  bytes: number
}

/** Bytes held by the requests of one isolate. */
export class FrontMemory {
  #heldBytes = 0
  /** Those of some bytes. They do not keep their owners alive. */
  readonly #loans = new Set<Loan>()

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Takes room for one request to hold things in. Give it back with `Holding.release`. */
  open(): Holding {
    return this.#openFor(null)
  }

  /** Gives `work` room to hold things in, and takes it back when that is done. */
  async lend<T>(work: (holding: Holding) => Promise<T>): Promise<T> {
    const holding = this.open()
    try {
      return await work(holding)
    } finally {
      holding.release()
    }
  }

  /**
   * Takes room for what outlives its request's work, such as a stream that is being read: until it
   * is released, or `owner` is gone.
   *
   * Throws: SERVICE_UNAVAILABLE when there is no room.
   */
  holdFor(owner: object, bytes: number): Holding {
    const holding = this.#openFor(owner)
    holding.grow(bytes)
    return holding
  }

  /** Room of an owner, or, if null, of the holding itself. */
  #openFor(owner: object | null): Holding {
    const loan: Loan = { owner: null, bytes: 0 }
    const holding = new Holding(loan, (bytes) => this.#resize(loan, bytes))
    loan.owner = new WeakRef(owner ?? holding)
    return holding
  }

  /** Makes a loan `bytes` in all. Returns: whether there was room. */
  #resize(loan: Loan, bytes: number): boolean {
    if (!this.#hasRoom(bytes - loan.bytes)) {
      this.#forgetGone()
      if (!this.#hasRoom(bytes - loan.bytes)) return false
    }
    this.#heldBytes += bytes - loan.bytes
    assert(this.#heldBytes >= 0, 'more was given back than taken')
    loan.bytes = bytes
    if (bytes === 0) this.#loans.delete(loan)
    else this.#loans.add(loan)
    return true
  }

  #hasRoom(bytes: number): boolean {
    return bytes <= 0 || this.#heldBytes + bytes <= FRONT_MEMORY_BYTES_MAX
  }

  #forgetGone(): void {
    for (const loan of this.#loans) if (loan.owner?.deref() === undefined) this.#resize(loan, 0)
  }
}

/** What one request holds. */
export class Holding {
  readonly #loan: Readonly<Loan>
  readonly #resize: (bytes: number) => boolean

  constructor(loan: Readonly<Loan>, resize: (bytes: number) => boolean) {
    this.#loan = loan
    this.#resize = resize
  }

  /** Makes it `bytes` in all, if they are more. Returns: whether there was room. */
  tryGrow(bytes: number): boolean {
    return bytes <= this.#loan.bytes || this.#resize(bytes)
  }

  /** As `tryGrow`. Throws: SERVICE_UNAVAILABLE when there is no room. */
  grow(bytes: number): void {
    if (this.tryGrow(bytes)) return
    throw new StatusError('SERVICE_UNAVAILABLE', 'too many large requests at once')
  }

  /** Whether it holds nothing. */
  get isEmpty(): boolean {
    return this.#loan.bytes === 0
  }

  /** Gives everything back. */
  release(): void {
    this.#resize(0)
  }
}

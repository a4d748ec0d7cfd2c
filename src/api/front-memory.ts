/**
 * What requests hold whole at once. An isolate has 128 MB for the front and for tablets, and one
 * that runs out of it ends with everything it was doing: better that a request is put off.
 */

import { FRONT_MEMORY_BYTES_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'

/** Room that is taken for as long as something lives. */
interface Loan {
  readonly owner: WeakRef<object>
  readonly holding: Holding
}

/** Bytes held by the requests of one isolate. */
export class FrontMemory {
  #heldBytes = 0
  #loans: Loan[] = []

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Takes room for one request to hold things in. Give it back with `Holding.release`. */
  open(): Holding {
    return new Holding((bytes) => this.#change(bytes))
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
   * is released, or `owner` is gone. A client that goes away may end all that would release it.
   *
   * Throws: SERVICE_UNAVAILABLE when there is no room.
   */
  holdFor(owner: object, bytes: number): Holding {
    const holding = this.open()
    holding.grow(bytes)
    this.#forgetLoans()
    this.#loans.push({ owner: new WeakRef(owner), holding })
    return holding
  }

  #forgetLoans(): void {
    for (const { owner, holding } of this.#loans) if (owner.deref() === undefined) holding.release()
    this.#loans = this.#loans.filter(({ holding }) => !holding.isEmpty)
  }

  /** Returns: whether there was room. */
  #change(bytes: number): boolean {
    if (bytes > 0 && this.#heldBytes + bytes > FRONT_MEMORY_BYTES_MAX) {
      this.#forgetLoans()
      if (this.#heldBytes + bytes > FRONT_MEMORY_BYTES_MAX) return false
    }
    this.#heldBytes += bytes
    assert(this.#heldBytes >= 0, 'more was given back than taken')
    return true
  }
}

/** What one request holds. */
export class Holding {
  #bytes = 0
  readonly #change: (bytes: number) => boolean

  constructor(change: (bytes: number) => boolean) {
    this.#change = change
  }

  /** Makes it `bytes` in all, if they are more. Returns: whether there was room. */
  tryGrow(bytes: number): boolean {
    if (bytes <= this.#bytes) return true
    if (!this.#change(bytes - this.#bytes)) return false
    this.#bytes = bytes
    return true
  }

  /** As `tryGrow`. Throws: SERVICE_UNAVAILABLE when there is no room. */
  grow(bytes: number): void {
    if (this.tryGrow(bytes)) return
    throw new StatusError('SERVICE_UNAVAILABLE', 'too many large requests at once')
  }

  /** Whether it holds nothing. */
  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Gives everything back. */
  release(): void {
    this.#change(-this.#bytes)
    this.#bytes = 0
  }
}

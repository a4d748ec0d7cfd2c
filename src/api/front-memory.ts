/**
 * What requests hold whole at once. An isolate has 128 MB for the front and for tablets, and one
 * that runs out of it ends with everything it was doing: better that a request is put off.
 */

import { FRONT_MEMORY_BYTES_MAX } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { assert } from '../util/assert.ts'

/** Bytes held by the requests of one isolate. */
export class FrontMemory {
  #heldBytes = 0

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

  /** Returns: whether there was room. */
  #change(bytes: number): boolean {
    if (bytes > 0 && this.#heldBytes + bytes > FRONT_MEMORY_BYTES_MAX) return false
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

  /** Gives everything back. */
  release(): void {
    this.#change(-this.#bytes)
    this.#bytes = 0
  }
}

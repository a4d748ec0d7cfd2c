import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import type { LockTicket } from '../../src/tablet/lock/lock-ticket.ts'
import { LockManager } from '../../src/tablet/lock-manager.ts'
import { KeyArena } from '../../src/util/arena.ts'

/**
 * Row locks that are taken by one call a row, as before whole batches were; released one by one
 * too. A call's key is copied, since only the batch as a whole promises that its keys stay. A row
 * that has to wait ends the batch: no bench has one.
 */
export class RowLocks extends LockManager {
  /** Keys that locks borrow, the first `#keyCount` of them, until no lock is held. */
  readonly #keys: KeyArena[] = []
  #keyCount = 0
  readonly #hash = new Uint32Array(1)

  override acquireBatch(
    op: number,
    keys: KeyArena,
    hashes: Uint32Array,
    count: number,
    deadline?: Timestamp,
  ): 'held' | LockTicket {
    if (this.isEmpty) this.#keyCount = 0
    for (let row = 0; row < count; row++) {
      const key = this.#takeKey()
      key.append(keys.bytes, keys.start(row), keys.ends[row])
      key.endKey()
      this.#hash[0] = hashes[row]
      const taken = super.acquireBatch(op, key, this.#hash, 1, deadline)
      if (taken !== 'held') return taken
    }
    return 'held'
  }

  #takeKey(): KeyArena {
    const index = this.#keyCount++
    if (index === this.#keys.length) this.#keys.push(new KeyArena(1, 16))
    const key = this.#keys[index]
    key.clear()
    return key
  }
}

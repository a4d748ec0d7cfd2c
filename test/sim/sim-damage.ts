/** What goes wrong around a simulated tablet: its storage is damaged. */

import type { MaintenanceOp } from '../../src/common/maintenance-op.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { assert } from '../../src/util/assert.ts'
import { assertSame } from './same.ts'
import { chosen, type SimState } from './sim-state.ts'
import type { SimUpkeep } from './sim-upkeep.ts'

/** See the file's header. */
export class SimDamage {
  readonly #state: SimState
  readonly #upkeep: SimUpkeep

  constructor(state: SimState, upkeep: SimUpkeep) {
    this.#state = state
    this.#upkeep = upkeep
  }

  /**
   * Turns a bit over, reads everything, tries a maintenance op, and turns it back: damage is told,
   * and nothing is wrong.
   */
  damage(
    what: 'block' | 'superblock' | 'wal',
    dice: readonly number[],
    op: MaintenanceOp | undefined,
  ): void {
    this.#restart()
    const repair = this.#flip(what, dice)
    if (repair === null) return
    this.#state.count(`damaged ${what}`)
    try {
      if (this.#wakesDamaged(what)) {
        this.#readDamaged()
        if (what === 'block' && op !== undefined) this.#maintainDamaged(op)
      }
    } finally {
      repair()
    }
    // Bytes that were read damaged may be in the cache, to be found out when they are needed.
    this.#restart()
  }

  #restart(): void {
    this.#state.restart(this.#state.harness.store.committedCount, this.#state.behindMicros)
  }

  /** Lets the tablet wake on damaged storage. Returns: whether it could. */
  #wakesDamaged(what: 'block' | 'superblock' | 'wal'): boolean {
    try {
      this.#state.harness.evict()
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error
      this.#state.count(`${what} found damaged on opening`)
      return false
    }
    assert(what !== 'superblock', 'a damaged superblock is found on opening')
    return true
  }

  /** An op that meets the damage fails, and leaves everything as it was. */
  #maintainDamaged(op: MaintenanceOp): void {
    try {
      this.#upkeep.run(op, 0)
      this.#state.count('maintenance beside a damaged block')
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error
      assert(/file \d+, block \d+/.test(error.message), 'damage is told with the block it is in')
      this.#state.count(`damaged block found by ${op}`)
    }
    this.#state.harness.store.release()
  }

  #readDamaged(): void {
    const times = [null, ...this.#state.history.shown.slice(-2).map((shown) => shown.at)]
    for (const snapshot of times) {
      try {
        const { snapshot: seen, rows } = this.#state.harness.peek(snapshot)
        const expected = this.#state.history.model.rowsAt(seen)
        assertSame(rows, expected, 'a scan of damaged storage shows no wrong row')
      } catch (error) {
        if (error instanceof StatusError && error.code === 'INVALID_SNAPSHOT') continue
        if (!(error instanceof CorruptionError)) throw error
        assert(/file \d+, block \d+/.test(error.message), 'damage is told with the block it is in')
        this.#state.count('damaged block found by a scan')
      }
    }
  }

  #flip(what: 'block' | 'superblock' | 'wal', dice: readonly number[]): (() => void) | null {
    const { store } = this.#state.harness
    if (what === 'superblock') {
      const bit = Math.floor(dice[0] * 8 * 64)
      store.flipSuperblockBit(bit)
      return () => this.#state.harness.store.flipSuperblockBit(bit)
    }
    if (what === 'wal') {
      const { parts } = this.#state.harness.tablet
      const generation = parts?.wal.generations.at(-1) ?? 0
      const rowCount = store.walRowCount(generation)
      if (rowCount === 0) return null
      const id = 1 + Math.floor(dice[0] * rowCount)
      const bit = Math.floor(dice[1] * store.walRowBytes(generation, id) * 8)
      store.flipWalBit(generation, id, bit)
      return () => this.#state.harness.store.flipWalBit(generation, id, bit)
    }
    const files = store.files()
    if (files.length === 0) return null
    const file = chosen(files, dice[0])
    const blocks = store.blocks(file)
    if (blocks.length === 0) return null
    const { block, bytes } = chosen(blocks, dice[1])
    const bit = Math.floor(dice[2] * bytes * 8)
    store.flipBlockBit(file, block, bit)
    return () => {
      const { store } = this.#state.harness
      // Unless maintenance has done away with it.
      const isThere =
        store.files().includes(file) && store.blocks(file).some((it) => it.block === block)
      if (isThere) store.flipBlockBit(file, block, bit)
    }
  }
}

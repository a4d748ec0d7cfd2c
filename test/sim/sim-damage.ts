/** What goes wrong around a simulated tablet: its storage is damaged. */

import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { assert } from '../../src/util/assert.ts'
import { assertSame } from './same.ts'
import { chosen, type SimState } from './sim-state.ts'

/** See the file's header. */
export class SimDamage {
  readonly #state: SimState

  constructor(state: SimState) {
    this.#state = state
  }

  /** Turns a bit over, reads everything, and turns it back: damage is told, and nothing is wrong. */
  damage(what: 'block' | 'superblock' | 'wal', dice: readonly number[]): void {
    const repair = this.#flip(what, dice)
    if (repair === null) return
    this.#state.count(`damaged ${what}`)
    try {
      this.#readDamaged(what)
    } finally {
      repair()
    }
    this.#state.restart(this.#state.harness.store.committedCount, this.#state.behindMicros)
  }

  #readDamaged(what: 'block' | 'superblock' | 'wal'): void {
    try {
      this.#state.harness.evict()
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error
      this.#state.count(`${what} found damaged on opening`)
      return
    }
    assert(what === 'block' || what === 'wal', 'a damaged superblock is found on opening')
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
    return () => this.#state.harness.store.flipBlockBit(file, block, bit)
  }
}

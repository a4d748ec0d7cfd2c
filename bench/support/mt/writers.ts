import { shuffled } from '../mixed-rows.ts'
import type { Actor } from './actor.ts'
import type { MtOperation } from './row-model.ts'
import type { World } from './world.ts'

const OP_ROWS_MAX = 100

/** Inserts keys of its own, each once: ascending, or at random. */
export class Inserter implements Actor {
  readonly kind = 'inserter'
  readonly #world: World
  readonly #keys: Uint32Array
  #done = 0

  constructor(world: World, index: number, inserterCount: number) {
    const count = Math.floor(world.model.counts.length / inserterCount)
    const isAscending = index % 2 === 0
    const order = isAscending ? ascending(count) : shuffled(index, count)
    this.#world = world
    this.#keys = order.map((number) => number * inserterCount + index)
  }

  get isBusy(): boolean {
    return this.#done < this.#keys.length
  }

  turn(): void {
    if (!this.isBusy) return
    const world = this.#world
    const count = 1 + world.prng.below(OP_ROWS_MAX)
    const keys = this.#keys.subarray(this.#done, this.#done + count)
    this.#done += keys.length
    world.write(this.kind, 'INSERT', [...keys])
    world.touched.set(keys, world.touchedCount)
    world.touchedCount += keys.length
  }

  restart(): void {}
}

function ascending(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => index)
}

/** Changes rows that were ever inserted, be they there or not. */
export class Changer implements Actor {
  readonly kind: string
  readonly isBusy = false
  readonly #world: World
  readonly #operation: MtOperation

  constructor(world: World, kind: string, operation: MtOperation) {
    this.kind = kind
    this.#world = world
    this.#operation = operation
  }

  turn(): void {
    const world = this.#world
    if (world.isEnding || world.touchedCount === 0) return
    const length = 1 + world.prng.below(OP_ROWS_MAX)
    const keys = Array.from({ length }, () => world.touchedKey())
    world.write(this.kind, this.#operation, keys)
  }

  restart(): void {}
}

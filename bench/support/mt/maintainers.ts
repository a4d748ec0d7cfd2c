import type { MaintenanceOp } from '../../../src/common/maintenance-op.ts'
import type { Actor } from './actor.ts'
import type { World } from './world.ts'

/** Asks for one kind of maintenance again and again, and makes its steps. */
export class Maintainer implements Actor {
  readonly kind: string
  readonly isBusy = false
  readonly #world: World
  readonly #op: MaintenanceOp
  readonly #pauseMax: number
  /** The op that was asked for, by its id. */
  #request: string | null = null
  #requestCount = 0
  #pause = 0

  /** `pauseMax`: turns without an op between two, at most. */
  constructor(world: World, op: MaintenanceOp, pauseMax: number) {
    this.kind = op
    this.#world = world
    this.#op = op
    this.#pauseMax = pauseMax
  }

  turn(): void {
    const world = this.#world
    if (world.isEnding) return
    if (this.#pause > 0) {
      this.#pause--
      return
    }
    const { tablet } = world.bench
    this.#request ??= `${this.#op} ${this.#requestCount++}`
    // What a step does may be for another op: its cost is then counted here all the same.
    const { isDone, runCount } = world.timed(
      this.kind,
      () => {
        const id = this.#request as string
        tablet.maintenance.request(this.#op, id)
        tablet.stepMaintenance()
        return tablet.maintenance.request(this.#op, id)
      },
      () => 0,
    )
    if (!isDone) return
    world.note(`${this.#request} ran ${runCount} times`)
    this.#request = null
    this.#pause = world.prng.below(this.#pauseMax + 1)
  }

  restart(): void {
    this.#request = null
  }
}

/** Takes the tablet's memory away now and then. */
export class Restarter implements Actor {
  readonly kind = 'restart'
  readonly isBusy = false
  readonly #world: World
  readonly #all: () => readonly Actor[]
  readonly #chance: number

  constructor(world: World, chance: number, all: () => readonly Actor[]) {
    this.#world = world
    this.#chance = chance
    this.#all = all
  }

  turn(): void {
    const world = this.#world
    if (!world.prng.chance(this.#chance)) return
    for (const actor of this.#all()) actor.restart()
    world.timed(
      this.kind,
      () => world.bench.reopen(),
      () => 0,
    )
    world.note('restart')
  }

  restart(): void {}
}

/**
 * What the front gets of the platform: stubs, time, chance and a log. One for an isolate, made in
 * its first request, since the platform gives no randomness before.
 *
 * The shape is that of the router's and the app's ports, which live above this layer.
 */

import { HybridClock } from '../common/hybrid-clock.ts'
import { Prng } from '../util/prng.ts'
import type { CatalogStub } from '../wire/catalog-protocol.ts'
import type { TabletControlStub } from '../wire/tablet-protocol.ts'
import { Log } from './log.ts'
import { catalogStub, tabletStub } from './stubs.ts'
import { SystemClock } from './system-clock.ts'
import { SystemRandom } from './system-random.ts'

/** See the file's header. */
export class FrontSurroundings {
  readonly clock: HybridClock
  readonly prng: Prng
  readonly log: Log
  readonly #env: Cloudflare.Env
  readonly #systemClock = new SystemClock()
  readonly #random = new SystemRandom()

  constructor(env: Cloudflare.Env) {
    this.#env = env
    this.clock = new HybridClock(this.#systemClock)
    this.prng = new Prng(this.#random.seed())
    this.log = new Log(env.NYALA_LOG_LEVEL, { object: 'front' })
  }

  /** A fresh stub of a tablet object. Sends nothing. */
  tablet = (tabletId: string): TabletControlStub => tabletStub(this.#env, tabletId)

  /** A fresh stub of the catalog object. Sends nothing. */
  catalog = (): CatalogStub => catalogStub(this.#env)

  /** Milliseconds that only ever grow; they rest while nothing is awaited. */
  elapsedMs = (): number => this.#systemClock.elapsedMs()

  /** Resolves after `milliseconds`. */
  sleep = (milliseconds: number): Promise<void> => scheduler.wait(milliseconds)

  /** 32 random hexadecimal digits that nobody can guess. */
  randomId = (): string => this.#random.nextId()
}

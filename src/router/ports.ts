/**
 * What the front needs from the platform: stubs of objects, time, chance. A stub is an interface,
 * so that the router is tested with objects that live in the same process.
 */

import type { HybridClock } from '../common/hybrid-clock.ts'
import type { Prng } from '../util/prng.ts'
import type { CatalogStub } from '../wire/catalog-protocol.ts'
import type { TabletStub } from '../wire/tablet-protocol.ts'

/** The front's surroundings: one for each isolate, shared by its requests. */
export interface RouterPorts {
  /** A fresh stub of a tablet object. Sends nothing. */
  tablet(tabletId: string): TabletStub
  /** A fresh stub of the catalog object. Sends nothing. */
  catalog(): CatalogStub
  /** The front's clock: raised by clients and by every answer of a tablet. */
  readonly clock: HybridClock
  /** For jitter. */
  readonly prng: Prng
  /** Milliseconds that only ever grow: for deadlines and time to live. */
  elapsedMs(): number
  /** Resolves after `milliseconds`. */
  sleep(milliseconds: number): Promise<void>
  /** 32 random hexadecimal digits that nobody can guess. */
  randomId(): string
}

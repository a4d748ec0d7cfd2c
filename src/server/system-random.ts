/** The platform's source of randomness. */

import type { IdSource } from '../catalog/catalog-store.ts'
import { toHex } from '../util/bytes.ts'

/** Numbers and ids that nobody can guess. */
export class SystemRandom implements IdSource {
  /** 32 random lower-case hexadecimal digits. */
  nextId(): string {
    return toHex(crypto.getRandomValues(new Uint8Array(16)))
  }

  /** A random integer in `[0, 2^53)`: the seed of a generator. */
  seed(): number {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2))
    return (high >>> 11) * 2 ** 32 + low
  }
}

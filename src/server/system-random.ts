/** The platform's source of randomness. */

import type { IdSource } from '../catalog/catalog-store.ts'
import { toHex } from '../util/bytes.ts'

/** Numbers and ids that nobody can guess. */
export class SystemRandom implements IdSource {
  /** 32 random lower-case hexadecimal digits. */
  nextId(): string {
    return toHex(crypto.getRandomValues(new Uint8Array(16)))
  }

  /** A random integer in `[0, 2^32)`: seeds of hash tables and generators. */
  uint32(): number {
    return crypto.getRandomValues(new Uint32Array(1))[0]
  }
}

import type { ColumnVector } from '../../src/common/column-vector.ts'
import { encodeKeys } from '../../src/common/encoded-key.ts'
import { hashKeys } from '../../src/common/hash-keys.ts'
import { WriteOp } from '../../src/tablet/write-op.ts'
import { copyBytes, KeyArena } from '../../src/util/arena.ts'

/**
 * An op that makes an object of its own for every encoded key and hashes it there, as before keys
 * lay in an arena.
 *
 * The least that costs: locks and stores read the arena on both sides, so that objects are made,
 * filled, hashed and collected, but not read from again.
 */
export class HeapKeyOp extends WriteOp {
  readonly #heapKeys: Uint8Array[] = []
  /** The key that is hashed, and its hash. */
  readonly #one = new KeyArena(1, 0)
  readonly #hash = new Uint32Array(1)

  /** The key of each row, until the op ends. */
  get heapKeys(): readonly Uint8Array[] {
    return this.#heapKeys
  }

  override encodeKeys(keyColumns: readonly ColumnVector[], keyHashSeed: number): void {
    encodeKeys(keyColumns, this.rowCount, this.keys)
    const { bytes, ends, count } = this.keys
    let start = 0
    for (let row = 0; row < count; row++) {
      const end = ends[row]
      const key = new Uint8Array(end - start)
      copyBytes(bytes, start, end, key, 0)
      this.#heapKeys.push(key)
      this.hashes[row] = this.#hashOf(key, keyHashSeed)
      start = end
    }
  }

  #hashOf(key: Uint8Array, keyHashSeed: number): number {
    const one = this.#one
    one.bytes = key
    one.ends[0] = key.length
    one.count = 1
    hashKeys(one, 0, keyHashSeed, this.#hash)
    return this.#hash[0]
  }

  override end(): void {
    super.end()
    this.#heapKeys.length = 0
  }
}

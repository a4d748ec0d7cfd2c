import type { ColumnVector } from '../../src/common/column-vector.ts'
import { WriteOp } from '../../src/tablet/write-op.ts'
import { copyBytes } from '../../src/util/arena.ts'

/**
 * An op that makes an object of its own for every encoded key, as before keys lay in an arena.
 *
 * The least that costs: what follows reads the arena on both sides, so that only making, filling
 * and collecting the objects comes on top, not that reading them is slower too.
 */
export class HeapKeyOp extends WriteOp {
  readonly #heapKeys: Uint8Array[] = []

  /** The key of each row. */
  get heapKeys(): readonly Uint8Array[] {
    return this.#heapKeys
  }

  override encodeKeys(keyColumns: readonly ColumnVector[], keyHashSeed: number): void {
    super.encodeKeys(keyColumns, keyHashSeed)
    const { bytes, ends, count } = this.keys
    let start = 0
    for (let row = 0; row < count; row++) {
      const end = ends[row]
      const key = new Uint8Array(end - start)
      copyBytes(bytes, start, end, key, 0)
      this.#heapKeys.push(key)
      start = end
    }
  }

  override end(): void {
    super.end()
    this.#heapKeys.length = 0
  }
}

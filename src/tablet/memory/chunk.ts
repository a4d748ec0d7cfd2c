/**
 * How everything that a MemRowSet appends to is cut: position `p` is row `p & CHUNK_MASK` of chunk
 * `p >>> CHUNK_SHIFT`.
 */

/** Rows of a chunk, as a power of two. */
export const CHUNK_SHIFT = 12
/** Rows of a chunk. */
export const CHUNK_ROW_COUNT = 1 << CHUNK_SHIFT
/** Bits of a position that say which row of its chunk it is. */
export const CHUNK_MASK = CHUNK_ROW_COUNT - 1
/** What the objects of a chunk take beside its bytes, as measured. */
export const CHUNK_OVERHEAD_BYTES = 1200

const FIRST_CAPACITY_ROWS = 16
const NEXT_CAPACITY_ROWS = 512

/**
 * Rows that chunk `index` has room for at first: few in a small rowset, in a big one not too few.
 */
export function initialCapacity(index: number): number {
  return index === 0 ? FIRST_CAPACITY_ROWS : NEXT_CAPACITY_ROWS
}

/**
 * The least capacity for `rowCount` rows that is a power of two, so that doubling ends at a full
 * chunk.
 */
export function grownCapacity(rowCount: number): number {
  let capacity = FIRST_CAPACITY_ROWS
  while (capacity < rowCount) capacity *= 2
  return capacity
}

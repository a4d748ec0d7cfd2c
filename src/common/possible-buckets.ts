/** Which buckets of a hash dimension rows can be in that satisfy a scan's predicates (K§3.4). */

import { ByteArena } from '../util/arena.ts'
import type { ColumnPredicate } from './column-predicate.ts'
import type { Cell } from './data-type.ts'
import { appendKeyCell } from './encoded-key.ts'
import type { PredicateMap } from './key-bounds.ts'
import { HASH_COMBINATION_COUNT_MAX } from './limits.ts'
import { murmur2Bucket } from './murmur2.ts'
import type { HashDimension } from './partition-schema.ts'
import type { Schema } from './schema.ts'

/**
 * The buckets that rows can be in, one byte each, 1 where they can.
 *
 * Returns: null when they can be in all: a column of the dimension is neither equal to a value nor
 * in a list, or the values hit every bucket, or there are too many combinations to try.
 * Cost: one hash a combination of values, until every bucket is hit.
 */
export function possibleBuckets(
  schema: Schema,
  dimension: HashDimension,
  predicates: PredicateMap,
): Uint8Array | null {
  const { columnIds } = dimension
  const parts: Uint8Array[][] = []
  for (const [index, id] of columnIds.entries()) {
    const cells = valuesOf(predicates.get(id))
    if (cells === null) return null
    const column = schema.mustById(id)
    const isLast = index === columnIds.length - 1
    parts.push(
      cells.map((cell) => {
        const part = new ByteArena(16)
        appendKeyCell(part, column, cell, isLast)
        return part.bytes.subarray(0, part.length)
      }),
    )
  }
  return hitBuckets(dimension, parts)
}

/** The values that a column must be one of, or null. */
function valuesOf(predicate: ColumnPredicate | undefined): readonly Cell[] | null {
  if (predicate?.kind === 'IN_LIST') return predicate.values
  if (predicate?.kind === 'EQUALITY' && predicate.lower !== null) return [predicate.lower]
  return null
}

/** Hashes the combinations of one part a column, the last column turning fastest. */
function hitBuckets(
  dimension: HashDimension,
  parts: readonly (readonly Uint8Array[])[],
): Uint8Array | null {
  const { bucketCount, seed } = dimension
  const isHit = new Uint8Array(bucketCount)
  const key = new ByteArena(64)
  const turns = parts.map(() => 0)
  const last = parts.length - 1
  let hitCount = 0
  for (let tried = 0; tried < HASH_COMBINATION_COUNT_MAX; tried++) {
    key.truncate(0)
    for (let index = 0; index <= last; index++) {
      const part = parts[index][turns[index]]
      key.append(part, 0, part.length)
    }
    const bucket = murmur2Bucket(key.bytes, 0, key.length, seed, bucketCount)
    hitCount += 1 - isHit[bucket]
    isHit[bucket] = 1
    if (hitCount === bucketCount) return null
    let turning = last
    while (turning >= 0 && ++turns[turning] === parts[turning].length) turns[turning--] = 0
    if (turning < 0) return isHit
  }
  return null
}

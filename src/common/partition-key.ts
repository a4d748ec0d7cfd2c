/**
 * Partition keys and ranges of range keys as hexadecimal texts, which order as their bytes do
 * (K§2.2).
 */

import type { RangePartition } from './partition-schema.ts'

/** Range keys in `[lowerKey, upperKey)`; '' is no bound. */
export type RangeKeys = Pick<RangePartition, 'lowerKey' | 'upperKey'>

/** The least partition key of a range in these hash buckets. */
export function partitionKeyStart(hashBuckets: readonly number[], lowerKey: string): string {
  return hashWords(hashBuckets) + lowerKey
}

/**
 * The partition key above all of a range in these hash buckets. Above an unbounded range that is
 * the next bucket of the last dimension, so that the tablets of one combination of buckets are an
 * interval of their own.
 */
export function partitionKeyEnd(hashBuckets: readonly number[], upperKey: string): string {
  const last = hashBuckets.length - 1
  if (upperKey !== '' || last < 0) return hashWords(hashBuckets) + upperKey
  return hashWords(hashBuckets.with(last, hashBuckets[last] + 1))
}

/** The hash part of a partition key: a big-endian word a bucket. */
export function hashWords(hashBuckets: readonly number[]): string {
  return hashBuckets.map((bucket) => bucket.toString(16).padStart(8, '0')).join('')
}

/** Orders two keys by their bytes. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The lesser of two upper keys, of which '' is above all. */
export function lesserUpperKey(a: string, b: string): string {
  if (a === '') return b
  return b === '' || a < b ? a : b
}

/** Whether two ranges, neither of them empty, have a key in common. */
export function intersects(a: RangeKeys, b: RangeKeys): boolean {
  return (
    (a.upperKey === '' || b.lowerKey < a.upperKey) && (b.upperKey === '' || a.lowerKey < b.upperKey)
  )
}

/**
 * Which tablet a row belongs to, for whole batches of rows. Hot.
 *
 * The range columns are encoded and looked up among the ranges; each hash dimension of a range that
 * was met turns its own encoded columns into buckets. Every combination of a range and its buckets
 * is a slot, numbered with the buckets as digits, and the slot names the partition:
 *
 *   range               r0 (3 × 2 buckets)        r1 (2 buckets)      gap
 *   slot                0 + bucket0 × 2 + bucket1  6 + bucket0        −
 *   partition           p0 p2 p4 p5 p6 p7          p1 p3              −1
 */

import { KeyArena } from '../util/arena.ts'
import { assert } from '../util/assert.ts'
import { compareBytes, fromHex } from '../util/bytes.ts'
import type { ColumnVector } from './column-vector.ts'
import type { Cell } from './data-type.ts'
import { encodeKeyCells, encodeKeys } from './encoded-key.ts'
import { bucketProduct } from './hash-schema.ts'
import { murmur2Bucket } from './murmur2.ts'
import {
  type HashDimension,
  hashSchemaOf,
  type Partition,
  type PartitionSchema,
} from './partition-schema.ts'
import type { Column, Schema } from './schema.ts'

/** Scratch above this is given back after use. */
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024

let scratchKeys = new KeyArena()
let scratchRanges = new Int32Array(16)

/** Where a row lies. */
export interface RowPlace {
  /** The row's partition key. */
  readonly key: Uint8Array
  /** Its buckets, of the range it lies in, or of the table where it lies in none. */
  readonly hashBuckets: readonly number[]
  /** Index of its partition; −1: it lies in no range. */
  readonly index: number
}

/** A hash dimension, and in which ranges it has a say. */
interface BucketRule {
  readonly bucketCount: number
  readonly seed: number
  /**
   * By range: what one bucket counts for in the slot; 0 where the range does not have the
   * dimension.
   */
  readonly weights: Int32Array
}

/** All hash dimensions over the same columns: encoded once. */
interface HashGroup {
  /** Positions in the key. */
  readonly keyIndexes: readonly number[]
  readonly rules: BucketRule[]
}

/** Finds the partitions of rows. Immutable: made anew when the table's ranges change. */
export class RowPartitioner {
  readonly #keyColumns: readonly Column[]
  readonly #partitionSchema: PartitionSchema
  readonly #rangeIndexes: readonly number[]
  readonly #isOneRange: boolean
  /** Ascending; bounds of range i are keys 2i and 2i + 1, an empty upper one being no bound. */
  readonly #bounds = new KeyArena()
  readonly #groups: HashGroup[] = []
  /** By range: whether the batch at hand has a row in it. */
  readonly #isMet: Uint8Array
  /** First slot of each range. */
  readonly #bases: Int32Array
  /** Partition of each slot. */
  readonly #slots: Int32Array

  /** Requires: `partitions` are those of the schema, in any order. */
  constructor(schema: Schema, partitionSchema: PartitionSchema, partitions: readonly Partition[]) {
    const { ranges, rangeColumnIds } = partitionSchema
    this.#keyColumns = schema.keyColumns
    this.#partitionSchema = partitionSchema
    this.#rangeIndexes = this.#keyIndexesOf(rangeColumnIds)
    this.#isOneRange = ranges.length === 1 && ranges[0].lowerKey === '' && ranges[0].upperKey === ''
    this.#bases = new Int32Array(ranges.length)
    this.#isMet = new Uint8Array(ranges.length)
    let slotCount = 0
    for (const [index, range] of ranges.entries()) {
      for (const hex of [range.lowerKey, range.upperKey]) {
        const key = fromHex(hex)
        this.#bounds.append(key, 0, key.length)
        this.#bounds.endKey()
      }
      const dimensions = hashSchemaOf(partitionSchema, range)
      this.#bases[index] = slotCount
      this.#addRules(dimensions, index)
      slotCount += bucketProduct(dimensions)
    }
    this.#slots = this.#slotsOf(partitions, slotCount)
  }

  #addRules(dimensions: readonly HashDimension[], range: number): void {
    let weight = bucketProduct(dimensions)
    for (const { columnIds, bucketCount, seed } of dimensions) {
      weight /= bucketCount
      const rule = this.#ruleFor(this.#keyIndexesOf(columnIds), bucketCount, seed)
      rule.weights[range] = weight
    }
  }

  #ruleFor(keyIndexes: readonly number[], bucketCount: number, seed: number): BucketRule {
    const name = keyIndexes.join()
    let group = this.#groups.find((known) => known.keyIndexes.join() === name)
    if (group === undefined) {
      group = { keyIndexes, rules: [] }
      this.#groups.push(group)
    }
    let rule = group.rules.find((it) => it.bucketCount === bucketCount && it.seed === seed)
    if (rule === undefined) {
      rule = { bucketCount, seed, weights: new Int32Array(this.#bases.length) }
      group.rules.push(rule)
    }
    return rule
  }

  #slotsOf(partitions: readonly Partition[], slotCount: number): Int32Array {
    const ranges = this.#partitionSchema.ranges
    const rangeByLower = new Map(ranges.map((range, index) => [range.lowerKey, index]))
    const slots = new Int32Array(slotCount).fill(-1)
    for (const [index, partition] of partitions.entries()) {
      const range = rangeByLower.get(partition.rangeKeyStart)
      assert(range !== undefined, 'partition is of no range')
      const dimensions = hashSchemaOf(this.#partitionSchema, ranges[range])
      let slot = 0
      for (const [i, dimension] of dimensions.entries()) {
        slot = slot * dimension.bucketCount + partition.hashBuckets[i]
      }
      slots[this.#bases[range] + slot] = index
    }
    assert(!slots.includes(-1), 'every combination of buckets has a partition')
    return slots
  }

  /**
   * Writes to `out[row]` the index of the partition of each row `[0, rowCount)`, −1 where it lies
   * in no range.
   *
   * Requires: `keyColumns` are all columns of the key, in key order, without nulls. Cost: no
   * allocation a row.
   */
  assign(keyColumns: readonly ColumnVector[], rowCount: number, out: Int32Array): void {
    assert(keyColumns.length === this.#keyColumns.length, 'rows lack key columns')
    if (scratchRanges.length < rowCount) scratchRanges = new Int32Array(rowCount)
    const ranges = scratchRanges
    const isMet = this.#isMet
    if (this.#isOneRange) ranges.fill(0, 0, rowCount)
    else this.#findRanges(keyColumns, rowCount, ranges)
    isMet.fill(0)
    const bases = this.#bases
    for (let row = 0; row < rowCount; row++) {
      const range = ranges[row]
      out[row] = range < 0 ? 0 : bases[range]
      if (range >= 0) isMet[range] = 1
    }
    for (let i = 0; i < this.#groups.length; i++) {
      addBuckets(this.#groups[i], keyColumns, rowCount, ranges, isMet, out)
    }
    const slots = this.#slots
    for (let row = 0; row < rowCount; row++) out[row] = ranges[row] < 0 ? -1 : slots[out[row]]
    if (scratchKeys.bytes.length > SCRATCH_BYTES_MAX) scratchKeys = new KeyArena()
  }

  #findRanges(keyColumns: readonly ColumnVector[], rowCount: number, ranges: Int32Array): void {
    const keys = encodeColumns(keyColumns, this.#rangeIndexes, rowCount)
    const { bytes, ends } = keys
    let start = 0
    let range = -1
    for (let row = 0; row < rowCount; row++) {
      const end = ends[row]
      // Rows of a batch tend to lie in one range: the last one is tried first.
      if (range < 0 || !this.#isInRange(range, bytes, start, end)) {
        range = this.#rangeOf(bytes, start, end)
      }
      ranges[row] = range
      start = end
    }
  }

  /** Index of the range that holds a range key, or −1. */
  #rangeOf(bytes: Uint8Array, start: number, end: number): number {
    const bounds = this.#bounds
    let low = 0
    let high = this.#bases.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const key = middle * 2
      if (compareBytes(bounds.bytes, bounds.start(key), bounds.ends[key], bytes, start, end) > 0) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low > 0 && this.#isBelowUpper(low - 1, bytes, start, end) ? low - 1 : -1
  }

  #isInRange(range: number, bytes: Uint8Array, start: number, end: number): boolean {
    const bounds = this.#bounds
    const key = range * 2
    return (
      compareBytes(bounds.bytes, bounds.start(key), bounds.ends[key], bytes, start, end) <= 0 &&
      this.#isBelowUpper(range, bytes, start, end)
    )
  }

  #isBelowUpper(range: number, bytes: Uint8Array, start: number, end: number): boolean {
    const bounds = this.#bounds
    const key = range * 2 + 1
    const upperStart = bounds.ends[key - 1]
    const upperEnd = bounds.ends[key]
    return (
      upperStart === upperEnd ||
      compareBytes(bytes, start, end, bounds.bytes, upperStart, upperEnd) < 0
    )
  }

  /** Where one row lies, by the cells of its key in key order. For edges. */
  partitionKey(cells: readonly Cell[]): RowPlace {
    const rangeKey = this.#encode(this.#rangeIndexes, cells)
    const range = this.#isOneRange ? 0 : this.#rangeOf(rangeKey, 0, rangeKey.length)
    const { ranges, hashSchema } = this.#partitionSchema
    const dimensions = range < 0 ? hashSchema : hashSchemaOf(this.#partitionSchema, ranges[range])
    const key = new Uint8Array(dimensions.length * 4 + rangeKey.length)
    const view = new DataView(key.buffer)
    const hashBuckets: number[] = []
    let slot = 0
    for (const [index, { columnIds, bucketCount, seed }] of dimensions.entries()) {
      const hashed = this.#encode(this.#keyIndexesOf(columnIds), cells)
      const bucket = murmur2Bucket(hashed, 0, hashed.length, seed, bucketCount)
      hashBuckets.push(bucket)
      view.setUint32(index * 4, bucket)
      slot = slot * bucketCount + bucket
    }
    key.set(rangeKey, dimensions.length * 4)
    return { key, hashBuckets, index: range < 0 ? -1 : this.#slots[this.#bases[range] + slot] }
  }

  #keyIndexesOf(columnIds: readonly number[]): number[] {
    return columnIds.map((id) => this.#keyColumns.findIndex((column) => column.id === id))
  }

  #encode(keyIndexes: readonly number[], cells: readonly Cell[]): Uint8Array {
    return encodeKeyCells(
      keyIndexes.map((index) => this.#keyColumns[index]),
      keyIndexes.map((index) => cells[index]),
    )
  }
}

/** Adds to each slot what the buckets of a group's dimensions count for. */
function addBuckets(
  group: HashGroup,
  keyColumns: readonly ColumnVector[],
  rowCount: number,
  ranges: Int32Array,
  isMet: Uint8Array,
  slots: Int32Array,
): void {
  let keys: KeyArena | null = null
  for (let i = 0; i < group.rules.length; i++) {
    if (!countsInMetRange(group.rules[i], isMet)) continue
    if (keys === null) keys = encodeColumns(keyColumns, group.keyIndexes, rowCount)
    addRuleBuckets(group.rules[i], keys, rowCount, ranges, slots)
  }
}

function countsInMetRange(rule: BucketRule, isMet: Uint8Array): boolean {
  for (let range = 0; range < isMet.length; range++) {
    if (isMet[range] === 1 && rule.weights[range] !== 0) return true
  }
  return false
}

function addRuleBuckets(
  rule: BucketRule,
  keys: KeyArena,
  rowCount: number,
  ranges: Int32Array,
  slots: Int32Array,
): void {
  const { bucketCount, seed, weights } = rule
  const { bytes, ends } = keys
  let start = 0
  for (let row = 0; row < rowCount; row++) {
    const end = ends[row]
    const weight = ranges[row] < 0 ? 0 : weights[ranges[row]]
    if (weight !== 0) slots[row] += weight * murmur2Bucket(bytes, start, end, seed, bucketCount)
    start = end
  }
}

/** Encodes some of the key columns of rows into `scratchKeys`, which is returned. */
function encodeColumns(
  keyColumns: readonly ColumnVector[],
  keyIndexes: readonly number[],
  rowCount: number,
): KeyArena {
  scratchKeys.clear()
  encodeKeys(
    keyIndexes.map((index) => keyColumns[index]),
    rowCount,
    scratchKeys,
  )
  return scratchKeys
}

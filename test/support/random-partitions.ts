/** Partitions at random, and which of them holds a row, found in the plainest way. */

import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { murmur2Hash64 } from '../../src/common/murmur2.ts'
import { hashSchemaOf, type Partition } from '../../src/common/partition-schema.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { toHex } from '../../src/util/bytes.ts'
import type { Prng } from '../../src/util/prng.ts'
import { boundaryCells } from './boundary-cells.ts'
import { comparePlainTuples, randomCells } from './key-columns.ts'
import {
  type Partitioned,
  type PlainBound,
  type PlainCell,
  type PlainDimension,
  type PlainRange,
  partitioned,
} from './partition-input.ts'

/** Elements in an order drawn from the source. */
export function shuffled<T>(prng: Prng, list: readonly T[]): T[] {
  const left = [...list]
  const drawn: T[] = []
  while (left.length > 0) drawn.push(...left.splice(prng.below(left.length), 1))
  return drawn
}

/** Hash dimensions over some of the key columns: none to three, of two to four buckets. */
export function randomDimensions(prng: Prng, schema: Schema): PlainDimension[] {
  const names = shuffled(prng, schema.keyColumns).map((column) => column.name)
  const dimensions: PlainDimension[] = []
  while (names.length > 0 && dimensions.length < 3 && prng.chance(0.6)) {
    const columns = names.splice(0, prng.between(1, names.length))
    dimensions.push({ columns, buckets: prng.between(2, 4), seed: prng.below(3) })
  }
  return dimensions
}

/**
 * Partitions of a table: hash dimensions or not, range columns in any order or none, up to four
 * ranges with and without gaps, some with hash dimensions of their own.
 */
export function randomPartitions(prng: Prng, schema: Schema): Partitioned {
  const hash = randomDimensions(prng, schema)
  const columns = shuffled(prng, schema.keyColumns).slice(0, prng.below(schema.keyColumnCount + 1))
  const ranges = columns.length === 0 ? [] : randomRanges(prng, schema, columns)
  return partitioned(schema, { hash, range: columns.map((column) => column.name), ranges })
}

function randomRanges(prng: Prng, schema: Schema, columns: readonly Column[]): PlainRange[] {
  const cuts = distinct(Array.from({ length: 7 }, () => randomCells(prng, columns)))
  const bounds: PlainBound[] = cuts.map((cells) => {
    return Object.fromEntries(columns.map((column, i) => [column.name, cells[i] as PlainCell]))
  })
  if (prng.chance(0.5)) bounds.unshift(null)
  if (prng.chance(0.5)) bounds.push(null)
  const ranges: PlainRange[] = []
  for (let i = 1; i < bounds.length; i++) {
    if (prng.chance(0.3)) continue
    const range = { lower: bounds[i - 1], upper: bounds[i] }
    // Nothing lies below a bound of empty texts.
    const isEmpty = i === 1 && bounds[0] === null && isLeast(columns, cuts[0])
    if (isEmpty) continue
    ranges.push(prng.chance(0.4) ? { ...range, hash: randomDimensions(prng, schema) } : range)
  }
  return ranges
}

function isLeast(columns: readonly Column[], cells: readonly Cell[] | undefined): boolean {
  return cells === undefined || encodeKeyCells(columns, cells).every((byte) => byte === 0)
}

function distinct(tuples: readonly (readonly Cell[])[]): (readonly Cell[])[] {
  const sorted = tuples.toSorted(comparePlainTuples)
  return sorted.filter((cells, i) => i === 0 || comparePlainTuples(sorted[i - 1], cells) !== 0)
}

/** Rows of boundary cells, for small keys all of them. */
export function rowsOf(prng: Prng, schema: Schema, count: number): Cell[][] {
  const { keyColumns } = schema
  const all = keyColumns.reduce((product, column) => product * boundaryCells(column).length, 1)
  if (all > count) return Array.from({ length: count }, () => randomCells(prng, keyColumns))
  return keyColumns.reduce<Cell[][]>(
    (rows, column) => rows.flatMap((row) => boundaryCells(column).map((cell) => [...row, cell])),
    [[]],
  )
}

/** Indexes of the partitions that hold a row: one if anything is right, none for a row in a gap. */
export function plainPartitionsOf(
  { schema, partitionSchema, partitions }: Partitioned,
  row: readonly Cell[],
): number[] {
  const keyOf = (ids: readonly number[]) => {
    const columns = ids.map((id) => schema.mustById(id))
    return encodeKeyCells(
      columns,
      columns.map((column) => row[column.index]),
    )
  }
  const rangeKey = toHex(keyOf(partitionSchema.rangeColumnIds))
  const holds = (partition: Partition) => {
    if (rangeKey < partition.rangeKeyStart) return false
    if (partition.rangeKeyEnd !== '' && rangeKey >= partition.rangeKeyEnd) return false
    const range = partitionSchema.ranges.find((it) => it.lowerKey === partition.rangeKeyStart)!
    return hashSchemaOf(partitionSchema, range).every(({ columnIds, seed, bucketCount }, i) => {
      const hash = murmur2Hash64(keyOf(columnIds), seed)
      return Number(hash % BigInt(bucketCount)) === partition.hashBuckets[i]
    })
  }
  return [...partitions.keys()].filter((index) => holds(partitions[index]))
}

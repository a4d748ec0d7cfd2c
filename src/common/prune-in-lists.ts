import { compareWhole, fromHex } from '../util/bytes.ts'
import type { ColumnPredicate } from './column-predicate.ts'
import { inListPredicate } from './column-predicate.ts'
import type { Cell } from './data-type.ts'
import { encodeKeyCells } from './encoded-key.ts'
import { murmur2Bucket } from './murmur2.ts'
import { hashSchemaOf, type Partition, type PartitionSchema } from './partition-schema.ts'
import type { ScanSpec } from './scan-spec.ts'
import type { Column, Schema } from './schema.ts'

/** Whether one partition can hold a value of one column. */
type Holds = (key: Uint8Array) => boolean

/**
 * Drops from IN lists the values that one tablet cannot hold (K§3.5), so that its key bounds get
 * narrower. A list that loses all of them matches nothing.
 *
 * Looks at hash dimensions and ranges of a single column only: of several, values could be told
 * only together.
 * Requires: the partition is one of the partition schema's. Optimize the spec afterwards.
 */
export function pruneInLists(
  schema: Schema,
  partitionSchema: PartitionSchema,
  partition: Partition,
  spec: ScanSpec,
): ScanSpec {
  const predicates = spec.predicates.map((predicate) => {
    if (predicate.kind !== 'IN_LIST') return predicate
    const tests = testsOf(predicate.columnId, partitionSchema, partition)
    if (tests.length === 0) return predicate
    return keptList(schema.mustById(predicate.columnId), predicate, tests)
  })
  return { ...spec, predicates }
}

function keptList(
  column: Column,
  predicate: ColumnPredicate,
  tests: readonly Holds[],
): ColumnPredicate {
  const isKept = (cell: Cell) => {
    const key = encodeKeyCells([column], [cell])
    return tests.every((holds) => holds(key))
  }
  return inListPredicate(column, predicate.values.filter(isKept))
}

/** What a partition says of a column alone, of a value encoded as the last column of a key. */
function testsOf(
  columnId: number,
  partitionSchema: PartitionSchema,
  partition: Partition,
): Holds[] {
  const tests: Holds[] = []
  const { rangeColumnIds, ranges } = partitionSchema
  const { hashBuckets, rangeKeyStart, rangeKeyEnd } = partition
  if (isAlone(rangeColumnIds, columnId)) {
    const start = fromHex(rangeKeyStart)
    const end = fromHex(rangeKeyEnd)
    tests.push((key) => {
      return compareWhole(key, start) >= 0 && (end.length === 0 || compareWhole(key, end) < 0)
    })
  }
  const range = ranges.find(({ lowerKey }) => lowerKey === rangeKeyStart)
  const dimensions = range === undefined ? [] : hashSchemaOf(partitionSchema, range)
  dimensions.forEach(({ columnIds, seed, bucketCount }, i) => {
    if (!isAlone(columnIds, columnId)) return
    tests.push((key) => murmur2Bucket(key, 0, key.length, seed, bucketCount) === hashBuckets[i])
  })
  return tests
}

function isAlone(columnIds: readonly number[], columnId: number): boolean {
  return columnIds.length === 1 && columnIds[0] === columnId
}

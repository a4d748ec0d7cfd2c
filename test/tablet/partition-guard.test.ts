import { describe, expect, test } from 'vitest'
import { buildPartitionSchema, createPartitions } from '../../src/common/partition-builder.ts'
import { DEFAULT_PARTITION_SCHEMA_INPUT } from '../../src/common/partition-input.ts'
import { RowPartitioner } from '../../src/common/row-partitioner.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { aSchema } from '../support/a-schema.ts'
import { aTableEntry, TABLET_ID } from '../support/a-table-entry.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = aSchema('k INT32 KEY', 'v INT32 NULL')
const PARTITION_SCHEMA = buildPartitionSchema(SCHEMA, {
  ...DEFAULT_PARTITION_SCHEMA_INPUT,
  hashSchema: [{ columns: ['k'], bucketCount: 3, seed: 0 }],
})
const PARTITIONS = createPartitions(SCHEMA, PARTITION_SCHEMA)

/** A table of three buckets, of which TABLET_ID is the second. */
function aHashedTable(): TableEntry {
  return {
    ...aTableEntry(SCHEMA),
    partitionSchema: PARTITION_SCHEMA,
    tablets: PARTITIONS.map((partition, index) => ({
      tabletId: index === 1 ? TABLET_ID : String(index).repeat(32),
      partition,
    })),
  }
}

/** The first keys that lie in a bucket. */
function keysOf(bucket: number, count: number): number[] {
  const partitioner = new RowPartitioner(SCHEMA, PARTITION_SCHEMA, PARTITIONS)
  const keys: number[] = []
  for (let k = 0; keys.length < count; k++) {
    if (partitioner.partitionKey([k]).hashBuckets[0] === bucket) keys.push(k)
  }
  return keys
}

function inserts(keys: readonly number[]): PlainOperation[] {
  return keys.map((k) => ['INSERT', { k }])
}

describe('PartitionGuard', () => {
  test('lets through what belongs to the tablet', () => {
    const harness = new TabletHarness(SCHEMA, { table: aHashedTable() })

    expect(harness.write(inserts(keysOf(1, 20))).inserted).toBe(20)
    harness.crash()
    expect(harness.rows()).toHaveLength(20)
  })

  test('refuses a share whose rows belong to another tablet, and nothing of it is applied', () => {
    const harness = new TabletHarness(SCHEMA, { table: aHashedTable() })
    const before = harness.store.rowsWritten

    expect(() => harness.write(inserts([...keysOf(0, 1), ...keysOf(1, 5)]))).toThrow(
      'row is not in the partition of this tablet',
    )
    expect(harness.rows()).toEqual([])
    expect(harness.store.rowsWritten).toBe(before)
    checkTablet(harness.tablet)
  })

  test('finds a stray row among good ones where everything is verified', () => {
    const harness = new TabletHarness(SCHEMA, { table: aHashedTable() })
    const [stray] = keysOf(2, 1)

    expect(() => harness.write(inserts([...keysOf(1, 5), stray]))).toThrow('partition')
  })

  test('does not look at rows that have failed already', () => {
    const harness = new TabletHarness(SCHEMA, { table: aHashedTable() })
    const result = harness.write([['INSERT', { v: 1 }], ...inserts(keysOf(1, 1))])

    expect(result).toMatchObject({ inserted: 1, failed: 1 })
  })
})

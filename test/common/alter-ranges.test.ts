import { describe, expect, test } from 'vitest'
import { addRangePartition, dropRangePartition } from '../../src/common/alter-ranges.ts'
import { createPartitions } from '../../src/common/partition-builder.ts'
import type { PartitionSchema } from '../../src/common/partition-schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { aSchema } from '../support/a-schema.ts'
import { aRange, type PlainDimension, partitioned } from '../support/partition-input.ts'
import { reportVectors } from '../support/vectors.ts'

const SCHEMA = aSchema('a INT8 KEY', 'b STRING KEY')

/** `[0, 10)` and `[20, 30)`, the second with a hash schema of its own. */
const { partitionSchema: TABLE } = partitioned(SCHEMA, {
  hash: [{ columns: ['b'], buckets: 2 }],
  range: ['a'],
  ranges: [
    { lower: { a: 0 }, upper: { a: 10 } },
    { lower: { a: 20 }, upper: { a: 30 }, hash: [{ columns: ['a'], buckets: 3 }] },
  ],
})

function range(lower: number | null, upper: number | null, hash?: readonly PlainDimension[]) {
  const bounds = {
    lower: lower === null ? null : { a: lower },
    upper: upper === null ? null : { a: upper },
  }
  return aRange(hash === undefined ? bounds : { ...bounds, hash })
}

function boundsOf(partitionSchema: PartitionSchema): string[] {
  return partitionSchema.ranges.map((it) => `${it.lowerKey}-${it.upperKey}`)
}

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof StatusError) return error.code
  }
  return 'none'
}

describe('addRangePartition', () => {
  test('puts a range into its place, below, between and above the others', () => {
    const below = addRangePartition(SCHEMA, TABLE, range(null, 0))
    const between = addRangePartition(SCHEMA, below, range(10, 20))
    const above = addRangePartition(SCHEMA, between, range(30, null, []))

    expect(boundsOf(above)).toEqual(['-80', '80-8a', '8a-94', '94-9e', '9e-'])
    expect(above.ranges.at(-1)?.hashSchema).toEqual([])
    expect(createPartitions(SCHEMA, above)).toHaveLength(2 + 2 + 2 + 3 + 1)
    expect(boundsOf(TABLE)).toHaveLength(2)
  })

  test('keeps no hash schema that is the table’s', () => {
    const added = addRangePartition(SCHEMA, TABLE, range(10, 20, [{ columns: ['b'], buckets: 2 }]))

    expect(added.ranges[1].hashSchema).toBe(null)
  })

  test('says that a range with the same bounds is there, whatever its hash schema', () => {
    for (const again of [range(20, 30), range(20, 30, [])]) {
      expect(() => addRangePartition(SCHEMA, TABLE, again)).toThrow(
        'range partition already present: RANGE (a) PARTITION 20 <= VALUES < 30',
      )
      expect(codeOf(() => addRangePartition(SCHEMA, TABLE, again))).toBe('ALREADY_PRESENT')
    }
  })

  // [0 ── 10)    [20 ── 30)
  test.each([
    [null, 1],
    [9, 11],
    [3, 4],
    [0, 9],
    [1, 10],
    [-5, 50],
    [29, null],
    [null, null],
  ])('refuses [%s, %s), which overlaps another', (lower, upper) => {
    const add = () => addRangePartition(SCHEMA, TABLE, range(lower, upper))

    expect(add).toThrow('new range partition conflicts with existing one')
    expect(codeOf(add)).toBe('INVALID_ARGUMENT')
  })

  test('refuses a range whose tablets would be too many', () => {
    const hash = [
      { columns: ['a'], buckets: 512 },
      { columns: ['b'], buckets: 2 },
    ]

    expect(() => addRangePartition(SCHEMA, TABLE, range(50, 60, hash))).toThrow(
      'partitions make 1029 tablets, limit is 1024',
    )
  })

  test('refuses ranges where the table has no range columns', () => {
    const { partitionSchema } = partitioned(SCHEMA, {})

    expect(() => addRangePartition(SCHEMA, partitionSchema, range(1, 2))).toThrow(
      'table has no range columns, its ranges cannot change',
    )
  })
})

describe('dropRangePartition', () => {
  test('takes exactly the range with these bounds away, down to none', () => {
    const one = dropRangePartition(SCHEMA, TABLE, range(20, 30))
    const none = dropRangePartition(SCHEMA, one, range(0, 10))

    expect(boundsOf(one)).toEqual(['80-8a'])
    expect(none.ranges).toEqual([])
  })

  test('knows a range by its bounds however they are said', () => {
    const bounds = aRange({
      lower: { a: -1 },
      upper: { a: 9 },
      lowerType: 'EXCLUSIVE',
      upperType: 'INCLUSIVE',
    })

    expect(boundsOf(dropRangePartition(SCHEMA, TABLE, bounds))).toEqual(['94-9e'])
  })

  // Facts of custom_ranges_serialization. Where Kudu has NotFound for the lower bound, the contract
  // has INVALID_ARGUMENT for both.
  test('says whether no range has the lower bound, or only the upper one differs', () => {
    const otherLower = () => dropRangePartition(SCHEMA, TABLE, range(1, 10))
    const otherUpper = () => dropRangePartition(SCHEMA, TABLE, range(0, 9))

    expect(otherLower).toThrow(
      'no range partition to drop has this lower bound: RANGE (a) PARTITION 1 <= VALUES < 10',
    )
    expect(otherUpper).toThrow('upper bound of the range partition to drop does not match')
    expect([codeOf(otherLower), codeOf(otherUpper)]).toEqual([
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
    ])
    reportVectors('custom_ranges_serialization (facts on dropping)', 2)
  })

  test('lets the same space be dropped and added anew in one go', () => {
    const dropped = dropRangePartition(SCHEMA, TABLE, range(0, 10))
    const first = addRangePartition(SCHEMA, dropped, range(0, 5))
    const second = addRangePartition(SCHEMA, first, range(5, 10))

    expect(boundsOf(second)).toEqual(['80-85', '85-8a', '94-9e'])
  })
})

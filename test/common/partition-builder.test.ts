import { describe, expect, test } from 'vitest'
import { TABLET_COUNT_MAX } from '../../src/common/limits.ts'
import { buildPartitionSchema, createPartitions } from '../../src/common/partition-builder.ts'
import {
  DEFAULT_PARTITION_SCHEMA_INPUT,
  type PartitionSchemaInput,
} from '../../src/common/partition-input.ts'
import type { Partition, PartitionSchema } from '../../src/common/partition-schema.ts'
import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { toHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import {
  aPartitionInput,
  boundOf,
  type PlainBound,
  type PlainDimension,
  type PlainInput,
  type PlainRange,
  partitioned,
} from '../support/partition-input.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Expected {
  readonly hashBuckets: readonly number[]
  readonly beginHex: string
  readonly endHex: string
  readonly beginRangeHex: string
  readonly endRangeHex: string
}
interface Created {
  readonly expect: readonly Expected[]
}
interface CustomRanges extends Created {
  readonly tableHash: readonly PlainDimension[]
  readonly range: readonly string[]
  readonly customRanges: readonly PlainRange[]
}
interface Vectors {
  readonly create_range_partitions: {
    readonly cases: readonly {
      bounds: readonly (readonly [string | null, string | null])[]
      splits: readonly string[]
      expect: readonly (readonly [string, string])[]
    }[]
  }
  readonly create_hash_partitions: Created & { readonly hash: readonly PlainDimension[] }
  readonly create_multilevel_partitions: Created & {
    readonly hash: readonly PlainDimension[]
    readonly range: readonly string[]
    readonly splits: readonly PlainBound[]
  }
  readonly create_custom_range_partitions: CustomRanges
  readonly create_custom_range_only: CustomRanges
  readonly create_custom_unbounded_ranges: CustomRanges
  readonly create_no_hash_last_unbounded: CustomRanges
}

const CUSTOM_GROUPS = [
  'create_custom_range_partitions',
  'create_custom_range_only',
  'create_custom_unbounded_ranges',
  'create_no_hash_last_unbounded',
] as const

const vectors = readVectors<Vectors>('partitions')
const THREE_STRINGS = aSchema('a STRING KEY', 'b STRING KEY', 'c STRING KEY')
const TWO_INTS = aSchema('a INT8 KEY', 'b INT8 KEY', 'v INT8')

function inVectorForm(partition: Partition): Expected {
  return {
    hashBuckets: partition.hashBuckets,
    beginHex: partition.partitionKeyStart,
    endHex: partition.partitionKeyEnd,
    beginRangeHex: partition.rangeKeyStart,
    endRangeHex: partition.rangeKeyEnd,
  }
}

/** Kudu lists the partitions of tables with hash schemas of ranges range by range. */
function rangeByRange(partitions: readonly Partition[]): Partition[] {
  return partitions.toSorted((a, b) => {
    return a.rangeKeyStart === b.rangeKeyStart ? 0 : a.rangeKeyStart < b.rangeKeyStart ? -1 : 1
  })
}

function build(schema: Schema, input: PlainInput): PartitionSchema {
  return buildPartitionSchema(schema, aPartitionInput(input))
}

/** A range of one column. */
function from(lower: number | null, upper: number | null, hash?: readonly PlainDimension[]) {
  const range = { lower: boundOf(['a'], [lower]), upper: boundOf(['a'], [upper]) }
  return hash === undefined ? range : { ...range, hash }
}

describe('createPartitions', () => {
  test('resolves the bounds and splits of the vectors', () => {
    const { cases } = vectors.create_range_partitions
    const schema = aSchema('a STRING KEY')
    for (const { bounds, splits, expect: expected } of cases) {
      const { partitions } = partitioned(schema, {
        range: ['a'],
        ranges: bounds.map(([lower, upper]) => ({ lower: { a: lower }, upper: { a: upper } })),
        splits: splits.map((split) => ({ a: split })),
      })

      const keys = partitions.map((it) => [it.partitionKeyStart, it.partitionKeyEnd])
      expect(keys).toEqual(expected.map((pair) => pair.map((text) => toHex(utf8Encode(text)))))
    }
    reportVectors('create_range_partitions', cases.length)
  })

  test('makes the hash buckets of the vectors', () => {
    const { hash, expect: expected } = vectors.create_hash_partitions

    const { partitions } = partitioned(THREE_STRINGS, { hash })

    expect(partitions.map(inVectorForm)).toEqual(expected)
    reportVectors('create_hash_partitions', expected.length)
  })

  test('makes the hash buckets and ranges of the vectors, hash words first', () => {
    const { hash, range, splits, expect: expected } = vectors.create_multilevel_partitions

    const { partitions } = partitioned(THREE_STRINGS, { hash, range, splits })

    expect(partitions.map(inVectorForm)).toEqual(expected)
    reportVectors('create_multilevel_partitions', expected.length)
  })

  // Kudu lists these range by range; here every table lists its partitions by hash words first.
  test.each(CUSTOM_GROUPS)(
    'makes the partitions of %s, whose ranges have hash schemas',
    (group) => {
      const { tableHash: hash, range, customRanges: ranges, expect: expected } = vectors[group]

      const { partitions } = partitioned(THREE_STRINGS, { hash, range, ranges })

      expect(rangeByRange(partitions).map(inVectorForm)).toEqual(expected)
      reportVectors(group, expected.length)
    },
  )

  test('orders partitions by hash words, fewer words first, then by range key', () => {
    const { partitions } = partitioned(TWO_INTS, {
      hash: [{ columns: ['a'], buckets: 2 }],
      range: ['a'],
      ranges: [
        from(0, 1),
        from(1, 2, []),
        from(2, null, [
          { columns: ['b'], buckets: 2 },
          { columns: ['a'], buckets: 2 },
        ]),
      ],
    })

    expect(partitions.map((it) => [it.hashBuckets.join(), it.rangeKeyStart])).toEqual([
      ['', '81'],
      ['0', '80'],
      ['0,0', '82'],
      ['0,1', '82'],
      ['1', '80'],
      ['1,0', '82'],
      ['1,1', '82'],
    ])
  })

  test('ends an unbounded range at the next bucket of the last dimension, if any', () => {
    const ends = (hash: readonly PlainDimension[]) => {
      return partitioned(TWO_INTS, { hash, range: ['a'] }).partitions.map(
        (it) => it.partitionKeyEnd,
      )
    }

    expect(ends([])).toEqual([''])
    expect(ends([{ columns: ['a'], buckets: 2 }])).toEqual(['00000001', '00000002'])
  })

  test('makes none for a table whose ranges were all dropped', () => {
    const { partitionSchema } = partitioned(TWO_INTS, { range: ['a'] })

    expect(createPartitions(TWO_INTS, { ...partitionSchema, ranges: [] })).toEqual([])
  })
})

describe('buildPartitionSchema', () => {
  test('gives a table that says nothing one unbounded range over the key', () => {
    const built = buildPartitionSchema(TWO_INTS, DEFAULT_PARTITION_SCHEMA_INPUT)

    expect(built).toEqual({
      hashSchema: [],
      rangeColumnIds: [10, 11],
      ranges: [{ lowerKey: '', upperKey: '', hashSchema: null }],
    })
  })

  test('hashes columns in the order of their ids, whatever the order they are named in', () => {
    const built = build(TWO_INTS, { hash: [{ columns: ['b', 'a'], buckets: 4, seed: 9 }] })

    expect(built.hashSchema).toEqual([{ columnIds: [10, 11], bucketCount: 4, seed: 9 }])
  })

  test('keeps the order in which range columns are named', () => {
    expect(build(TWO_INTS, { range: ['b', 'a'] }).rangeColumnIds).toEqual([11, 10])
  })

  // Facts of custom_ranges_serialization.
  test("keeps a range's own hash schema only where it differs from the table's", () => {
    const hash = [{ columns: ['a'], buckets: 4, seed: 1 }]
    const others = [
      [],
      [{ columns: ['a'], buckets: 4, seed: 2 }],
      [{ columns: ['a'], buckets: 5, seed: 1 }],
      [{ columns: ['b'], buckets: 4, seed: 1 }],
    ]
    const ranges = [hash, ...others].map((own, index) => from(index, index + 1, own))

    const built = build(TWO_INTS, { hash, range: ['a'], ranges })

    const own = built.ranges.map((range) => range.hashSchema)
    expect(own[0]).toBe(null)
    expect(own[1]).toEqual([])
    expect(own.slice(2)).toEqual([
      [{ columnIds: [10], bucketCount: 4, seed: 2 }],
      [{ columnIds: [10], bucketCount: 5, seed: 1 }],
      [{ columnIds: [11], bucketCount: 4, seed: 1 }],
    ])
    reportVectors('custom_ranges_serialization (facts)', 3)
  })

  test('survives JSON and structured clone as it is', () => {
    const built = build(TWO_INTS, {
      hash: [{ columns: ['b'], buckets: 2 }],
      range: ['a'],
      ranges: [from(0, 1, [])],
    })

    expect(JSON.parse(JSON.stringify(built))).toEqual(built)
    expect(structuredClone(built)).toEqual(built)
  })

  test('resolves any bounds and splits to ranges that hold exactly the values they held', () => {
    const schema = aSchema('a INT8 KEY')
    const prng = new Prng(21)
    for (let round = 0; round < 300; round++) {
      const values = Array.from({ length: 6 }, () => prng.between(-128, 127))
      const [a, b, c, d, e, f] = [...new Set(values)].sort((x, y) => x - y)
      if (f === undefined) continue
      // Splits at b and e lie strictly inside [a, c) and [d, f).
      const ranges = prng.chance(0.5) ? [from(a, c), from(d, f)] : [from(d, f), from(a, c)]

      const built = build(schema, { range: ['a'], ranges, splits: [{ a: e }, { a: b }] })

      const key = (value: number) => (value + 128).toString(16).padStart(2, '0')
      const expected = [a, b, d, e].map((lower, i) => [key(lower), key([b, c, e, f][i])])
      const bounds = built.ranges.map((range) => [range.lowerKey, range.upperKey])
      expect(bounds, `round ${round} of seed 21`).toEqual(expected)
    }
  })

  const H = { columns: ['a'], buckets: 2 }
  const refused: readonly (readonly [string, string, PlainInput | PartitionSchemaInput])[] = [
    [
      'an unknown hash column',
      'hash column "x" does not exist',
      { hash: [{ columns: ['x'], buckets: 2 }] },
    ],
    [
      'a hash column not of the key',
      'hash column "v" is not a key column',
      { hash: [{ columns: ['v'], buckets: 2 }] },
    ],
    [
      'a hash dimension without columns',
      'hash dimension has no columns',
      { hash: [{ columns: [], buckets: 2 }] },
    ],
    [
      'a column in two dimensions',
      'hash column "a" is named twice',
      { hash: [H, { columns: ['b', 'a'], buckets: 2 }] },
    ],
    [
      'a column twice in one dimension',
      'hash column "a" is named twice',
      { hash: [{ columns: ['a', 'a'], buckets: 2 }] },
    ],
    [
      'one bucket',
      'num_buckets is 1, must be an integer of at least 2',
      { hash: [{ columns: ['a'], buckets: 1 }] },
    ],
    [
      'a fraction of buckets',
      'num_buckets is 2.5, must be an integer of at least 2',
      { hash: [{ columns: ['a'], buckets: 2.5 }] },
    ],
    [
      'too many buckets',
      'num_buckets is 1025, limit is 1024',
      { hash: [{ columns: ['a'], buckets: 1025 }] },
    ],
    [
      'a negative seed',
      'hash seed is -1, must be an integer in 0 … 4294967295',
      { hash: [{ ...H, seed: -1 }] },
    ],
    [
      'a seed over 32 bits',
      'hash seed is 4294967296, must be',
      { hash: [{ ...H, seed: 2 ** 32 }] },
    ],
    ['an unknown range column', 'range column "x" does not exist', { range: ['x'] }],
    ['a range column not of the key', 'range column "v" is not a key column', { range: ['v'] }],
    ['a range column named twice', 'range column "a" is named twice', { range: ['a', 'b', 'a'] }],
    [
      'ranges without range columns',
      'ranges and split rows need range columns',
      { range: [], ranges: [from(null, null)] },
    ],
    [
      'splits without range columns',
      'ranges and split rows need range columns',
      { range: [], splits: [{ a: 1 }] },
    ],
    [
      'a bound on another column',
      'range bound sets column "b", which is not a range column',
      { range: ['a'], ranges: [{ lower: { b: 1 }, upper: null }] },
    ],
    [
      'a split on another column',
      'range bound sets column "b", which is not a range column',
      { range: ['a'], splits: [{ b: 1 }] },
    ],
    ['a split of nothing', 'split row sets no range column', { range: ['a'], splits: [{}] }],
    [
      'a split given twice',
      'duplicate split row: 1',
      { range: ['a'], splits: [{ a: 1 }, { a: 3 }, { a: 1 }] },
    ],
    [
      'a split below all ranges',
      'split row is not strictly inside a range: 1',
      { range: ['a'], ranges: [from(2, 5)], splits: [{ a: 1 }] },
    ],
    [
      'a split in a gap',
      'split row is not strictly inside a range: 3',
      { range: ['a'], ranges: [from(0, 2), from(5, 9)], splits: [{ a: 3 }] },
    ],
    [
      'a split above all ranges',
      'split row is not strictly inside a range: 7',
      { range: ['a'], ranges: [from(2, 5)], splits: [{ a: 7 }] },
    ],
    [
      'a split at a lower bound',
      'split row is not strictly inside a range: 2',
      { range: ['a'], ranges: [from(2, 5)], splits: [{ a: 2 }] },
    ],
    [
      'a split at an upper bound',
      'split row is not strictly inside a range: 5',
      { range: ['a'], ranges: [from(2, 5)], splits: [{ a: 5 }] },
    ],
    [
      'a split of a range with its own hash schema',
      'split row cuts a range with a hash schema of its own: 3',
      { range: ['a'], ranges: [from(2, 5, [H])], splits: [{ a: 3 }] },
    ],
    [
      'equal bounds',
      'range partition lower bound must be below its upper bound: lower 4, upper 4',
      { range: ['a'], ranges: [from(4, 4)] },
    ],
    [
      'bounds the wrong way round',
      'range partition lower bound must be below its upper bound: lower 4, upper 3',
      { range: ['a'], ranges: [from(4, 3)] },
    ],
    [
      'bounds that meet once exclusive',
      'lower 3 exclusive, upper 4',
      { range: ['a'], ranges: [{ ...from(3, 4), lowerType: 'EXCLUSIVE' }] },
    ],
    [
      'overlapping ranges',
      'first RANGE (a) PARTITION 0 <= VALUES < 5, second RANGE (a) PARTITION 4 <= VALUES < 9',
      { range: ['a'], ranges: [from(4, 9), from(0, 5)] },
    ],
    [
      'a range given twice',
      'overlapping range partitions',
      { range: ['a'], ranges: [from(0, 5), from(0, 5)] },
    ],
    [
      'an unbounded range above another',
      'overlapping range partitions',
      { range: ['a'], ranges: [from(null, null), from(0, 5)] },
    ],
    [
      'an exclusive lower bound at the maximum',
      'exclusive lower bound must not have maximum values for all components: (127, 127)',
      {
        range: ['a', 'b'],
        ranges: [{ lower: { a: 127, b: 127 }, upper: null, lowerType: 'EXCLUSIVE' }],
      },
    ],
    [
      'a wrong hash schema of a range',
      'hash column "v" is not a key column',
      { range: ['a'], ranges: [from(0, 1, [{ columns: ['v'], buckets: 2 }])] },
    ],
    [
      'too many tablets in one range',
      'partitions make 1025 tablets, limit is 1024',
      {
        hash: [
          { columns: ['a'], buckets: 5 },
          { columns: ['b'], buckets: 205 },
        ],
      },
    ],
    [
      'too many tablets over ranges',
      'partitions make 1028 tablets, limit is 1024',
      {
        range: ['a'],
        ranges: [
          from(0, 1, [{ columns: ['a'], buckets: 1024 }]),
          from(2, 3, [{ columns: ['a'], buckets: 4 }]),
        ],
      },
    ],
  ]

  test.each(refused)('refuses %s', (_, message, input) => {
    expect(() => build(TWO_INTS, input as PlainInput)).toThrow(message)
    expect(() => build(TWO_INTS, input as PlainInput)).toThrow(StatusError)
  })

  test('names the column that is wrong, or the limit', () => {
    const detailsOf = (input: PlainInput) => {
      try {
        return build(TWO_INTS, input)
      } catch (error) {
        return error instanceof StatusError ? error.details : error
      }
    }

    expect(detailsOf({ range: ['x'] })).toEqual({ column: 'x' })
    expect(detailsOf({ hash: [{ columns: ['a'], buckets: 1025 }] })).toEqual({
      limit: TABLET_COUNT_MAX,
    })
  })

  test('takes as many tablets as the limit allows', () => {
    const hash = [
      { columns: ['a'], buckets: 4 },
      { columns: ['b'], buckets: 256 },
    ]

    expect(partitioned(TWO_INTS, { hash }).partitions).toHaveLength(TABLET_COUNT_MAX)
  })

  test('refuses a bound whose key is longer than any key can be', () => {
    const schema = aSchema('a STRING KEY')
    const ranges = [{ lower: { a: 'x'.repeat(16_385) }, upper: null }]

    expect(() => build(schema, { range: ['a'], ranges })).toThrow(
      'range bound is 16385 bytes encoded, limit is 16384',
    )
  })

  test('refuses keys that no stored row can hold together', () => {
    const schema = aSchema('a STRING KEY')
    const splits = Array.from({ length: 200 }, (_, i) => ({ a: String(i).padEnd(4000, 'x') }))

    expect(() => build(schema, { range: ['a'], splits })).toThrow(
      /^keys of the partitions take \d+ bytes, limit is 1900000$/,
    )
  })

  test('refuses an upper bound of one empty string, which nothing is below', () => {
    const schema = aSchema('a STRING KEY')

    expect(() =>
      build(schema, { range: ['a'], ranges: [{ lower: null, upper: { a: '' } }] }),
    ).toThrow('lower unbounded, upper ""')
    expect(() => build(schema, { range: ['a'], splits: [{ a: '' }] })).toThrow(
      'not strictly inside',
    )
  })
})

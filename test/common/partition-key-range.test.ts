import { describe, expect, test } from 'vitest'
import {
  cutByHashSchema,
  keyRangeCountMax,
  partitionKeyRanges,
} from '../../src/common/partition-key-range.ts'
import type { PartitionSchema } from '../../src/common/partition-schema.ts'
import { toHex, utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { partitioned } from '../support/partition-input.ts'
import { aScan, type PlainPredicate } from '../support/plain-scan.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Piece {
  readonly lower: string | null
  readonly upper: string | null
  readonly buckets: number
}
interface Vectors {
  readonly prepare_range_set: {
    readonly cases: readonly {
      scan: readonly [string | null, string | null]
      customRanges: readonly Piece[]
      expect: readonly Piece[]
    }[]
  }
}

function key(text: string | null): string {
  return toHex(utf8Encode(text ?? ''))
}

function hashed(bucketCount: number) {
  return [{ columnIds: [0], bucketCount, seed: 0 }]
}

function inOurForm({ lower, upper, buckets }: Piece) {
  return { lowerKey: key(lower), upperKey: key(upper), hashSchema: hashed(buckets) }
}

describe('cutByHashSchema', () => {
  test('cuts a scan as the vectors do', () => {
    const { cases } = readVectors<Vectors>('pruning').prepare_range_set
    for (const { scan, customRanges, expect: expected } of cases) {
      const partitionSchema: PartitionSchema = {
        hashSchema: hashed(2),
        rangeColumnIds: [0],
        ranges: customRanges.map(inOurForm),
      }

      const pieces = cutByHashSchema(partitionSchema, {
        lowerKey: key(scan[0]),
        upperKey: key(scan[1]),
      })

      expect(pieces, JSON.stringify([scan, customRanges])).toEqual(expected.map(inOurForm))
    }
    reportVectors('prepare_range_set', cases.length)
  })

  test('does not cut at ranges that are hashed as the table is', () => {
    const { partitionSchema } = partitioned(aSchema('a INT8 KEY'), {
      hash: [{ columns: ['a'], buckets: 2 }],
      range: ['a'],
      splits: [{ a: 1 }, { a: 2 }],
    })

    const scan = { lowerKey: '', upperKey: '' }
    expect(cutByHashSchema(partitionSchema, scan)).toEqual([
      { ...scan, hashSchema: partitionSchema.hashSchema },
    ])
  })
})

describe('partitionKeyRanges', () => {
  const schema = aSchema('a INT8 KEY', 'b INT8 KEY', 'c INT8 KEY')
  const { partitionSchema } = partitioned(schema, {
    hash: [
      { columns: ['a'], buckets: 2 },
      { columns: ['b'], buckets: 3 },
    ],
    range: ['c'],
  })
  const keyRanges = (lowerKey: string, upperKey: string, ...preds: PlainPredicate[]) => {
    const { predicates } = aScan(schema, preds)
    const byColumn = new Map(predicates.map((it) => [it.columnId, it]))
    return partitionKeyRanges(schema, partitionSchema, { lowerKey, upperKey }, byColumn).map(
      ({ startKey, endKey }) => `${startKey}-${endKey}`,
    )
  }

  test('are one, of all keys, when nothing is narrowed', () => {
    expect(keyRanges('', '')).toEqual(['-'])
  })

  test('leave open what lies behind the last part that is narrowed', () => {
    const [a0] = keyRanges('', '', ['a', '=', 0])

    expect(a0).toMatch(/^0000000[01]-0000000[12]$/)
  })

  test('end an open range of range keys at the next bucket of the last dimension', () => {
    expect(keyRanges('85', '')).toEqual([
      '000000000000000085-0000000000000001',
      '000000000000000185-0000000000000002',
      '000000000000000285-0000000000000003',
      '000000010000000085-0000000100000001',
      '000000010000000185-0000000100000002',
      '000000010000000285-0000000100000003',
    ])
  })

  test('are never more than the count that is promised', () => {
    expect(keyRanges('85', '90')).toHaveLength(keyRangeCountMax(partitionSchema))
  })
})

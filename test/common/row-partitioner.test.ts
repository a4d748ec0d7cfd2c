import { describe, expect, test } from 'vitest'
import { minCell } from '../../src/common/cell-order.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { RowPartitioner } from '../../src/common/row-partitioner.ts'
import type { Schema } from '../../src/common/schema.ts'
import { toHex } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { aRandomKeySchema, blockOf } from '../support/key-columns.ts'
import {
  aCell,
  type Partitioned,
  type PlainCell,
  type PlainDimension,
  type PlainRange,
  partitioned,
} from '../support/partition-input.ts'
import { plainPartitionsOf, randomPartitions, rowsOf } from '../support/random-partitions.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Encoded {
  readonly row: Readonly<Record<string, PlainCell>>
  readonly hashKeyHex: string
  readonly rangeKeyHex: string
}
interface Vectors {
  readonly partition_key_encode: {
    readonly hash: readonly PlainDimension[]
    readonly range: readonly string[]
    readonly cases: readonly (Encoded & { readonly buckets: readonly number[] })[]
  }
  readonly partition_key_encode_custom_range: {
    readonly tableHash: readonly PlainDimension[]
    readonly range: readonly string[]
    readonly customRange: PlainRange
    readonly cases: readonly Encoded[]
  }
}

const vectors = readVectors<Vectors>('partitions')
const SCHEMA = aSchema('a INT32 KEY', 'b STRING KEY', 'c STRING KEY', 'v INT8')

function partitionerOf({ schema, partitionSchema, partitions }: Partitioned): RowPartitioner {
  return new RowPartitioner(schema, partitionSchema, partitions)
}

/** Cells of a row of the vectors; what is not set is the smallest. */
function cellsOf(schema: Schema, row: Encoded['row']): Cell[] {
  return schema.keyColumns.map((column) => {
    return column.name in row ? aCell(row[column.name]) : minCell(column)
  })
}

function assigned(table: Partitioned, rows: readonly (readonly Cell[])[]): number[] {
  const out = new Int32Array(rows.length)
  const block = blockOf(table.schema.keyColumns, rows)
  partitionerOf(table).assign(block.columns, rows.length, out)
  return [...out]
}

describe('RowPartitioner', () => {
  test('gives the buckets and partition keys of the vectors', () => {
    const { hash, range, cases } = vectors.partition_key_encode
    const partitioner = partitionerOf(partitioned(SCHEMA, { hash, range }))
    for (const { row, buckets, hashKeyHex, rangeKeyHex } of cases) {
      const place = partitioner.partitionKey(cellsOf(SCHEMA, row))

      expect(place.hashBuckets).toEqual(buckets)
      expect(toHex(place.key)).toBe(hashKeyHex + rangeKeyHex)
      expect(place.index).toBe(buckets[0] * 32 + buckets[1])
    }
    reportVectors('partition_key_encode', cases.length)
  })

  test('hashes a row as its range does, and as the table does where it lies in none', () => {
    const { tableHash, range, customRange, cases } = vectors.partition_key_encode_custom_range
    const table = partitioned(SCHEMA, { hash: tableHash, range, ranges: [customRange] })
    const partitioner = partitionerOf(table)
    const places = cases.map(({ row }) => partitioner.partitionKey(cellsOf(SCHEMA, row)))

    const keys = cases.map(({ hashKeyHex, rangeKeyHex }) => hashKeyHex + rangeKeyHex)
    expect(places.map((place) => toHex(place.key))).toEqual(keys)
    expect(places.map((place) => place.index)).toEqual([0x10, -1])
    reportVectors('partition_key_encode_custom_range', cases.length)
  })

  test('hashes columns in the order of their ids, not in that of the dimension', () => {
    const table = (columns: readonly string[]) =>
      partitioned(SCHEMA, { hash: [{ columns, buckets: 97 }] })
    const rows = rowsOf(new Prng(1), SCHEMA, 50)

    expect(assigned(table(['a', 'b']), rows)).toEqual(assigned(table(['b', 'a']), rows))
  })

  test('puts every row of any table into the one partition that holds it, or into none', () => {
    const prng = new Prng(31)
    let inGaps = 0
    for (let round = 0; round < 150; round++) {
      const schema = aRandomKeySchema(prng, 4)
      const table = randomPartitions(prng, schema)
      const rows = rowsOf(prng, schema, 60)
      const message = `round ${round} of seed 31`
      const partitioner = partitionerOf(table)

      const out = assigned(table, rows)

      for (const [index, row] of rows.entries()) {
        const holders = plainPartitionsOf(table, row)
        expect(holders.length, message).toBeLessThanOrEqual(1)
        expect(out[index], message).toBe(holders[0] ?? -1)
        expect(partitioner.partitionKey(row).index, message).toBe(out[index])
        if (out[index] === -1) inGaps++
      }
    }
    expect(inGaps).toBeGreaterThan(100)
  })

  test('gives every row a partition key inside the interval of its partition', () => {
    const prng = new Prng(32)
    for (let round = 0; round < 150; round++) {
      const schema = aRandomKeySchema(prng, 3)
      const table = randomPartitions(prng, schema)
      const partitioner = partitionerOf(table)
      for (const row of rowsOf(prng, schema, 30)) {
        const { key, index } = partitioner.partitionKey(row)
        if (index === -1) continue
        const { partitionKeyStart, partitionKeyEnd } = table.partitions[index]
        const message = `round ${round} of seed 32`
        expect(toHex(key) >= partitionKeyStart, message).toBe(true)
        expect(partitionKeyEnd === '' || toHex(key) < partitionKeyEnd, message).toBe(true)
      }
    }
  })

  test('finds ranges row by row, at bounds and beyond all of them', () => {
    const schema = aSchema('a INT8 KEY')
    const ranges = [
      { lower: { a: 0 }, upper: { a: 10 } },
      { lower: { a: 20 }, upper: { a: 30 } },
      { lower: { a: 30 }, upper: { a: 40 } },
    ]
    const table = partitioned(schema, { range: ['a'], ranges })
    const values = [-128, 0, 39, 9, 10, 20, 19, 29, 30, 40, 127, 5]

    const out = assigned(
      table,
      values.map((value) => [value]),
    )

    expect(out).toEqual([-1, 0, 2, 0, -1, 1, -1, 1, 2, -1, -1, 0])
  })

  test('puts no row anywhere when the table has no ranges left', () => {
    const schema = aSchema('a INT8 KEY')
    const { partitionSchema } = partitioned(schema, {
      hash: [{ columns: ['a'], buckets: 2 }],
      range: ['a'],
    })
    const table = { schema, partitionSchema: { ...partitionSchema, ranges: [] }, partitions: [] }

    expect(assigned(table, [[1], [2]])).toEqual([-1, -1])
    expect(partitionerOf(table).partitionKey([1]).index).toBe(-1)
  })

  test('takes partitions in any order and answers with their places', () => {
    const schema = aSchema('a INT8 KEY')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 4 }] })
    const turned = { ...table, partitions: table.partitions.toReversed() }
    const rows = [[1], [2], [3], [4]]

    expect(assigned(turned, rows)).toEqual(assigned(table, rows).map((index) => 3 - index))
  })

  test('refuses partitions that are not all there, and rows that lack key columns', () => {
    const table = partitioned(SCHEMA, { hash: [{ columns: ['a'], buckets: 2 }] })
    const [first] = table.partitions

    expect(() => partitionerOf({ ...table, partitions: [first] })).toThrow(
      'every combination of buckets has a partition',
    )
    expect(() => partitionerOf(table).assign([], 0, new Int32Array(0))).toThrow('lack key columns')
  })

  test('works on as after a batch of long keys', () => {
    const schema = aSchema('a STRING KEY')
    const table = partitioned(schema, { hash: [{ columns: ['a'], buckets: 3 }] })
    const long = Array.from({ length: 90 }, () => [new Uint8Array(65_536).fill(7)])
    const [before] = assigned(table, [[aCell('x')]])

    expect(new Set(assigned(table, long)).size).toBe(1)
    expect(assigned(table, [[aCell('x')]])).toEqual([before])
  })
})

import { describe, expect, test } from 'vitest'
import { type AutoTableShape, autoTableRequest } from '../../../cli/perf/auto-table.ts'

const SHAPE: AutoTableShape = {
  hashPartitions: 8,
  rangePartitions: 1,
  intColumns: 1,
  stringColumns: 1,
}
const SPANS = { columnCount: 3, rowsPerThread: 100, seqStart: 1000 }

// biome-ignore lint/suspicious/noExplicitAny: a test looks into requests of every shape.
function request(shape: Partial<AutoTableShape>, isRandom = false): any {
  return autoTableRequest('name', { ...SHAPE, ...shape }, SPANS, { isRandom, threadCount: 2 })
}

describe('autoTableRequest', () => {
  test("is Kudu's table", () => {
    expect(request({})).toEqual({
      name: 'name',
      schema: {
        columns: [
          { name: 'key', type: 'INT64', is_key: true },
          { name: 'int_val', type: 'INT32' },
          { name: 'string_val', type: 'STRING' },
        ],
      },
      partition_schema: {
        hash_schema: [{ columns: ['key'], num_buckets: 8, seed: 0 }],
        range_schema: { columns: ['key'] },
      },
    })
  })

  test('numbers columns when there are several of a type', () => {
    const { columns } = request({ intColumns: 2, stringColumns: 0 }).schema

    expect(columns.map(({ name }: { name: string }) => name)).toEqual([
      'key',
      'int_val_1',
      'int_val_2',
    ])
  })

  test('splits the keys of the run evenly', () => {
    const { hash_schema, range_schema } = request({
      hashPartitions: 1,
      rangePartitions: 3,
    }).partition_schema

    expect(hash_schema).toEqual([])
    expect(range_schema.split_rows).toEqual([{ key: '1200' }, { key: '1400' }])
  })

  test('splits all keys evenly when they are random', () => {
    const { split_rows } = request({ rangePartitions: 2 }, true).partition_schema.range_schema

    expect(split_rows).toEqual([{ key: String(2n ** 62n) }])
  })
})

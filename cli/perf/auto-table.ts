/** The table that the load generator makes when it is given none. */

import type { FlagValues } from '../flags.ts'
import type { NumberSpans } from './load-plan.ts'

const INT64_KEYS = 2n ** 63n

/** What of the flags tells its shape. */
export interface AutoTableShape {
  readonly hashPartitions: number
  readonly rangePartitions: number
  readonly intColumns: number
  readonly stringColumns: number
}

/** The shape that flags ask for. */
export function autoTableShape(flags: FlagValues): AutoTableShape {
  return {
    hashPartitions: flags.number('table_num_hash_partitions'),
    rangePartitions: flags.number('table_num_range_partitions'),
    intColumns: flags.number('table_num_int_columns'),
    stringColumns: flags.number('table_num_string_columns'),
  }
}

/** Columns of the table. */
export function autoTableColumnCount({ intColumns, stringColumns }: AutoTableShape): number {
  return 1 + intColumns + stringColumns
}

/** The request that makes the table. Ranges split evenly the keys that the run will write. */
export function autoTableRequest(
  name: string,
  shape: AutoTableShape,
  spans: NumberSpans,
  keys: { readonly isRandom: boolean; readonly threadCount: number },
): object {
  const start = keys.isRandom ? 0n : BigInt(spans.seqStart)
  const rows = BigInt(spans.rowsPerThread) * BigInt(keys.threadCount)
  const span = keys.isRandom ? INT64_KEYS : rows * BigInt(spans.columnCount)
  const splits = new Set<string>()
  for (let i = 1; i < shape.rangePartitions; i++) {
    splits.add(String(start + (span * BigInt(i)) / BigInt(shape.rangePartitions)))
  }
  return {
    name,
    schema: {
      columns: [
        { name: 'key', type: 'INT64', is_key: true },
        ...numbered('int_val', shape.intColumns, 'INT32'),
        ...numbered('string_val', shape.stringColumns, 'STRING'),
      ],
    },
    partition_schema: {
      hash_schema:
        shape.hashPartitions === 1
          ? []
          : [{ columns: ['key'], num_buckets: shape.hashPartitions, seed: 0 }],
      range_schema: {
        columns: ['key'],
        ...(splits.size === 0 ? {} : { split_rows: [...splits].map((key) => ({ key })) }),
      },
    },
  }
}

function numbered(name: string, count: number, type: string): object[] {
  if (count === 1) return [{ name, type }]
  return Array.from({ length: count }, (_, index) => ({ name: `${name}_${index + 1}`, type }))
}

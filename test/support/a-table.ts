/**
 * Tables to be made, in a line: `aNewTable('metrics', ['host STRING KEY', 'value DOUBLE NULL'],
 * 4)`.
 */

import type { NewTable } from '../../src/catalog/catalog.ts'
import { buildPartitionSchema } from '../../src/common/partition-builder.ts'
import { DEFAULT_PARTITION_SCHEMA_INPUT } from '../../src/common/partition-input.ts'
import { Schema } from '../../src/common/schema.ts'
import { aColumnDefinition } from './a-schema.ts'

/**
 * A table of columns written as in `aSchema`, hashed by its first column into some buckets, or not
 * at all.
 */
export function aNewTable(
  name: string,
  columns: readonly string[] = ['id INT64 KEY', 'value STRING NULL'],
  bucketCount = 1,
): NewTable {
  const definitions = columns.map((text, index) => aColumnDefinition(text, index))
  const schema = new Schema(definitions)
  const hashSchema =
    bucketCount === 1 ? [] : [{ columns: [definitions[0].name], bucketCount, seed: 0 }]
  return {
    name,
    columns: definitions,
    partitionSchema: buildPartitionSchema(schema, {
      ...DEFAULT_PARTITION_SCHEMA_INPUT,
      hashSchema,
    }),
    owner: 'ops',
    comment: '',
    extraConfigs: {},
  }
}

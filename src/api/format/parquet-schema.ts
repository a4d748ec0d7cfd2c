/**
 * Columns as a Parquet schema.
 *
 *   BOOL                     BOOLEAN
 *   INT8 INT16 INT32 DATE    INT32 (INT_8, INT_16, none, DATE)
 *   INT64 UNIXTIME_MICROS    INT64 (none, TIMESTAMP of microseconds in UTC)
 *   FLOAT DOUBLE             same
 *   STRING VARCHAR           BYTE_ARRAY (UTF8)
 *   BINARY                   BYTE_ARRAY
 *   DECIMAL(p ≤ 9 / 18 / 38) INT32 / INT64 / FIXED_LEN_BYTE_ARRAY(16), big-endian (DECIMAL)
 */

import type { SchemaElement } from 'hyparquet-writer'
import { PHYSICAL } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'

/** The elements of a schema: the root, then each column. */
export function parquetSchema(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'schema', num_children: columns.length }, ...columns.map(elementOf)]
}

function elementOf(column: Column): SchemaElement {
  return {
    name: column.name,
    repetition_type: column.isNullable ? 'OPTIONAL' : 'REQUIRED',
    ...typeOf(column),
  }
}

function typeOf(column: Column): Omit<SchemaElement, 'name'> {
  switch (column.type) {
    case 'BOOL':
      return { type: 'BOOLEAN' }
    case 'INT8':
      return { type: 'INT32', converted_type: 'INT_8' }
    case 'INT16':
      return { type: 'INT32', converted_type: 'INT_16' }
    case 'INT32':
      return { type: 'INT32' }
    case 'INT64':
      return { type: 'INT64' }
    case 'FLOAT':
      return { type: 'FLOAT' }
    case 'DOUBLE':
      return { type: 'DOUBLE' }
    case 'STRING':
    case 'VARCHAR':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }
    case 'BINARY':
      return { type: 'BYTE_ARRAY' }
    case 'DATE':
      return { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }
    case 'UNIXTIME_MICROS':
      return {
        type: 'INT64',
        converted_type: 'TIMESTAMP_MICROS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      }
    case 'DECIMAL':
      return { ...decimalType(column), ...decimalDigits(column) }
  }
}

function decimalType({ physical }: Column): Pick<SchemaElement, 'type' | 'type_length'> {
  if (physical === PHYSICAL.int32) return { type: 'INT32' }
  if (physical === PHYSICAL.int64) return { type: 'INT64' }
  return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 }
}

function decimalDigits({ attributes }: Column): Omit<SchemaElement, 'name'> {
  const { precision = 0, scale = 0 } = attributes
  return {
    converted_type: 'DECIMAL',
    precision,
    scale,
    logical_type: { type: 'DECIMAL', precision, scale },
  }
}

/** The table of the simulator: a key of two columns, and columns of every kind of rule. */

import { encodeRowBlock } from '../../src/common/row-block.ts'
import { ROW_ERRORS } from '../../src/common/row-error.ts'
import type { RowOperationName } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'
import type { TabletLayout } from '../../src/tablet/tablet-layout.ts'
import type { WriteResult } from '../../src/tablet/tablet-request.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable, withDefault } from '../support/a-table-entry.ts'
import { aWriteBlock } from '../support/a-write-block.ts'
import type { ModelColumn, ModelOperation, ModelResult } from '../support/tablet-model.ts'
import type { SimLayout } from './sim-event.ts'

/** Columns as the model knows them. */
export const SIM_COLUMNS: readonly ModelColumn[] = [
  { name: 'k', isKey: true, isNullable: false, isImmutable: false },
  { name: 's', isKey: true, isNullable: false, isImmutable: false },
  { name: 'v', isKey: false, isNullable: true, isImmutable: false },
  { name: 'd', isKey: false, isNullable: false, isImmutable: false, default: 7 },
  { name: 'i', isKey: false, isNullable: true, isImmutable: true },
  { name: 't', isKey: false, isNullable: false, isImmutable: false },
]

/** The same columns as the engine knows them. */
export function simSchema(encodings: SimLayout['encodings']): Schema {
  const definitions = [
    aColumnDefinition('k INT32 KEY', 10),
    aColumnDefinition('s STRING KEY', 11),
    aColumnDefinition('v INT32 NULL', 12),
    withDefault(aColumnDefinition('d INT32', 13), 7),
    asImmutable(aColumnDefinition('i INT32 NULL', 14)),
    aColumnDefinition('t STRING', 15),
  ]
  if (encodings === 'auto') return new Schema(definitions)
  return new Schema(
    definitions.map((column) => ({
      ...column,
      encoding: 'PLAIN_ENCODING',
      compression: 'NO_COMPRESSION',
    })),
  )
}

/** A set-up as the engine takes it. */
export function tabletLayout(layout: SimLayout): TabletLayout {
  const { pageRows, blockBytes, flushBytes, stepBytes } = layout
  return {
    pageRows,
    blockBytes,
    pageValueBytes: pageRows * 8,
    pageTextBytes: pageRows * 4,
    keyPageRows: pageRows,
    deltaBlockRecords: pageRows,
    rowSetBytes: flushBytes,
    stepBytes,
  }
}

/** A share of a write as bytes. */
export function shareOf(schema: Schema, operations: readonly ModelOperation[]): Uint8Array {
  const plain = operations.map(([name, row]) => [name as RowOperationName, row] as const)
  return encodeRowBlock(aWriteBlock(schema, plain))
}

const ERROR_NAMES = new Map<number, string>(
  Object.entries(ROW_ERRORS).map(([name, code]) => [code, name]),
)

/** A result in the words of the model. */
export function plainResult(schema: Schema, result: WriteResult): ModelResult {
  const { inserted, upserted, updated, deleted, ignored, failed, created } = result
  const errors = [...result.errors.rows].map((row, index) => ({
    row,
    error: ERROR_NAMES.get(result.errors.codes[index]) ?? 'unknown',
    column: schema.byId(result.errors.columnIds[index])?.name ?? null,
  }))
  return { inserted, upserted, updated, deleted, ignored, failed, created, errors }
}

/** The model's result in the words of the engine. */
export function engineResult(schema: Schema, result: ModelResult): Omit<WriteResult, 'timestamp'> {
  const { errors, ...counts } = result
  const codes = errors.map(({ error }) => ROW_ERRORS[error as keyof typeof ROW_ERRORS])
  const columnIds = errors.map(({ column }) => schema.byName(column ?? '')?.id ?? -1)
  return {
    ...counts,
    errors: {
      rows: Uint32Array.from(errors.map(({ row }) => row)),
      codes: Uint8Array.from(codes),
      columnIds: Int32Array.from(columnIds),
    },
    isReplayed: false,
  }
}

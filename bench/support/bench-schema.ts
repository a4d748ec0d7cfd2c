import type { DataType, TypeAttributes } from '../../src/common/data-type.ts'
import { RowBlock } from '../../src/common/row-block.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { ROW_OPERATIONS } from '../../src/common/row-operation.ts'
import { Schema } from '../../src/common/schema.ts'

/** A column of a benchmark's table. */
export interface BenchColumn {
  readonly name: string
  readonly type: DataType
  readonly isKey?: boolean
  readonly isNullable?: boolean
  readonly attributes?: TypeAttributes
}

/** A schema with ids from 10 on. */
export function benchSchema(columns: readonly BenchColumn[]): Schema {
  return new Schema(
    columns.map((column, index) => ({
      id: 10 + index,
      name: column.name,
      type: column.type,
      attributes: column.attributes ?? {},
      isKey: column.isKey ?? false,
      isNullable: column.isNullable ?? false,
      writeDefault: null,
      readDefault: null,
      comment: '',
      encoding: 'AUTO_ENCODING',
      compression: 'DEFAULT_COMPRESSION',
      isImmutable: false,
    })),
  )
}

/** Makes write blocks, of inserts mostly: fill `builder.columns`, then `take` them. */
export class InsertBlocks {
  readonly builder: RowBlockBuilder
  readonly #schema: Schema

  constructor(schema: Schema) {
    this.#schema = schema
    this.builder = new RowBlockBuilder(schema.columns, false)
  }

  /** The rows filled in since the last call, as a block of inserts or another operation. */
  take(operation: keyof typeof ROW_OPERATIONS = 'INSERT'): RowBlock {
    const { builder } = this
    builder.rowCount = builder.columns[0].rowCount
    const block = builder.view()
    const operations = new Uint8Array(block.rowCount).fill(ROW_OPERATIONS[operation])
    const ids = this.#schema.columns.map((column) => column.id)
    return new RowBlock(block.rowCount, ids, block.columns, operations)
  }

  /** Forgets the rows, once they were written. */
  clear(): void {
    this.builder.clear()
  }
}

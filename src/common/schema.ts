/**
 * The columns of a table and what is said about each. Storage knows columns by id only, so that a
 * rename is metadata and a name used again does not show old data (K§1.6).
 */

import { assert } from '../util/assert.ts'
import {
  type Cell,
  type DataType,
  type Physical,
  physicalOf,
  type TypeAttributes,
} from './data-type.ts'

/** Encodings a column may ask for (K§1.3). */
export const ENCODINGS = [
  'AUTO_ENCODING',
  'PLAIN_ENCODING',
  'PREFIX_ENCODING',
  'RLE',
  'DICT_ENCODING',
  'BIT_SHUFFLE',
] as const
/** An encoding. */
export type Encoding = (typeof ENCODINGS)[number]

/** Compressions a column may ask for. */
export const COMPRESSIONS = [
  'DEFAULT_COMPRESSION',
  'NO_COMPRESSION',
  'SNAPPY',
  'LZ4',
  'ZLIB',
  'ZSTD',
] as const
/** A compression. */
export type Compression = (typeof COMPRESSIONS)[number]

/** What makes a column. All members always present, so that every column has one shape. */
export interface ColumnDefinition {
  /** Given by the catalog, never reused within a table. */
  readonly id: number
  readonly name: string
  readonly type: DataType
  readonly attributes: TypeAttributes
  readonly isKey: boolean
  readonly isNullable: boolean
  /** Used by inserts that leave the column unset; null when there is none. */
  readonly writeDefault: Cell | null
  /** Shown for rows older than the column; null when there is none. */
  readonly readDefault: Cell | null
  readonly comment: string
  readonly encoding: Encoding
  readonly compression: Compression
  readonly isImmutable: boolean
}

/** A column with its place and layout. */
export interface Column extends ColumnDefinition {
  /** Position in the schema. */
  readonly index: number
  readonly physical: Physical
}

/**
 * A table's columns, key columns first. Immutable.
 *
 * Requires: definitions were validated (`validateSchema`), or come from storage.
 */
export class Schema {
  readonly columns: readonly Column[]
  readonly keyColumnCount: number
  readonly #byName: ReadonlyMap<string, Column>
  readonly #byId: ReadonlyMap<number, Column>

  constructor(definitions: readonly ColumnDefinition[]) {
    this.columns = definitions.map((definition, index) => ({
      ...definition,
      index,
      physical: physicalOf(definition.type, definition.attributes),
    }))
    this.keyColumnCount = definitions.filter((definition) => definition.isKey).length
    this.#byName = new Map(this.columns.map((column) => [column.name, column]))
    this.#byId = new Map(this.columns.map((column) => [column.id, column]))
    assert(this.#byName.size === definitions.length, 'column names are unique')
    assert(this.#byId.size === definitions.length, 'column ids are unique')
    assert(this.keyColumnCount > 0, 'a schema has a key')
    assert(
      definitions.slice(0, this.keyColumnCount).every((definition) => definition.isKey),
      'key columns come first',
    )
  }

  /** The key columns, in key order. */
  get keyColumns(): readonly Column[] {
    return this.columns.slice(0, this.keyColumnCount)
  }

  /** The column with a name, or undefined. */
  byName(name: string): Column | undefined {
    return this.#byName.get(name)
  }

  /** The column with an id, or undefined. */
  byId(id: number): Column | undefined {
    return this.#byId.get(id)
  }

  /** The column with an id. Throws an AssertionError when there is none. */
  mustById(id: number): Column {
    const column = this.#byId.get(id)
    assert(column !== undefined, 'no column has this id')
    return column
  }
}

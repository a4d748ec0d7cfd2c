/**
 * Column definitions as JSON, as the catalog and a tablet's superblock store them. Defaults are
 * cells in text form, so that 64-bit integers, decimals, NaN and −0 come back as they were.
 *
 *   { "id": 3, "name": "price", "type": "DECIMAL", "precision": 12, "scale": 2, "isNullable": true,
 *     "readDefault": "0.00", "writeDefault": "1.50", "encoding": "BIT_SHUFFLE" }
 *
 * What is false, empty, null or automatic is left out. Names and values are stored: none may ever
 * change its meaning, and an unknown member is refused, since it would be a promise of a newer
 * version.
 */

import { cellFromText, cellToText } from './cell-json.ts'
import { type Cell, type DataType, physicalOf, type TypeAttributes } from './data-type.ts'
import type { Column, ColumnDefinition, Compression, Encoding } from './schema.ts'
import { CorruptionError, StatusError } from './status.ts'
import { validateColumn } from './validate-schema.ts'
import { DEFAULT_VALUE_OPTIONS } from './value-options.ts'

/** A value of JSON as JSON.parse makes it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue }
/** An object of JSON as JSON.parse makes it. */
export type JsonObject = { readonly [member: string]: JsonValue }

/** A column definition in storage form. */
export type EncodedColumnDefinition = JsonObject

const MEMBERS: readonly string[] = [
  'id',
  'name',
  'type',
  'precision',
  'scale',
  'length',
  'isKey',
  'isNullable',
  'isImmutable',
  'readDefault',
  'writeDefault',
  'comment',
  'encoding',
  'compression',
]

/** A column definition in storage form. Requires: it is valid. */
export function encodeColumnDefinition(definition: ColumnDefinition): EncodedColumnDefinition {
  const { attributes, readDefault, writeDefault } = definition
  const column = columnOf(definition)
  const json: Record<string, JsonValue> = {
    id: definition.id,
    name: definition.name,
    type: definition.type,
  }
  if (attributes.precision !== undefined) json.precision = attributes.precision
  if (attributes.scale !== undefined) json.scale = attributes.scale
  if (attributes.length !== undefined) json.length = attributes.length
  if (definition.isKey) json.isKey = true
  if (definition.isNullable) json.isNullable = true
  if (definition.isImmutable) json.isImmutable = true
  if (readDefault !== null) json.readDefault = textOf(column, readDefault)
  if (writeDefault !== null) json.writeDefault = textOf(column, writeDefault)
  if (definition.comment !== '') json.comment = definition.comment
  if (definition.encoding !== 'AUTO_ENCODING') json.encoding = definition.encoding
  if (definition.compression !== 'DEFAULT_COMPRESSION') json.compression = definition.compression
  return json
}

/**
 * The column definition of a storage form.
 *
 * Throws: CORRUPTION when it is none, or one that breaks a rule of columns.
 */
export function decodeColumnDefinition(json: EncodedColumnDefinition): ColumnDefinition {
  for (const member of Object.keys(json)) {
    if (!MEMBERS.includes(member)) throw malformed(`unknown member "${member}"`)
  }
  const withoutDefaults: ColumnDefinition = {
    id: numberMember(json, 'id') ?? missing('id'),
    name: textMember(json, 'name') ?? missing('name'),
    type: (textMember(json, 'type') ?? missing('type')) as DataType,
    attributes: attributesOf(json),
    isKey: flagMember(json, 'isKey'),
    isNullable: flagMember(json, 'isNullable'),
    writeDefault: null,
    readDefault: null,
    comment: textMember(json, 'comment') ?? '',
    encoding: (textMember(json, 'encoding') ?? 'AUTO_ENCODING') as Encoding,
    compression: (textMember(json, 'compression') ?? 'DEFAULT_COMPRESSION') as Compression,
    isImmutable: flagMember(json, 'isImmutable'),
  }
  try {
    validateColumn(withoutDefaults)
    const column = columnOf(withoutDefaults)
    return {
      ...withoutDefaults,
      writeDefault: cellOf(column, textMember(json, 'writeDefault')),
      readDefault: cellOf(column, textMember(json, 'readDefault')),
    }
  } catch (error) {
    if (error instanceof StatusError) throw malformed(error.message)
    throw error
  }
}

function columnOf(definition: ColumnDefinition): Column {
  const physical = physicalOf(definition.type, definition.attributes)
  return { ...definition, index: 0, physical }
}

function textOf(column: Column, cell: Cell): string {
  return cellToText(column, cell, DEFAULT_VALUE_OPTIONS)
}

function cellOf(column: Column, text: string | undefined): Cell | null {
  return text === undefined ? null : cellFromText(column, text, DEFAULT_VALUE_OPTIONS)
}

function attributesOf(json: JsonObject): TypeAttributes {
  const attributes: { precision?: number; scale?: number; length?: number } = {}
  for (const name of ['precision', 'scale', 'length'] as const) {
    const value = numberMember(json, name)
    if (value !== undefined) attributes[name] = value
  }
  return attributes
}

function numberMember(json: JsonObject, name: string): number | undefined {
  const value = json[name]
  if (value === undefined || typeof value === 'number') return value
  throw malformed(`member "${name}" is not a number`)
}

function textMember(json: JsonObject, name: string): string | undefined {
  const value = json[name]
  if (value === undefined || typeof value === 'string') return value
  throw malformed(`member "${name}" is not a string`)
}

function flagMember(json: JsonObject, name: string): boolean {
  const value = json[name]
  if (value === undefined || typeof value === 'boolean') return value ?? false
  throw malformed(`member "${name}" is not true or false`)
}

function missing(name: string): never {
  throw malformed(`member "${name}" is missing`)
}

function malformed(what: string): CorruptionError {
  return new CorruptionError(`stored column definition is malformed: ${what}`)
}

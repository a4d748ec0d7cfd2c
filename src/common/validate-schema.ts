/** The rules that the columns of a table keep (K§1.3, K§1.5, K§1.6). */

import { toHex, utf8Encode } from '../util/bytes.ts'
import { CELL_ERRORS, cellError, shownValue, typeText } from './cell-error.ts'
import { checkCell } from './check-cell.ts'
import {
  type Cell,
  DATA_TYPES,
  type DataType,
  PHYSICAL,
  type Physical,
  physicalOf,
} from './data-type.ts'
import { COLUMN_COUNT_MAX, COMMENT_BYTES_MAX, NAME_BYTES_MAX } from './limits.ts'
import { COMPRESSIONS, type ColumnDefinition, ENCODINGS, type Encoding } from './schema.ts'
import { invalidArgument, type StatusError } from './status.ts'
import { completeTypeAttributes } from './type-attributes.ts'

/** Names that no column may have: what Kudu calls the key column that it adds by itself. */
export const RESERVED_COLUMN_NAMES: readonly string[] = ['auto_incrementing_id']

const NEVER_KEYS: readonly DataType[] = ['BOOL', 'FLOAT', 'DOUBLE']

/** Encodings by physical type beside AUTO_ENCODING; BOOL has its own. */
const ENCODINGS_OF: Readonly<Record<Physical, readonly Encoding[]>> = {
  [PHYSICAL.int8]: ['BIT_SHUFFLE', 'PLAIN_ENCODING', 'RLE'],
  [PHYSICAL.int16]: ['BIT_SHUFFLE', 'PLAIN_ENCODING', 'RLE'],
  [PHYSICAL.int32]: ['BIT_SHUFFLE', 'PLAIN_ENCODING', 'RLE'],
  [PHYSICAL.int64]: ['BIT_SHUFFLE', 'PLAIN_ENCODING', 'RLE'],
  [PHYSICAL.int128]: ['BIT_SHUFFLE', 'PLAIN_ENCODING'],
  [PHYSICAL.float32]: ['BIT_SHUFFLE', 'PLAIN_ENCODING'],
  [PHYSICAL.float64]: ['BIT_SHUFFLE', 'PLAIN_ENCODING'],
  [PHYSICAL.binary]: ['DICT_ENCODING', 'PLAIN_ENCODING', 'PREFIX_ENCODING'],
}
const BOOL_ENCODINGS: readonly Encoding[] = ['RLE', 'PLAIN_ENCODING']

/**
 * Checks all columns of a table: each by itself, their names and ids against each other, and the
 * key.
 *
 * Throws: INVALID_ARGUMENT naming the column, the rule and the limit.
 */
export function validateColumns(definitions: readonly ColumnDefinition[]): void {
  const count = definitions.length
  if (count === 0) throw invalidArgument('table has no columns')
  if (count > COLUMN_COUNT_MAX) {
    throw invalidArgument(`table has ${count} columns, limit is ${COLUMN_COUNT_MAX}`, {
      limit: COLUMN_COUNT_MAX,
    })
  }
  const names = new Set<string>()
  const ids = new Set<number>()
  for (const definition of definitions) {
    validateColumn(definition)
    if (names.has(definition.name)) throw problem(definition, 'name is used twice')
    if (ids.has(definition.id)) throw problem(definition, `id ${definition.id} is used twice`)
    names.add(definition.name)
    ids.add(definition.id)
  }
  checkKeyOrder(definitions)
}

function checkKeyOrder(definitions: readonly ColumnDefinition[]): void {
  if (!definitions.some((definition) => definition.isKey)) {
    throw invalidArgument('table has no key column')
  }
  let before: ColumnDefinition | undefined
  for (const definition of definitions) {
    if (!definition.isKey) before ??= definition
    else if (before !== undefined) {
      throw problem(definition, `a key column must come before "${shownValue(before.name)}"`)
    }
  }
}

/**
 * Checks a column by itself. Throws: INVALID_ARGUMENT naming the column, the rule and the limit.
 */
export function validateColumn(definition: ColumnDefinition): void {
  validateColumnName(definition.name)
  if (!Number.isInteger(definition.id) || definition.id < 0 || definition.id >= 2 ** 31) {
    throw problem(definition, `id is ${definition.id}, not an integer from 0 to 2147483647`)
  }
  if (!DATA_TYPES.includes(definition.type)) {
    throw problem(definition, `unknown type ${shownValue(String(definition.type))}`)
  }
  completeTypeAttributes(definition.name, definition.type, definition.attributes)
  if (definition.isKey) checkKeyColumn(definition)
  checkEncoding(definition)
  if (!COMPRESSIONS.includes(definition.compression)) {
    throw problem(definition, `unknown compression ${shownValue(String(definition.compression))}`)
  }
  checkComment(definition)
  checkDefault(definition, definition.readDefault)
  checkDefault(definition, definition.writeDefault)
}

/** Checks a column's name. Throws: INVALID_ARGUMENT naming the rule and the limit. */
export function validateColumnName(name: string): void {
  if (name.length === 0) throw invalidArgument('column name is empty')
  const column = shownValue(name.toWellFormed())
  if (!name.isWellFormed()) {
    throw invalidArgument(`column name "${column}" has a lone surrogate`, { column })
  }
  if (name.includes('\0')) {
    throw invalidArgument(`column name ${JSON.stringify(column)} has a NUL character`, { column })
  }
  const bytes = utf8Encode(name).length
  if (bytes > NAME_BYTES_MAX) {
    throw invalidArgument(`column name is ${bytes} bytes, limit is ${NAME_BYTES_MAX}`, {
      column,
      limit: NAME_BYTES_MAX,
    })
  }
  if (RESERVED_COLUMN_NAMES.includes(name)) {
    throw invalidArgument(`column name "${name}" is reserved`, { column })
  }
}

function checkKeyColumn(definition: ColumnDefinition): void {
  if (NEVER_KEYS.includes(definition.type)) {
    throw problem(definition, `a key column cannot be of type ${definition.type}`)
  }
  if (definition.isNullable) throw problem(definition, 'a key column cannot be nullable')
  if (definition.isImmutable) throw problem(definition, 'a key column cannot be immutable')
}

function checkEncoding(definition: ColumnDefinition): void {
  const { encoding, type } = definition
  if (encoding === 'AUTO_ENCODING') return
  if (!ENCODINGS.includes(encoding)) {
    throw problem(definition, `unknown encoding ${shownValue(String(encoding))}`)
  }
  const allowed =
    type === 'BOOL' ? BOOL_ENCODINGS : ENCODINGS_OF[physicalOf(type, definition.attributes)]
  if (!allowed.includes(encoding)) {
    const choice = ['AUTO_ENCODING', ...allowed].join(', ')
    throw problem(definition, `${typeText(definition)} cannot have ${encoding}, only ${choice}`)
  }
}

function checkComment(definition: ColumnDefinition): void {
  const { comment } = definition
  if (!comment.isWellFormed()) throw problem(definition, 'comment has a lone surrogate')
  const bytes = utf8Encode(comment).length
  if (bytes > COMMENT_BYTES_MAX) {
    throw problem(
      definition,
      `comment is ${bytes} bytes, limit is ${COMMENT_BYTES_MAX}`,
      COMMENT_BYTES_MAX,
    )
  }
}

function checkDefault(definition: ColumnDefinition, cell: Cell | null): void {
  if (cell === null) return
  const physical = physicalOf(definition.type, definition.attributes)
  const column = { ...definition, index: 0, physical }
  const error = checkCell(column, cell)
  if (error === CELL_ERRORS.NONE) return
  const shown =
    cell instanceof Uint8Array ? `default 0x${toHex(cell.slice(0, 24))}` : `default ${cell}`
  throw cellError(error, column, shown)
}

function problem(definition: ColumnDefinition, complaint: string, limit?: number): StatusError {
  const column = shownValue(definition.name)
  const details = limit === undefined ? { column } : { column, limit }
  return invalidArgument(`column "${column}": ${complaint}`, details)
}

import { describe, expect, test } from 'vitest'
import { DATA_TYPES, type DataType } from '../../src/common/data-type.ts'
import { type ColumnDefinition, ENCODINGS, type Encoding } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { validateColumn, validateColumns } from '../../src/common/validate-schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aColumnDefinition } from '../support/a-schema.ts'

const KEY = aColumnDefinition('key INT32 KEY', 0)

function column(text: string, changes: Partial<ColumnDefinition> = {}): ColumnDefinition {
  return { ...aColumnDefinition(text, 1), ...changes }
}

function messageOf(work: () => void): string {
  try {
    work()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    expect(error.code).toBe('INVALID_ARGUMENT')
    return error.message
  }
  return 'valid'
}

/** What is said about a column behind a good key, or about a whole list. */
function judge(...definitions: readonly ColumnDefinition[]): string {
  return messageOf(() => validateColumns(definitions))
}

function attributesOf(type: DataType): string {
  if (type === 'VARCHAR') return 'VARCHAR(5)'
  return type === 'DECIMAL' ? 'DECIMAL(9,2)' : type
}

describe('validateColumns', () => {
  test('accepts a table of every type, and one of keys only', () => {
    const all = DATA_TYPES.map((type, i) =>
      aColumnDefinition(`c${i} ${attributesOf(type)} NULL`, i + 1),
    )

    expect(judge(KEY, ...all)).toBe('valid')
    expect(judge(KEY)).toBe('valid')
  })

  test('wants 1 to 300 columns', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        aColumnDefinition(`c${i} INT8${i === 0 ? ' KEY' : ''}`, i),
      )

    expect(judge()).toBe('table has no columns')
    expect(judge(...many(300))).toBe('valid')
    expect(judge(...many(301))).toBe('table has 301 columns, limit is 300')
  })

  test('wants at least one key column, and key columns first', () => {
    expect(judge(column('a INT8'))).toBe('table has no key column')
    expect(judge(column('a INT8'), { ...KEY, id: 2 })).toBe(
      'column "key": a key column must come before "a"',
    )
  })

  test('wants names and ids that differ', () => {
    expect(judge(KEY, column('key INT8'))).toBe('column "key": name is used twice')
    expect(judge(KEY, column('Key INT8'))).toBe('valid')
    expect(judge(KEY, column('a INT8', { id: 0 }))).toBe('column "a": id 0 is used twice')
    expect(judge(KEY, column('a INT8', { id: -1 }))).toContain('id is -1')
  })

  test('takes names of objects as ordinary ones', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'is_deleted', 'key2']
    const columns = names.map((name, i) => column('x INT8', { name, id: i + 1 }))

    expect(judge(KEY, ...columns)).toBe('valid')
  })
})

describe('validateColumn', () => {
  const judgeOne = (text: string, changes: Partial<ColumnDefinition> = {}) =>
    messageOf(() => validateColumn(column(text, changes)))

  test('wants a name of 1 to 256 bytes without NUL or lone surrogate', () => {
    expect(judgeOne('x INT8', { name: '' })).toBe('column name is empty')
    expect(judgeOne('x INT8', { name: 'é'.repeat(128) })).toBe('valid')
    expect(judgeOne('x INT8', { name: 'é'.repeat(129) })).toBe(
      'column name is 258 bytes, limit is 256',
    )
    expect(judgeOne('x INT8', { name: 'a\0b' })).toBe('column name "a\\u0000b" has a NUL character')
    expect(judgeOne('x INT8', { name: 'a\ud800' })).toBe(
      'column name "a\ufffd" has a lone surrogate',
    )
    expect(judgeOne('x INT8', { name: ' a\n"' })).toBe('valid')
    expect(judgeOne('x INT8', { name: 'auto_incrementing_id' })).toBe(
      'column name "auto_incrementing_id" is reserved',
    )
  })

  test('refuses key columns that are floating, BOOL, nullable or immutable', () => {
    expect(judgeOne('k BOOL KEY')).toBe('column "k": a key column cannot be of type BOOL')
    expect(judgeOne('k FLOAT KEY')).toContain('cannot be of type FLOAT')
    expect(judgeOne('k DOUBLE KEY')).toContain('cannot be of type DOUBLE')
    expect(judgeOne('k INT8 KEY', { isNullable: true })).toContain('cannot be nullable')
    expect(judgeOne('k INT8 KEY', { isImmutable: true })).toContain('cannot be immutable')
    expect(judgeOne('v INT8', { isImmutable: true })).toBe('valid')
    for (const type of DATA_TYPES) {
      const isRefused = ['BOOL', 'FLOAT', 'DOUBLE'].includes(type)
      expect(judgeOne(`k ${attributesOf(type)} KEY`) === 'valid', type).toBe(!isRefused)
    }
  })

  test('knows which encodings a type has', () => {
    const plain: Encoding[] = ['AUTO_ENCODING', 'PLAIN_ENCODING']
    const cases: [string, Encoding[]][] = [
      ['BOOL', ['RLE', ...plain]],
      ['INT8', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['INT16', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['INT32', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['INT64', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['DATE', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['UNIXTIME_MICROS', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['DECIMAL(9)', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['DECIMAL(18)', ['BIT_SHUFFLE', 'RLE', ...plain]],
      ['DECIMAL(19)', ['BIT_SHUFFLE', ...plain]],
      ['FLOAT', ['BIT_SHUFFLE', ...plain]],
      ['DOUBLE', ['BIT_SHUFFLE', ...plain]],
      ['STRING', ['DICT_ENCODING', 'PREFIX_ENCODING', ...plain]],
      ['VARCHAR(5)', ['DICT_ENCODING', 'PREFIX_ENCODING', ...plain]],
      ['BINARY', ['DICT_ENCODING', 'PREFIX_ENCODING', ...plain]],
    ]
    for (const [type, allowed] of cases) {
      for (const encoding of ENCODINGS) {
        const isValid = judgeOne(`c ${type}`, { encoding }) === 'valid'
        expect(isValid, `${type} ${encoding}`).toBe(allowed.includes(encoding))
      }
    }
    expect(judgeOne('c STRING', { encoding: 'RLE' })).toBe(
      'column "c": STRING cannot have RLE, ' +
        'only AUTO_ENCODING, DICT_ENCODING, PLAIN_ENCODING, PREFIX_ENCODING',
    )
  })

  test('refuses types, encodings and compressions that do not exist', () => {
    expect(judgeOne('c INT8', { type: 'INT128' as DataType })).toContain('unknown type INT128')
    expect(judgeOne('c INT8', { encoding: 'X' as Encoding })).toContain('unknown encoding X')
    expect(judgeOne('c INT8', { compression: 'GZIP' as never })).toContain(
      'unknown compression GZIP',
    )
    expect(judgeOne('c DECIMAL(9,2)', { attributes: { precision: 39 } })).toContain('1 to 38')
  })

  test('wants a comment of at most 256 bytes', () => {
    expect(judgeOne('c INT8', { comment: 'é'.repeat(128) })).toBe('valid')
    expect(judgeOne('c INT8', { comment: 'x'.repeat(257) })).toBe(
      'column "c": comment is 257 bytes, limit is 256',
    )
    expect(judgeOne('c INT8', { comment: '\udc00' })).toContain('comment has a lone surrogate')
  })

  test('wants defaults that are cells of the column', () => {
    expect(judgeOne('c INT8', { readDefault: 127, writeDefault: -128 })).toBe('valid')
    expect(judgeOne('c INT8', { writeDefault: 128 })).toBe(
      'column "c": default 128 is out of range for INT8',
    )
    expect(judgeOne('c INT64', { readDefault: 5 })).toContain('default 5 is not a value of INT64')
    expect(judgeOne('c VARCHAR(2)', { readDefault: utf8Encode('abc') })).toContain('limit of 2')
    expect(judgeOne('c STRING', { readDefault: Uint8Array.of(0xff) })).toContain('default 0xff')
    expect(judgeOne('c STRING', { readDefault: new Uint8Array(65_537) })).toContain('65536 bytes')
    expect(judgeOne('c DECIMAL(3,2)', { readDefault: 1000 })).toContain(
      'out of range for DECIMAL(3,2)',
    )
    expect(judgeOne('k INT8 KEY', { readDefault: 1, writeDefault: 1 })).toBe('valid')
  })
})

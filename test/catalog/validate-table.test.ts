import { describe, expect, test } from 'vitest'
import {
  isTableId,
  validateComment,
  validateOwner,
  validateTableName,
} from '../../src/catalog/validate-table.ts'

describe('validateTableName', () => {
  test.each([
    'a',
    'default.metrics',
    'Ärger 😀',
    '...',
    '.a',
    '%2e',
    'a/b',
    'x'.repeat(256),
    '€'.repeat(85),
    'f'.repeat(31),
    'f'.repeat(33),
    `${'f'.repeat(31)}g`,
  ])('takes %j', (name) => {
    expect(() => validateTableName(name)).not.toThrow()
  })

  test.each([
    ['', 'table name is empty'],
    ['a\0b', 'table name holds a NUL character'],
    ['a\ud800', 'table name is not valid Unicode'],
    ['.', 'table name is ".", which no path of a URL can hold'],
    ['..', 'table name is "..", which no path of a URL can hold'],
    ['x'.repeat(257), 'table name is 257 bytes, limit is 256'],
    ['€'.repeat(86), 'table name is 258 bytes, limit is 256'],
    ['0123456789abcdef0123456789abcdef', 'which is the form of a table id'],
    ['0123456789ABCDEF0123456789abcdef', 'which is the form of a table id'],
  ])('refuses %j', (name, message) => {
    expect(() => validateTableName(name)).toThrow(message)
  })
})

describe('validateOwner', () => {
  test('takes nobody and 128 bytes, no more', () => {
    expect(() => validateOwner('')).not.toThrow()
    expect(() => validateOwner('o'.repeat(128))).not.toThrow()
    expect(() => validateOwner('o'.repeat(129))).toThrow('owner is 129 bytes, limit is 128')
  })
})

describe('validateComment', () => {
  test('takes 256 bytes, no more', () => {
    expect(() => validateComment('c'.repeat(256))).not.toThrow()
    expect(() => validateComment('c'.repeat(257))).toThrow('comment is 257 bytes, limit is 256')
  })
})

describe('isTableId', () => {
  test('is true of 32 hexadecimal digits of either case only', () => {
    expect(isTableId('0123456789abcdefABCDEF0123456789')).toBe(true)
    expect(isTableId('0123456789abcdefABCDEF012345678')).toBe(false)
    expect(isTableId('0123456789abcdefABCDEF012345678g')).toBe(false)
    expect(isTableId('0123456789abcdefABCDEF0123456789\n')).toBe(false)
  })
})

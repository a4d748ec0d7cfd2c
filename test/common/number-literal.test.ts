import { describe, expect, test } from 'vitest'
import { NumberLiteral } from '../../src/common/number-literal.ts'

describe('NumberLiteral', () => {
  test('keeps a number as it was written', () => {
    expect(new NumberLiteral('9007199254740993.0').text).toBe('9007199254740993.0')
    expect(String(new NumberLiteral('-0'))).toBe('-0')
  })
})

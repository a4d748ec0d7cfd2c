import { describe, expect, test } from 'vitest'
import type { DataType, TypeAttributes } from '../../src/common/data-type.ts'
import { StatusError } from '../../src/common/status.ts'
import { completeTypeAttributes } from '../../src/common/type-attributes.ts'

function complete(type: DataType, attributes: TypeAttributes): TypeAttributes | string {
  try {
    return completeTypeAttributes('c', type, attributes)
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
}

describe('completeTypeAttributes', () => {
  test('gives a DECIMAL without a scale the scale 0', () => {
    expect(complete('DECIMAL', { precision: 12 })).toEqual({ precision: 12, scale: 0 })
    expect(complete('DECIMAL', { precision: 38, scale: 38 })).toEqual({ precision: 38, scale: 38 })
    expect(complete('VARCHAR', { length: 65_535 })).toEqual({ length: 65_535 })
    expect(complete('STRING', {})).toEqual({})
  })

  test('names the column and the limit', () => {
    expect(complete('DECIMAL', {})).toBe('column "c": DECIMAL needs a precision')
    expect(complete('DECIMAL', { precision: 39 })).toBe(
      'column "c": precision is 39, DECIMAL takes 1 to 38',
    )
    expect(complete('DECIMAL', { precision: 0 })).toContain('precision is 0')
    expect(complete('DECIMAL', { precision: 1.5 })).toContain('precision is 1.5')
    expect(complete('DECIMAL', { precision: 5, scale: 6 })).toBe(
      'column "c": scale is 6, DECIMAL takes 0 to 5',
    )
    expect(complete('DECIMAL', { precision: 5, scale: -1 })).toContain('scale is -1')
    expect(complete('VARCHAR', {})).toBe('column "c": VARCHAR needs a length')
    expect(complete('VARCHAR', { length: 0 })).toContain('VARCHAR takes 1 to 65535')
    expect(complete('VARCHAR', { length: 65_536 })).toContain('length is 65536')
  })

  test('refuses attributes that the type does not have', () => {
    expect(complete('INT32', { precision: 5 })).toBe('column "c": INT32 has no precision')
    expect(complete('STRING', { length: 5 })).toBe('column "c": STRING has no length')
    expect(complete('DECIMAL', { precision: 5, length: 5 })).toBe(
      'column "c": DECIMAL has no length',
    )
    expect(complete('VARCHAR', { length: 5, scale: 0 })).toBe('column "c": VARCHAR has no scale')
  })
})

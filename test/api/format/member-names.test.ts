import { describe, expect, test } from 'vitest'
import { MemberNames, memberNamesOf, openingOf } from '../../../src/api/format/member-names.ts'
import { COLUMN_COUNT_MAX } from '../../../src/common/limits.ts'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'

describe('MemberNames', () => {
  test('finds every name of the widest table, and nothing else', () => {
    const texts = Array.from({ length: COLUMN_COUNT_MAX - 2 }, (_, i) => `c${i} INT8 NULL`)
    const schema = aSchema('__proto__ INT8 KEY', 'naïve INT8 NULL', ...texts)
    const names = new MemberNames(schema.columns)

    for (const { name, index } of schema.columns) {
      const bytes = utf8Encode(`"${name}"`)
      expect(names.find(bytes, 1, bytes.length - 1), name).toBe(index)
    }
    for (const name of ['', 'c', 'c298', 'C1', 'constructor', 'naive', '__proto']) {
      const bytes = utf8Encode(name)
      expect(names.find(bytes, 0, bytes.length), name).toBe(-1)
    }
  })

  test('has the words of each opening, the last one ending with it', () => {
    const { columns } = aSchema(
      'a INT8 KEY',
      'ab INT8 NULL',
      'quo"te INT8 NULL',
      'a1234567 INT8 NULL',
    )
    const names = new MemberNames(columns)

    for (const { name, index } of columns) {
      const opening = `${JSON.stringify(name)}:`
      const next = names.starts[index + 1] ?? names.words.length
      const bytes = new Uint8Array(names.words.slice(names.starts[index], next).buffer)
      expect(names.lengths[index]).toBe(opening.length)
      expect(utf8Decode(bytes.slice(-4))).toBe(opening.slice(-4))
      expect(utf8Decode(bytes.slice(0, -4))).toBe(opening.slice(0, bytes.length - 4))
    }
  })

  test('is made once for a schema', () => {
    const schema = aSchema('a INT8 KEY')

    expect(memberNamesOf(schema)).toBe(memberNamesOf(schema))
  })
})

describe('openingOf', () => {
  test('writes names as JSON writes them', () => {
    expect(utf8Decode(openingOf('a"\\\u0001é'))).toBe('"a\\"\\\\\\u0001é":')
  })
})

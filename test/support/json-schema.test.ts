import { describe, expect, test } from 'vitest'
import { schemaProblems } from './json-schema.ts'

const SCHEMAS = {
  Row: {
    type: 'object',
    properties: { id: { type: 'integer', minimum: 1 }, note: { type: ['string', 'null'] } },
    required: ['id'],
  },
}

describe('schemaProblems', () => {
  test.each([
    [{ $ref: '#/components/schemas/Row' }, { id: 1, note: null }],
    [{ type: 'array', items: { $ref: '#/components/schemas/Row' } }, [{ id: 1 }]],
    [{ anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/Row' }] }, { id: 2, note: 'a' }],
    [{ type: 'object', additionalProperties: {} }, { a: 1 }],
    [{ description: 'anything' }, { a: 1 }],
  ])('%j allows %j', (schema, value) => {
    expect(schemaProblems(SCHEMAS, schema, value)).toEqual([])
  })

  test.each([
    [{ $ref: '#/components/schemas/Row' }, {}, '$.id: missing'],
    [{ $ref: '#/components/schemas/Row' }, { id: 0 }, '$.id: minimum 1'],
    [{ $ref: '#/components/schemas/Row' }, { id: 1.5 }, '$.id: type "integer"'],
    [{ $ref: '#/components/schemas/Row' }, { id: 1, more: 1 }, '$.more: not documented'],
    [{ $ref: '#/components/schemas/Row' }, null, '$: type "object"'],
    [{ type: 'array', items: { type: 'object' } }, [null], '$[0]: type "object"'],
    [{ anyOf: [{ type: 'string' }] }, 1, '$: type "string"'],
    [{ enum: ['a'] }, 'b', '$: enum ["a"]'],
  ])('%j forbids %j', (schema, value, problem) => {
    expect(schemaProblems(SCHEMAS, schema, value)).toEqual([problem])
  })

  test('does not pass over what it does not know', () => {
    expect(() => schemaProblems({}, { oneOf: [] }, 1)).toThrow('keyword oneOf')
  })
})

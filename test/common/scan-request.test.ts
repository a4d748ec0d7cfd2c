import { describe, expect, test } from 'vitest'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { type ScanRequest, scanSpecFromJson } from '../../src/common/scan-request.ts'
import { optimizeScanSpec, type ScanSpec } from '../../src/common/scan-spec.ts'
import type { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import { EMPTY_BYTES, utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'

const SCHEMA = aSchema('host STRING KEY', 'time INT64 KEY', 'value DOUBLE NULL')

function read(text: string, schema: Schema = SCHEMA): ScanSpec {
  return scanSpecFromJson(schema, parseJson(text) as ScanRequest, DEFAULT_VALUE_OPTIONS)
}

describe('scanSpecFromJson', () => {
  test('asks for every row when nothing is said', () => {
    expect(read('{}')).toEqual({ predicates: [], lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES })
  })

  test('reads predicates and encodes bounds, whatever the order of their members', () => {
    const spec = read(`{
      "predicates": [{ "column": "value", "op": "is null" }],
      "primary_key_lower": { "time": 9007199254740993, "host": "a" },
      "primary_key_upper": { "host": "b", "time": -1 }
    }`)

    expect(spec.predicates.map(({ kind }) => kind)).toEqual(['IS_NULL'])
    const lower = [utf8Encode('a'), 9007199254740993n]
    expect(spec.lowerKey).toEqual(encodeKeyCells(SCHEMA.keyColumns, lower))
    expect(spec.upperKey).toEqual(encodeKeyCells(SCHEMA.keyColumns, [utf8Encode('b'), -1n]))
  })

  test('matches nothing below the least key of all, whose encoding is empty', () => {
    const schema = aSchema('host STRING KEY')
    const spec = read('{ "primary_key_upper": { "host": "" } }', schema)

    expect(optimizeScanSpec(schema, spec).isEmpty).toBe(true)
    const lower = read('{ "primary_key_lower": { "host": "" } }', schema)
    expect(optimizeScanSpec(schema, lower).isEmpty).toBe(false)
  })

  test('takes a key column named like a member of every object', () => {
    const schema = aSchema('__proto__ INT8 KEY', 'constructor INT8 KEY')
    const spec = read('{ "primary_key_lower": { "__proto__": 1, "constructor": 2 } }', schema)

    expect(spec.lowerKey).toEqual(encodeKeyCells(schema.keyColumns, [1, 2]))
    expect(() => read('{ "primary_key_lower": { "__proto__": 1 } }', schema)).toThrow(
      'member "primary_key_lower" needs a value of key column "constructor"',
    )
  })

  test.each([
    ['5', 'member "primary_key_lower" must be an object', undefined],
    ['null', 'member "primary_key_lower" must be an object', undefined],
    ['[]', 'member "primary_key_lower" must be an object', undefined],
    ['{}', 'member "primary_key_lower" needs a value of key column "host"', 'host'],
    ['{"host":"a"}', 'member "primary_key_lower" needs a value of key column "time"', 'time'],
    [
      '{"host":"a","time":1,"value":2}',
      'member "primary_key_lower" has "value", which is no key column',
      undefined,
    ],
    ['{"host":"a","time":1.5}', 'column "time": 1.5 is not an integer, as INT64 needs', 'time'],
    ['{"host":"a","time":null}', '', 'time'],
  ])('refuses a bound of %s', (bound, message, column) => {
    let error: unknown
    try {
      read(`{"primary_key_lower":${bound}}`)
    } catch (caught) {
      error = caught
    }

    expect(error).toBeInstanceOf(StatusError)
    const { code, details, message: found } = error as StatusError
    expect(code).toBe('INVALID_ARGUMENT')
    expect(found).toContain(message)
    expect(details.column).toBe(column)
  })
})

import { describe, expect, test } from 'vitest'
import {
  decodeColumnDefinition,
  encodeColumnDefinition,
  type JsonObject,
} from '../../src/common/column-definition-json.ts'
import { COMPRESSIONS, type ColumnDefinition } from '../../src/common/schema.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn, aColumnDefinition } from '../support/a-schema.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'

function through(definition: ColumnDefinition): ColumnDefinition {
  return decodeColumnDefinition(JSON.parse(JSON.stringify(encodeColumnDefinition(definition))))
}

function refusal(json: JsonObject): string {
  try {
    decodeColumnDefinition(json)
  } catch (error) {
    if (error instanceof CorruptionError) return error.message
    throw error
  }
  return 'accepted'
}

describe('decodeColumnDefinition', () => {
  test('gives back every definition exactly, defaults of every type included', () => {
    const prng = new Prng(95)
    for (let round = 0; round < 900; round++) {
      const text = COLUMN_TEXTS[round % COLUMN_TEXTS.length]
      const definition: ColumnDefinition = {
        ...aColumnDefinition(text, prng.below(1000)),
        isNullable: prng.chance(0.5),
        isImmutable: prng.chance(0.5),
        compression: prng.pick(COMPRESSIONS),
        encoding: prng.pick(['AUTO_ENCODING', 'PLAIN_ENCODING'] as const),
        comment: prng.pick(['', 'é "quoted"']),
        readDefault: prng.chance(0.8) ? randomCell(prng, aColumn(text)) : null,
        writeDefault: prng.chance(0.8) ? randomCell(prng, aColumn(text)) : null,
      }

      expect(through(definition), `seed 95 round ${round}: ${text}`).toEqual(definition)
    }
  })

  test('keeps −0, NaN, the empty string and 64-bit integers', () => {
    const withDefault = (text: string, readDefault: ColumnDefinition['readDefault']) =>
      through({ ...aColumnDefinition(text, 1), readDefault }).readDefault

    expect(Object.is(withDefault('c DOUBLE', -0), -0)).toBe(true)
    expect(withDefault('c FLOAT', Number.NaN)).toBeNaN()
    expect(withDefault('c STRING', new Uint8Array(0))).toEqual(new Uint8Array(0))
    expect(withDefault('c STRING', utf8Encode('null'))).toEqual(utf8Encode('null'))
    expect(withDefault('c INT64', 2n ** 63n - 1n)).toBe(2n ** 63n - 1n)
  })

  test('refuses what is no column as corruption', () => {
    const good = encodeColumnDefinition(aColumnDefinition('c DECIMAL(9,2)', 1))

    expect(refusal(good)).toBe('accepted')
    expect(refusal({ ...good, colour: 'red' })).toContain('unknown member "colour"')
    expect(refusal({ ...good, precision: 40 })).toContain('precision is 40')
    expect(refusal({ ...good, readDefault: '1.234' })).toContain('more than 2 digits')
    expect(refusal({ ...good, readDefault: 1 })).toContain('"readDefault" is not a string')
    expect(refusal({ ...good, isKey: 1 })).toContain('"isKey" is not true or false')
    expect(refusal({ ...good, id: '1' })).toContain('"id" is not a number')
    expect(refusal({ id: 1, type: 'INT8' })).toContain('"name" is missing')
    expect(refusal({ ...good, type: 'INT128' })).toContain('unknown type')
  })
})

describe('encodeColumnDefinition', () => {
  test('has the form that is stored for ever', () => {
    const definition: ColumnDefinition = {
      ...aColumnDefinition('price DECIMAL(12,2) NULL', 3),
      readDefault: 0n,
      writeDefault: 150n,
      encoding: 'BIT_SHUFFLE',
    }

    expect(encodeColumnDefinition(definition)).toEqual({
      id: 3,
      name: 'price',
      type: 'DECIMAL',
      precision: 12,
      scale: 2,
      isNullable: true,
      readDefault: '0.00',
      writeDefault: '1.50',
      encoding: 'BIT_SHUFFLE',
    })
    expect(encodeColumnDefinition(aColumnDefinition('k VARCHAR(7) KEY', 0))).toEqual({
      id: 0,
      name: 'k',
      type: 'VARCHAR',
      length: 7,
      isKey: true,
    })
  })
})

import { describe, expect, test } from 'vitest'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeCsv, shownRow } from '../../support/decode-rows.ts'
import { encoded } from '../../support/encode-rows.ts'

const SCHEMA = aSchema('k INT64 KEY', 's STRING NULL', 'd DOUBLE NULL')

describe('CsvDecoder', () => {
  test('reads in workerd what the encoder writes, in chunks of any size', () => {
    const rows = Array.from({ length: 300 }, (_, k) => {
      return [BigInt(k) * 10n ** 14n, k % 7 === 0 ? null : utf8Encode(`é,"${k}"\n`), k / 8]
    })
    const csv = utf8Encode(encoded('csv', SCHEMA.columns, rows))
    const names = SCHEMA.columns.map(({ name }) => name)
    const expected = rows.map((row) => shownRow(row.map((cell, i) => [names[i], cell])))

    for (const step of [1, 7, 4096]) {
      const cuts = Array.from({ length: Math.floor(csv.length / step) }, (_, i) => (i + 1) * step)
      const decoded = decodeCsv(SCHEMA, csv, { cuts })

      expect(decoded.failure).toBeNull()
      expect(decoded.rows.map(({ cells }) => shownRow(cells))).toEqual(expected)
    }
  })

  test('names in workerd the line at which a body is not UTF-8', () => {
    const body = Uint8Array.of(...utf8Encode('k,s\n1,a\n2,'), 0xff, 0x0a)

    expect(decodeCsv(SCHEMA, body).failure).toBe('line 3: not UTF-8')
  })
})

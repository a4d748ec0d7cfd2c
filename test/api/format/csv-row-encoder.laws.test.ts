import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeCsv, shownRow } from '../../support/decode-rows.ts'
import { encoded } from '../../support/encode-rows.ts'

const SCHEMA = aSchema('k INT32 KEY', 's STRING', 'naïve,"😀 STRING NULL')
const PIECES = [',', '"', '\n', '\r', '\r\n', '""', '\ufeff', '\0', ' ', '\t', 'a', 'é', '水', '😀']

function draw(prng: Prng): string {
  const length = prng.pick([0, 1, 1, 2, 3, 8])
  return Array.from({ length }, () => {
    const point = prng.below(0x110000)
    const isSurrogate = point >= 0xd800 && point < 0xe000
    return prng.chance(0.8) || isSurrogate ? prng.pick(PIECES) : String.fromCodePoint(point)
  }).join('')
}

describe('CsvRowEncoder', () => {
  test('writes texts of every kind so that our reader and another take them back', () => {
    for (let seed = 0; seed < 300; seed++) {
      const prng = new Prng(seed)
      const texts = Array.from({ length: prng.between(1, 12) }, () => {
        return [draw(prng), prng.chance(0.2) ? null : draw(prng)] as const
      })
      const rows = texts.map(([s, n], k) => [k, utf8Encode(s), n === null ? null : utf8Encode(n)])

      const csv = encoded('csv', SCHEMA.columns, rows)

      const message = `seed ${seed} ${JSON.stringify(csv)}`
      const { failure, problems, rows: got } = decodeCsv(SCHEMA, csv)
      expect({ failure, problems }, message).toEqual({ failure: null, problems: [] })
      const names = SCHEMA.columns.map(({ name }) => name)
      expect(
        got.map(({ cells }) => shownRow(cells)),
        message,
      ).toEqual(rows.map((row) => shownRow(row.map((cell, i) => [names[i], cell]))))
      const records: string[][] = parse(csv, { relaxColumnCount: false, recordDelimiter: '\n' })
      expect(records, message).toEqual([
        names,
        ...rows.map((row) =>
          row.map((cell) => (cell instanceof Uint8Array ? utf8Decode(cell) : `${cell ?? ''}`)),
        ),
      ])
    }
  })
})

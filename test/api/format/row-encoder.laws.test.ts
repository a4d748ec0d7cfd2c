import { describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import type { Column } from '../../../src/common/schema.ts'
import type { ValueOptions } from '../../../src/common/value-options.ts'
import { Prng } from '../../../src/util/prng.ts'
import { decodeCsv, decodeJson, decodeNdjson, shownRow } from '../../support/decode-rows.ts'
import { encoded } from '../../support/encode-rows.ts'
import { randomCell } from '../../support/random-cell.ts'
import { EVERY_TYPE } from '../../support/random-rows.ts'

const NULL_TEXTS = ['', '', 'NULL', '\\N', '0', 'a', 'é', ' ', '-1', 'NaN', 'true', '1970-01-01']

/** A cell that the options can write without loss. */
function cellFor(prng: Prng, column: Column, values: ValueOptions): Cell | null {
  if (!column.isKey && prng.chance(0.15)) return null
  const cell = randomCell(prng, column)
  const isCoarse = column.type === 'UNIXTIME_MICROS' && values.timestamps === 'millis'
  return isCoarse && typeof cell === 'bigint' ? (cell / 1_000_000n) * 1000n : cell
}

describe('createRowEncoder', () => {
  test('writes what the decoders read back, in every format and with all options', () => {
    const { columns } = EVERY_TYPE
    for (let seed = 0; seed < 80; seed++) {
      const prng = new Prng(seed)
      const values: ValueOptions = {
        int64: prng.pick(['number', 'string']),
        timestamps: prng.pick(['rfc3339', 'micros', 'millis']),
      }
      const nullText = prng.pick(NULL_TEXTS)
      const rows = Array.from({ length: prng.below(20) }, () => {
        return columns.map((column) => cellFor(prng, column, values))
      })
      const names = columns.map(({ name }) => name)
      const expected = rows.map((row) => shownRow(row.map((cell, index) => [names[index], cell])))

      const options = { ...values, nullText }
      const json = encoded('json', columns, rows, options)
      const ndjson = encoded('ndjson', columns, rows, options)
      const csv = encoded('csv', columns, rows, options)
      const decoded = {
        json: decodeJson(EVERY_TYPE, `{"rows":[${json}]}`, values),
        ndjson: decodeNdjson(EVERY_TYPE, ndjson, { values }),
        csv: decodeCsv(EVERY_TYPE, csv, { values, nullText }),
      }
      for (const [format, { rows: got, problems, failure }] of Object.entries(decoded)) {
        const message = `seed ${seed} ${format} ${JSON.stringify(options)}`
        expect({ problems, failure }, message).toEqual({ problems: [], failure: null })
        expect(
          got.map(({ cells }) => shownRow(cells)),
          message,
        ).toEqual(expected)
      }
      expect(JSON.parse(`[${json}]`)).toHaveLength(rows.length)
    }
  })
})

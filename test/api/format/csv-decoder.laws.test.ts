import { CsvError, parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/common/data-type.ts'
import { utf8Decode, utf8DecodeStrict, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import { decodeCsv, shownRow } from '../../support/decode-rows.ts'
import { plainCell } from '../../support/plain-value.ts'

const SCHEMA = aSchema('k STRING KEY', 'n INT32 NULL', 's STRING NULL')
const HEADER = 'k,n,s\n'

interface Field {
  readonly text: string
  readonly isQuoted: boolean
}

/** Records of a CSV text by an independent parser, or null when it is not CSV. */
function recordsOf(body: Uint8Array): Field[][] | null {
  if (utf8DecodeStrict(body) === undefined) return null
  try {
    return parse(Buffer.from(body), {
      cast: (text, { quoting }): Field => ({ text, isQuoted: quoting }),
      record_delimiter: ['\n', '\r\n'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as Field[][]
  } catch (error) {
    if (error instanceof CsvError) return null
    throw error
  }
}

/** A record's row, or null when it must be refused. */
function rowOf(record: readonly Field[]): string | null {
  if (record.length !== SCHEMA.columns.length) return null
  const cells: [string, Cell | null][] = []
  for (const [index, { text, isQuoted }] of record.entries()) {
    const column = SCHEMA.columns[index]
    const isNull = text === '' && !isQuoted
    const cell = isNull ? null : plainCell(column, 'text', text)
    if (cell === undefined || (isNull && column.isKey)) return null
    cells.push([column.name, cell])
  }
  return shownRow(cells)
}

const PIECES = ['"', '"', '""', ',', ',', '\n', '\r\n', '\r', 'a', '1', '-5', 'é', '😀', ' ', '']

function randomBody(prng: Prng): Uint8Array {
  const length = prng.below(30)
  const pieces = Array.from({ length }, () => {
    if (prng.chance(0.5)) return prng.pick(PIECES)
    const text = prng.pick(['x', 'y "" z', 'p,q', '\n', '', 'é'])
    const fields = [
      `"${text}"`,
      prng.pick(['', '7', '"8"', 'no']),
      prng.pick(['', 's', `"${text}"`]),
    ]
    return `${fields.join(',')}${prng.pick(['\n', '\r\n'])}`
  })
  const bytes = utf8Encode(HEADER + pieces.join(''))
  if (prng.chance(0.05)) bytes[prng.between(HEADER.length, bytes.length - 1)] = prng.below(256)
  return bytes
}

describe('CsvDecoder', () => {
  test('reads what an independent parser reads, and fails where that fails, in any pieces', () => {
    let failedCount = 0
    for (let seed = 0; seed < 1500; seed++) {
      const prng = new Prng(seed)
      const body = randomBody(prng)
      const records = recordsOf(body)
      const cuts = Array.from({ length: prng.pick([0, 1, 5, 40]) }, () =>
        prng.below(body.length + 1),
      )
      const { rows, problems, failure } = decodeCsv(SCHEMA, body, {
        cuts: cuts.sort((a, b) => a - b),
      })
      const got: (string | null)[] = []
      for (const { index, cells } of rows) got[index] = shownRow(cells)
      for (const [index] of problems) got[index] = null
      const message = `seed ${seed}: ${JSON.stringify(utf8Decode(body))} ${failure}`
      if (records === null) failedCount++

      expect(failure === null, message).toBe(records !== null)
      if (records !== null) expect(got, message).toEqual(records.slice(1).map(rowOf))
    }
    expect(failedCount).toBeGreaterThan(200)
    expect(failedCount).toBeLessThan(1300)
  })

  test('gives the same rows and the same failure wherever the body is cut', () => {
    for (let seed = 5000; seed < 5080; seed++) {
      const body = randomBody(new Prng(seed))
      const whole = decodeCsv(SCHEMA, body)
      const everywhere = Array.from(body, (_, index) => index)

      const message = `seed ${seed}: ${JSON.stringify(utf8Decode(body))}`
      expect(decodeCsv(SCHEMA, body, { cuts: everywhere }), message).toEqual(whole)
      const cut = new Prng(seed).below(body.length)
      expect(decodeCsv(SCHEMA, body, { cuts: [cut] }), `${message} cut at ${cut}`).toEqual(whole)
    }
  })
})

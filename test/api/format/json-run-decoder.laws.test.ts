import { describe, expect, test } from 'vitest'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aSchema } from '../../support/a-schema.ts'
import {
  type Decoded,
  decodeJson,
  decodeNdjson,
  type PlainDecodedRow,
} from '../../support/decode-rows.ts'

const SCHEMA = aSchema(
  'k INT32 KEY',
  'i INT8 NULL',
  'l INT64 NULL',
  'f FLOAT NULL',
  's STRING NULL',
  'b BOOL NULL',
  'd DECIMAL(9,2) NULL',
  't UNIXTIME_MICROS NULL',
)

// Values that a column can hold, and values that it cannot.
const GOOD: Readonly<Record<string, readonly string[]>> = {
  k: ['1', '-7', '2e1'],
  i: ['5', '-128', '1.0'],
  l: ['9007199254740993', '"12"', '0'],
  f: ['1', '0.1', '"NaN"'],
  s: ['"a"', '""', '"\\u00fc\\n"'],
  b: ['true', 'false'],
  d: ['"1.25"', '-3'],
  t: ['"2026-01-01T00:00:00Z"', '5'],
}
const BAD = ['[]', '{}', '"x"', '1e39', '"\\ud800"', '[{"k":1}]', '99999999999999999999']

function drawValue(prng: Prng, name: string): string {
  if (prng.chance(0.2)) return prng.pick(BAD)
  return prng.chance(0.1) ? 'null' : prng.pick(GOOD[name])
}

/** A row, most often with the members of the ones before, at times repeated, strange or missing. */
function drawRow(prng: Prng, names: readonly string[]): string {
  const isPlain = prng.chance(0.6)
  const members: string[] = []
  for (const name of names) {
    if (!isPlain && name !== 'k' && prng.chance(0.1)) continue
    const times = isPlain || prng.chance(0.6) ? 1 : prng.between(2, 4)
    for (let i = 0; i < times; i++) {
      const value = isPlain ? prng.pick(GOOD[name]) : drawValue(prng, name)
      const spelled =
        !isPlain && prng.chance(0.05) ? `\\u00${name.charCodeAt(0).toString(16)}` : name
      const at = !isPlain && prng.chance(0.2) ? prng.below(members.length + 1) : members.length
      members.splice(at, 0, `"${spelled}":${value}`)
    }
  }
  if (!isPlain && prng.chance(0.05)) members.push('"unknown":1')
  return `{${members.join(',')}}`
}

function drawLines(prng: Prng): string[] {
  const lines: string[] = []
  while (lines.length < 150) {
    const names = Object.keys(GOOD).filter((name) => name === 'k' || prng.chance(0.7))
    for (let rows = prng.between(1, 60); rows > 0; rows--) lines.push(drawRow(prng, names))
  }
  return lines
}

/** What each line comes to by itself, put together. */
function decodeApart(lines: readonly string[]): Pick<Decoded, 'rows' | 'problems'> {
  const rows: PlainDecodedRow[] = []
  const problems: Decoded['problems'][number][] = []
  lines.forEach((line, index) => {
    const alone = decodeNdjson(SCHEMA, line)
    rows.push(...alone.rows.map((row) => ({ ...row, index })))
    problems.push(...alone.problems.map(([, column, text]) => [index, column, text] as const))
  })
  return { rows, problems }
}

describe('JsonRunDecoder', () => {
  test.each(Array.from({ length: 40 }, (_, i) => 1000 + i))(
    'makes of every row what it would make of it alone (seed %i)',
    (seed) => {
      const lines = drawLines(new Prng(seed))
      const apart = decodeApart(lines)

      expect(decodeNdjson(SCHEMA, lines.join('\n'))).toMatchObject(apart)
      expect(decodeNdjson(SCHEMA, utf8Encode(`${lines.join('\r\n')}\r\n`))).toMatchObject(apart)
      expect(decodeJson(SCHEMA, `{"rows":[${lines.join(',')}]}`)).toMatchObject(apart)
      const entries = lines.map((line) => `{"operation":"INSERT","row":${line}}`)
      expect(decodeJson(SCHEMA, `{"operations":[${entries.join(',')}]}`)).toMatchObject(apart)
    },
  )

  test.each([15, 16, 17, 18, 33, 299])(
    'reads rows of a key and %i columns that come after many short ones',
    (columnCount) => {
      const names = Array.from({ length: columnCount }, (_, i) => `c${i}`)
      const schema = aSchema('k INT32 KEY', ...names.map((name) => `${name} INT32 NULL`))
      const rowOf = (k: number, columns: readonly string[]): [string, number][] => {
        return [['k', k], ...columns.map((name, i): [string, number] => [name, k + i])]
      }
      // A row in another order makes a scanner learn the short ones, and runs of them grow.
      const rows = [rowOf(0, ['c0']).reverse()]
      for (let k = 1; k < 1500; k++) {
        rows.push(rowOf(k, k > 700 && k % 2 === 1 ? names : ['c0']))
      }
      const lines = rows.map((row) => JSON.stringify(Object.fromEntries(row)))
      const expected = rows.map((row) => new Map(row))

      for (const decoded of [
        decodeNdjson(schema, lines.join('\n')),
        decodeJson(schema, `{"rows":[${lines.join(',')}]}`),
      ]) {
        expect(decoded.problems).toEqual([])
        const found = decoded.rows.map(
          ({ cells }) => new Map(cells.map(([n, c]) => [n, Number(c)])),
        )
        expect(found).toEqual(expected)
      }
    },
  )

  test.each([
    ['[]', '11'],
    ['{}', '11'],
    ['"x"', '11'],
    ['1e39', '11'],
    ['[],{}', '11'],
    ['[]', '11,12'],
    ['null', '11'],
    ['3', '11'],
  ])('goes on after a member that was %s and then %s', (first, last) => {
    const twice = [...first.split(','), ...last.split(',')].map((value) => `"f":${value}`).join(',')
    const lines = ['{"k":0,"f":1}', `{"k":1,${twice}}`]
    for (let k = 2; k < 200; k++) lines.push(`{"k":${k},"f":${k}}`)
    const { rows, problems } = decodeNdjson(SCHEMA, lines.join('\n'))

    expect(problems).toEqual([])
    const cells = rows.map((row) => row.cells.map(([name, cell]) => `${name}=${cell}`).join(' '))
    const expected = Array.from({ length: 200 }, (_, k) => `k=${k} f=${k}`)
    expected[0] = 'k=0 f=1'
    expected[1] = `k=1 f=${last.split(',').at(-1)}`
    expect(cells).toEqual(expected)
  })
})

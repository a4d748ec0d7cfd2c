import { beforeAll, describe, expect, test } from 'vitest'
import { aNewTable } from '../../support/a-table.ts'
import { LocalApp } from '../../support/local-app.ts'

const LAST = '\u{10ffff}'
const TEXTS = [
  '',
  'a',
  'a\u0000',
  'ab',
  'ab\u007f',
  'ab\u00ff',
  'abc',
  'b',
  'é',
  '\ud7ff',
  '\ue000',
  LAST,
  LAST + LAST,
  `a${LAST}`,
]
const BYTES = ['', '00', '61', '6162', '61ff', '61ffff', '62', 'fe', 'ff', 'ff00', 'ffff', 'ffffff']

interface Row {
  readonly t: string
  readonly b: string
  readonly v: string | null
  readonly w: string | null
}

function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/** Every text with every row of bytes as key; the same again, shortened, as other columns. */
function allRows(): Row[] {
  return TEXTS.flatMap((text, i) =>
    BYTES.map((bytes, j) => ({
      t: text,
      b: base64(bytes),
      v: (i + j) % 5 === 0 ? null : text.slice(0, 4),
      w: (i + j) % 7 === 0 ? null : base64(BYTES[(i * 5 + j) % BYTES.length]),
    })),
  )
}

/** Whether a value begins with a prefix, told in whole bytes. */
function begins(column: string, value: string | null, prefix: string): boolean {
  if (value === null) return false
  const encoding = column === 'b' || column === 'w' ? 'base64' : 'utf8'
  const bytes = Buffer.from(value, encoding)
  const start = Buffer.from(prefix, encoding)
  return bytes.subarray(0, start.length).equals(start)
}

function sorted(rows: readonly Row[]): Row[] {
  const key = (row: Row) => Buffer.from(row.t, 'utf8')
  const bytes = (row: Row) => Buffer.from(row.b, 'base64')
  return [...rows].sort(
    (x, y) => Buffer.compare(key(x), key(y)) || Buffer.compare(bytes(x), bytes(y)),
  )
}

const QUESTIONS = [
  ...TEXTS.flatMap((prefix) => [
    ['t', prefix],
    ['v', prefix],
  ]),
  ...BYTES.flatMap((prefix) => [
    ['b', base64(prefix)],
    ['w', base64(prefix)],
  ]),
  ['v', 'abcdefgh'],
] as [keyof Row, string][]

describe.each(['in memory', 'on disk'])('STARTS WITH, rows %s', (where) => {
  let app: LocalApp

  beforeAll(async () => {
    app = new LocalApp()
    const columns = ['t STRING KEY', 'b BINARY KEY', 'v VARCHAR(4) NULL', 'w BINARY NULL']
    app.makeTable(aNewTable('t', columns, 3))
    await app.must('POST', '/t/rows', { body: { rows: allRows() } })
    if (where === 'in memory') return
    for (const [tabletId, tablet] of app.service.tablets) {
      await tablet.maintain({ wire: 1, tabletId, op: 'FLUSH_MRS', requestId: 'r' })
    }
  })

  test.each(QUESTIONS)('column %s, prefix %j', async (column, prefix) => {
    const predicates = [{ column, op: 'STARTS WITH', value: prefix }]
    const expected = sorted(allRows().filter((row) => begins(column, row[column], prefix)))
    const scan = async (order: string) =>
      (await app.must('POST', '/t/scan', { body: { predicates, order } })).rows

    expect(await scan('ORDERED')).toEqual(expected)
    expect(await scan('DESCENDING')).toEqual([...expected].reverse())
    const { tokens } = await app.must('POST', '/t/scan_tokens', {
      body: { predicates, target_bytes: 300 },
    })
    const found: Row[] = []
    for (const { scan_token: token } of tokens) {
      found.push(...(await app.must('POST', '/t/scan', { body: { scan_token: token } })).rows)
    }
    expect(sorted(found)).toEqual(expected)
    const where = new URLSearchParams({
      where: `${column},starts with,"${prefix.replaceAll('"', '""')}"`,
    })
    const page = await app.must('GET', `/t/rows?order=ordered&${where}`)
    expect(page.rows).toEqual(expected)
  })
})

describe('a deletion by STARTS WITH', () => {
  test.each([
    ['t', `a${LAST}`],
    ['t', 'ab'],
    ['b', base64('ffff')],
    ['b', base64('61ff')],
    ['v', ''],
    ['w', base64('ff')],
  ] as [keyof Row, string][])(
    'deletes what begins so and nothing else: column %s, prefix %j',
    async (column, prefix) => {
      const app = new LocalApp()
      app.makeTable(
        aNewTable('t', ['t STRING KEY', 'b BINARY KEY', 'v VARCHAR(4) NULL', 'w BINARY NULL'], 3),
      )
      await app.must('POST', '/t/rows', { body: { rows: allRows() } })
      const predicates = [{ column, op: 'STARTS WITH', value: prefix }]
      const { deleted } = await app.must('POST', '/t/rows/delete', { body: { predicates } })
      const left = allRows().filter((row) => !begins(column, row[column], prefix))

      expect(deleted).toBe(allRows().length - left.length)
      expect(deleted).toBeGreaterThan(0)
      expect((await app.must('POST', '/t/scan', { body: { order: 'ORDERED' } })).rows).toEqual(
        sorted(left),
      )
    },
  )
})

import { describe, expect, test } from 'vitest'
import {
  anyNumberPredicate,
  equalityPredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  nonePredicate,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { decodePageToken, digestRequest } from '../../src/router/page-token.ts'
import { decodeScanToken, encodeScanToken, type ScanToken } from '../../src/router/scan-token.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn, aSchema } from '../support/a-schema.ts'
import { aTableEntry } from '../support/a-table-entry.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { COLUMN_TEXTS } from '../support/random-cell.ts'

const TABLE: TableEntry = {
  ...aTableEntry(aSchema('id INT64 KEY')),
  tokenSecret: '000102030405060708090a0b0c0d0e0f',
}
const TOKEN: ScanToken = {
  snapshot: 1_800_000_000_000_001,
  columnIds: [3, 0, 4_000_000_000],
  tabletId: 'tablet 7',
  spec: { predicates: [], lowerKey: Uint8Array.of(0, 255), upperKey: new Uint8Array(0) },
  order: 'DESCENDING',
  limit: 17,
  diff: null,
}

describe('scan tokens', () => {
  test.each([
    TOKEN,
    { ...TOKEN, columnIds: [] },
    { ...TOKEN, limit: Number.POSITIVE_INFINITY },
    { ...TOKEN, limit: 0 },
    { ...TOKEN, order: 'ORDERED' as const, diff: { from: 12, isDeletedName: 'ge"löscht' } },
  ])('come back as they were: %j', async (token) => {
    const text = await encodeScanToken(TABLE, token)

    expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(await decodeScanToken(TABLE, text)).toEqual(token)
  })

  test.each(COLUMN_TEXTS)('bring predicates on %s back to the bit', async (text) => {
    const prng = new Prng(7)
    const nullable = aColumn(`${text} NULL`)
    const cells = boundaryCells(nullable)
    const pick = () => prng.pick(cells)
    const predicates = [
      nonePredicate(nullable),
      isNullPredicate(nullable),
      isNotNullPredicate(nullable),
      anyNumberPredicate(nullable),
      inListPredicate(nullable, cells),
      ...cells.map((cell) => equalityPredicate(nullable, cell)),
      ...cells.flatMap((cell) => [
        rangePredicate(nullable, cell, null),
        rangePredicate(nullable, null, cell),
        rangePredicate(nullable, cell, pick()),
      ]),
    ]
    const token = { ...TOKEN, spec: { ...TOKEN.spec, predicates } }

    expect(await decodeScanToken(TABLE, await encodeScanToken(TABLE, token))).toEqual(token)
  })

  test('are of one table and its secret', async () => {
    const text = await encodeScanToken(TABLE, TOKEN)
    const others = [
      { ...TABLE, tokenSecret: 'ff0102030405060708090a0b0c0d0e0f' },
      { ...TABLE, id: 'f'.repeat(32) },
    ]
    for (const other of others) {
      await expect(decodeScanToken(other, text)).rejects.toThrow('this table')
    }
  })

  test('are no page tokens', async () => {
    const text = await encodeScanToken(TABLE, { ...TOKEN, tabletId: 'x'.repeat(100) })

    await expect(decodePageToken(TABLE, await digestRequest('{}'), text)).rejects.toThrow(
      'page_token is not one that this table gave out',
    )
  })

  test('cut short or with any bit turned are refused', async () => {
    const text = await encodeScanToken(TABLE, TOKEN)
    const changed = Array.from({ length: text.length }, (_, i) => {
      return `${text.slice(0, i)}${text[i] === 'A' ? 'B' : 'A'}${text.slice(i + 1)}`
    })
    for (const bad of ['', text.slice(0, -1), text.slice(4), `${text}AAAA`, ...changed]) {
      await expect(decodeScanToken(TABLE, bad)).rejects.toThrow('scan_token')
    }
  })
})

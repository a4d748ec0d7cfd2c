import { describe, expect, test } from 'vitest'
import type { TableEntry } from '../../src/common/table.ts'
import {
  decodePageToken,
  digestRequest,
  encodePageToken,
  type PageToken,
} from '../../src/router/page-token.ts'
import { aSchema } from '../support/a-schema.ts'
import { aTableEntry } from '../support/a-table-entry.ts'

const TABLE: TableEntry = {
  ...aTableEntry(aSchema('id INT64 KEY')),
  tokenSecret: '000102030405060708090a0b0c0d0e0f',
}
const TOKEN: PageToken = {
  snapshot: 1_800_000_000_000_001,
  columnIds: [3, 0, 4_000_000_000],
  owed: 17,
  partitionKeyStart: '00000002ff',
  afterKey: Uint8Array.of(0, 1, 255),
}

describe('page tokens', () => {
  test.each([
    TOKEN,
    { ...TOKEN, owed: Number.POSITIVE_INFINITY },
    { ...TOKEN, partitionKeyStart: null },
    { ...TOKEN, partitionKeyStart: '' },
    { ...TOKEN, afterKey: null },
    { ...TOKEN, afterKey: new Uint8Array(0) },
    { ...TOKEN, columnIds: [] },
  ])('come back as they were: %j', async (token) => {
    const digest = await digestRequest('{}')
    const text = await encodePageToken(TABLE, digest, token)

    expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(await decodePageToken(TABLE, digest, text)).toEqual(token)
  })

  test('show nothing of the secret, and need it', async () => {
    const digest = await digestRequest('{}')
    const text = await encodePageToken(TABLE, digest, TOKEN)
    const other = { ...TABLE, tokenSecret: 'ff0102030405060708090a0b0c0d0e0f' }

    await expect(decodePageToken(other, digest, text)).rejects.toThrow(
      'page_token is not one that this table gave out',
    )
  })

  test('are of one table, even if two have one secret', async () => {
    const digest = await digestRequest('{}')
    const text = await encodePageToken(TABLE, digest, TOKEN)
    const other = { ...TABLE, id: 'f'.repeat(32) }

    await expect(decodePageToken(other, digest, text)).rejects.toThrow('this table')
  })

  test('are of one request', async () => {
    const text = await encodePageToken(TABLE, await digestRequest('{"limit":1}'), TOKEN)
    const failure = decodePageToken(TABLE, await digestRequest('{"limit":2}'), text)

    await expect(failure).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('that are cut, padded or no tokens at all are refused', async () => {
    const digest = await digestRequest('{}')
    const text = await encodePageToken(TABLE, digest, TOKEN)

    for (const bad of ['', 'A', text.slice(1), text.slice(0, -2), `${text}==`, `${text}AA`, 'é']) {
      await expect(decodePageToken(TABLE, digest, bad)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    }
  })

  test('are opaque: equal places give equal tokens, and nothing else does', async () => {
    const digest = await digestRequest('{}')
    const texts = new Set<string>()
    for (let i = 0; i < 20; i++) {
      texts.add(await encodePageToken(TABLE, digest, { ...TOKEN, owed: i }))
    }

    expect(texts.size).toBe(20)
    expect(texts).toContain(await encodePageToken(TABLE, digest, { ...TOKEN, owed: 3 }))
  })
})

import { describe, expect, test } from 'vitest'
import { ROW_ERRORS } from '../../src/common/row-error.ts'
import { noCounts, ROW_OUTCOMES } from '../../src/tablet/row-outcome.ts'
import { decodeWalEntry, type WalEntry, WalEntryEncoder } from '../../src/tablet/wal-entry.ts'
import { fromHex, toHex } from '../../src/util/bytes.ts'

const GENERATION = 5

const ENTRY: WalEntry = {
  tableVersion: 7,
  timestamp: 1_764_547_200_000_001,
  rowCount: 4,
  counts: { ...noCounts(), inserted: 1, updated: 1, failed: 2, created: 1 },
  outcomes: Uint8Array.of(
    ROW_OUTCOMES.INSERT,
    ROW_ERRORS.NULL_NOT_ALLOWED,
    ROW_OUTCOMES.UPDATE,
    ROW_ERRORS.KEY_NOT_FOUND,
  ),
  errorColumnIds: Int32Array.of(0, 12, 0, -1),
  resultKey: { key: 'tübe', share: 3, digest: 'abc', isInternal: true },
  expiresAt: 1_764_547_230_000_000,
  block: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
}

// Version 1. These bytes are in storages out there: none of them may ever change.
const GOLDEN: readonly (readonly [offset: number, hex: string, meaning: string])[] = [
  [0, '4e574531', 'magic NWE1'],
  [4, '146a0fea', 'crc of what follows'],
  [8, '05000000', 'generation 5'],
  [12, '70000000', 'headerBytes 112'],
  [16, '08000000', 'blockBytes 8'],
  [20, '07000000', 'tableVersion 7'],
  [24, '01a00ba9d8440600', 'timestamp'],
  [32, '04000000', 'rowCount 4'],
  [36, '01000000', 'inserted 1'],
  [40, '00000000', 'upserted'],
  [44, '01000000', 'updated 1'],
  [48, '00000000', 'deleted'],
  [52, '00000000', 'ignored'],
  [56, '02000000', 'failed 2'],
  [60, '01000000', 'created 1'],
  [64, '00', 'outcomes differ'],
  [65, '03', 'has a key, made by the front'],
  [66, '0300', 'digestBytes 3'],
  [68, '03000000', 'share 3'],
  [72, '05000000', 'keyBytes 5'],
  [76, '00000000', 'zero'],
  [80, '8063d5aad8440600', 'expiresAt'],
  [88, '01150311', 'INSERT, NULL_NOT_ALLOWED, UPDATE, KEY_NOT_FOUND'],
  [92, '0c000000', 'column 12'],
  [96, 'ffffffff', 'no column'],
  [100, '74c3bc6265', 'key'],
  [105, '616263', 'digest'],
  [108, '00000000', 'padding'],
  [112, '0102030405060708', 'row block'],
]

describe('WAL entry, version 1', () => {
  const hex = GOLDEN.map(([, text]) => text).join('')

  test('is drawn without gaps', () => {
    let offset = 0
    for (const [start, text] of GOLDEN) {
      expect(start).toBe(offset)
      offset += text.length / 2
    }
  })

  test('is written byte for byte', () => {
    expect(toHex(new WalEntryEncoder().encode(ENTRY, GENERATION))).toBe(hex)
  })

  test('is read', () => {
    const decoded = decodeWalEntry(fromHex(hex), GENERATION, 'golden')

    expect(decoded).toEqual(ENTRY)
  })
})

import { describe, expect, test } from 'vitest'
import { ROW_ERRORS } from '../../src/common/row-error.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { noCounts, ROW_OUTCOMES } from '../../src/tablet/row-outcome.ts'
import {
  decodeWalEntry,
  uniformOutcome,
  type WalEntry,
  WalEntryEncoder,
} from '../../src/tablet/wal-entry.ts'

function anEntry(changes: Partial<WalEntry> = {}): WalEntry {
  return {
    tableVersion: 7,
    timestamp: 1_764_547_200_000_001,
    rowCount: 3,
    counts: { ...noCounts(), inserted: 3, created: 3 },
    outcomes: new Uint8Array(3).fill(ROW_OUTCOMES.INSERT),
    errorColumnIds: new Int32Array(3),
    resultKey: null,
    expiresAt: 0,
    block: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]),
    ...changes,
  }
}

function encoded(entry: WalEntry, generation = 5): Uint8Array {
  return new WalEntryEncoder().encode(entry, generation).slice()
}

const MIXED: Partial<WalEntry> = {
  rowCount: 4,
  counts: { ...noCounts(), inserted: 1, updated: 1, failed: 2, created: 1 },
  outcomes: Uint8Array.of(
    ROW_OUTCOMES.INSERT,
    ROW_ERRORS.NULL_NOT_ALLOWED,
    ROW_OUTCOMES.UPDATE,
    ROW_ERRORS.KEY_NOT_FOUND,
  ),
  errorColumnIds: Int32Array.of(0, 12, 0, -1),
  resultKey: { key: 'tabelle:käufer:42', share: 3, digest: 'abcdef', isInternal: true },
  expiresAt: 1_764_547_230_000_000,
}

describe('WalEntryEncoder', () => {
  test('writes a byte a row only when outcomes differ', () => {
    const rowCount = 1000
    const same = anEntry({ rowCount, outcomes: new Uint8Array(rowCount).fill(1) })
    const outcomes = same.outcomes.slice()
    outcomes[500] = ROW_OUTCOMES.REINSERT

    const longer = encoded({ ...same, outcomes }).length - encoded(same).length

    expect(longer).toBe(rowCount)
  })

  test('begins the block at a multiple of eight, whatever precedes it', () => {
    for (const key of ['', 'a', 'ab', 'abc', 'abcdefgh']) {
      const bytes = encoded(anEntry({ ...MIXED, resultKey: { ...MIXED.resultKey!, key } }))

      expect(new DataView(bytes.buffer).getUint32(12, true) % 8).toBe(0)
    }
  })

  test('leaves nothing of a longer entry in a shorter one', () => {
    const encoder = new WalEntryEncoder()
    encoder.encode(anEntry(MIXED), 5)
    const after = encoder.encode(anEntry(), 5).slice()

    expect(after).toEqual(encoded(anEntry()))
  })
})

describe('decodeWalEntry', () => {
  test('gives back what was encoded', () => {
    for (const entry of [anEntry(), anEntry(MIXED), anEntry({ block: new Uint8Array(0) })]) {
      const decoded = decodeWalEntry(encoded(entry), 5, 'here')

      expect({ ...decoded, errorColumnIds: [] }).toEqual({ ...entry, errorColumnIds: [] })
    }
    expect([...decodeWalEntry(encoded(anEntry(MIXED)), 5, 'here').errorColumnIds]).toEqual([
      0, 12, 0, -1,
    ])
  })

  test('finds every single bit that is turned over', () => {
    const bytes = encoded(anEntry(MIXED))
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice()
      damaged[bit >>> 3] ^= 1 << (bit & 7)

      expect(() => decodeWalEntry(damaged, 5, 'here')).toThrow(CorruptionError)
    }
  })

  test('finds an entry that is cut anywhere, and one with bytes too many', () => {
    const bytes = encoded(anEntry(MIXED))
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeWalEntry(bytes.slice(0, length), 5, 'here')).toThrow(CorruptionError)
    }
    const longer = new Uint8Array(bytes.length + 8)
    longer.set(bytes)
    expect(() => decodeWalEntry(longer, 5, 'here')).toThrow(CorruptionError)
  })

  test('refuses an entry of another generation and names where it lies', () => {
    expect(() => decodeWalEntry(encoded(anEntry(), 4), 5, 'WAL 5, row 9')).toThrow(
      'WAL 5, row 9: belongs to another generation',
    )
  })
})

describe('uniformOutcome', () => {
  test('is the outcome that all rows share, or zero', () => {
    expect(uniformOutcome(Uint8Array.of(3, 3, 1), 2)).toBe(3)
    expect(uniformOutcome(Uint8Array.of(3, 3, 1), 3)).toBe(0)
    expect(uniformOutcome(Uint8Array.of(3), 0)).toBe(0)
  })
})

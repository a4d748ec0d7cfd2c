import { describe, expect, test } from 'vitest'
import {
  FRONT_RESULT_BYTES_MAX,
  RESULT_BYTES_MAX,
  STORED_ROW_BYTES_MAX,
} from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { ResultCache } from '../../src/tablet/result-cache.ts'
import { NO_ROW_ERRORS, noCounts } from '../../src/tablet/row-outcome.ts'
import { decodeResults, encodeResults } from '../../src/tablet/stored-results.ts'
import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'

const NOW = 1_764_547_200_000_000

function aKey(key: string, changes: Partial<ResultKey> = {}): ResultKey {
  return { key, share: 2, digest: 'sha-ä', isInternal: false, ...changes }
}

function aResult(inserted: number, errorRows: readonly number[] = []): WriteResult {
  const errors = {
    rows: Uint32Array.from(errorRows),
    codes: Uint8Array.from(errorRows, (row) => 16 + (row % 4)),
    columnIds: Int32Array.from(errorRows, (row) => (row % 2 === 0 ? -1 : row)),
  }
  const counts = { ...noCounts(), inserted, created: inserted, failed: errorRows.length }
  return { ...counts, timestamp: inserted === 0 ? null : NOW + 5, errors, isReplayed: true }
}

function aCache(): ResultCache {
  const cache = new ResultCache()
  cache.remember(aKey('first 𝕂'), aResult(3, [1, 2, 70_000]), NOW + 10)
  cache.remember(aKey('expired'), aResult(1), NOW)
  cache.remember(aKey('refused'), aResult(0, [0]), NOW + 30)
  cache.remember(aKey('front', { isInternal: true, share: 2 ** 32 - 1 }), aResult(1), NOW + 20)
  return cache
}

describe('decodeResults', () => {
  test('gives back what has not expired, in order, and says until when that is', () => {
    const { bytes, until } = encodeResults(aCache(), NOW)

    expect(decodeResults(bytes)).toEqual([
      { key: aKey('first 𝕂'), result: aResult(3, [1, 2, 70_000]), expiresAt: NOW + 10 },
      { key: aKey('refused'), result: aResult(0, [0]), expiresAt: NOW + 30 },
      {
        key: aKey('front', { isInternal: true, share: 2 ** 32 - 1 }),
        result: aResult(1),
        expiresAt: NOW + 20,
      },
    ])
    expect(until).toBe(NOW + 30)
  })

  test('gives back nothing of nothing', () => {
    const { bytes, until } = encodeResults(new ResultCache(), NOW)

    expect(decodeResults(bytes)).toEqual([])
    expect(until).toBe(0)
  })

  test('finds every single bit that is turned over, and bytes that are missing', () => {
    const { bytes } = encodeResults(aCache(), NOW)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice()
      damaged[bit >>> 3] ^= 1 << (bit & 7)

      expect(() => decodeResults(damaged)).toThrow(CorruptionError)
    }
    for (const length of [0, 11, 12, bytes.length - 1]) {
      expect(() => decodeResults(bytes.slice(0, length))).toThrow(CorruptionError)
    }
  })
})

describe('encodeResults', () => {
  test.each([
    ['of three bytes a unit', '語'.repeat(1024), '語'.repeat(256), 0],
    ['short', 'k', 'd', 0],
    ['with many errors', 'k', 'd', 8192],
  ])('fits a stored row when both budgets are full of keys %s', (_, key, digest, errorCount) => {
    const cache = new ResultCache()
    const errors = {
      rows: new Uint32Array(errorCount),
      codes: new Uint8Array(errorCount),
      columnIds: new Int32Array(errorCount),
    }
    const result = { ...aResult(1), errors: errorCount === 0 ? NO_ROW_ERRORS : errors }
    for (const [isInternal, bytesMax] of [
      [false, RESULT_BYTES_MAX],
      [true, FRONT_RESULT_BYTES_MAX],
    ] as const) {
      const before = cache.bytes
      for (let i = 0; ; i++) {
        const named = { key: `${i}${key}`.slice(0, 1024), digest, share: i, isInternal }
        const held = cache.bytes
        cache.remember(named, result, NOW + 1)
        if (cache.bytes <= held || cache.bytes - before + (cache.bytes - held) > bytesMax) break
      }
    }

    expect(cache.bytes).toBeGreaterThan(RESULT_BYTES_MAX)
    expect(encodeResults(cache, NOW).bytes.length).toBeLessThanOrEqual(STORED_ROW_BYTES_MAX)
  })
})

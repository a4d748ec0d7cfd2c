import { describe, expect, test } from 'vitest'
import {
  FRONT_RESULT_BYTES_MAX,
  FRONT_RESULT_KEPT_MS,
  RESULT_BYTES_MAX,
  RESULT_KEPT_MS,
} from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { checkResultKey, ResultCache } from '../../src/tablet/result-cache.ts'
import { NO_ROW_ERRORS, noCounts } from '../../src/tablet/row-outcome.ts'
import type { ResultKey, WriteResult } from '../../src/tablet/tablet-request.ts'

const NOW = 1_000_000_000

function aKey(key: string, changes: Partial<ResultKey> = {}): ResultKey {
  return { key, share: 0, digest: 'd1', isInternal: false, ...changes }
}

function aResult(inserted: number): WriteResult {
  return { ...noCounts(), inserted, timestamp: NOW, errors: NO_ROW_ERRORS, isReplayed: true }
}

function aFailedResult(errorCount: number): WriteResult {
  const errors = {
    rows: new Uint32Array(errorCount),
    codes: new Uint8Array(errorCount),
    columnIds: new Int32Array(errorCount),
  }
  return { ...aResult(0), failed: errorCount, errors }
}

function keep(cache: ResultCache, key: ResultKey, result: WriteResult, now = NOW): void {
  cache.reserve(key, result.errors.rows.length, now)
  cache.remember(key, result, cache.expiryOf(key, now))
}

function codeOf(work: () => void): string {
  try {
    work()
  } catch (error) {
    if (error instanceof StatusError) return error.code
    throw error
  }
  return 'OK'
}

/** Remembers new keys until one is refused. Returns how many were taken. */
function fill(cache: ResultCache, isInternal: boolean, errorCount: number, limit: number): number {
  for (let count = 0; count < limit; count++) {
    const key = aKey(`key-${count}`, { isInternal })
    if (codeOf(() => keep(cache, key, aFailedResult(errorCount))) !== 'OK') return count
  }
  return limit
}

describe('ResultCache', () => {
  test('knows a result by key and share', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))
    keep(cache, aKey('a', { share: 1 }), aResult(2))

    expect(cache.find(aKey('a'), NOW)?.inserted).toBe(1)
    expect(cache.find(aKey('a', { share: 1 }), NOW)?.inserted).toBe(2)
    expect(cache.find(aKey('a', { share: 2 }), NOW)).toBeUndefined()
    expect(cache.find(aKey('b'), NOW)).toBeUndefined()
  })

  test('reads what is stored once, when asked for a result, and as older than its own', () => {
    let readCount = 0
    const stored = [
      { key: aKey('a'), result: aResult(1), expiresAt: NOW + 5 },
      { key: aKey('b'), result: aResult(2), expiresAt: NOW + 5 },
    ]
    const cache = new ResultCache(() => {
      readCount++
      return stored
    })
    cache.remember(aKey('b'), aResult(3), NOW + 9)
    cache.remember(aKey('c'), aResult(4), NOW + 9)
    expect(readCount).toBe(0)

    expect(cache.find(aKey('a'), NOW)?.inserted).toBe(1)
    expect(cache.find(aKey('b'), NOW)?.inserted).toBe(3)
    const names: string[] = []
    cache.forEach(({ key }) => {
      names.push(key)
    })
    expect(names).toEqual(['a', 'b', 'c'])
    expect(readCount).toBe(1)
    cache.checkInvariants()
  })

  test('goes on when what is stored could not be read, and reads it the next time', () => {
    let isDamaged = true
    const cache = new ResultCache(() => {
      if (isDamaged) throw new StatusError('CORRUPTION', 'damaged')
      return [{ key: aKey('a'), result: aResult(1), expiresAt: NOW + 5 }]
    })
    cache.remember(aKey('c'), aResult(4), NOW + 9)

    expect(codeOf(() => cache.find(aKey('c'), NOW))).toBe('CORRUPTION')
    isDamaged = false
    expect(cache.find(aKey('a'), NOW)?.inserted).toBe(1)
    expect(cache.find(aKey('c'), NOW)?.inserted).toBe(4)
  })

  test('tells apart a key and share that read alike when joined', () => {
    const cache = new ResultCache()
    keep(cache, aKey('1:a', { share: 1 }), aResult(1))

    expect(cache.find(aKey('a', { share: 11 }), NOW)).toBeUndefined()
    expect(cache.find(aKey('1:1:a', { share: 0 }), NOW)).toBeUndefined()
  })

  test('refuses a known key with another digest', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))

    expect(codeOf(() => cache.find(aKey('a', { digest: 'd2' }), NOW))).toBe('INVALID_ARGUMENT')
  })

  test('keeps the keys of clients and of fronts apart', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))

    expect(cache.find(aKey('a', { isInternal: true }), NOW)).toBeUndefined()
  })

  test('forgets a client key after ten minutes and not before', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))
    const expiresAt = NOW + RESULT_KEPT_MS * 1000

    expect(cache.find(aKey('a'), expiresAt - 1)?.inserted).toBe(1)
    expect(cache.find(aKey('a', { digest: 'another' }), expiresAt)).toBeUndefined()
    expect(cache.count).toBe(0)
    cache.checkInvariants()
  })

  test('forgets a front key after thirty seconds and not before', () => {
    const cache = new ResultCache()
    const key = aKey('a', { isInternal: true })
    keep(cache, key, aResult(1))

    expect(cache.find(key, NOW + FRONT_RESULT_KEPT_MS * 1000 - 1)).toBeDefined()
    expect(cache.find(key, NOW + FRONT_RESULT_KEPT_MS * 1000)).toBeUndefined()
  })

  test('refuses client keys beyond its budget and keeps every one it took', () => {
    const cache = new ResultCache()
    const taken = fill(cache, false, 1000, 1000)

    expect(taken).toBeGreaterThan(50)
    expect(taken).toBeLessThan(1000)
    expect(cache.bytes).toBeLessThanOrEqual(RESULT_BYTES_MAX)
    expect(codeOf(() => cache.reserve(aKey('one more'), 1000, NOW))).toBe('THROTTLED')
    for (let i = 0; i < taken; i++) expect(cache.find(aKey(`key-${i}`), NOW)).toBeDefined()
    cache.checkInvariants()
  })

  test('takes client keys again once the oldest have expired', () => {
    const cache = new ResultCache()
    const taken = fill(cache, false, 1000, 1000)
    const later = NOW + RESULT_KEPT_MS * 1000

    expect(codeOf(() => cache.reserve(aKey('later'), 1000, later))).toBe('OK')
    expect(cache.count).toBe(taken - 1)
  })

  test('forgets the oldest front keys to make room, and no client key', () => {
    const cache = new ResultCache()
    keep(cache, aKey('of a client'), aResult(1))
    const taken = fill(cache, true, 1000, 200)

    expect(taken).toBe(200)
    expect(cache.find(aKey('key-0', { isInternal: true }), NOW)).toBeUndefined()
    expect(cache.find(aKey('key-199', { isInternal: true }), NOW)).toBeDefined()
    expect(cache.find(aKey('of a client'), NOW)).toBeDefined()
    expect(cache.bytes).toBeLessThanOrEqual(FRONT_RESULT_BYTES_MAX + 1000)
    cache.checkInvariants()
  })

  test('holds a result that is remembered twice once', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))
    const bytes = cache.bytes
    keep(cache, aKey('a'), aResult(2))

    expect(cache.bytes).toBe(bytes)
    expect(cache.count).toBe(1)
    cache.checkInvariants()
  })
})

describe('a result that takes the place of another', () => {
  test('is taken where that one is, and then is the one', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))
    const next = aKey('a', { digest: 'd2', replaces: 'd1' })

    expect(cache.find(next, NOW)).toBeUndefined()
    keep(cache, next, aResult(2))
    expect(cache.find(next, NOW)?.inserted).toBe(2)
    expect(cache.peek({ key: 'a', share: 0, isInternal: false }, NOW)?.key).toEqual(
      aKey('a', { digest: 'd2' }),
    )
    expect(cache.count).toBe(1)
    cache.checkInvariants()
  })

  test('is ABORTED where another stands, and taken where none does', () => {
    const cache = new ResultCache()
    const next = aKey('a', { digest: 'd3', replaces: 'd2' })

    expect(cache.find(next, NOW)).toBeUndefined()
    keep(cache, aKey('a'), aResult(1))
    expect(codeOf(() => cache.find(next, NOW))).toBe('ABORTED')
    expect(codeOf(() => cache.find(aKey('a', { digest: 'd3' }), NOW))).toBe('INVALID_ARGUMENT')
  })

  test('is not seen once it expired', () => {
    const cache = new ResultCache()
    keep(cache, aKey('a'), aResult(1))
    const name = { key: 'a', share: 0, isInternal: false }

    expect(cache.peek(name, NOW + RESULT_KEPT_MS * 1000 - 1)).toBeDefined()
    expect(cache.peek(name, NOW + RESULT_KEPT_MS * 1000)).toBeUndefined()
    expect(cache.peek({ ...name, isInternal: true }, NOW)).toBeUndefined()
  })
})

describe('checkResultKey', () => {
  test('refuses keys that the WAL could not give back', () => {
    expect(codeOf(() => checkResultKey(aKey('k'.repeat(1024))))).toBe('OK')
    expect(codeOf(() => checkResultKey(aKey('k'.repeat(1025))))).toBe('INVALID_ARGUMENT')
    expect(codeOf(() => checkResultKey(aKey('k', { digest: 'd'.repeat(257) })))).toBe(
      'INVALID_ARGUMENT',
    )
    expect(codeOf(() => checkResultKey(aKey('\ud800')))).toBe('INVALID_ARGUMENT')
    for (const share of [-1, 0.5, 2 ** 32, Number.NaN]) {
      expect(codeOf(() => checkResultKey(aKey('k', { share })))).toBe('INVALID_ARGUMENT')
    }
    expect(codeOf(() => checkResultKey(aKey('k', { share: 2 ** 32 - 1 })))).toBe('OK')
  })
})

import { describe, expect, test } from 'vitest'
import { deletionDigest, deletionMarkOf } from '../../src/server/deletion-mark.ts'
import { NO_ROW_ERRORS, noCounts } from '../../src/tablet/row-outcome.ts'

const RESULT = { ...noCounts(), timestamp: null, errors: NO_ROW_ERRORS, isReplayed: true }
const BEFORE = { shareCount: 3, deletedCount: 10, timestamp: 500 }

function stored(digest: string, deleted = 0, timestamp: number | null = null) {
  const key = { key: 'k', share: 0, digest, isInternal: false }
  return { key, result: { ...RESULT, deleted, timestamp }, expiresAt: 1 }
}

describe('deletion marks', () => {
  test('add what their share did to what was done before', () => {
    const mark = { request: 'ab', snapshot: 400, progress: BEFORE, isEnd: false }
    const digest = deletionDigest(mark)

    expect(deletionMarkOf(stored(digest, 7, 600))).toEqual({
      ...mark,
      progress: { shareCount: 3, deletedCount: 17, timestamp: 600 },
    })
    expect(deletionMarkOf(stored(digest))).toEqual(mark)
  })

  test('tell the end of a deletion that found nothing', () => {
    const progress = { shareCount: 1, deletedCount: 0, timestamp: null }
    const mark = { request: 'ab', snapshot: 400, progress, isEnd: true }

    expect(deletionMarkOf(stored(deletionDigest(mark)))).toEqual(mark)
  })

  test('fit the room for digests at their longest', () => {
    const most = Number.MAX_SAFE_INTEGER
    const progress = { shareCount: most, deletedCount: most, timestamp: most }
    const mark = { request: 'f'.repeat(64), snapshot: most, progress, isEnd: true }

    expect(deletionDigest(mark).length).toBeLessThanOrEqual(256)
  })

  test('are no digests of writes', () => {
    expect(deletionMarkOf(stored('0123456789abcdef'))).toBeNull()
    expect(deletionMarkOf(stored(''))).toBeNull()
  })
})

import { describe, expect, test } from 'vitest'
import { sortFiles } from '../../src/tablet/storage-change.ts'

describe('sortFiles', () => {
  // used    3 ─────── 5
  // held         4         6 (a scan, a writer)
  // neither 2              7
  test('drops what nobody uses or holds, and makes orphans of what somebody holds', () => {
    const held = new Set([3, 4, 6])
    const files = [7, 6, 6, 5, 4, 3, 2, 2]

    const { dropped, orphans } = sortFiles(files, new Set([3, 5]), (file) => held.has(file))

    expect([...dropped].sort()).toEqual([2, 7])
    expect(orphans).toEqual([4, 6])
  })
})

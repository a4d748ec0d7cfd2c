/**
 * What a tablet remembers of a deletion with each share of it: the digest of the share's result
 * key, which takes the place of the one before. So one remembered result tells all.
 *
 *   digest of the request . snapshot . shares . rows deleted before . newest op before . more | end
 */

import type { Timestamp } from '../common/hybrid-clock.ts'
import type { StoredResult } from '../tablet/result-cache.ts'
import type { DeletionProgress } from '../wire/tablet-protocol.ts'

/** How far a deletion was once its last share was written. */
export interface DeletionMark {
  /** Digest of the request. */
  readonly request: string
  readonly snapshot: Timestamp
  readonly progress: DeletionProgress
  /** Whether that share was the last one. */
  readonly isEnd: boolean
}

/** The digest of a share that is written when `mark` is true but for what the share itself does. */
export function deletionDigest({ request, snapshot, progress, isEnd }: DeletionMark): string {
  const { shareCount, deletedCount, timestamp } = progress
  return [
    request,
    snapshot,
    shareCount,
    deletedCount,
    timestamp ?? '',
    isEnd ? 'end' : 'more',
  ].join('.')
}

/**
 * What the remembered result of a share says, the share itself included. Returns: null when it is
 * not one of a deletion.
 */
export function deletionMarkOf({ key, result }: StoredResult): DeletionMark | null {
  const fields = key.digest.split('.')
  if (fields.length !== 6) return null
  const [request, snapshot, shareCount, deletedCount, timestamp, last] = fields
  const before = timestamp === '' ? null : Number(timestamp)
  return {
    request,
    snapshot: Number(snapshot),
    progress: {
      shareCount: Number(shareCount),
      deletedCount: Number(deletedCount) + result.deleted,
      timestamp: result.timestamp ?? before,
    },
    isEnd: last === 'end',
  }
}

/** What a directory says of the pages of keys: where they lie, and where each begins. */

import { KEY_BYTES_MAX } from '../common/limits.ts'
import { type ByteArena, KeyArena } from '../util/arena.ts'
import { appendPageList, type PageList, readPageList } from './page-list.ts'
import { appendVarint, type VarintReader } from './varint.ts'

/**
 * Keys of a rowset, ascending. Separator `i` is above every key of page `i − 1` and at or below
 * every key of page `i`; separator 0 is empty.
 */
export interface KeyFileMeta {
  readonly pages: PageList
  readonly separators: KeyArena
}

/** Appends the stored form: each separator without the bytes it shares with the one before. */
export function appendKeyFileMeta(target: ByteArena, { pages, separators }: KeyFileMeta): void {
  appendPageList(target, pages)
  const { bytes, ends } = separators
  let before = 0
  let beforeEnd = 0
  for (let i = 0; i < separators.count; i++) {
    const start = beforeEnd
    const end = ends[i]
    const sharedMax = Math.min(beforeEnd - before, end - start)
    let shared = 0
    while (shared < sharedMax && bytes[before + shared] === bytes[start + shared]) shared++
    appendVarint(target, shared)
    appendVarint(target, end - start - shared)
    target.append(bytes, start + shared, end)
    before = start
    beforeEnd = end
  }
}

/** Reads what `appendKeyFileMeta` wrote. Throws: CORRUPTION. */
export function readKeyFileMeta(reader: VarintReader): KeyFileMeta {
  const pages = readPageList(reader)
  const count = pages.rowEnds.length
  const separators = new KeyArena(count, count * 16)
  for (let i = 0; i < count; i++) {
    const before = i === 0 ? 0 : separators.start(i - 1)
    const shared = reader.nextUpTo(separators.length - before)
    const rest = reader.nextUpTo(KEY_BYTES_MAX)
    // A copy: appending may move the bytes it is appended from.
    const prefix = separators.bytes.slice(before, before + shared)
    separators.append(prefix, 0, shared)
    separators.append(reader.take(rest), 0, rest)
    separators.endKey()
  }
  separators.trim()
  return { pages, separators }
}

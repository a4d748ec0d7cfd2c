/** What is in the storage of a simulated tablet, and what its superblock leads to. */

import { type BlockSize, decodeBlocks } from '../../src/tablet/disk/directory.ts'
import type { DiskRowSet } from '../../src/tablet/disk/disk-row-set.ts'
import { filesOf, type RowSetMeta } from '../../src/tablet/disk/row-set-meta.ts'
import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import { assert } from '../../src/util/assert.ts'
import type { MemoryTabletStore } from '../support/memory-tablet-store.ts'

/** Blocks of bases never change, and so are found out once. */
const baseBlocks = new WeakMap<RowSetMeta, readonly BlockSize[]>()

/** Asserts that every file is a rowset's or a known orphan, and that those of rowsets are there. */
export function checkFiles(parts: TabletParts, store: MemoryTabletStore): void {
  const used = usedFiles(parts)
  const stored = new Set(store.files())
  for (const file of stored) {
    const isKnown = used.has(file) || parts.orphanFiles.includes(file)
    assert(isKnown, 'a file is in the storage that the superblock does not lead to')
  }
  for (const file of used) assert(stored.has(file), 'a file of a rowset is not in the storage')
}

/** Asserts that every block that rowsets name is there, as long as it is said to be. */
export function checkBlocks(parts: TabletParts, store: MemoryTabletStore): void {
  const stored = new Map<number, ReadonlyMap<number, number>>()
  for (const file of store.files()) {
    const sizes = store.blocks(file).map(({ block, bytes }) => [block, bytes] as const)
    stored.set(file, new Map(sizes))
  }
  for (const rowSet of parts.rowSets) {
    for (const { file, block, bytes } of blocksOfBase(rowSet)) {
      assert(stored.get(file)?.get(block) === bytes, 'a block of a base is as its directory says')
    }
    for (const { file, firstBlock, firstOrdinals } of [
      ...rowSet.meta.undos,
      ...rowSet.meta.redos,
    ]) {
      for (let i = 0; i < firstOrdinals.length; i++) {
        assert(stored.get(file)?.has(firstBlock + i) === true, 'a block of deltas is there')
      }
    }
  }
}

/**
 * Asserts that nothing is stored but what the superblock leads to. Requires: garbage was collected
 * just now, no scan is open and no op is under way.
 */
export function checkNoGarbage(parts: TabletParts, store: MemoryTabletStore): void {
  assert(parts.orphanFiles.length === 0, 'orphans are left after garbage was collected')
  const used = usedFiles(parts)
  for (const file of store.files()) assert(used.has(file), 'a file that nobody needs is left')
  if (parts.oldestAnchor !== null) return
  assert(parts.wal.rowCount === 0, 'WAL is left of which everything is in files')
}

function usedFiles({ rowSets }: TabletParts): Set<number> {
  return new Set(rowSets.flatMap(({ meta }) => filesOf(meta)))
}

function blocksOfBase({ meta, base }: DiskRowSet): readonly BlockSize[] {
  const known = baseBlocks.get(meta)
  if (known !== undefined) return known
  const { directory } = base
  const found = [...decodeBlocks(directory), ...directory.ownBlocks]
  baseBlocks.set(meta, found)
  return found
}

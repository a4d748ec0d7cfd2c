/** What is in the storage of a simulated tablet, and what its superblock leads to. */

import { type BlockSize, decodeBlocks } from '../../src/tablet/disk/directory.ts'
import type { DiskRowSet } from '../../src/tablet/disk/disk-row-set.ts'
import { filesOf, type RowSetMeta } from '../../src/tablet/disk/row-set-meta.ts'
import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import { assert } from '../../src/util/assert.ts'
import { bitmapBytes } from '../../src/util/bitmap.ts'
import type { MemoryTabletStore } from '../support/memory-tablet-store.ts'

/** Blocks of bases never change, and so are found out once. */
const baseBlocks = new WeakMap<RowSetMeta, readonly BlockSize[]>()

/** See the file's header. */
export class SimSpace {
  /** Blocks that a base had at some time, by their names. */
  readonly #known = new Map<string, BlockSize>()
  /** Blocks that a scan held when their base was done with them: some are never deleted. */
  readonly #excused = new Set<string>()
  /** The storage that they are in: after a crash numbers are given out again. */
  #store: MemoryTabletStore | null = null

  /**
   * Asserts that every block that rowsets name is there, as long as it is said to be, and that
   * those that a base did away with are gone.
   */
  check(parts: TabletParts, store: MemoryTabletStore, hasOpenScans: boolean): void {
    checkFiles(parts, store)
    if (store !== this.#store) {
      this.#known.clear()
      this.#excused.clear()
      this.#store = store
    }
    const sizes = storedSizes(store)
    const named = new Set<string>()
    for (const rowSet of parts.rowSets) {
      for (const size of blocksOfBase(rowSet)) {
        const name = `${size.file} ${size.block}`
        const isThere = sizes.get(size.file)?.get(size.block) === size.bytes
        assert(isThere, 'a block of a base is as its directory says')
        named.add(name)
        this.#known.set(name, size)
      }
      checkDeltaBlocks(rowSet, sizes)
    }
    this.#checkReplaced(parts, sizes, named, hasOpenScans)
  }

  #checkReplaced(
    parts: TabletParts,
    sizes: StoredSizes,
    named: ReadonlySet<string>,
    hasOpenScans: boolean,
  ): void {
    const bases = new Set(parts.rowSets.flatMap(({ meta }) => meta.baseFiles))
    for (const [name, { file, block }] of this.#known) {
      if (named.has(name) || !bases.has(file) || sizes.get(file)?.has(block) !== true) continue
      if (hasOpenScans) this.#excused.add(name)
      assert(this.#excused.has(name), 'a block that a base does without is left')
    }
  }
}

/** Asserts that every file is a rowset's or a known orphan, and that those of rowsets are there. */
function checkFiles(parts: TabletParts, store: MemoryTabletStore): void {
  const used = usedFiles(parts)
  const stored = new Set(store.files())
  for (const file of stored) {
    const isKnown = used.has(file) || parts.orphanFiles.includes(file)
    assert(isKnown, 'a file is in the storage that the superblock does not lead to')
  }
  for (const file of used) assert(stored.has(file), 'a file of a rowset is not in the storage')
}

function checkDeltaBlocks({ meta }: DiskRowSet, sizes: StoredSizes): void {
  for (const { file, firstBlock, firstOrdinals } of [...meta.undos, ...meta.redos]) {
    for (let i = 0; i < firstOrdinals.length; i++) {
      assert(sizes.get(file)?.has(firstBlock + i) === true, 'a block of deltas is there')
    }
  }
}

/** Bytes of each block, by file and block. */
type StoredSizes = ReadonlyMap<number, ReadonlyMap<number, number>>

function storedSizes(store: MemoryTabletStore): StoredSizes {
  const sizes = new Map<number, ReadonlyMap<number, number>>()
  for (const file of store.files()) {
    sizes.set(file, new Map(store.blocks(file).map(({ block, bytes }) => [block, bytes])))
  }
  return sizes
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

/**
 * Asserts that no more memory is accounted for than stores hold. Requires: no scan is open and no
 * op is under way.
 */
export function checkHeldBytes(parts: TabletParts): void {
  const { memRowSet, frozen, results, rowSets } = parts
  let bytes = memRowSet.heldBytes + results.bytes + (frozen?.memRowSet.heldBytes ?? 0)
  let bitmaps = 0
  for (const { memStores, rowCount } of rowSets) {
    for (const { heldBytes } of memStores) bytes += heldBytes
    bitmaps += bitmapBytes(rowCount)
  }
  assert(parts.heldBytes >= bytes, 'stores hold more than is accounted for')
  assert(parts.heldBytes <= bytes + bitmaps, 'more is accounted for than stores hold')
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

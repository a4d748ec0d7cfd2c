/**
 * Rows by their primary keys.
 *
 * A lookup goes from rowset to rowset with the keys that no one before knew, a few keys at a time,
 * so that what it holds is bounded however large the rows are.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { RowBlock } from '../../common/row-block.ts'
import { RowBlockBuilder } from '../../common/row-block-builder.ts'
import type { Column, Schema } from '../../common/schema.ts'
import type { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes } from '../../util/bytes.ts'
import type { RowSetTree } from '../disk/row-set-tree.ts'
import type { KeyBounds, RowProjection, RowSet } from '../row-set.ts'

/** Keys looked up between two looks at the size of the rows found. */
const STEP_KEY_COUNT = 16

/** A lookup on its way through the rowsets of a tablet. */
export class KeyLookup implements RowProjection {
  readonly columns: readonly Column[]
  readonly snapshot: Timestamp
  readonly keys: KeyArena
  readonly hashes: Uint32Array
  /** Keys that are still sought: indexes `pending[0, pendingCount)`. */
  readonly pending: Uint32Array = new Uint32Array(STEP_KEY_COUNT)
  pendingCount = 0
  /** Rows found; `keyIndexes[i]` is the key of row i. */
  readonly rows: RowBlockBuilder
  readonly keyIndexes: Uint32Array
  /** Scratch of the rowset that is asked: a number for each key. */
  readonly places: Int32Array

  constructor(
    columns: readonly Column[],
    snapshot: Timestamp,
    keys: KeyArena,
    hashes: Uint32Array,
    keyCount: number,
  ) {
    assert(hashes.length >= keys.count, 'every key has a hash')
    this.columns = columns
    this.snapshot = snapshot
    this.keys = keys
    this.hashes = hashes
    this.rows = new RowBlockBuilder(columns, false, Math.min(keyCount, STEP_KEY_COUNT))
    this.keyIndexes = new Uint32Array(keyCount)
    this.places = new Int32Array(keys.count)
  }

  /** Adds the next row found to `keyIndexes`, before its cells are appended. */
  note(key: number): void {
    this.keyIndexes[this.rows.rowCount++] = key
  }

  /** Puts the pending keys in ascending order. */
  sortPending(): void {
    const { pending } = this
    for (let i = 1; i < this.pendingCount; i++) {
      const key = pending[i]
      let at = i
      while (at > 0 && this.#compare(pending[at - 1], key) > 0) {
        pending[at] = pending[at - 1]
        at--
      }
      pending[at] = key
    }
  }

  #compare(a: number, b: number): number {
    const { bytes, ends } = this.keys
    return compareBytes(bytes, this.keys.start(a), ends[a], bytes, this.keys.start(b), ends[b])
  }
}

/** A rowset that says where its keys lie without being read. */
type BoundedRowSet = RowSet & KeyBounds

/** What to look up. */
export interface LookupOptions {
  /** Those that are asked for every key: in memory. Newest first is fastest. */
  readonly rowSets: readonly RowSet[]
  /** Those on disk, asked for the keys that none of the others shows. */
  readonly tree?: RowSetTree<BoundedRowSet>
  readonly schema: Schema
  /** Columns of the result; none to ask only which keys are there. */
  readonly columnIds: readonly number[]
  readonly snapshot: Timestamp
  /** Encoded keys; one may come more than once. */
  readonly keys: KeyArena
  /** Their hashes, by the seed of the rowsets. */
  readonly hashes: Uint32Array
  /** First key to look up. */
  readonly keyStart: number
  /** Ends the lookup soon after its rows take more than this. */
  readonly bytesMax: number
}

/** What was found. */
export interface LookupResult {
  readonly block: RowBlock
  /** The index of each row's key: in steps of a few keys ascending, within one in any order. */
  readonly keyIndexes: Uint32Array
  /**
   * Keys from `keyStart` to here were looked up: all of them, unless the rows were too many bytes.
   */
  readonly keyEnd: number
}

/**
 * Looks rows up by key, as of a snapshot. Keys that no rowset shows have no row in the result.
 * Throws: CORRUPTION.
 */
export function lookupRows(options: LookupOptions): LookupResult {
  const { keys, schema, keyStart, tree } = options
  const columns = options.columnIds.map((id) => schema.mustById(id))
  const keyCount = keys.count - keyStart
  const lookup = new KeyLookup(columns, options.snapshot, keys, options.hashes, keyCount)
  let keyEnd = keyStart
  while (keyEnd < keys.count && lookup.rows.usedBytes <= options.bytesMax) {
    const end = Math.min(keys.count, keyEnd + STEP_KEY_COUNT)
    for (let i = keyEnd; i < end; i++) lookup.pending[i - keyEnd] = i
    lookup.pendingCount = end - keyEnd
    askAll(lookup, options.rowSets)
    if (tree !== undefined && lookup.pendingCount > 0) {
      lookup.sortPending()
      askAll(lookup, rowSetsFor(lookup, tree))
    }
    keyEnd = end
  }
  const block = lookup.rows.view()
  return { block, keyIndexes: lookup.keyIndexes.subarray(0, block.rowCount), keyEnd }
}

function askAll(lookup: KeyLookup, rowSets: readonly RowSet[]): void {
  for (let i = 0; i < rowSets.length && lookup.pendingCount > 0; i++) {
    rowSets[i].lookupRows(lookup)
  }
}

/** Those that can have one of the pending keys. */
function rowSetsFor(lookup: KeyLookup, tree: RowSetTree<BoundedRowSet>): readonly RowSet[] {
  const found: RowSet[] = []
  tree.candidates(lookup.keys, lookup.pending, lookup.pendingCount, (rowSet) => {
    found.push(rowSet)
  })
  return found
}

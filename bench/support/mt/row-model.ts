/**
 * The rows that a tablet should have. What each row is follows from its key, how often it was
 * written whole (its version) and how often it was counted up since it was born.
 *
 *   key INT64 key | val INT32: of key and version | update_count INT32 | note STRING: of the count,
 *   null every third time
 */

import type { RowBlock } from '../../../src/common/row-block.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { benchSchema } from '../bench-schema.ts'

/** Its table. */
export const MT_SCHEMA = benchSchema([
  { name: 'key', type: 'INT64', isKey: true },
  { name: 'val', type: 'INT32' },
  { name: 'update_count', type: 'INT32' },
  { name: 'note', type: 'STRING', isNullable: true },
])

/** Operations that writers use. */
export type MtOperation = 'INSERT' | 'UPDATE' | 'UPSERT' | 'DELETE'

const ABSENT = -1

/** All rows at a moment. */
export interface RowsAt {
  /** By key: how often the row was counted up, or −1 when it is not there. */
  readonly counts: Int32Array
  readonly versions: Int32Array
  readonly liveCount: number
  readonly countSum: number
}

/** See the file's header. */
export class RowModel implements RowsAt {
  readonly counts: Int32Array
  readonly versions: Int32Array
  liveCount = 0
  countSum = 0

  constructor(keyCount: number) {
    this.counts = new Int32Array(keyCount).fill(ABSENT)
    this.versions = new Int32Array(keyCount)
  }

  /** What it is now, to be kept. */
  copy(): RowsAt {
    const { counts, versions, liveCount, countSum } = this
    return { counts: counts.slice(), versions: versions.slice(), liveCount, countSum }
  }

  /** Does what a row of an op does. Returns: whether it is applied; it fails otherwise. */
  apply(operation: MtOperation, key: number): boolean {
    const isLive = this.counts[key] !== ABSENT
    if (operation === 'UPSERT') {
      if (isLive) this.#remove(key)
      this.#add(key)
      return true
    }
    if (isLive !== (operation !== 'INSERT')) return false
    if (operation === 'INSERT') this.#add(key)
    else if (operation === 'DELETE') this.#remove(key)
    else {
      this.counts[key]++
      this.countSum++
    }
    return true
  }

  #add(key: number): void {
    this.counts[key] = 0
    this.versions[key]++
    this.liveCount++
  }

  #remove(key: number): void {
    this.countSum -= this.counts[key]
    this.counts[key] = ABSENT
    this.liveCount--
  }
}

/** The cell of `val`. */
export function valOf(key: number, version: number): number {
  return (Math.imul(key, 0x9e3779b1) + version) | 0
}

const NOTES: (Uint8Array | null)[] = []

/** The cell of `note`. */
export function noteOf(count: number): Uint8Array | null {
  while (NOTES.length <= count) {
    const next = NOTES.length
    NOTES.push(next % 3 === 2 ? null : utf8Encode(`counted ${next} times`))
  }
  return NOTES[count]
}

/** Whether a row is there. */
export function isLive({ counts }: RowsAt, key: number): boolean {
  return counts[key] !== ABSENT
}

/** Throws when a row of a block, with all columns, is not the one with a key. */
export function checkRow(rows: RowsAt, block: RowBlock, row: number, key: number): void {
  const [keys, vals, counts, notes] = block.columns
  const count = rows.counts[key]
  const isRight =
    keys.lanes[row * 2] === key &&
    keys.lanes[row * 2 + 1] === 0 &&
    count === counts.lanes[row] &&
    vals.lanes[row] === valOf(key, rows.versions[key]) &&
    isSame(notes.cell(row) as Uint8Array | null, noteOf(count))
  if (isRight) return
  const cells = block.columns.map((column) => String(column.cell(row)))
  throw new Error(`row ${key}, version ${rows.versions[key]}, counted ${count}, came as ${cells}`)
}

function isSame(found: Uint8Array | null, expected: Uint8Array | null): boolean {
  if (found === null || expected === null) return found === expected
  return Buffer.compare(found, expected) === 0
}

/** Checks rows that come by ascending key: each is there once, as it was, and none is missing. */
export class OrderedCheck {
  /** The next key that may come. */
  #next = 0
  readonly #rows: RowsAt

  constructor(rows: RowsAt) {
    this.#rows = rows
  }

  /** Takes the next rows. Throws when they are others than they should be. */
  take(block: RowBlock): void {
    for (let row = 0; row < block.rowCount; row++) {
      this.#skipAbsent()
      if (this.#next === this.#rows.counts.length) throw new Error('more rows than there are')
      checkRow(this.#rows, block, row, this.#next)
      this.#next++
    }
  }

  /** Throws when rows are missing. */
  end(): void {
    this.#skipAbsent()
    if (this.#next < this.#rows.counts.length) throw new Error(`row ${this.#next} did not come`)
  }

  #skipAbsent(): void {
    const { counts } = this.#rows
    while (this.#next < counts.length && counts[this.#next] === ABSENT) this.#next++
  }
}

/**
 * Merges the keys of rowsets into a plan. Hot.
 *
 *   input 0   a  d  g            next ─► keys a b d …, and for each in the plan
 *   input 1   b  d† h                     a: 0   b: 1   d: 0, older 1   g: 0 …
 *
 * A row that was deleted at or before the ancient history mark is left out: nobody may read a time
 * at which it was there. Of the inputs that have a key the base is that of the live row, or of the
 * one deleted last.
 */

import type { Timestamp } from '../../common/hybrid-clock.ts'
import { KEY_PAGE_ROWS } from '../../common/limits.ts'
import { KeyArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'
import { compareBytes } from '../../util/bytes.ts'
import { MERGE_INPUT_COUNT_MAX, MergePlan } from './merge-plan.ts'

/** When a row that is there was deleted. */
export const NEVER = Infinity

const WINDOW_ROWS = KEY_PAGE_ROWS
const HEAD_BYTES = 6

/** A rowset whose rows are merged. */
export interface MergeInput {
  readonly rowCount: number
  /** Whether any of its rows is deleted. */
  readonly hasDeletes: boolean

  /** Appends the keys of rows `[start, end)`, which ascend. Throws: CORRUPTION. */
  appendKeys(start: number, end: number, into: KeyArena): void

  /** Writes when row `start + i` was deleted to `out[i]`, or NEVER. Throws: CORRUPTION. */
  readDeletions(start: number, end: number, out: Float64Array): void
}

/** Rows of one input that were read, from one key to another. */
class InputWindow {
  readonly source: number
  readonly input: MergeInput
  readonly keys = new KeyArena(WINDOW_ROWS)
  /** The bytes of each key behind those that all keys share, as a number that sorts like them. */
  readonly heads = new Float64Array(WINDOW_ROWS)
  readonly deletions: Float64Array
  /** Ordinal of the first row of the window. */
  first = 0
  /** The row that stands first now, in the window. */
  row = 0
  /** Rows of the window. */
  count = 0

  constructor(source: number, input: MergeInput) {
    this.source = source
    this.input = input
    this.deletions = new Float64Array(input.hasDeletes ? WINDOW_ROWS : 0)
  }

  /** Reads the next rows. Returns false when there are none. */
  refill(sharedBytes: number): boolean {
    const { input, keys } = this
    this.first += this.count
    this.row = 0
    this.count = Math.min(WINDOW_ROWS, input.rowCount - this.first)
    if (this.count <= 0) return false
    keys.clear()
    input.appendKeys(this.first, this.first + this.count, keys)
    assert(keys.count === this.count, 'an input has a key for every row')
    fillHeads(keys, sharedBytes, this.heads)
    if (input.hasDeletes) {
      input.readDeletions(this.first, this.first + this.count, this.deletions)
    }
    return true
  }
}

/** See the file's header. */
export class MergePlanner {
  readonly plan: MergePlan
  /** Rows of inputs that were looked at. */
  readRowCount = 0
  readonly #mark: Timestamp
  readonly #sharedBytes: number
  /** Inputs that have rows left, by their first keys; of equals in any order. */
  readonly #order: InputWindow[] = []

  /**
   * `sharedBytes`: how many bytes at their beginnings all keys have in common, at least.
   *
   * Throws: CORRUPTION.
   */
  constructor(inputs: readonly MergeInput[], mark: Timestamp, sharedBytes: number) {
    assert(inputs.length <= MERGE_INPUT_COUNT_MAX, 'a merge has as many inputs as a byte counts')
    let rowCount = 0
    for (const input of inputs) rowCount += input.rowCount
    this.plan = new MergePlan(rowCount)
    this.#mark = mark
    this.#sharedBytes = sharedBytes
    inputs.forEach((input, source) => {
      const window = new InputWindow(source, input)
      if (window.refill(sharedBytes)) this.#insert(window)
    })
  }

  /**
   * Plans the next rows, at most `rowCountMax`, and appends their keys. Returns false when all are
   * planned, or with `endKey` all that are below it. Throws: CORRUPTION.
   */
  next(rowCountMax: number, keys: KeyArena, endKey: Uint8Array | null = null): boolean {
    const { plan } = this
    const order = this.#order
    const end = plan.rowCount + rowCountMax
    // Rows that are left out count too, so that a call is bounded.
    const readEnd = this.readRowCount + rowCountMax * 2
    while (order.length > 0 && plan.rowCount < end && this.readRowCount < readEnd) {
      const first = order[0]
      if (endKey !== null && !isBelow(first, endKey)) return false
      if (order.length > 1 && compareFirst(first, order[1]) === 0) {
        this.#planLives(keys)
        continue
      }
      const at = deletedAt(first)
      if (at > this.#mark) {
        if (at !== NEVER) plan.appendGhost(at)
        this.#planRow(first, keys)
      }
      this.#advance()
    }
    return order.length > 0
  }

  #planRow(window: InputWindow, keys: KeyArena): void {
    const { row } = window
    keys.append(window.keys.bytes, window.keys.start(row), window.keys.ends[row])
    keys.endKey()
    this.plan.append(window.source, window.first + row)
  }

  /** Plans a key that several inputs have. */
  #planLives(keys: KeyArena): void {
    const order = this.#order
    const { plan } = this
    let lifeCount = 1
    while (lifeCount < order.length && compareFirst(order[0], order[lifeCount]) === 0) lifeCount++
    let base = order[0]
    for (let life = 1; life < lifeCount; life++) {
      if (deletedAt(order[life]) > deletedAt(base)) base = order[life]
    }
    const at = deletedAt(base)
    if (at > this.#mark) {
      for (let life = 0; life < lifeCount; life++) {
        const window = order[life]
        if (window === base || deletedAt(window) <= this.#mark) continue
        assert(deletedAt(window) !== NEVER, 'a key is live in one rowset at most')
        plan.appendOlder(window.source, window.first + window.row)
      }
      if (at !== NEVER) plan.appendGhost(at)
      this.#planRow(base, keys)
    }
    for (let life = 0; life < lifeCount; life++) this.#advance()
  }

  /** Goes on to the next row of the first input, and puts it where it then stands. */
  #advance(): void {
    const order = this.#order
    const first = order[0]
    this.readRowCount++
    if (++first.row === first.count && !first.refill(this.#sharedBytes)) {
      order.shift()
      return
    }
    let place = 1
    while (place < order.length && compareFirst(first, order[place]) > 0) {
      order[place - 1] = order[place]
      place++
    }
    order[place - 1] = first
  }

  #insert(window: InputWindow): void {
    let place = 0
    while (place < this.#order.length && compareFirst(window, this.#order[place]) > 0) place++
    this.#order.splice(place, 0, window)
  }
}

function deletedAt(window: InputWindow): number {
  return window.input.hasDeletes ? window.deletions[window.row] : NEVER
}

/** Whether the key that stands first is below another. */
function isBelow({ keys, row }: InputWindow, key: Uint8Array): boolean {
  return compareBytes(keys.bytes, keys.start(row), keys.ends[row], key, 0, key.length) < 0
}

/** Orders two inputs by the keys that stand first. */
function compareFirst(a: InputWindow, b: InputWindow): number {
  const difference = a.heads[a.row] - b.heads[b.row]
  if (difference !== 0) return difference
  return compareBytes(
    a.keys.bytes,
    a.keys.start(a.row),
    a.keys.ends[a.row],
    b.keys.bytes,
    b.keys.start(b.row),
    b.keys.ends[b.row],
  )
}

/** Of each key the bytes from `start` on as a number that sorts like them. */
function fillHeads(keys: KeyArena, start: number, heads: Float64Array): void {
  const { bytes, ends, count } = keys
  for (let key = 0; key < count; key++) {
    const end = ends[key]
    const first = keys.start(key) + start
    let head = 0
    if (end - first >= HEAD_BYTES) {
      const high = (bytes[first] << 16) | (bytes[first + 1] << 8) | bytes[first + 2]
      const low = (bytes[first + 3] << 16) | (bytes[first + 4] << 8) | bytes[first + 5]
      head = high * 0x100_0000 + low
    } else {
      for (let i = 0; i < HEAD_BYTES; i++)
        head = head * 256 + (first + i < end ? bytes[first + i] : 0)
    }
    heads[key] = head
  }
}

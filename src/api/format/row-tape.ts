/**
 * Where the cells of a run of rows stand in a chunk of text: what a format's scanner finds, and
 * what TapeDecoder turns into columns. Hot.
 *
 * Cell `c` of row `r` is at entry `r × width + c`. All rows of a run have the same layout: which
 * column each of their cells belongs to; a cell that a row lacks is `absent`.
 */

import { CELL_FORMS } from '../../common/cell-reader.ts'
import { COLUMN_COUNT_MAX } from '../../common/limits.ts'
import { ByteArena } from '../../util/arena.ts'
import { assert } from '../../util/assert.ts'

/** What an entry holds beside CELL_FORMS. */
export const TAPE_FORMS = {
  /** A null; the offsets are not looked at. */
  null: 16,
  /** No cell; the offsets are not looked at. */
  absent: 17,
  /** Added to a form: the offsets are into the tape's scratch, not into the text. */
  inScratch: 32,
} as const

// Three arrays of this size stay in the first two levels of a cache.
const ENTRY_COUNT_MAX = 4096
const ROW_COUNT_MAX = 256
const SCRATCH_BYTES_KEPT = 256 * 1024

assert(COLUMN_COUNT_MAX <= ENTRY_COUNT_MAX, 'every row fits a tape')
assert(
  Math.max(...Object.values(CELL_FORMS)) < TAPE_FORMS.null,
  'forms of cells keep their numbers',
)

// Shared by all tapes: a run is scanned and decoded within one turn, so one tape at a time has
// rows.
const scratchStarts = new Int32Array(ENTRY_COUNT_MAX)
const scratchEnds = new Int32Array(ENTRY_COUNT_MAX)
const scratchForms = new Uint8Array(ENTRY_COUNT_MAX)
const scratchRowStarts = new Int32Array(ROW_COUNT_MAX)
const scratchOperations = new Uint8Array(ROW_COUNT_MAX)
const scratchTexts = new ByteArena(1024)

/**
 * A run of rows as offsets. Written by scanners and read by TapeDecoder, field by field.
 *
 *  I1  at most one tape has rows, and it has none when control leaves the decoder that owns it.
 */
export class RowTape {
  /** Rows of the run. */
  rowCount = 0
  /** Cells a row. */
  width = 0
  /** Rows that a run of this width may have. */
  rowCountMax = 0
  /** Column index of each cell of a row; `[0, width)` is meaningful. */
  readonly layout = new Int32Array(COLUMN_COUNT_MAX)
  /** Where each cell's text starts and ends, without quotes, and how it is written. */
  readonly starts = scratchStarts
  readonly ends = scratchEnds
  readonly forms = scratchForms
  /** Where each row starts, and its operation. */
  readonly rowStarts = scratchRowStarts
  readonly operations = scratchOperations
  /** Texts of cells that had escapes. */
  readonly scratch = scratchTexts

  /**
   * Begins to lay rows out anew. Requires: no row is on the tape, no column comes twice: of two
   * cells of one column the second would hide the first.
   */
  setLayout(columns: readonly number[]): void {
    assert(this.rowCount === 0, 'the tape is empty')
    assert(columns.length <= COLUMN_COUNT_MAX, 'a row has a cell a column at most')
    assert(new Set(columns).size === columns.length, 'a layout has each column once')
    this.width = columns.length
    for (let cell = 0; cell < columns.length; cell++) this.layout[cell] = columns[cell]
    const rows = Math.floor(ENTRY_COUNT_MAX / Math.max(1, columns.length))
    this.rowCountMax = Math.min(rows, ROW_COUNT_MAX)
  }

  /** Forgets all rows. */
  clear(): void {
    this.rowCount = 0
    this.scratch.truncate(0)
    // A record may be one long text with escapes, and this is held as long as the isolate lives.
    if (this.scratch.bytes.length > SCRATCH_BYTES_KEPT) this.scratch.trim()
  }
}

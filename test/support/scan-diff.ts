/** Diff scans of a tablet, in plain rows. */

import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import { IS_DELETED_COLUMN_ID } from '../../src/common/is-deleted-column.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import type { ScanRequest } from '../../src/tablet/tablet-request.ts'
import { assert } from '../../src/util/assert.ts'
import { EMPTY_BYTES, toHex, utf8Decode } from '../../src/util/bytes.ts'
import { okValue, type TabletHarness } from './tablet-harness.ts'

/** A row of a diff. */
export interface DiffRow {
  /** By column name. */
  readonly cells: Readonly<Record<string, number | bigint | string | null>>
  readonly isDeleted: boolean
  /** Encoded key in hexadecimal, when asked for. */
  readonly key: string | null
}

/** A diff to ask a tablet for; what is left out is everything. */
export interface DiffAsked extends Partial<Omit<ScanRequest, 'diffFrom'>> {
  readonly diffFrom: Timestamp
  readonly snapshot: Timestamp
}

/** How to read a diff. */
export interface DiffReading {
  /** Rows and bytes of the next batch. */
  readonly limits: () => { readonly rowCountMax: number; readonly bytesMax: number }
  /** Called after each batch. Returns whether to go on in a scan opened anew. */
  readonly between: () => boolean
}

const WHOLE: DiffReading = {
  limits: () => ({ rowCountMax: 1000, bytesMax: 1 << 20 }),
  between: () => false,
}

/** The request for a diff. */
export function diffRequest(harness: TabletHarness, asked: DiffAsked): ScanRequest {
  return {
    ...harness.request(),
    columnIds: harness.schema.columns.map(({ id }) => id),
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'ORDERED',
    withKeys: false,
    ...asked,
  }
}

/** All rows of a diff. */
export function scanDiff(
  harness: TabletHarness,
  asked: DiffAsked,
  reading: DiffReading = WHOLE,
): DiffRow[] {
  const rows: DiffRow[] = []
  let request = diffRequest(harness, asked)
  let { scanner } = okValue(harness.tablet.openScan(request))
  for (;;) {
    const { rowCountMax, bytesMax } = reading.limits()
    const batch = scanner.nextBatch(rowCountMax, bytesMax)
    if (batch === null) return rows
    assert(batch.block.rowCount <= rowCountMax, 'a batch has no more rows than were asked for')
    for (let row = 0; row < batch.block.rowCount; row++) {
      const key = batch.keys === null ? null : toHex(batch.keys.key(row))
      rows.push({ ...rowOf(harness, batch.block, row), key })
    }
    const lowerKey = Uint8Array.of(...batch.lastKeyScanned, 0)
    if (!reading.between()) continue
    scanner.close()
    request = { ...request, ...harness.request(), lowerKey }
    scanner = okValue(harness.tablet.openScan(request)).scanner
  }
}

function rowOf({ schema }: TabletHarness, block: RowBlock, row: number): Omit<DiffRow, 'key'> {
  const cells: Record<string, number | bigint | string | null> = {}
  const last = block.columns.length - 1
  assert(block.columnIds[last] === IS_DELETED_COLUMN_ID, 'the last column tells of deletion')
  for (let i = 0; i < last; i++) {
    const cell = block.columns[i].cell(row)
    const { name } = schema.mustById(block.columnIds[i])
    cells[name] = cell instanceof Uint8Array ? utf8Decode(cell) : cell
  }
  return { cells, isDeleted: block.columns[last].cell(row) === 1 }
}

/** What a client asks of a diff scan: rows that changed above one time and at or below another. */

import type { Timestamp } from '../common/hybrid-clock.ts'
import { diffColumns, IS_DELETED_NAME } from '../common/is-deleted-column.ts'
import type { Column } from '../common/schema.ts'
import { invalidArgument } from '../common/status.ts'
import type { TableEntry } from '../common/table.ts'
import { validateColumnName } from '../common/validate-schema.ts'
import type { ScanBody } from '../wire/scan-schemas.ts'
import type { Front } from './app-env.ts'
import { snapshotTime } from './snapshot-time.ts'

/** A diff as it was asked for. */
export interface DiffQuery {
  /** Name of the member that tells whether a row is deleted. */
  readonly isDeletedName: string
  /** Where it begins. Throws: INVALID_ARGUMENT, INVALID_SNAPSHOT. */
  readonly fromFor: (front: Front, table: TableEntry) => Timestamp
}

/**
 * The diff of a body, or null when none is asked for. Throws: INVALID_ARGUMENT, also for members
 * that a diff does not go with.
 */
export function diffQueryOf(body: ScanBody): DiffQuery | null {
  const { diff_from: from, is_deleted_as: name, order, read_mode: mode } = body
  if (from === undefined) {
    if (name !== undefined) throw invalidArgument('is_deleted_as is for scans with diff_from')
    return null
  }
  if (order !== undefined && order !== 'ORDERED') {
    throw invalidArgument(`rows of a diff come ORDERED, not ${order}`)
  }
  if (mode !== undefined && mode !== 'READ_AT_SNAPSHOT') {
    throw invalidArgument(`a diff is a READ_AT_SNAPSHOT, not ${mode}`)
  }
  if (name !== undefined) validateColumnName(name)
  return {
    isDeletedName: name ?? IS_DELETED_NAME,
    fromFor: ({ ports }, table) => snapshotTime(from, ports.clock, table, 'diff_from'),
  }
}

/**
 * Where a diff begins that ends at a snapshot, or, if null, now: which is not before it begins,
 * whatever the front's clock was. Throws: INVALID_ARGUMENT, INVALID_SNAPSHOT.
 */
export function diffStart(
  front: Front,
  table: TableEntry,
  diff: DiffQuery,
  snapshot: Timestamp | null,
): Timestamp {
  const from = diff.fromFor(front, table)
  if (snapshot === null) front.ports.clock.raise(from)
  else if (from > snapshot) throw invalidArgument('diff_from is later than snapshot_timestamp')
  return from
}

/** The columns of a diff's rows. Throws: INVALID_ARGUMENT when one of `taken` has the new name. */
export function shownInDiff(
  columns: readonly Column[],
  { isDeletedName }: DiffQuery,
  taken: readonly Column[],
): readonly Column[] {
  if (taken.some(({ name }) => name === isDeletedName)) {
    throw invalidArgument(
      `the table has a column "${isDeletedName}": is_deleted_as must be another name`,
    )
  }
  return diffColumns(columns, isDeletedName)
}

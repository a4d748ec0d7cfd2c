/**
 * Brings an object's own SQLite database to the newest schema, step by step, and remembers what it
 * applied.
 *
 *   migrations   number | name | checksum        one row a step, in the database itself
 *
 *  I1  a step and its row are one transaction;
 *  I2  what was applied is a prefix of what this program knows, text for text, or nothing is done.
 *
 * It is called where an object is about to write for the first time since it woke, never in a
 * constructor, and writes only when there is a step to apply.
 */

import { StatusError } from '../common/status.ts'
import { utf8Encode } from '../util/bytes.ts'
import { crc32c } from '../util/crc32c.ts'
import type { MeteredSql } from './metered-sql.ts'
import { isMissingTable } from './missing-table.ts'
import { MIGRATION_SQL } from './sql-statements.ts'

/** One step: a file of migrations/. */
export interface Migration {
  /** `NNNN_what`. */
  readonly name: string
  readonly text: string
}

/** Runs `work` as one synchronous transaction. */
export type Transact = <T>(work: () => T) => T

type AppliedRow = [number: number, name: string, checksum: string]

/**
 * Applies the steps that are missing.
 *
 * Throws: INTERNAL when a step that was applied is not among `migrations` or has another text.
 */
export function migrate(
  sql: MeteredSql,
  transact: Transact,
  migrations: readonly Migration[],
): void {
  const appliedCount = checkMigrations(sql, migrations)
  for (let index = appliedCount; index < migrations.length; index++) {
    const { name, text } = migrations[index]
    transact(() => {
      sql.all(MIGRATION_SQL.create)
      sql.all(text)
      sql.all(MIGRATION_SQL.insert, index + 1, name, checksumOf(text))
    })
  }
}

/**
 * Compares what was applied with what this program knows. Returns: how many steps were. Throws:
 * INTERNAL.
 */
export function checkMigrations(sql: MeteredSql, migrations: readonly Migration[]): number {
  const applied = readApplied(sql)
  for (let index = 0; index < applied.length; index++) {
    const [number, name, checksum] = applied[index]
    const known = migrations[index]
    if (number !== index + 1) throw mismatch(index + 1, 'was applied but is not remembered')
    if (known === undefined) throw mismatch(number, `(${name}) is of a newer version than this one`)
    if (known.name !== name) throw mismatch(number, `was ${name} and is now ${known.name}`)
    if (checksumOf(known.text) !== checksum) {
      throw mismatch(number, `(${name}) was changed after it was applied`)
    }
  }
  return applied.length
}

/** The steps that were applied, in order. */
function readApplied(sql: MeteredSql): AppliedRow[] {
  try {
    return sql.all<AppliedRow>(MIGRATION_SQL.read)
  } catch (error) {
    if (isMissingTable(error)) return []
    throw error
  }
}

/** CRC-32C of a step's text, whatever ends its lines. */
function checksumOf(text: string): string {
  return crc32c(utf8Encode(text.replaceAll('\r\n', '\n')))
    .toString(16)
    .padStart(8, '0')
}

function mismatch(number: number, what: string): StatusError {
  return new StatusError('INTERNAL', `migration ${number} ${what}`)
}

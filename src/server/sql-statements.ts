/**
 * Every SQL text of the objects beside migrations/. The platform keeps compiled statements by their
 * text, so all are constants but for the number of a file. No user's value is ever part of a text,
 * and no user's row a row of these tables.
 */

import { WAL_GENERATION_COUNT_MAX } from '../common/limits.ts'
import { assert } from '../util/assert.ts'

/** Bookkeeping of migrations, in every object. */
export const MIGRATION_SQL = {
  create:
    'CREATE TABLE IF NOT EXISTS migrations ' +
    '(number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT',
  read: 'SELECT number, name, checksum FROM migrations ORDER BY number',
  insert: 'INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)',
} as const

/** The catalog object (migrations/catalog). */
export const CATALOG_SQL = {
  readTable: 'SELECT definition FROM tables WHERE table_id = ?',
  insertTable: 'INSERT INTO tables (table_id, definition) VALUES (?, ?)',
  deleteTable: 'DELETE FROM tables WHERE table_id = ?',
  findName: 'SELECT table_id FROM names WHERE name = ?',
  insertName: 'INSERT INTO names (name, table_id) VALUES (?, ?)',
  deleteName: 'DELETE FROM names WHERE name = ?',
  readNames: 'SELECT name, table_id FROM names WHERE name > ? AND name >= ? ORDER BY name LIMIT ?',
  readInitialized: 'SELECT tablet_id FROM initialized WHERE table_id = ? ORDER BY tablet_id',
  insertInitialized:
    'INSERT INTO initialized (table_id, tablet_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  deleteInitialized: 'DELETE FROM initialized WHERE table_id = ?',
  readDrops: 'SELECT table_id, work FROM drops ORDER BY table_id LIMIT ?',
  readDrop: 'SELECT work FROM drops WHERE table_id = ?',
  writeDrop:
    'INSERT INTO drops (table_id, work) VALUES (?, ?) ' +
    'ON CONFLICT (table_id) DO UPDATE SET work = excluded.work',
  deleteDrop: 'DELETE FROM drops WHERE table_id = ?',
} as const

/** A tablet object (migrations/tablet). */
export const TABLET_SQL = {
  /** The table that is there once the tablet was dropped: its presence is all it says. */
  markDropped: 'CREATE TABLE IF NOT EXISTS dropped (id INTEGER PRIMARY KEY)',
  /** Fails when the tablet was not dropped, and reads no row either way. */
  readDropped: 'SELECT id FROM dropped',
  readSuperblock: 'SELECT payload FROM superblock WHERE id = 1',
  writeSuperblock: 'INSERT OR REPLACE INTO superblock (id, payload) VALUES (1, ?)',
  readResults: 'SELECT payload FROM results WHERE id = 1',
  writeResults: 'INSERT OR REPLACE INTO results (id, payload) VALUES (1, ?)',
} as const

/** The statements of one slot of the ring of WAL generations. */
export interface WalStatements {
  readonly create: string
  readonly drop: string
  readonly append: string
  readonly read: string
}

/** Statements by slot. */
export const WAL_SQL: readonly WalStatements[] = Array.from(
  { length: WAL_GENERATION_COUNT_MAX },
  (_, slot) => ({
    create:
      `CREATE TABLE wal_${slot} ` +
      '(id INTEGER PRIMARY KEY, parts_left INTEGER NOT NULL, payload BLOB NOT NULL) STRICT',
    drop: `DROP TABLE IF EXISTS wal_${slot}`,
    append: `INSERT INTO wal_${slot} (parts_left, payload) VALUES (?, ?)`,
    read: `SELECT id, parts_left, payload FROM wal_${slot} ORDER BY id`,
  }),
)

/** The statements of one file of blocks. */
export interface FileStatements {
  readonly create: string
  readonly drop: string
  readonly append: string
  readonly delete: string
  readonly read: string
  /** Of the second binding's place, from 1, as many bytes as the third says. */
  readonly readSlice: string
}

/** Statements of a file. Requires: a whole number, which is all of the text that varies. */
export function fileStatements(file: number): FileStatements {
  assert(Number.isSafeInteger(file) && file > 0, 'a file has a number')
  return {
    create: `CREATE TABLE file_${file} (id INTEGER PRIMARY KEY, payload BLOB NOT NULL) STRICT`,
    drop: `DROP TABLE IF EXISTS file_${file}`,
    append: `INSERT INTO file_${file} (payload) VALUES (?) RETURNING id`,
    delete: `DELETE FROM file_${file} WHERE id = ?`,
    read: `SELECT payload FROM file_${file} WHERE id = ?`,
    readSlice: `SELECT substr(payload, ?2, ?3) FROM file_${file} WHERE id = ?1`,
  }
}

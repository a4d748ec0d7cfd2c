/** Where things lie in a tablet object's storage, and how a bit of them is turned over. */

import { runInDurableObject } from 'cloudflare:test'
import type { env } from 'cloudflare:workers'
import type { PageList } from '../../src/cfile/page-list.ts'
import { WAL_GENERATION_COUNT_MAX } from '../../src/common/limits.ts'
import {
  decodeBloom,
  decodeColumn,
  decodeKeys,
  readDirectory,
} from '../../src/tablet/disk/directory.ts'
import { type DeltaFileMeta, filesOf as numbersOf } from '../../src/tablet/disk/row-set-meta.ts'
import { decodeSuperblock, type Superblock } from '../../src/tablet/superblock.ts'

/** A tablet object, as the platform's test helpers take it. */
export type TabletObjectStub = ReturnType<typeof env.TABLET.getByName>

/** A byte of a stored row. */
export interface Place {
  readonly table: string
  readonly id: number
  readonly offset: number
  /** How an error has to name it. */
  readonly text: string
}

/** What can be damaged. A column by its id. */
export type Target =
  | { readonly kind: 'column'; readonly columnId: number }
  | { readonly kind: 'keys' | 'bloom' | 'directory' | 'undo' | 'redo' }
  | { readonly kind: 'superblock' | 'wal' | 'results' }

/** Turns over a bit in every page of a target, or, the second time, back again. */
export async function flip(object: TabletObjectStub, places: readonly Place[]): Promise<void> {
  await runInDurableObject(object, (_instance, { storage }) => {
    for (const { table, id, offset } of places) {
      const text = `SELECT payload FROM ${table} WHERE id = ?`
      const payload = new Uint8Array(storage.sql.exec(text, id).one().payload as ArrayBuffer)
      payload[offset] ^= 1
      storage.sql.exec(`UPDATE ${table} SET payload = ? WHERE id = ?`, payload, id)
    }
  })
}

/** Where a target lies. Requires: the tablet has one rowset. */
export function placesOf(object: TabletObjectStub, target: Target): Promise<Place[]> {
  return runInDurableObject(object, (_instance, { storage }) => {
    const read = (table: string, id: number) => {
      const text = `SELECT payload FROM ${table} WHERE id = ?`
      return new Uint8Array(storage.sql.exec(text, id).one().payload as ArrayBuffer)
    }
    const superblock = decodeSuperblock(read('superblock', 1), 0)
    if (target.kind === 'superblock') return [row('superblock', 1, 40, 'superblock')]
    if (target.kind === 'results') return [row('results', 1, 40, 'remembered results')]
    if (target.kind === 'wal') return [walRow(storage.sql, superblock)]
    return filePlaces(superblock, target, read)
  })
}

/** Tables of files, and those of them that no rowset needs, by name. */
export function storedFilesOf(
  object: TabletObjectStub,
): Promise<{ readonly files: string[]; readonly orphans: string[] }> {
  return runInDurableObject(object, (_instance, { storage: { sql } }) => {
    const text = "SELECT name FROM sqlite_master WHERE name LIKE 'file_%' ORDER BY name"
    const files = sql
      .exec(text)
      .toArray()
      .map(({ name }) => String(name))
    const payload = sql.exec('SELECT payload FROM superblock').one().payload as ArrayBuffer
    const { rowSets } = decodeSuperblock(new Uint8Array(payload), 0)
    const needed = new Set(rowSets.flatMap(numbersOf).map((file) => `file_${file}`))
    return { files, orphans: files.filter((name) => !needed.has(name)) }
  })
}

function row(table: string, id: number, offset: number, text: string): Place {
  return { table, id, offset, text }
}

function walRow(sql: SqlStorage, { walGenerations }: Superblock): Place {
  const generation = walGenerations[walGenerations.length - 1]
  const table = `wal_${generation % WAL_GENERATION_COUNT_MAX}`
  const { id } = sql.exec(`SELECT min(id) AS id FROM ${table}`).one()
  return row(table, Number(id), 40, `WAL generation ${generation}`)
}

function filePlaces(
  { rowSets }: Superblock,
  target: Target,
  read: (table: string, id: number) => Uint8Array,
): Place[] {
  const [{ directory, undos, redos }] = rowSets
  const { file, block } = directory
  if (target.kind === 'directory') return [fileRow(file, block, 20)]
  if (target.kind === 'undo') return undos.map(deltaRow)
  if (target.kind === 'redo') return redos.map(deltaRow)
  const blocks = { readBlock: (file: number, block: number) => read(`file_${file}`, block) }
  const stored = readDirectory(blocks, directory, 'test')
  if (target.kind === 'keys') return pageRows(decodeKeys(stored).pages)
  if (target.kind === 'bloom') return pageRows(decodeBloom(stored).pages)
  if (target.kind !== 'column') throw new Error('lies in no file')
  const column = decodeColumn(stored, target.columnId)
  if (column === null) throw new Error('the rowset has no such column')
  return pageRows(column.pages)
}

function fileRow(file: number, block: number, offset: number): Place {
  return row(`file_${file}`, block, offset, `file ${file}, block ${block}`)
}

function deltaRow({ file, firstBlock }: DeltaFileMeta): Place {
  return fileRow(file, firstBlock, 40)
}

function pageRows({ file, blocks, offsets, lengths }: PageList): Place[] {
  return blocks.map((block, i) => fileRow(file, block, offsets[i] + (lengths[i] >> 1)))
}

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { WAL_GENERATION_COUNT_MAX } from '../../src/common/limits.ts'
import { filesOf } from '../../src/tablet/disk/row-set-meta.ts'
import { decodeSuperblock } from '../../src/tablet/superblock.ts'

/** What is stored of a tablet. */
export interface StoredTablet {
  /** Tables of files and logs that are there, by name. */
  readonly tables: readonly string[]
  /** Those that the superblock needs. */
  readonly needed: readonly string[]
  /** Files of ops that did not come to their end. */
  readonly orphanFiles: readonly number[]
}

/** Looks into the databases that a killed service has left, and changes nothing there. */
export class StoredTablets {
  readonly #directory: string

  /** `state`: the directory of the service's state. */
  constructor(state: string) {
    this.#directory = join(state, 'do', 'served-TabletObject')
  }

  /** Every tablet that was written to. */
  async read(): Promise<StoredTablet[]> {
    const copies = await mkdtemp(join(tmpdir(), 'nyala-stored-'))
    try {
      const names = await readdir(this.#directory)
      // What goes with a database by its name is copied with it: opening it changes both.
      await Promise.all(
        names
          .filter((name) => !name.endsWith('-shm'))
          .map((name) => copyFile(join(this.#directory, name), join(copies, name))),
      )
      return names
        .filter((name) => /^[0-9a-f]+\.sqlite$/.test(name))
        .flatMap((name) => readTablet(join(copies, name)))
    } finally {
      await rm(copies, { recursive: true, force: true })
    }
  }
}

function readTablet(path: string): StoredTablet[] {
  const database = new DatabaseSync(path)
  try {
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE name LIKE 'file_%' OR name LIKE 'wal_%'")
      .all()
      .map(({ name }) => String(name))
      .sort()
    if (tables.length === 0) return []
    const row = database.prepare('SELECT payload FROM superblock').get()
    const { rowSets, walGenerations, orphanFiles } = decodeSuperblock(row?.payload as Uint8Array, 0)
    const needed = new Set([
      ...rowSets.flatMap(filesOf).map((file) => `file_${file}`),
      ...walGenerations.map((generation) => `wal_${generation % WAL_GENERATION_COUNT_MAX}`),
    ])
    return [{ tables, needed: [...needed].sort(), orphanFiles }]
  } finally {
    database.close()
  }
}

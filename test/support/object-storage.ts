/** Storage of real objects for suites that know nothing of the platform. */

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { MeteredSql } from '../../src/server/metered-sql.ts'
import { type Migration, migrate, type Transact } from '../../src/server/migrate.ts'

let objectCount = 0

/** What an object's storage is made of. */
export interface ObjectStorage {
  readonly sql: MeteredSql
  readonly transact: Transact
}

/**
 * Runs a scenario inside an object that was never used, its database brought to the newest schema.
 */
export function withObjectStorage(
  migrations: readonly Migration[],
  scenario: (storage: ObjectStorage) => void,
): Promise<void> {
  const stub = env.TABLET.getByName(`storage ${objectCount++}`)
  return runInDurableObject(stub, (_instance, state) => {
    const transact: Transact = (work) => state.storage.transactionSync(work)
    migrate(new MeteredSql(state.storage.sql), transact, migrations)
    scenario({ sql: new MeteredSql(state.storage.sql), transact })
  })
}

/** The steps of migrations/, in order. A step that has ever been applied is never changed. */

import catalog0001 from '../../migrations/catalog/0001_init.sql'
import tablet0001 from '../../migrations/tablet/0001_init.sql'
import tablet0002 from '../../migrations/tablet/0002_results.sql'
import type { Migration } from './migrate.ts'

/** Steps of the catalog object. */
export const CATALOG_MIGRATIONS: readonly Migration[] = [{ name: '0001_init', text: catalog0001 }]

/** Steps of a tablet object. */
export const TABLET_MIGRATIONS: readonly Migration[] = [
  { name: '0001_init', text: tablet0001 },
  { name: '0002_results', text: tablet0002 },
]

import { CATALOG_MIGRATIONS, TABLET_MIGRATIONS } from '../../src/server/migrations.ts'
import { SqlCatalogStore } from '../../src/server/sql-catalog-store.ts'
import { SqlTabletStore } from '../../src/server/sql-tablet-store.ts'
import { withObjectStorage } from '../support/object-storage.ts'
import { describeCatalogStore } from './catalog-store.suite.ts'
import { describeTabletStore } from './tablet-store.suite.ts'

describeTabletStore('SqlTabletStore', (scenario) =>
  withObjectStorage(TABLET_MIGRATIONS, ({ sql, transact }) =>
    scenario(new SqlTabletStore(sql, transact)),
  ),
)

describeCatalogStore('SqlCatalogStore', (scenario) =>
  withObjectStorage(CATALOG_MIGRATIONS, ({ sql, transact }) =>
    scenario(new SqlCatalogStore(sql, transact)),
  ),
)

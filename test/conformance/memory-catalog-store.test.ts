import { MemoryCatalogStore } from '../support/memory-catalog-store.ts'
import { describeCatalogStore } from './catalog-store.suite.ts'

describeCatalogStore('MemoryCatalogStore', (scenario) => scenario(new MemoryCatalogStore()))

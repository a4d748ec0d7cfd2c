import { MemoryTabletStore } from '../support/memory-tablet-store.ts'
import { describeTabletStore } from './tablet-store.suite.ts'

describeTabletStore('MemoryTabletStore', (scenario) => scenario(new MemoryTabletStore()))

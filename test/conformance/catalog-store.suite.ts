/**
 * What every CatalogStore does, whatever it is made of. Run on memory in Node and on an object's
 * SQLite.
 */

import { describe, expect, test } from 'vitest'
import type { CatalogStore } from '../../src/catalog/catalog-store.ts'

/** Runs a scenario on a store that is new: it was never written to. */
export type WithCatalogStore = (scenario: (store: CatalogStore) => void) => void | Promise<void>

const A = 'a'.repeat(32)
const B = 'b'.repeat(32)

function insert(store: CatalogStore, tableId: string, name: string): void {
  store.transact(() => store.insertTable(tableId, name, `definition of ${name}`))
}

/** Declares the suite. `withStore` makes the store and runs the scenario on it. */
export function describeCatalogStore(name: string, withStore: WithCatalogStore): void {
  describe(`${name} as a CatalogStore`, () => {
    describeTables(withStore)
    describeNames(withStore)
    describeInitialized(withStore)
    describeDrops(withStore)
    describeTransactions(withStore)
  })
}

function describeTables(withStore: WithCatalogStore): void {
  test('finds a table by id and by name, and nothing else', () =>
    withStore((store) => {
      insert(store, A, 'metrics')

      expect(store.readTable(A)).toBe('definition of metrics')
      expect(store.findTable('metrics')).toBe(A)
      expect(store.readTable(B)).toBeUndefined()
      expect(store.findTable('Metrics')).toBeUndefined()
      expect(store.findTable('metric')).toBeUndefined()
    }))

  test('keeps texts exactly', () =>
    withStore((store) => {
      const definition = JSON.stringify({
        text: 'ä€😀\u0000\u001f"\\\n',
        number: '9007199254740993',
      })
      store.transact(() => store.insertTable(A, 'ä€😀\u0001 %_', definition))

      expect(store.readTable(A)).toBe(definition)
      expect(store.findTable('ä€😀\u0001 %_')).toBe(A)
    }))

  test('keeps a definition of more than a megabyte', () =>
    withStore((store) => {
      const definition = 'ä'.repeat(900_000)
      store.transact(() => store.insertTable(A, 'large', definition))

      expect(store.readTable(A) === definition).toBe(true)
    }))

  test('forgets a table with its name and its initialized tablets', () =>
    withStore((store) => {
      insert(store, A, 'metrics')
      insert(store, B, 'logs')
      store.transact(() => {
        store.insertInitialized(A, '1'.repeat(32))
        store.insertInitialized(B, '2'.repeat(32))
      })
      store.transact(() => store.deleteTable(A, 'metrics'))

      expect(store.readTable(A)).toBeUndefined()
      expect(store.findTable('metrics')).toBeUndefined()
      expect(store.readInitialized(A)).toEqual([])
      expect(store.readInitialized(B)).toEqual(['2'.repeat(32)])
      expect(store.findTable('logs')).toBe(B)
    }))
}

function describeNames(withStore: WithCatalogStore): void {
  // U+FFFD sorts below U+1F600 by UTF-8 bytes and above it by the units of a JavaScript string.
  const sorted = ['A', 'Z', 'a', 'a b', 'ab', 'b', 'ä', '\ufffd', '😀']

  function fill(store: CatalogStore): void {
    for (const [index, name] of [...sorted].reverse().entries()) {
      insert(store, index.toString(16).padStart(32, '0'), name)
    }
  }

  function namesOf(store: CatalogStore, after: string, from: string, limit: number): string[] {
    return store.readNames(after, from, limit).map(({ name }) => name)
  }

  test('reads names in the order of their UTF-8 bytes, with the ids of their tables', () =>
    withStore((store) => {
      fill(store)

      expect(namesOf(store, '', '', 100)).toEqual(sorted)
      expect(store.readNames('', '', 1)).toEqual([
        { name: 'A', tableId: (sorted.length - 1).toString(16).padStart(32, '0') },
      ])
    }))

  test('reads names above one, from another, up to a limit', () =>
    withStore((store) => {
      fill(store)

      expect(namesOf(store, 'a', '', 2)).toEqual(['a b', 'ab'])
      expect(namesOf(store, '', 'a', 2)).toEqual(['a', 'a b'])
      expect(namesOf(store, 'a b', 'a', 10)).toEqual(['ab', 'b', 'ä', '\ufffd', '😀'])
      expect(namesOf(store, '😀', '', 10)).toEqual([])
    }))
}

function describeInitialized(withStore: WithCatalogStore): void {
  test('remembers an initialized tablet once, in order, by table', () =>
    withStore((store) => {
      store.transact(() => {
        for (const id of ['3', '1', '2', '1']) store.insertInitialized(A, id.repeat(32))
      })
      store.transact(() => store.insertInitialized(A, '3'.repeat(32)))

      expect(store.readInitialized(A)).toEqual(['1', '2', '3'].map((id) => id.repeat(32)))
      expect(store.readInitialized(B)).toEqual([])
    }))
}

function describeDrops(withStore: WithCatalogStore): void {
  test('keeps what is left of drops until they are forgotten', () =>
    withStore((store) => {
      store.transact(() => {
        store.writeDrop(B, 'first')
        store.writeDrop(A, 'other')
        store.writeDrop(B, 'second')
      })

      expect(store.readDrop(B)).toBe('second')
      expect(store.readDrops(10)).toEqual([
        { tableId: A, work: 'other' },
        { tableId: B, work: 'second' },
      ])
      expect(store.readDrops(1)).toHaveLength(1)
      store.transact(() => store.deleteDrop(B))
      expect(store.readDrop(B)).toBeUndefined()
      expect(store.readDrops(10)).toHaveLength(1)
    }))
}

function describeTransactions(withStore: WithCatalogStore): void {
  test('returns what the work returns', () =>
    withStore((store) => {
      expect(store.transact(() => 42)).toBe(42)
    }))

  test('undoes everything of a transaction whose work throws', () =>
    withStore((store) => {
      insert(store, A, 'metrics')
      const failing = () =>
        store.transact(() => {
          store.deleteTable(A, 'metrics')
          store.insertTable(B, 'metrics', 'new')
          store.insertInitialized(B, '1'.repeat(32))
          store.writeDrop(A, 'work')
          throw new RangeError('changed my mind')
        })

      expect(failing).toThrow('changed my mind')
      expect(store.findTable('metrics')).toBe(A)
      expect(store.readTable(B)).toBeUndefined()
      expect(store.readInitialized(B)).toEqual([])
      expect(store.readDrops(10)).toEqual([])
    }))
}

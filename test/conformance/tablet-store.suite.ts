/**
 * What every TabletStore does, whatever it is made of. Run on memory in Node and on an object's
 * SQLite.
 */

import { describe, expect, test } from 'vitest'
import { STORED_ROW_BYTES_MAX, WAL_GENERATION_COUNT_MAX } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import type { TabletStore } from '../../src/tablet/ports.ts'
import { describeFiles } from './tablet-store-files.suite.ts'

/** Runs a scenario on a store that is new: it was never written to. */
export type WithTabletStore = (scenario: (store: TabletStore) => void) => void | Promise<void>

interface StoredRow {
  readonly id: number
  readonly partsLeft: number
  readonly payload: number[]
}

function rowsOf(store: TabletStore, generation: number): StoredRow[] {
  const rows: StoredRow[] = []
  store.readWal(generation, (id, partsLeft, payload) => {
    rows.push({ id, partsLeft, payload: [...payload] })
  })
  return rows
}

function bytesOf(...values: number[]): Uint8Array {
  return Uint8Array.from(values)
}

/** Declares the suite. `withStore` makes the store and runs the scenario on it. */
export function describeTabletStore(name: string, withStore: WithTabletStore): void {
  describe(`${name} as a TabletStore`, () => {
    describeSuperblock(withStore)
    describeWal(withStore)
    describeTransactions(withStore)
    describeBilling(withStore)
    describeFiles(withStore)
  })
}

function describeSuperblock(withStore: WithTabletStore): void {
  test('has no superblock before one is written, and looking writes nothing', () =>
    withStore((store) => {
      expect(store.readSuperblock()).toBeNull()
      expect(store.rowsWritten).toBe(0)
    }))

  test('reads the superblock last written', () =>
    withStore((store) => {
      store.transact(() => store.writeSuperblock(bytesOf(1, 2, 3)))
      store.transact(() => {
        store.writeSuperblock(bytesOf(4))
        store.writeSuperblock(bytesOf(0, 255, 128))
      })

      expect(store.readSuperblock()).toEqual(bytesOf(0, 255, 128))
    }))

  test('keeps copies of what it is given and hands out copies of what it holds', () =>
    withStore((store) => {
      const given = bytesOf(1, 2)
      store.transact(() => {
        store.writeSuperblock(given)
        store.createWal(1)
        store.appendWal(1, [given])
      })
      given.fill(9)
      store.readSuperblock()?.fill(9)
      store.readWal(1, (_id, _partsLeft, payload) => payload.fill(9))

      expect(store.readSuperblock()).toEqual(bytesOf(1, 2))
      expect(rowsOf(store, 1)).toEqual([{ id: 1, partsLeft: 0, payload: [1, 2] }])
    }))
}

function describeWal(withStore: WithTabletStore): void {
  test('numbers stored rows from 1 without gaps, in the order of appending', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [bytesOf(10)])
      })
      store.transact(() => store.appendWal(1, [bytesOf(20), bytesOf(21), bytesOf(22)]))
      store.transact(() => store.appendWal(1, [bytesOf(30)]))

      expect(rowsOf(store, 1)).toEqual([
        { id: 1, partsLeft: 0, payload: [10] },
        { id: 2, partsLeft: 2, payload: [20] },
        { id: 3, partsLeft: 1, payload: [21] },
        { id: 4, partsLeft: 0, payload: [22] },
        { id: 5, partsLeft: 0, payload: [30] },
      ])
    }))

  test('takes parts that are views into larger buffers', () =>
    withStore((store) => {
      const large = bytesOf(0, 1, 2, 3, 4, 5, 6, 7, 8)
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [large.subarray(1, 3), large.subarray(5, 8)])
      })

      expect(rowsOf(store, 1).map((row) => row.payload)).toEqual([
        [1, 2],
        [5, 6, 7],
      ])
    }))

  test('keeps a stored row of the greatest size bit for bit', () =>
    withStore((store) => {
      const part = new Uint8Array(STORED_ROW_BYTES_MAX)
      for (let i = 0; i < part.length; i++) part[i] = (i * 31 + (i >>> 8)) & 0xff
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [part, part])
      })

      let seen = 0
      store.readWal(1, (_id, _partsLeft, payload) => {
        seen++
        expect(payload.length).toBe(part.length)
        expect(payload.every((byte, index) => byte === part[index])).toBe(true)
      })
      expect(seen).toBe(2)
    }))

  test('hands out payloads that begin at a multiple of eight', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [bytesOf(1), bytesOf(1, 2, 3)])
      })

      store.readWal(1, (_id, _partsLeft, payload) => expect(payload.byteOffset % 8).toBe(0))
    }))

  test('keeps generations apart and reads none that was not made', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.createWal(2)
        store.appendWal(2, [bytesOf(2)])
        store.appendWal(1, [bytesOf(1)])
      })

      expect(rowsOf(store, 1)).toEqual([{ id: 1, partsLeft: 0, payload: [1] }])
      expect(rowsOf(store, 2)).toEqual([{ id: 1, partsLeft: 0, payload: [2] }])
      expect(() => rowsOf(store, 3)).toThrow(CorruptionError)
    }))

  test('forgets a generation that was dropped, and dropping none is no error', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [bytesOf(1)])
      })
      store.transact(() => {
        store.dropWal(1)
        store.dropWal(7)
      })

      expect(() => rowsOf(store, 1)).toThrow(CorruptionError)
    }))

  test('makes a generation empty in a slot that held an orphan', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [bytesOf(1)])
      })
      store.transact(() => store.createWal(1 + WAL_GENERATION_COUNT_MAX))
      store.transact(() => store.appendWal(1 + WAL_GENERATION_COUNT_MAX, [bytesOf(5)]))

      expect(rowsOf(store, 1 + WAL_GENERATION_COUNT_MAX)).toEqual([
        { id: 1, partsLeft: 0, payload: [5] },
      ])
    }))
}

function describeTransactions(withStore: WithTabletStore): void {
  test('returns what the work returns', () =>
    withStore((store) => {
      expect(store.transact(() => 42)).toBe(42)
    }))

  test('undoes everything of a transaction whose work throws, and goes on', () =>
    withStore((store) => {
      store.transact(() => {
        store.writeSuperblock(bytesOf(1))
        store.createWal(1)
        store.appendWal(1, [bytesOf(1)])
      })

      const failing = () =>
        store.transact(() => {
          store.writeSuperblock(bytesOf(2))
          store.appendWal(1, [bytesOf(2), bytesOf(3)])
          store.createWal(2)
          store.dropWal(1)
          throw new RangeError('changed my mind')
        })

      expect(failing).toThrow('changed my mind')
      expect(store.readSuperblock()).toEqual(bytesOf(1))
      expect(rowsOf(store, 1)).toEqual([{ id: 1, partsLeft: 0, payload: [1] }])
      expect(() => rowsOf(store, 2)).toThrow(CorruptionError)
      store.transact(() => store.appendWal(1, [bytesOf(4)]))
      expect(rowsOf(store, 1).map((row) => row.id)).toEqual([1, 2])
    }))
}

function describeBilling(withStore: WithTabletStore): void {
  test('bills one row for each stored row and for the superblock, none for a drop', () =>
    withStore((store) => {
      store.transact(() => store.createWal(1))
      store.transact(() => store.writeSuperblock(bytesOf(1)))
      const written = [store.rowsWritten]
      store.transact(() => store.writeSuperblock(bytesOf(2)))
      written.push(store.rowsWritten)
      store.transact(() => store.appendWal(1, [bytesOf(1)]))
      written.push(store.rowsWritten)
      store.transact(() => store.appendWal(1, [bytesOf(1), bytesOf(2)]))
      written.push(store.rowsWritten)
      store.transact(() => store.dropWal(1))
      written.push(store.rowsWritten)

      const bills = written.slice(1).map((rows, index) => rows - written[index])
      expect(bills).toEqual([1, 1, 2, 0])
    }))

  test('counts the rows that reading reads', () =>
    withStore((store) => {
      store.transact(() => {
        store.createWal(1)
        store.appendWal(1, [bytesOf(1), bytesOf(2), bytesOf(3)])
      })
      const before = store.rowsRead
      rowsOf(store, 1)

      expect(store.rowsRead - before).toBe(3)
    }))
}

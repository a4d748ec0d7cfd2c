/** What every TabletStore does with files of blocks and with remembered results. */

import { expect, test } from 'vitest'
import { STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import type { TabletStore } from '../../src/tablet/ports.ts'
import type { WithTabletStore } from './tablet-store.suite.ts'

function bytesOf(...values: number[]): Uint8Array {
  return Uint8Array.from(values)
}

/** A file with blocks of one byte each. */
function aFile(store: TabletStore, file: number, ...blocks: number[]): number[] {
  return store.transact(() => {
    store.createFile(file)
    return blocks.map((byte) => store.appendBlock(file, bytesOf(byte)))
  })
}

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof CorruptionError) return error.message
    throw error
  }
  return 'nothing is wrong'
}

/** Declares the tests. */
export function describeFiles(withStore: WithTabletStore): void {
  test('numbers blocks from 1, in the order of writing, over transactions too', () =>
    withStore((store) => {
      const first = aFile(store, 7, 10, 20)
      const second = store.transact(() => store.appendBlock(7, bytesOf(30)))

      expect([...first, second]).toEqual([1, 2, 3])
      expect([1, 2, 3].map((block) => store.readBlock(7, block)[0])).toEqual([10, 20, 30])
    }))

  test('reads all of a block, from a place on, or a slice', () =>
    withStore((store) => {
      store.transact(() => {
        store.createFile(1)
        store.appendBlock(1, bytesOf(0, 1, 2, 3, 4, 5, 0, 255))
      })

      expect(store.readBlock(1, 1)).toEqual(bytesOf(0, 1, 2, 3, 4, 5, 0, 255))
      expect(store.readBlock(1, 1, 6)).toEqual(bytesOf(0, 255))
      expect(store.readBlock(1, 1, 2, 5)).toEqual(bytesOf(2, 3, 4))
      expect(store.readBlock(1, 1, 0, 8)).toHaveLength(8)
      expect(store.readBlock(1, 1, 3, 3)).toHaveLength(0)
      expect(store.readBlock(1, 1, 2, 5).byteOffset % 8).toBe(0)
    }))

  test('keeps a block of the greatest size bit for bit', () =>
    withStore((store) => {
      const block = new Uint8Array(STORED_ROW_BYTES_MAX)
      for (let i = 0; i < block.length; i++) block[i] = (i * 31 + (i >>> 8)) & 0xff
      store.transact(() => {
        store.createFile(1)
        store.appendBlock(1, block)
      })

      const read = store.readBlock(1, 1)
      expect(read.length).toBe(block.length)
      expect(read.every((byte, index) => byte === block[index])).toBe(true)
      expect(store.readBlock(1, 1, 1_000_000, 1_000_008)).toEqual(block.slice(1_000_000, 1_000_008))
    }))

  test('keeps copies of blocks and hands out copies', () =>
    withStore((store) => {
      const given = bytesOf(1, 2)
      store.transact(() => {
        store.createFile(1)
        store.appendBlock(1, given)
      })
      given.fill(9)
      store.readBlock(1, 1).fill(9)

      expect(store.readBlock(1, 1)).toEqual(bytesOf(1, 2))
    }))

  test('names a block that is missing, or shorter than what is read of it', () =>
    withStore((store) => {
      aFile(store, 3, 1)

      expect(messageOf(() => store.readBlock(3, 2))).toContain('file 3, block 2')
      expect(messageOf(() => store.readBlock(4, 1))).toContain('file 4, block 1')
      expect(messageOf(() => store.readBlock(4, 1, 0, 1))).toContain('file 4, block 1')
      expect(messageOf(() => store.readBlock(3, 1, 0, 2))).toContain('file 3, block 1')
      expect(messageOf(() => store.readBlock(3, 1, 1, 2))).toContain('file 3, block 1')
    }))

  test('deletes blocks and leaves the others; one that is not there is no error', () =>
    withStore((store) => {
      aFile(store, 1, 10, 20, 30)
      store.transact(() => {
        store.deleteBlocks(1, [2, 9])
        store.deleteBlocks(5, [1])
      })

      expect(() => store.readBlock(1, 2)).toThrow(CorruptionError)
      expect(store.readBlock(1, 1)).toEqual(bytesOf(10))
      expect(store.readBlock(1, 3)).toEqual(bytesOf(30))
    }))

  test('forgets a file that was dropped, and dropping none is no error', () =>
    withStore((store) => {
      aFile(store, 1, 10)
      aFile(store, 2, 20)
      store.transact(() => {
        store.dropFile(1)
        store.dropFile(9)
      })

      expect(() => store.readBlock(1, 1)).toThrow(CorruptionError)
      expect(store.readBlock(2, 1)).toEqual(bytesOf(20))
    }))

  test('makes a file empty whose number an orphan has', () =>
    withStore((store) => {
      aFile(store, 1, 10, 20)
      const again = aFile(store, 1, 30)

      expect(again).toEqual([1])
      expect(store.readBlock(1, 1)).toEqual(bytesOf(30))
      expect(() => store.readBlock(1, 2)).toThrow(CorruptionError)
    }))

  test('undoes what a transaction that fails did to files and results', () =>
    withStore((store) => {
      aFile(store, 1, 10, 20)
      aFile(store, 2, 30)
      store.transact(() => store.writeResults(bytesOf(1)))
      const failing = () =>
        store.transact(() => {
          store.appendBlock(1, bytesOf(99))
          store.deleteBlocks(1, [1])
          store.dropFile(2)
          store.createFile(3)
          store.writeResults(bytesOf(2))
          throw new RangeError('changed my mind')
        })

      expect(failing).toThrow('changed my mind')
      expect(store.readBlock(1, 1)).toEqual(bytesOf(10))
      expect(() => store.readBlock(1, 3)).toThrow(CorruptionError)
      expect(store.readBlock(2, 1)).toEqual(bytesOf(30))
      expect(() => store.readBlock(3, 1)).toThrow(CorruptionError)
      expect(store.readResults()).toEqual(bytesOf(1))
    }))

  test('reads the results last written, and none before', () =>
    withStore((store) => {
      store.transact(() => store.writeSuperblock(bytesOf(1)))
      expect(store.readResults()).toBeNull()
      store.transact(() => store.writeResults(bytesOf(1, 2)))
      store.transact(() => store.writeResults(bytesOf(0, 255)))

      expect(store.readResults()).toEqual(bytesOf(0, 255))
    }))

  test('bills a row for each block written, deleted or read, two for a file, none for a drop', () =>
    withStore((store) => {
      // What makes a table the first time is not part of the bill.
      aFile(store, 1)
      const written = [store.rowsWritten]
      const note = (work: () => void) => {
        store.transact(work)
        written.push(store.rowsWritten)
      }
      note(() => store.createFile(2))
      note(() => {
        store.appendBlock(2, bytesOf(1, 2, 3))
        store.appendBlock(2, new Uint8Array(100_000))
      })
      note(() => store.deleteBlocks(2, [1]))
      note(() => store.writeResults(bytesOf(1)))
      note(() => store.writeResults(bytesOf(2)))
      note(() => store.dropFile(2))
      aFile(store, 3, 1)
      const before = store.rowsRead
      store.readBlock(3, 1)
      store.readBlock(3, 1, 0, 1)

      const bills = written.slice(1).map((rows, index) => rows - written[index])
      expect(bills).toEqual([2, 2, 1, 1, 1, 0])
      expect(store.rowsRead - before).toBe(2)
    }))
}

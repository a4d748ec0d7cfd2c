import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../src/common/hybrid-clock.ts'
import {
  STORED_ROW_BYTES_MAX,
  WAL_GENERATION_BYTES_MAX,
  WAL_GENERATION_COUNT_FLUSHED_MAX,
  WAL_GENERATION_COUNT_MAX,
} from '../../src/common/limits.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { noCounts, ROW_OUTCOMES } from '../../src/tablet/row-outcome.ts'
import { Wal } from '../../src/tablet/wal.ts'
import type { WalEntry } from '../../src/tablet/wal-entry.ts'
import { MemoryTabletStore } from '../support/memory-tablet-store.ts'

function anEntry(timestamp: number, blockBytes = 64): WalEntry {
  return {
    tableVersion: 1,
    timestamp,
    rowCount: 1,
    counts: { ...noCounts(), inserted: 1, created: 1 },
    outcomes: Uint8Array.of(ROW_OUTCOMES.INSERT),
    errorColumnIds: new Int32Array(1),
    resultKey: null,
    expiresAt: 0,
    block: new Uint8Array(blockBytes).fill(timestamp),
  }
}

function aWal(store: MemoryTabletStore): Wal {
  return store.transact(() => Wal.create(store))
}

function append(store: MemoryTabletStore, wal: Wal, entry: WalEntry): boolean {
  wal.reserve()
  return store.transact(() => wal.append(entry))
}

function replayed(
  store: MemoryTabletStore,
  generations: readonly number[],
  visit: (entry: WalEntry, where: string) => void,
): Wal {
  const wal = Wal.open(store, generations)
  wal.replay(visit)
  return wal
}

function timestampsIn(store: MemoryTabletStore, generations: readonly number[]): number[] {
  const timestamps: number[] = []
  replayed(store, generations, (entry) => timestamps.push(entry.timestamp))
  return timestamps
}

describe('Wal', () => {
  test('gives back its entries in the order in which they were appended', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    for (const timestamp of [10, 11, 20]) append(store, wal, anEntry(timestamp))

    expect(timestampsIn(store, wal.generations)).toEqual([10, 11, 20])
  })

  test('goes on behind what it replayed', () => {
    const store = new MemoryTabletStore()
    const first = aWal(store)
    append(store, first, anEntry(10))
    const again = replayed(store, [1], () => {})
    append(store, again, anEntry(11))

    expect(again.bytes).toBe(first.bytes * 2)
    expect(again.lastTimestamp).toBe(11)
    expect(timestampsIn(store, [1])).toEqual([10, 11])
  })

  test('stores an entry of common size as one row', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    const before = store.rowsWritten
    append(store, wal, anEntry(10, 1_800_000))

    expect(store.rowsWritten - before).toBe(1)
  })

  test('stores a larger entry as several rows and joins them again', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    const block = new Uint8Array(STORED_ROW_BYTES_MAX * 2 + 8)
    for (let i = 0; i < block.length; i++) block[i] = i * 7
    append(store, wal, { ...anEntry(10), block })
    append(store, wal, anEntry(11))

    const blocks: Uint8Array[] = []
    replayed(store, [1], (entry) => blocks.push(entry.block))

    expect(store.walRowCount(1)).toBe(4)
    expect(blocks).toHaveLength(2)
    expect(Buffer.compare(blocks[0], block)).toBe(0)
    expect(blocks[0].byteOffset % 8).toBe(0)
  })

  test('begins a generation when the open one is full, and says so', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    const began: boolean[] = []
    for (let at = 1; at <= 11; at++) began.push(append(store, wal, anEntry(at, 1_800_000)))

    expect(began.indexOf(true)).toBe(Math.ceil(WAL_GENERATION_BYTES_MAX / 1_800_000))
    expect(began.filter(Boolean)).toHaveLength(1)
    expect(wal.generations).toEqual([1, 2])
    expect(timestampsIn(store, [1, 2])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    wal.checkInvariants()
  })

  test('refuses entries once all generations are full', () => {
    const store = new MemoryTabletStore()
    const generations = Array.from({ length: WAL_GENERATION_COUNT_MAX }, (_, index) => index + 1)
    store.transact(() => {
      for (const generation of generations) store.createWal(generation)
    })
    const wal = replayed(store, generations, () => {})
    const last = generations.length
    let at = 0
    while (store.walRowCount(last) * 1_800_000 < WAL_GENERATION_BYTES_MAX) {
      append(store, wal, anEntry(++at, 1_800_000))
    }

    expect(() => wal.reserve()).toThrow(StatusError)
    expect(() => wal.reserve()).toThrow('tablet has too much unflushed WAL')
    wal.checkInvariants()
  })

  test('asserts that timestamps ascend', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    append(store, wal, anEntry(10))

    expect(() => append(store, wal, anEntry(10))).toThrow('order of their timestamps')
  })
})

describe('Wal.beginGeneration', () => {
  test('closes the open one, but not one without entries', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    expect(store.transact(() => wal.beginGeneration())).toBe(false)
    append(store, wal, anEntry(10))

    expect(store.transact(() => wal.beginGeneration())).toBe(true)
    expect(store.transact(() => wal.beginGeneration())).toBe(false)
    append(store, wal, anEntry(11))
    expect(wal.generations).toEqual([1, 2])
    expect(wal.live.map(({ lastTimestamp, rowCount }) => [lastTimestamp, rowCount])).toEqual([
      [10, 1],
      [11, 1],
    ])
    wal.checkInvariants()
  })

  test('leaves numbers for what is written when there are many', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    for (let at = 1; at <= 100; at++) {
      append(store, wal, anEntry(at))
      store.transact(() => wal.beginGeneration())
    }

    expect(wal.generations.length).toBe(WAL_GENERATION_COUNT_FLUSHED_MAX)
    expect(wal.firstTimestamp).toBe(1)
  })
})

describe('Wal.drop', () => {
  //  generation   1          2          3 (open)
  //  entries      10 11      20 21      30
  function threeGenerations(): { store: MemoryTabletStore; wal: Wal } {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    for (const at of [10, 11, 20, 21, 30]) {
      if (at === 20 || at === 30) store.transact(() => wal.beginGeneration())
      append(store, wal, anEntry(at))
    }
    return { store, wal }
  }

  test.each([
    [10, 0],
    [11, 0],
    [12, 1],
    [21, 1],
    [22, 2],
    [TIMESTAMP_MAX, 2],
  ])('may take what ends below the oldest change at %i', (anchor, count) => {
    expect(threeGenerations().wal.droppableCount(anchor)).toBe(count)
  })

  test('forgets the oldest and goes on', () => {
    const { store, wal } = threeGenerations()
    expect(wal.lastTimestampOf(2)).toBe(21)
    store.transact(() => wal.drop(2))
    append(store, wal, anEntry(31))

    expect(wal.generations).toEqual([3])
    expect(wal.firstTimestamp).toBe(30)
    expect(wal.rowCount).toBe(2)
    expect(timestampsIn(store, [3])).toEqual([30, 31])
    expect(() => timestampsIn(store, [2])).toThrow(CorruptionError)
  })

  test('takes its slots around the ring', () => {
    const { store, wal } = threeGenerations()
    for (let at = 100; at < 100 + 3 * WAL_GENERATION_COUNT_MAX; at++) {
      append(store, wal, anEntry(at))
      store.transact(() => {
        wal.beginGeneration()
        wal.drop(wal.droppableCount(at))
      })
    }

    expect(wal.generations.length).toBe(2)
    wal.checkInvariants()
  })

  test('knows until when the results in it are to be remembered', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    const resultKey = { key: 'k', share: 0, digest: 'd', isInternal: false }
    append(store, wal, { ...anEntry(10), resultKey, expiresAt: 700 })
    append(store, wal, { ...anEntry(11), resultKey, expiresAt: 600 })
    store.transact(() => wal.beginGeneration())
    append(store, wal, anEntry(12))

    expect(wal.resultsUntilOf(0)).toBe(0)
    expect(wal.resultsUntilOf(1)).toBe(700)
    expect(replayed(store, [1, 2], () => {}).resultsUntilOf(1)).toBe(700)
  })
})

describe('Wal.replay', () => {
  function aStore(): MemoryTabletStore {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    append(store, wal, anEntry(10))
    append(store, wal, anEntry(11, STORED_ROW_BYTES_MAX * 2))
    append(store, wal, anEntry(12))
    return store
  }

  test('names generation and row of an entry whose bits were turned', () => {
    const store = aStore()
    store.flipWalBit(1, 3, 999)

    expect(() => timestampsIn(store, [1])).toThrow(CorruptionError)
    expect(() => timestampsIn(store, [1])).toThrow(
      /^WAL generation 1, entry at row 2: checksum is \d+, bytes give \d+$/,
    )
  })

  test('finds a row that is missing, wherever it was', () => {
    for (const id of [1, 2, 3, 4]) {
      const store = aStore()
      store.loseWalRow(1, id)

      expect(() => timestampsIn(store, [1])).toThrow(CorruptionError)
    }
  })

  test('finds an entry whose last parts are missing at the end', () => {
    const store = aStore()
    store.loseWalRow(1, 5)
    store.loseWalRow(1, 4)

    expect(() => timestampsIn(store, [1])).toThrow('WAL generation 1: the entry at row 2 is cut')
  })

  test('finds a generation that is missing', () => {
    expect(() => timestampsIn(aStore(), [1, 2])).toThrow('WAL generation 2 is missing')
  })

  test('finds generations in the wrong order by their timestamps', () => {
    const store = new MemoryTabletStore()
    const wal = aWal(store)
    for (let at = 1; at <= 11; at++) append(store, wal, anEntry(at, 1_800_000))

    expect(() => timestampsIn(store, [2, 1])).toThrow('its timestamp is not above the one before')
  })
})

import { describe, expect, test } from 'vitest'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { Schema } from '../../src/common/schema.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { DEFAULT_TABLET_LAYOUT } from '../../src/tablet/tablet-layout.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable, withDefault } from '../support/a-table-entry.ts'
import { aWriteBlock, type PlainOperation, type PlainRow } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 11),
  withDefault(aColumnDefinition('d INT32', 12), 7),
  asImmutable(aColumnDefinition('i INT32 NULL', 13)),
])

/** Writes shares one after the other; a filler row in each makes sure that it is logged. */
function aTabletAfter(...shares: readonly (readonly PlainOperation[])[]): {
  harness: TabletHarness
  timestamps: number[]
} {
  const harness = new TabletHarness(SCHEMA)
  const timestamps = shares.map((share, index) => {
    const filler: PlainOperation = ['INSERT', { k: 1000 + index }]
    return harness.write([...share, filler]).timestamp ?? 0
  })
  return { harness, timestamps }
}

/** The rows that no filler made, at each of the times and just before. */
function historyOf(harness: TabletHarness, timestamps: readonly number[]): PlainRow[][] {
  return timestamps
    .flatMap((timestamp) => [timestamp - 1, timestamp])
    .map((at) => harness.rows(at).filter((row) => Number(row.k) < 1000))
}

interface ReplayCase {
  readonly name: string
  readonly shares: readonly (readonly PlainOperation[])[]
  /** The rows in the end. */
  readonly rows: readonly PlainRow[]
}

const K = { k: 1 }
const A = { k: 1, v: 1, d: 1, i: 1 }
const B = { k: 1, v: 2, d: 2, i: 2 }

const CASES: readonly ReplayCase[] = [
  {
    name: 'an insert refused because its key was live, whose row was deleted since',
    shares: [[['INSERT', A]], [['INSERT', B]], [['DELETE', K]]],
    rows: [],
  },
  {
    name: 'an ignored insert whose row was deleted since',
    shares: [[['INSERT', A]], [['INSERT_IGNORE', B]], [['DELETE', K]]],
    rows: [],
  },
  {
    name: 'an update refused because its key was absent, which was inserted since',
    shares: [[['UPDATE', { k: 1, v: 9 }]], [['INSERT', A]]],
    rows: [A],
  },
  {
    name: 'an ignored update whose key was inserted since',
    shares: [[['UPDATE_IGNORE', { k: 1, v: 9 }]], [['INSERT', A]]],
    rows: [A],
  },
  {
    name: 'a delete refused because its key was absent, which was inserted since',
    shares: [[['DELETE', K]], [['INSERT', A]]],
    rows: [A],
  },
  {
    name: 'an insert refused within its op, whose row its op deleted afterwards',
    shares: [
      [
        ['INSERT', A],
        ['INSERT', B],
        ['DELETE', K],
      ],
    ],
    rows: [],
  },
  {
    name: 'a key inserted, deleted and inserted again within one op',
    shares: [
      [
        ['INSERT', A],
        ['DELETE', K],
        ['INSERT', { k: 1, v: 3 }],
      ],
    ],
    rows: [{ k: 1, v: 3, d: 7, i: null }],
  },
  {
    name: 'an upsert that inserted and one that changed',
    shares: [[['UPSERT', A]], [['UPSERT', { k: 1, v: 5 }]], [['UPSERT', K]]],
    rows: [{ ...A, v: 5 }],
  },
  {
    name: 'an upsert refused for an immutable column, whose row was deleted since',
    shares: [[['INSERT', A]], [['UPSERT', B]], [['DELETE', K]]],
    rows: [],
  },
  {
    name: 'an upsert that passed over an immutable column',
    shares: [[['INSERT', A]], [['UPSERT_IGNORE', B]]],
    rows: [{ ...B, i: 1 }],
  },
  {
    name: 'an upsert that inserted with its immutable column set',
    shares: [[['INSERT', A]], [['DELETE', K]], [['UPSERT_IGNORE', B]]],
    rows: [B],
  },
  {
    name: 'rows that were wrong in themselves',
    shares: [
      [['INSERT', { v: 1 }]],
      [['INSERT', { k: null }]],
      [['INSERT', { ...A, d: null }]],
      [['UPDATE', K]],
      [['DELETE', A]],
    ],
    rows: [],
  },
]

describe('bootstrap', () => {
  for (const { name, shares, rows } of CASES) {
    test(`decides nothing anew about ${name}`, () => {
      const { harness, timestamps } = aTabletAfter(...shares)
      const before = historyOf(harness, timestamps)
      const newest = harness.tablet.lastApplied

      harness.crash()

      expect(historyOf(harness, timestamps)).toEqual(before)
      expect(before.at(-1)).toEqual(rows)
      expect(harness.tablet.lastApplied).toBe(newest)
      checkTablet(harness.tablet)
    })
  }

  test('of a bootstrapped tablet finds the same again', () => {
    const { harness, timestamps } = aTabletAfter([['INSERT', A]], [['UPDATE', { k: 1, v: 5 }]])
    harness.crash()
    harness.write([['DELETE', K]])
    const before = historyOf(harness, timestamps)
    harness.crash()
    harness.crash()

    expect(historyOf(harness, timestamps)).toEqual(before)
    expect(harness.rows().filter((row) => row.k === 1)).toEqual([])
  })

  test('goes over generations, and the op that begins one bills three rows more', () => {
    const schema = new Schema([
      aColumnDefinition('k INT32 KEY', 10),
      aColumnDefinition('v STRING NULL', 11),
    ])
    // Nothing is flushed, so that only writes bill.
    const layout = { ...DEFAULT_TABLET_LAYOUT, rowSetBytes: 1 << 30 }
    const harness = new TabletHarness(schema, { layout })
    const large = 'x'.repeat(60_000)
    const bills: number[] = []
    for (let share = 0; share < 12; share++) {
      const before = harness.store.rowsWritten
      harness.write(
        Array.from({ length: 30 }, (_, row): PlainOperation => {
          return ['INSERT', { k: share * 30 + row, v: large }]
        }),
      )
      bills.push(harness.store.rowsWritten - before)
    }
    harness.write([['DELETE', { k: 0 }]])
    const before = harness.rows().map((row) => row.k)
    harness.crash()

    expect(bills).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1])
    expect(harness.tablet.parts?.wal.generations).toEqual([1, 2])
    expect(harness.rows().map((row) => row.k)).toEqual(before)
    expect(before).toHaveLength(359)
    harness.write([['INSERT', { k: 0, v: 'small' }]])
    harness.crash()
    expect(harness.rows()[0]).toEqual({ k: 0, v: 'small' })
    checkTablet(harness.tablet)
  })

  test('writes nothing', () => {
    const { harness } = aTabletAfter([['INSERT', A]])
    harness.crash()

    expect(harness.store.rowsWritten).toBe(0)
    expect(harness.store.committedCount).toBe(0)
  })

  test('finds every bit that was turned in the WAL, and names the row, not its contents', () => {
    const { harness } = aTabletAfter([['INSERT', A]], [['UPDATE', { k: 1, v: 5 }]])
    const seed = 11
    const prng = new Prng(seed)
    for (let round = 0; round < 200; round++) {
      const id = prng.between(1, 2)
      const bit = prng.below(harness.store.walRowBytes(1, id) * 8)
      harness.store.flipWalBit(1, id, bit)

      expect(() => harness.evict(), `seed ${seed}, round ${round}`).toThrow(CorruptionError)
      expect(() => harness.evict()).toThrow(`WAL generation 1, entry at row ${id}: `)
      harness.store.flipWalBit(1, id, bit)
    }
    harness.evict()
    expect(harness.rows().filter((row) => row.k === 1)).toEqual([{ ...A, v: 5 }])
  })

  test('finds a bit that was turned in the superblock', () => {
    const { harness } = aTabletAfter([['INSERT', A]])
    harness.store.flipSuperblockBit(999)

    expect(() => harness.evict()).toThrow(CorruptionError)
  })

  test('refuses a WAL that lacks an op which later ops build on', () => {
    const { harness } = aTabletAfter([['INSERT', A]], [['UPDATE', { k: 1, v: 5 }]])
    harness.store.loseWalRow(1, 1)

    expect(() => harness.evict()).toThrow('WAL generation 1, stored row 2: row 1 is missing')
  })

  test('keeps what a block leaves out apart from what it sets to null', () => {
    const harness = new TabletHarness(SCHEMA)
    const withoutV = aWriteBlock(SCHEMA, [['INSERT', { k: 1 }]], ['k'])
    const inAnotherOrder = aWriteBlock(
      SCHEMA,
      [['UPSERT', { i: 4, k: 2, v: null }]],
      ['i', 'k', 'v'],
    )
    harness.writeBlock(encodeRowBlock(withoutV))
    harness.writeBlock(encodeRowBlock(inAnotherOrder))
    harness.evict()

    expect(harness.rows()).toEqual([
      { k: 1, v: null, d: 7, i: null },
      { k: 2, v: null, d: 7, i: 4 },
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { encodeRowBlock } from '../../src/common/row-block.ts'
import { Schema } from '../../src/common/schema.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { checkAccount, checkTablet } from '../../src/tablet/invariants.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { aWriteBlock, type PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT64 KEY', 10),
  aColumnDefinition('v STRING NULL', 11),
])
const MIB = 1024 * 1024

function aShare(count: number, makeRow: (i: number) => PlainOperation): Uint8Array {
  return encodeRowBlock(
    aWriteBlock(
      SCHEMA,
      Array.from({ length: count }, (_, i) => makeRow(i)),
    ),
  )
}

/** A tablet with ten rows on disk. */
function aFlushedTablet(memoryBytesMax = 512 * MIB): TabletHarness {
  const harness = new TabletHarness(SCHEMA, { memoryBytesMax })
  harness.write(Array.from({ length: 10 }, (_, k) => ['INSERT', { k, v: `${k}` }]))
  harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
  return harness
}

describe('Tablet.write when memory is short', () => {
  test('never refuses inserts that come without pause, and holds little above the limit', () => {
    const harness = new TabletHarness(SCHEMA, { memoryBytesMax: 6 * MIB })
    const prng = new Prng(7)
    let most = 0
    for (let round = 0; round < 60; round++) {
      const block = aShare(1000, () => ['UPSERT', { k: prng.below(2 ** 31), v: 'x'.repeat(150) }])
      harness.writeBlock(block)
      harness.store.release()
      most = Math.max(most, harness.accountant.heldBytes)
    }

    expect(most).toBeLessThan(7 * MIB)
    expect(harness.parts.rowSets.length).toBeGreaterThan(0)
    expect(harness.parts.wal.generations.length).toBeLessThan(8)
    checkAccount(harness.tablet, harness.accountant)
    checkTablet(harness.tablet)
  }, 60_000)

  test('never refuses changes of rows on disk that come without a pause', () => {
    const harness = aFlushedTablet(3 * MIB)
    for (let round = 0; round < 300; round++) {
      const block = aShare(100, (i) => ['UPDATE', { k: i % 10, v: `${round} `.repeat(50) }])
      harness.writeBlock(block)
      harness.store.release()
    }

    expect(harness.rows()).toHaveLength(10)
    expect(harness.parts.memRowSet.rowCount).toBe(0)
    checkTablet(harness.tablet)
  }, 60_000)

  test('is refused when even maintenance cannot make room', () => {
    const harness = aFlushedTablet()
    harness.accountant.hold({}, 'somebody else', 512 * MIB)

    expect(() => harness.write([['INSERT', { k: 100 }]])).toThrow(StatusError)
    expect(harness.rows()).toHaveLength(10)
  })
})

describe('Tablet over damaged blocks', () => {
  /** A tablet whose every block but the last of its file has a flipped bit. */
  function aDamagedTablet(): TabletHarness {
    const harness = aFlushedTablet()
    const [file] = harness.store.files()
    for (const { block, bytes } of harness.store.blocks(file)) {
      harness.store.flipBlockBit(file, block, bytes * 4)
    }
    harness.evict()
    return harness
  }

  test('fails reads that need them, and goes on', () => {
    const harness = aDamagedTablet()

    expect(() => harness.rows()).toThrow(CorruptionError)
    expect(() => harness.rows()).toThrow(/file 1, block/)
    expect(harness.parts.pins.fileCount).toBe(0)
  })

  test('fails writes that need them, and takes others', () => {
    const harness = aDamagedTablet()
    const committed = harness.store.committedCount

    expect(() => harness.write([['UPDATE', { k: 3, v: 'x' }]])).toThrow(CorruptionError)
    expect(harness.store.committedCount).toBe(committed)
    expect(harness.write([['INSERT', { k: 1000, v: 'y' }]])).toMatchObject({ inserted: 1 })
    expect(harness.parts.locks.isEmpty).toBe(true)
  })
})

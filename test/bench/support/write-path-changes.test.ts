import { describe, expect, test } from 'vitest'
import { InsertBlocks } from '../../../bench/support/bench-schema.ts'
import type { BenchTablet } from '../../../bench/support/bench-tablet.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from '../../../bench/support/loadgen.ts'
import { partsOf } from '../../../bench/support/parts.ts'
import { scanHash } from '../../../bench/support/scan-hash.ts'
import { CHANGES, openUsual } from '../../../bench/support/write-path-changes.ts'
import type { RowBlock } from '../../../src/common/row-block.ts'

type Operation = Parameters<InsertBlocks['take']>[0]

function blockOf(operation: Operation, keys: readonly number[]): RowBlock {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const key of keys) appendLoadgenRow(blocks, key)
  return blocks.take(operation)
}

/** Inserts, changes of what is there, keys that repeat, and ops of one row. */
function fill(bench: BenchTablet): BenchTablet {
  bench.write(
    blockOf(
      'INSERT',
      Array.from({ length: 100 }, (_, i) => i * 3),
    ),
  )
  bench.write(blockOf('UPSERT', [3, 4, 4, 900, 3]))
  bench.write(blockOf('INSERT', [7]))
  bench.write(blockOf('INSERT_IGNORE', [7, 8, 8]))
  return bench
}

describe('CHANGES', () => {
  test.each(CHANGES.map((change) => [`${change.name}, ${change.opRows}`, change] as const))(
    '%s: both sides end with the same rows and at rest',
    (_, { openBefore, openAfter = openUsual }) => {
      const sides = [openUsual, openAfter, openBefore].map((open) => fill(open()))

      const [usual, ...others] = sides.map((bench) => scanHash([bench], LOADGEN_SCHEMA))
      expect(usual.rowCount).toBe(104)
      for (const other of others) expect(other).toEqual(usual)
      for (const { locks, mvcc, lastApplied } of sides.map(partsOf)) {
        locks.checkInvariants()
        mvcc.checkInvariants()
        expect(locks.isEmpty).toBe(true)
        expect(mvcc.inFlightCount).toBe(0)
        expect(mvcc.cleanTime).toBeGreaterThanOrEqual(lastApplied)
      }
    },
  )
})

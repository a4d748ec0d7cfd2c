import { expect, test } from 'vitest'
import { WalkedSizes } from '../../../bench/before/walked-sizes.ts'
import { InsertBlocks } from '../../../bench/support/bench-schema.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from '../../../bench/support/loadgen.ts'
import { partsOf } from '../../../bench/support/parts.ts'
import { openUsual } from '../../../bench/support/write-path-changes.ts'

test('sizes of entries that are walked are those that are logged', () => {
  const bench = openUsual()
  const parts = partsOf(bench)
  const sizes = new WalkedSizes(parts)
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const [first, count] of [
    [0, 1],
    [1, 1000],
    [900, 333],
  ]) {
    for (let key = first; key < first + count; key++) appendLoadgenRow(blocks, key)
    bench.write(blocks.take(first === 900 ? 'INSERT_IGNORE' : 'INSERT'))
    blocks.clear()
  }

  // Of the last op some rows are inserted, the others ignored: their outcomes are logged.
  expect(sizes.loggedBytes).toBeGreaterThan(0)
  expect(sizes.loggedBytes).toBe(parts.wal.bytes)
})

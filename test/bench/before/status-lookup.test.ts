import { expect, test } from 'vitest'
import { tellAbsent } from '../../../bench/before/status-lookup.ts'
import { InsertBlocks } from '../../../bench/support/bench-schema.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from '../../../bench/support/loadgen.ts'
import { partsOf } from '../../../bench/support/parts.ts'
import { openUsual } from '../../../bench/support/write-path-changes.ts'
import { WriteOp } from '../../../src/tablet/write-op.ts'

function blockOf(keys: readonly number[]) {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (const key of keys) appendLoadgenRow(blocks, key)
  return blocks.take()
}

test.each(['status', 'exception'] as const)('tells keys by a %s as by slots', (as) => {
  const bench = openUsual()
  bench.write(blockOf([5, 6, 7]))
  const { memRowSet, keyHashSeed } = partsOf(bench)
  const op = new WriteOp()
  const block = blockOf([4, 6, 5, 9])
  op.begin(block)
  op.encodeKeys([block.columns[0]], keyHashSeed)

  tellAbsent(memRowSet, as)
  memRowSet.findSlots(op.keys, op.hashes, 4, op.slots)

  expect([...op.slots.slice(0, 4)]).toEqual([-1, 1, 0, -1])
})

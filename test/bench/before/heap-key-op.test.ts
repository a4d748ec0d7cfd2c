import { expect, test } from 'vitest'
import { HeapKeyOp } from '../../../bench/before/heap-key-op.ts'
import { InsertBlocks } from '../../../bench/support/bench-schema.ts'
import { appendLoadgenRow, LOADGEN_SCHEMA } from '../../../bench/support/loadgen.ts'
import { WriteOp } from '../../../src/tablet/write-op.ts'

const SEED = 12345

test('an op with an object a key has the same keys and hashes, and lets go of them', () => {
  const blocks = new InsertBlocks(LOADGEN_SCHEMA)
  for (let key = 0; key < 50; key++) appendLoadgenRow(blocks, key * 7)
  const block = blocks.take()
  const [plain, heap] = [new WriteOp(), new HeapKeyOp()]
  for (const op of [plain, heap]) {
    op.begin(block)
    op.encodeKeys([block.columns[0]], SEED)
  }

  expect(heap.hashes.slice(0, 50)).toEqual(plain.hashes.slice(0, 50))
  expect(heap.heapKeys).toEqual(Array.from({ length: 50 }, (_, row) => plain.keys.key(row)))
  heap.end()
  expect(heap.heapKeys).toEqual([])
})

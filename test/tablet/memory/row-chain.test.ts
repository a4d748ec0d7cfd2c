import { describe, expect, test } from 'vitest'
import { TIMESTAMP_MAX } from '../../../src/common/hybrid-clock.ts'
import { MemRowStore } from '../../../src/tablet/memory/mem-row-store.ts'
import { REDO_KINDS, type RedoKind } from '../../../src/tablet/memory/redo-log.ts'
import { RowChain } from '../../../src/tablet/memory/row-chain.ts'
import { aWriteBlock } from '../../support/a-write-block.ts'
import { keysOf, schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k INT32 KEY', 'v INT32 NULL')
const { UPDATE, DELETE, REINSERT } = REDO_KINDS

/** A row that is inserted at 3 and changed. */
function aRow(...changes: readonly (readonly [at: number, kind: RedoKind])[]): MemRowStore {
  const rows = new MemRowStore(schema)
  const block = aWriteBlock(schema, [['INSERT', { k: 1, v: 1 }]])
  rows.append(keysOf(schema, block), block, new Uint32Array(1), 0, 1, 3)
  for (const [at, kind] of changes) {
    rows.setNewestRedo(0, rows.redos.append(at, kind, rows.newestRedo(0)))
  }
  return rows
}

function load(rows: MemRowStore, redoEnd = rows.redos.count) {
  const chain = new RowChain(rows, redoEnd)
  const isVisible = chain.load(0)
  return { isVisible, redos: [...chain.redos.subarray(0, chain.count)], deletedAt: chain.deletedAt }
}

describe('RowChain', () => {
  test('is empty for a row that was only inserted', () => {
    expect(load(aRow())).toEqual({ isVisible: true, redos: [], deletedAt: TIMESTAMP_MAX })
  })

  test('lists changes oldest first, however many', () => {
    const rows = aRow(...Array.from({ length: 100 }, (_, i) => [3 + i, UPDATE] as const))

    expect(load(rows).redos).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })

  test('ends before the op that left the row absent for good', () => {
    const rows = aRow([5, UPDATE], [7, DELETE])

    expect(load(rows)).toEqual({ isVisible: true, redos: [0], deletedAt: 7 })
  })

  test('takes off everything that the last op did before it deleted the row', () => {
    const rows = aRow([5, UPDATE], [7, UPDATE], [7, DELETE], [7, REINSERT], [7, DELETE])

    expect(load(rows)).toEqual({ isVisible: true, redos: [0], deletedAt: 7 })
  })

  test('was deleted by the first of the ops behind which it was absent', () => {
    const rows = aRow([5, DELETE], [7, REINSERT], [7, DELETE], [9, REINSERT], [9, DELETE])

    expect(load(rows)).toEqual({ isVisible: true, redos: [], deletedAt: 5 })
  })

  test('goes on over a delete whose op brought the row back', () => {
    const rows = aRow([5, DELETE], [5, REINSERT])

    expect(load(rows)).toEqual({ isVisible: true, redos: [0, 1], deletedAt: TIMESTAMP_MAX })
  })

  test('was never there when its own op deleted it and none brought it back', () => {
    expect(load(aRow([3, DELETE])).isVisible).toBe(false)
    expect(load(aRow([3, DELETE], [8, REINSERT], [8, DELETE])).isVisible).toBe(false)
    expect(load(aRow([3, DELETE], [8, REINSERT])).isVisible).toBe(true)
    expect(load(aRow([3, DELETE], [3, REINSERT], [3, DELETE])).isVisible).toBe(false)
  })

  test('does not see redos from a number on', () => {
    const rows = aRow([5, UPDATE], [6, UPDATE], [7, DELETE])

    expect(load(rows, 2)).toEqual({ isVisible: true, redos: [0, 1], deletedAt: TIMESTAMP_MAX })
    expect(load(rows, 0)).toEqual({ isVisible: true, redos: [], deletedAt: TIMESTAMP_MAX })
  })

  test('finds where the changes of an op end', () => {
    const rows = aRow([3, UPDATE], [3, UPDATE], [5, UPDATE], [7, DELETE], [7, REINSERT])
    const chain = new RowChain(rows, rows.redos.count)
    chain.load(0)

    expect([0, 1, 2, 3, 4].map((start) => chain.opEnd(start))).toEqual([2, 2, 3, 5, 5])
  })
})

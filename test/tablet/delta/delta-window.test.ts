import { describe, expect, test } from 'vitest'
import { PageCache } from '../../../src/cfile/page-cache.ts'
import { DeltaFile } from '../../../src/tablet/delta/delta-file.ts'
import { DeltaFileWriter } from '../../../src/tablet/delta/delta-file-writer.ts'
import { DeltaWindow } from '../../../src/tablet/delta/delta-window.ts'
import { Prng } from '../../../src/util/prng.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import { deltaRecordsOf, type PlainDelta } from '../../support/plain-delta-records.ts'
import { randomCell } from '../../support/random-cell.ts'
import { CHANGING, DELTA_SCHEMA } from '../../support/random-deltas.ts'

const [FIRST, SECOND] = CHANGING
const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical

function fileOf(blocks: MemoryBlocks, file: number, deltas: readonly PlainDelta[]): DeltaFile {
  const writer = new DeltaFileWriter(blocks.createFile(file))
  writer.append(deltaRecordsOf(deltas, physicalOf))
  return new DeltaFile(writer.finish(), blocks, new PageCache(1 << 20), 1, 'rowset 1')
}

describe('DeltaWindow', () => {
  test('reads a file only for columns that it changes, unless rows come or go in it', () => {
    const cell = randomCell(new Prng(1), FIRST)
    const update: PlainDelta = { ordinal: 3, at: 20, kind: 'UPDATE', cells: { [FIRST.id]: cell } }
    const gone: PlainDelta = { ordinal: 5, at: 20, kind: 'DELETE', cells: {} }
    const rowsReadOf = (
      deltas: readonly PlainDelta[],
      side: 'undos' | 'redos',
      column = SECOND,
    ) => {
      const blocks = new MemoryBlocks()
      const files = { undos: [], redos: [], [side]: [fileOf(blocks, 1, deltas)] }
      const snapshot = side === 'undos' ? 10 : 30
      const before = blocks.rowsRead
      new DeltaWindow({ ...files, snapshot, columns: [column] }).load(0, 10)
      return blocks.rowsRead - before
    }

    for (const side of ['undos', 'redos'] as const) {
      expect(rowsReadOf([update], side)).toBe(0)
      expect(rowsReadOf([update], side, FIRST)).toBe(1)
      expect(rowsReadOf([update, gone], side)).toBe(1)
    }
  })
})

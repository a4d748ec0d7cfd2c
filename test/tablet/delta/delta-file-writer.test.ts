import { describe, expect, test } from 'vitest'
import { PageCache } from '../../../src/cfile/page-cache.ts'
import { PHYSICAL } from '../../../src/common/data-type.ts'
import { DELTA_BLOCK_RECORDS, STORED_ROW_BYTES_MAX } from '../../../src/common/limits.ts'
import { DeltaFile } from '../../../src/tablet/delta/delta-file.ts'
import { DeltaFileWriter, writeDeltaFile } from '../../../src/tablet/delta/delta-file-writer.ts'
import { DELTA_KINDS, type DeltaRecords } from '../../../src/tablet/delta/delta-records.ts'
import { DeltaRecordsBuilder } from '../../../src/tablet/delta/delta-records-builder.ts'
import { crc32c } from '../../../src/util/crc32c.ts'
import { Prng } from '../../../src/util/prng.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import { deltaRecordsOf, plainDeltas } from '../../support/plain-delta-records.ts'
import { DELTA_SCHEMA, randomUndos } from '../../support/random-deltas.ts'

const { UPDATE, DELETE } = DELTA_KINDS
const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical

/** A row of `count` updates, each with a text of `bytes`. */
function addTexts(builder: DeltaRecordsBuilder, ordinal: number, count: number, bytes: number) {
  const text = new Uint8Array(bytes)
  const prng = new Prng(ordinal)
  for (let i = 0; i < count; i++) {
    for (let at = 0; at < bytes; at += 1 + (bytes >>> 6)) text[at] = prng.below(256)
    builder.append(ordinal, i, UPDATE)
    builder.addValue(7, PHYSICAL.binary, text)
  }
}

/** Records as texts, with a checksum in place of their cells. */
function digestsOf(records: DeltaRecords): string {
  return plainDeltas(records)
    .map(({ ordinal, at, kind, cells }) => {
      const sums = Object.entries(cells).map(([id, cell]) => `${id}:${crc32c(cell as Uint8Array)}`)
      return `${kind} ${ordinal}@${at} ${sums.join(' ')}`
    })
    .join('\n')
}

function written(builder: DeltaRecordsBuilder) {
  const blocks = new MemoryBlocks()
  const records = builder.finish()
  const meta = writeDeltaFile(records, blocks.createFile(3))
  const file = new DeltaFile(meta, blocks, new PageCache(1 << 24), 1, 'rowset 5')
  file.checkInvariants()
  expect(digestsOf(file.read(0, Infinity))).toEqual(digestsOf(records))
  expect(blocks.rowsWritten).toBe(meta.firstOrdinals.length)
  expect(blocks.bytes).toBe(meta.bytes)
  blocks.rowsRead = 0
  return { blocks, meta, fresh: () => new DeltaFile(meta, blocks, new PageCache(1 << 24), 1, 'it') }
}

describe('DeltaFileWriter', () => {
  test('says of a file what is in it', () => {
    const deltas = randomUndos(new Prng(3), { rowCount: 50, from: 10, to: 90 })
    const blocks = new MemoryBlocks()
    const writer = blocks.createFile(8)
    writer.append(new Uint8Array(8))
    const meta = writeDeltaFile(deltaRecordsOf(deltas, physicalOf), writer)

    const times = deltas.map((it) => it.at)
    const ids = [...new Set(deltas.flatMap((it) => Object.keys(it.cells).map(Number)))]
    expect(meta).toEqual({
      file: 8,
      firstBlock: 2,
      firstOrdinals: [deltas[0].ordinal],
      recordCount: deltas.length,
      deleteCount: deltas.filter((it) => it.kind === 'DELETE').length,
      reinsertCount: deltas.filter((it) => it.kind === 'REINSERT').length,
      oldest: Math.min(...times),
      newest: Math.max(...times),
      bytes: blocks.sizeOf({ file: 8, block: 2 }),
      columns: ids
        .sort((a, b) => a - b)
        .map((columnId) => ({
          columnId,
          cellCount: deltas.filter((it) => columnId in it.cells).length,
        })),
    })
  })

  test('ends a block between two rows when it has as many records as one may', () => {
    const builder = new DeltaRecordsBuilder()
    for (let row = 0; row < DELTA_BLOCK_RECORDS; row++) {
      for (let at = 0; at < 3; at++) builder.append(row * 2, at, UPDATE)
    }
    const { meta, blocks, fresh } = written(builder)

    const rows = Math.floor(DELTA_BLOCK_RECORDS / 3)
    expect(meta.firstOrdinals).toEqual([0, rows * 2, rows * 4, rows * 6])
    expect(plainDeltas(fresh().read(rows * 4, rows * 4 + 2)).length).toBe(3)
    expect(blocks.rowsRead).toBe(1)
    expect(plainDeltas(fresh().read(rows * 4 - 1, rows * 4)).length).toBe(0)
    expect(plainDeltas(fresh().read(rows * 4 - 2, rows * 4 + 1)).length).toBe(6)
  })

  test('ends a block between two rows when its cells are enough', () => {
    const builder = new DeltaRecordsBuilder()
    for (let row = 0; row < 40; row++) addTexts(builder, row, 2, 20_000)
    const { meta, blocks } = written(builder)

    expect(meta.firstOrdinals).toEqual(Array.from({ length: 14 }, (_, i) => i * 3))
    for (const id of blocks.blockIds) expect(blocks.sizeOf(id)).toBeLessThan(150_000)
  })

  test('cuts only a row that is too large for a block, and begins a block with it', () => {
    const builder = new DeltaRecordsBuilder()
    addTexts(builder, 3, 2, 1000)
    addTexts(builder, 5, 30, 60_000)
    addTexts(builder, 6, 2, 1000)
    addTexts(builder, 7, 1, 1000)
    const { meta, blocks, fresh } = written(builder)

    expect(meta.firstOrdinals).toEqual([3, ...Array(15).fill(5)])
    const counts = [3, 4, 5, 6, 7, 8].map((row) => fresh().read(row, row + 1).count)
    expect(counts).toEqual([2, 0, 30, 2, 1, 0])
    blocks.rowsRead = 0
    fresh().read(3, 4)
    expect(blocks.rowsRead).toBe(1)
  })

  test('cuts a row of very many records', () => {
    const builder = new DeltaRecordsBuilder()
    builder.append(1, 5, DELETE)
    for (let at = 0; at < DELTA_BLOCK_RECORDS * 2 + 5; at++) builder.append(2, at, UPDATE)
    builder.append(9, 5, DELETE)

    expect(written(builder).meta.firstOrdinals).toEqual([1, 2, 2, 2])
  })

  test('stores a record of megabytes in several rows, and reads it whole', () => {
    const builder = new DeltaRecordsBuilder()
    const prng = new Prng(1)
    const noise = Uint8Array.from({ length: 65_536 }, () => prng.below(256))
    addTexts(builder, 3, 1, 100)
    for (const [ordinal, columnCount] of [
      [4, 60],
      [9, 31],
    ]) {
      builder.append(ordinal, 1, UPDATE)
      for (let id = 1; id <= columnCount; id++) {
        noise[id] = id
        builder.addValue(id, PHYSICAL.binary, noise)
      }
    }
    addTexts(builder, 12, 1, 100)
    const { meta, blocks, fresh } = written(builder)

    expect(meta.firstOrdinals).toEqual([3, 4, 4, 4, 9, 9, 12])
    expect(blocks.sizeOf({ file: 3, block: 2 })).toBe(STORED_ROW_BYTES_MAX)
    expect([3, 4, 5, 9, 10, 12].map((row) => fresh().read(row, row + 1).count)).toEqual([
      1, 1, 0, 1, 0, 1,
    ])
    blocks.cutBlock({ file: 3, block: 3 }, STORED_ROW_BYTES_MAX - 8)
    expect(() => plainDeltas(fresh().read(4, 5))).toThrow(/^it: file 3, block 2/)
    expect(fresh().read(9, 10).count).toBe(1)
  })

  test('refuses a file without records, and blocks that do not follow each other', () => {
    const blocks = new MemoryBlocks().createFile(1)
    const writer = new DeltaFileWriter(blocks)
    expect(() => writer.finish()).toThrow('a delta file has records')

    const builder = new DeltaRecordsBuilder()
    for (let row = 0; row <= DELTA_BLOCK_RECORDS; row++) builder.append(row, 1, DELETE)
    writer.append(builder.finish())
    blocks.append(new Uint8Array(8))
    expect(() => writer.finish()).toThrow('blocks of a delta file follow each other')
  })
})

import { describe, expect, test } from 'vitest'
import { PageCache } from '../../../src/cfile/page-cache.ts'
import { CorruptionError } from '../../../src/common/status.ts'
import { DeltaFile } from '../../../src/tablet/delta/delta-file.ts'
import { writeDeltaFile } from '../../../src/tablet/delta/delta-file-writer.ts'
import { Prng } from '../../../src/util/prng.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import { deltaRecordsOf, type PlainDelta, plainDeltas } from '../../support/plain-delta-records.ts'
import { CHANGING, DELTA_SCHEMA, randomUndos } from '../../support/random-deltas.ts'

const physicalOf = (id: number) => DELTA_SCHEMA.mustById(id).physical
const ONE = { file: 2, block: 1 }

function fileOf(deltas: readonly PlainDelta[]) {
  const blocks = new MemoryBlocks()
  const meta = writeDeltaFile(deltaRecordsOf(deltas, physicalOf), blocks.createFile(2))
  const open = () => new DeltaFile(meta, blocks, new PageCache(1 << 22), 1, 'rowset 5')
  return { blocks, meta, open }
}

describe('DeltaFile', () => {
  test('reads nothing before it is asked, and a block once', () => {
    const { blocks, open } = fileOf(randomUndos(new Prng(1), { rowCount: 50, from: 1, to: 9 }))
    const file = open()
    expect([file.oldest > 0, file.cellCount(CHANGING[0].id) > 0, blocks.rowsRead]).toEqual([
      true,
      true,
      0,
    ])

    for (let row = 0; row < 50; row++) plainDeltas(file.read(row, row + 1))
    file.valueZone(CHANGING[0].id)
    expect(blocks.rowsRead).toBe(1)
  })

  test('asks for nothing below its first row or for no rows', () => {
    const { blocks, open } = fileOf([{ ordinal: 7, at: 1, kind: 'DELETE', cells: {} }])

    expect(open().read(0, 7).count).toBe(0)
    expect(blocks.rowsRead).toBe(0)
    expect(open().read(7, 7).count).toBe(0)
    expect(open().read(8, 99).count).toBe(0)
  })

  test('knows between which ends its cells of a column lie', () => {
    const [flag, , day] = CHANGING
    const { open } = fileOf([
      { ordinal: 1, at: 1, kind: 'UPDATE', cells: { [day.id]: 5 } },
      { ordinal: 2, at: 1, kind: 'UPDATE', cells: { [day.id]: null } },
      { ordinal: 3, at: 1, kind: 'UPDATE', cells: { [day.id]: -5 } },
    ])

    const zone = { rowCount: 3, nullCount: 1, min: -5, max: 5 }
    expect(open().valueZone(day.id)).toMatchObject(zone)
    expect(open().valueZone(day.id, 2, 3)).toMatchObject(zone)
    expect(open().valueZone(day.id, 0, 1)).toBeNull()
    expect(open().valueZone(flag.id)).toBeNull()
  })

  test('takes a bit that flipped anywhere for corruption, and names the block', () => {
    const deltas = randomUndos(new Prng(2), { rowCount: 12, from: 1, to: 9 })
    const { blocks, open } = fileOf(deltas)
    for (let bit = 0; bit < blocks.sizeOf(ONE) * 8; bit += 3) {
      blocks.flipBit(ONE, bit)
      let error: unknown
      try {
        expect(plainDeltas(open().read(0, 99)), `bit ${bit}`).toEqual(deltas)
      } catch (thrown) {
        error = thrown
      }
      expect(error, `bit ${bit}: ${error}`).toBeInstanceOf(CorruptionError)
      expect(String(error), `bit ${bit}`).toContain('rowset 5: file 2, block 1')
      blocks.flipBit(ONE, bit)
    }
    expect(plainDeltas(open().read(0, 99))).toEqual(deltas)
  })

  test('reads everything but a column whose cells are damaged', () => {
    const [flag, small] = CHANGING
    const { blocks, open } = fileOf([
      { ordinal: 1, at: 1, kind: 'UPDATE', cells: { [flag.id]: 1, [small.id]: 77 } },
    ])
    blocks.flipBit(ONE, blocks.sizeOf(ONE) * 8 - 1)

    const { kinds, columns } = open().read(0, 9)
    expect(kinds[0]).toBe(1)
    expect(columns[0].cells.cell(0)).toBe(1)
    expect(() => columns[1].cells).toThrow(`rowset 5: file 2, block 1, column ${small.id}`)
  })

  test('takes a block that is cut, missing or of another file for corruption', () => {
    const { blocks, meta, open } = fileOf([{ ordinal: 7, at: 1, kind: 'DELETE', cells: {} }])
    const other = { ...meta, firstOrdinals: [6] }
    const wrong = new DeltaFile(other, blocks, new PageCache(1 << 20), 1, 'rowset 5')
    expect(() => wrong.read(0, 9)).toThrow('rowset 5: file 2, block 1: the block is of another row')

    blocks.cutBlock(ONE, 40)
    expect(() => open().read(0, 9)).toThrow(CorruptionError)
    blocks.cutBlock(ONE, 3)
    expect(() => open().read(0, 9)).toThrow('is shorter than its header')
    blocks.dropBlock(ONE)
    expect(() => open().read(0, 9)).toThrow(CorruptionError)
  })
})

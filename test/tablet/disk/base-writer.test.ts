import { describe, expect, test } from 'vitest'
import { BLOCK_BYTES_TARGET, ROWSET_BOUND_BYTES_MAX } from '../../../src/common/limits.ts'
import { BaseWriter, upperBoundOf } from '../../../src/tablet/disk/base-writer.ts'
import { compareWhole } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aBase, BASE_HASH_SEED } from '../../support/a-base.ts'
import { aSchema } from '../../support/a-schema.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import { randomVector } from '../../support/random-vector.ts'
import { keyArenaOf, randomSortedKeys } from '../../support/sorted-keys.ts'

const SEED = 0xba5e
const SCHEMA = aSchema('key INT64 KEY', 'name STRING NULL')

function aWriter() {
  const blocks = new MemoryBlocks()
  const options = {
    columns: SCHEMA.columns,
    keyHashSeed: BASE_HASH_SEED,
    blocks: blocks.createFile(7),
  }
  return { blocks, writer: new BaseWriter(options) }
}

describe('BaseWriter', () => {
  test('says what a rowset says of its base', () => {
    const { meta, keys, blocks } = aBase(new Prng(SEED), SCHEMA, 6000)

    expect(meta.rowCount).toBe(6000)
    expect(meta.baseFiles).toEqual([7])
    expect(meta.baseBytes).toBe(blocks.bytes)
    expect(meta.directory).toEqual(blocks.blockIds[blocks.blockIds.length - 1])
    expect(meta.lowerKey).toEqual(keys[0].slice(0, ROWSET_BOUND_BYTES_MAX))
    expect(compareWhole(keys[5999], meta.upperKey)).toBeLessThan(0)
  })

  test('takes two blocks for a few rows, whatever the columns', () => {
    const names = Array.from({ length: 100 }, (_, i) => `c${i} INT32`)
    const { blocks } = aBase(new Prng(SEED), aSchema('key INT64 KEY', ...names), 100)

    expect(blocks.rowsWritten).toBe(2)
  })

  test('holds the buffers of one column at a time', () => {
    const prng = new Prng(SEED)
    const { blocks, writer } = aWriter()
    const rowCount = 30_000
    const keys = keyArenaOf(randomSortedKeys(prng, rowCount, 10))
    writer.appendKeys(keys, 0, rowCount)
    expect(writer.heldBytes).toBeLessThan(BLOCK_BYTES_TARGET + rowCount * 8 + 100_000)
    SCHEMA.columns.forEach((column, index) => {
      const file = writer.column(index)
      const cells = randomVector(prng, column, 1000, 0)
      for (let i = 0; i < rowCount; i += 1000) {
        file.append(cells)
        expect(file.heldBytes).toBeLessThan(BLOCK_BYTES_TARGET * 2)
      }
      file.finish()
    })

    expect(writer.finish().baseBytes).toBe(blocks.bytes)
  })

  test('refuses what is out of order', () => {
    const prng = new Prng(SEED)
    const keys = keyArenaOf(randomSortedKeys(prng, 10, 5))
    const cells = SCHEMA.columns.map((column) => randomVector(prng, column, 10, 0))

    expect(() => aWriter().writer.column(0)).toThrow('a rowset has a key')
    const { writer } = aWriter()
    writer.appendKeys(keys, 0, 10)
    expect(() => writer.column(1)).toThrow('columns are written in their order')
    const file = writer.column(0)
    expect(() => writer.appendKeys(keys, 0, 0)).toThrow('all keys come before the first column')
    expect(() => writer.column(1)).toThrow('a column is finished before the next one begins')
    file.append(cells[0])
    file.finish()
    expect(() => file.append(cells[0])).toThrow('a finished column gets no more cells')
    expect(() => writer.finish()).toThrow('every column was written')
    const second = writer.column(1)
    second.append(cells[1], 0, 9)
    second.finish()
    expect(() => writer.finish()).toThrow('a column has a cell for every key')
  })
})

describe('upperBoundOf', () => {
  test.each([
    ['the next key of a short one', [1, 2], [1, 2, 0]],
    ['the next key of the empty one', [], [0]],
  ])('is %s', (_, last, bound) => {
    expect([...upperBoundOf(Uint8Array.from(last))]).toEqual(bound)
  })

  test('is above every key that begins like a long one', () => {
    const last = new Uint8Array(ROWSET_BOUND_BYTES_MAX + 5).fill(7)
    last.fill(255, ROWSET_BOUND_BYTES_MAX - 2)
    const bound = upperBoundOf(last)

    expect(bound.length).toBe(ROWSET_BOUND_BYTES_MAX - 2)
    expect(bound[bound.length - 1]).toBe(8)
    expect(compareWhole(last, bound)).toBeLessThan(0)
  })

  test('is open when no key is above', () => {
    expect(upperBoundOf(new Uint8Array(ROWSET_BOUND_BYTES_MAX).fill(255)).length).toBe(0)
  })
})

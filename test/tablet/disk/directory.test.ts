import { describe, expect, test } from 'vitest'
import { STORED_ROW_BYTES_MAX } from '../../../src/common/limits.ts'
import { CorruptionError } from '../../../src/common/status.ts'
import {
  blockSizesOf,
  type Directory,
  decodeDirectory,
  encodeDirectory,
  openDirectory,
  pageListsOf,
  readDirectory,
  writeDirectory,
} from '../../../src/tablet/disk/directory.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { crc32c } from '../../../src/util/crc32c.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aBase, baseReader } from '../../support/a-base.ts'
import { MemoryBlocks } from '../../support/memory-blocks.ts'
import { EVERY_TYPE } from '../../support/random-rows.ts'

const SEED = 0xd12

function aDirectory(rowCount = 5000): Directory {
  return decodeDirectory(baseReader(aBase(new Prng(SEED), EVERY_TYPE, rowCount)).directory)
}

function decode(bytes: Uint8Array): Directory {
  return decodeDirectory(openDirectory(bytes, [], 'here'))
}

/** A directory with separators of several megabytes. */
function aHugeDirectory(): Directory {
  const prng = new Prng(SEED)
  const directory = aDirectory(3000)
  const { pages } = directory.keys
  const count = 400
  const separators = new KeyArena()
  separators.endKey()
  for (let i = 1; i < count; i++) {
    const key = new Uint32Array(3000).map(() => prng.uint32())
    separators.append(new Uint8Array(key.buffer), 0, 12_000)
    separators.endKey()
  }
  const last = pages.rowEnds.length - 1
  const longer = {
    file: pages.file,
    rowEnds: [...Array.from({ length: count - 1 }, (_, i) => i + 1), pages.rowEnds[last]],
    blocks: new Array(count).fill(1),
    offsets: Array.from({ length: count }, (_, i) => i * 64),
    lengths: new Array(count).fill(64),
  }
  return { ...directory, keys: { pages: longer, separators } }
}

describe('Directory', () => {
  test('is read as it was written', () => {
    const directory = aDirectory()
    const bytes = encodeDirectory(directory)

    expect(decode(bytes)).toEqual(directory)
    expect(bytes.length % 8).toBe(0)
    expect(encodeDirectory(decode(bytes))).toEqual(bytes)
  })

  test('takes as many blocks as it needs', () => {
    const directory = aHugeDirectory()
    const blocks = new MemoryBlocks()
    const writer = blocks.createFile(9)
    writer.append(new Uint8Array(8))
    const sizes = writeDirectory(directory, writer)

    expect(sizes.map(({ block }) => block)).toEqual([2, 3, 4])
    expect(sizes[0].bytes).toBe(STORED_ROW_BYTES_MAX)
    const stored = readDirectory(blocks, sizes[0], 'rowset 5')
    expect(stored.ownBlocks).toEqual(sizes)
    expect(encodeDirectory(decodeDirectory(stored))).toEqual(encodeDirectory(directory))

    blocks.flipBit({ file: 9, block: 4 }, 77)
    expect(() => readDirectory(blocks, sizes[0], 'rowset 5')).toThrow(
      'rowset 5: directory in file 9, block 2: checksum is ',
    )
    blocks.dropBlock({ file: 9, block: 3 })
    expect(() => readDirectory(blocks, sizes[0], 'rowset 5')).toThrow('file 9, block 3: missing')
  })

  test('tells every flipped bit', () => {
    const bytes = encodeDirectory(aDirectory(100))
    const blocks = new MemoryBlocks()
    blocks.createFile(9).append(bytes)
    const id = { file: 9, block: 1 }
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      if (bit > 256 && bit % 7 !== 0) continue
      blocks.flipBit(id, bit)
      expect(() => readDirectory(blocks, id, 'rowset 5'), `bit ${bit}`).toThrow(CorruptionError)
      blocks.flipBit(id, bit)
    }
    expect(readDirectory(blocks, id, 'rowset 5').rowCount).toBe(100)
  })

  test('of wrong bytes with a right checksum is a corruption, never anything else', () => {
    const prng = new Prng(SEED)
    const good = encodeDirectory(aDirectory(100))
    let told = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = good.slice()
      bytes[prng.between(16, bytes.length - 1)] = prng.below(256)
      new DataView(bytes.buffer).setUint32(4, crc32c(bytes, 8), true)
      try {
        decode(bytes)
      } catch (error) {
        expect(error, `seed ${SEED}, round ${round}`).toBeInstanceOf(CorruptionError)
        told++
      }
    }
    expect(told).toBeGreaterThan(30)
  })

  test('knows the blocks of its pages and how long they are', () => {
    const directory = aDirectory()

    expect(directory.blocks).toEqual(blockSizesOf(pageListsOf(directory)))
    expect(directory.blocks.map(({ block }) => block)).toEqual(
      directory.blocks.map((_, index) => index + 1),
    )
  })
})

import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import {
  type Directory,
  decodeDirectory,
  encodeDirectory,
  openDirectory,
} from '../../src/tablet/disk/directory.ts'
import { fromHex, toHex } from '../../src/util/bytes.ts'
import { keyArenaOf } from '../support/sorted-keys.ts'

const DIRECTORY: Directory = {
  rowCount: 5000,
  blocks: [
    { file: 7, block: 1, bytes: 600 },
    { file: 7, block: 2, bytes: 40_000 },
    { file: 300, block: 1, bytes: 64 },
  ],
  columns: [
    {
      columnId: 10,
      file: {
        physical: PHYSICAL.int64,
        pages: {
          file: 7,
          rowEnds: [4096, 5000],
          blocks: [2, 2],
          offsets: [0, 32_000],
          lengths: [32_000, 8000],
        },
        zones: fromHex('a1a2a3'),
        nullCount: 0,
        forms: [{ encoding: 'PLAIN', compression: 'NONE', pageCount: 2, bytes: 40_000 }],
      },
    },
    {
      columnId: 11,
      file: {
        physical: PHYSICAL.binary,
        pages: {
          file: 300,
          rowEnds: [100, 4000, 5000],
          blocks: [1, 1, 1],
          offsets: [0, 24, 56],
          lengths: [24, 32, 8],
        },
        zones: fromHex('b1'),
        nullCount: 200,
        forms: [],
      },
    },
  ],
  keys: {
    pages: {
      file: 7,
      rowEnds: [1024, 2048, 3072, 4096, 5000],
      blocks: [1, 1, 1, 1, 1],
      offsets: [0, 80, 160, 240, 320],
      lengths: [80, 80, 80, 80, 136],
    },
    separators: keyArenaOf(['', '8001', '8002', '80022f', '81'].map(fromHex)),
  },
  bloom: {
    pages: { file: 7, rowEnds: [1, 2], blocks: [1, 1], offsets: [456, 528], lengths: [72, 72] },
    pageBitsLog: 9,
  },
}

// Version 1. These bytes are in storages out there: none of them may ever change.
const GOLDEN: readonly (readonly [offset: number, hex: string, meaning: string])[] = [
  [0, '4e445231', 'magic NDR1'],
  [4, '54f1b6e5', 'crc of what follows'],
  [8, '88000000', 'bytes 136'],
  [12, '00000000', 'zero'],
  [16, '8827', 'rowCount 5000'],
  [18, '0d', 'blocks, 13 bytes'],
  [19, '0701d804', 'file 7, block 1, 600 bytes'],
  [23, '0702c0b802', 'file 7, block 2, 40,000 bytes'],
  [28, 'ac020140', 'file 300, block 1, 64 bytes'],
  [32, '02', 'two columns'],
  [33, '0a', 'column 10'],
  [34, '23', '35 bytes'],
  [35, '03', 'int64'],
  [36, '07', 'file 7'],
  [37, '02', 'two pages'],
  [38, '8827', '5000 rows'],
  [40, '8020', '4096 rows a page'],
  [42, 'a01fe807', 'pages of 4000 and 1000 times 8 bytes'],
  [46, '020200', 'two pages in block 2 from 0 on'],
  [49, '00', 'no nulls'],
  [50, '01', 'one form'],
  [51, '05504c41494e', 'PLAIN'],
  [57, '044e4f4e45', 'NONE'],
  [62, '02', 'two pages'],
  [63, 'c0b802', '40,000 bytes'],
  [66, '03a1a2a3', 'zone maps, 3 bytes'],
  [70, '0b', 'column 11'],
  [71, '17', '23 bytes'],
  [72, '07', 'binary'],
  [73, 'ac02', 'file 300'],
  [75, '03', 'three pages'],
  [76, '8827', '5000 rows'],
  [78, '00', 'pages of different rows'],
  [79, '64bc1ee807', '100, 3900 and 1000 rows'],
  [84, '030401', 'pages of 3, 4 and 1 times 8 bytes'],
  [87, '030100', 'three pages in block 1 from 0 on'],
  [90, 'c801', '200 nulls'],
  [92, '00', 'no forms'],
  [93, '01b1', 'zone maps, 1 byte'],
  [95, '1d', 'keys, 29 bytes'],
  [96, '07', 'file 7'],
  [97, '05', 'five pages'],
  [98, '8827', '5000 keys'],
  [100, '8008', '1024 keys a page'],
  [102, '0a0a0a0a11', 'pages of 10, 10, 10, 10 and 17 times 8 bytes'],
  [107, '050100', 'five pages in block 1 from 0 on'],
  [110, '0000', 'separator 0: empty'],
  [112, '00028001', 'separator 1: 80 01'],
  [116, '010102', 'separator 2: one byte shared, then 02'],
  [119, '02012f', 'separator 3: two bytes shared, then 2f'],
  [122, '000181', 'separator 4: 81'],
  [125, '0a', 'Bloom filter, 10 bytes'],
  [126, '09', 'pages of 2^9 bits'],
  [127, '07', 'file 7'],
  [128, '02', 'two pages'],
  [129, '0201', 'two, one each'],
  [131, '0909', 'pages of 9 times 8 bytes'],
  [133, '020139', 'two pages in block 1 from 57 times 8 on'],
]

const BYTES = GOLDEN.map(([, hex]) => hex).join('')

describe('encodeDirectory', () => {
  test('writes the golden bytes', () => {
    expect(toHex(encodeDirectory(DIRECTORY))).toBe(BYTES)
  })
})

describe('decodeDirectory', () => {
  test('reads the golden bytes', () => {
    const directory = decodeDirectory(openDirectory(fromHex(BYTES), [], 'golden'))

    expect(toHex(encodeDirectory(directory))).toBe(BYTES)
    expect(directory.columns[1].file.pages.rowEnds).toEqual([100, 4000, 5000])
    expect(directory.bloom.pages.offsets).toEqual([456, 528])
    expect(toHex(directory.keys.separators.key(3))).toBe('80022f')
  })

  test('is drawn without gaps', () => {
    let offset = 0
    for (const [at, hex] of GOLDEN) {
      expect(at).toBe(offset)
      offset += hex.length / 2
    }
  })
})

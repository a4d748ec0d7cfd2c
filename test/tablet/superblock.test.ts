import { describe, expect, test } from 'vitest'
import type { ColumnDefinition } from '../../src/common/schema.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import type { DeltaFileMeta, RowSetMeta } from '../../src/tablet/disk/row-set-meta.ts'
import {
  decodeSuperblock,
  emptyMarks,
  encodeSuperblock,
  type Superblock,
} from '../../src/tablet/superblock.ts'
import { fromHex, utf8Encode } from '../../src/util/bytes.ts'
import { aColumnDefinition } from '../support/a-schema.ts'

function withDefaults(
  definition: ColumnDefinition,
  writeDefault: ColumnDefinition['writeDefault'],
): ColumnDefinition {
  return { ...definition, writeDefault, readDefault: writeDefault }
}

function aSuperblock(): Superblock {
  return {
    identity: {
      tableId: '0123456789abcdef0123456789abcdef',
      tabletId: 'fedcba9876543210fedcba9876543210',
      tableVersion: 3,
      columns: [
        aColumnDefinition('id INT64 KEY', 1),
        withDefaults(aColumnDefinition('big INT64 NULL', 2), 9007199254740993n),
        withDefaults(aColumnDefinition('price DECIMAL(30,2) NULL', 3), -123456789012345678901n),
        withDefaults(aColumnDefinition('ratio DOUBLE', 4), -0),
        withDefaults(aColumnDefinition('raw BINARY NULL', 5), Uint8Array.of(0, 255)),
        withDefaults(aColumnDefinition('name STRING', 6), utf8Encode('käufer "x"')),
      ],
      partitionSchema: { hashSchema: [], rangeColumnIds: [], ranges: [] },
      partition: {
        hashBuckets: [1],
        rangeKeyStart: '',
        rangeKeyEnd: '',
        partitionKeyStart: '00000001',
        partitionKeyEnd: '00000002',
      },
      extraConfigs: { 'kudu.table.history_max_age_sec': '60' },
    },
    keyHashSeed: 2 ** 53 - 1,
    clockMark: 1_764_547_200_000_001,
    lastApplied: 1_764_547_200_000_007,
    flushedMark: 1_764_547_200_000_005,
    changesMark: 1_764_547_200_000_006,
    historyMark: 1_764_547_100_000_000,
    resultsUntil: 1_764_547_800_000_000,
    nextRowSetId: 12,
    nextFile: 31,
    walGenerations: [4, 5],
    orphanFiles: [17, 30],
    rowSets: [aRowSetMeta(9), { ...aRowSetMeta(11), undos: [], redos: [] }],
  }
}

function aRowSetMeta(id: number): RowSetMeta {
  return {
    id,
    rowCount: 70_000,
    liveRowCount: 69_990,
    mark: 1_764_547_200_000_005,
    newestUndo: 1_764_547_200_000_003,
    lowerKey: Uint8Array.of(0, 0, 0, 1, 128, 0, 0, 7),
    upperKey: Uint8Array.of(0, 0, 0, 1, 255, 1, 2, 3),
    directory: { file: 18, block: 77 },
    baseBytes: 2_345_678,
    baseFiles: [18, 20],
    undos: [aDeltaFileMeta(18, [])],
    redos: [aDeltaFileMeta(21, [2, 4]), aDeltaFileMeta(22, [3])],
  }
}

function aDeltaFileMeta(file: number, columnIds: readonly number[]): DeltaFileMeta {
  return {
    file,
    firstBlock: 2,
    firstOrdinals: [0, 32_768, 60_001],
    recordCount: 70_123,
    deleteCount: 10,
    reinsertCount: 3,
    oldest: 1_764_547_150_000_000,
    newest: 1_764_547_199_000_000,
    bytes: 123_456,
    columns: columnIds.map((columnId) => ({ columnId, cellCount: 1000 })),
  }
}

/** A superblock of format 1, as it was written. Never changed. */
const FORMAT_1 = [
  '4e5342313121c428f1010000000000007b22666f726d6174223a312c226964656e74697479223a7b227461626c',
  '654964223a223031323334353637383961626364656630313233343536373839616263646566222c227461626c',
  '65744964223a226665646362613938373635343332313066656463626139383736353433323130222c22746162',
  '6c6556657273696f6e223a332c22636f6c756d6e73223a5b7b226964223a312c226e616d65223a226964222c22',
  '74797065223a22494e543634222c2269734b6579223a747275657d5d2c22706172746974696f6e536368656d61',
  '223a7b2268617368536368656d61223a5b5d2c2272616e6765436f6c756d6e496473223a5b5d2c2272616e6765',
  '73223a5b5d7d2c22706172746974696f6e223a7b22686173684275636b657473223a5b315d2c2272616e67654b',
  '65795374617274223a22222c2272616e67654b6579456e64223a22222c22706172746974696f6e4b6579537461',
  '7274223a223030303030303031222c22706172746974696f6e4b6579456e64223a223030303030303032227d2c',
  '226578747261436f6e66696773223a7b226b7564752e7461626c652e686973746f72795f6d61785f6167655f73',
  '6563223a223630227d7d2c22636c6f636b4d61726b223a313736343534373230303030303030312c2277616c47',
  '656e65726174696f6e73223a5b342c355d7d',
].join('')

describe('decodeSuperblock', () => {
  test('gives back what was encoded, defaults of every kind included', () => {
    expect(decodeSuperblock(encodeSuperblock(aSuperblock()), 0)).toEqual(aSuperblock())
  })

  test('takes at most 250 bytes a rowset, and most of it for deltas', () => {
    const superblock = aSuperblock()
    const rowSets = Array.from({ length: 100 }, (_, id) => aRowSetMeta(id))
    const without = encodeSuperblock({ ...superblock, rowSets: [] }).length
    const bytes = encodeSuperblock({ ...superblock, rowSets }).length - without

    expect(bytes / 100).toBeLessThan(250)
  })

  test('refuses to hold more than fits a stored row', () => {
    const rowSets = Array.from({ length: 20_000 }, (_, id) => aRowSetMeta(id))

    expect(() => encodeSuperblock({ ...aSuperblock(), rowSets })).toThrow(StatusError)
  })

  test('reads what the first format says, which knew of no rowsets', () => {
    const { identity, clockMark, walGenerations } = aSuperblock()

    expect(decodeSuperblock(fromHex(FORMAT_1), 77)).toEqual({
      ...emptyMarks(77),
      identity: { ...identity, columns: identity.columns.slice(0, 1) },
      clockMark,
      walGenerations,
      rowSets: [],
    })
  })

  test('finds every single bit that is turned over', () => {
    const bytes = encodeSuperblock(aSuperblock())
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice()
      damaged[bit >>> 3] ^= 1 << (bit & 7)

      expect(() => decodeSuperblock(damaged, 0)).toThrow(CorruptionError)
    }
  })

  test('finds bytes that are missing', () => {
    const bytes = encodeSuperblock(aSuperblock())
    for (const length of [0, 15, 16, bytes.length - 1]) {
      expect(() => decodeSuperblock(bytes.slice(0, length), 0)).toThrow(CorruptionError)
    }
  })
})

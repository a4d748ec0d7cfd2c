import { describe, expect, test } from 'vitest'
import type { ColumnDefinition } from '../../src/common/schema.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { decodeSuperblock, encodeSuperblock, type Superblock } from '../../src/tablet/superblock.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
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
    clockMark: 1_764_547_200_000_001,
    walGenerations: [4, 5],
  }
}

describe('decodeSuperblock', () => {
  test('gives back what was encoded, defaults of every kind included', () => {
    expect(decodeSuperblock(encodeSuperblock(aSuperblock()))).toEqual(aSuperblock())
  })

  test('finds every single bit that is turned over', () => {
    const bytes = encodeSuperblock(aSuperblock())
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice()
      damaged[bit >>> 3] ^= 1 << (bit & 7)

      expect(() => decodeSuperblock(damaged)).toThrow(CorruptionError)
    }
  })

  test('finds bytes that are missing', () => {
    const bytes = encodeSuperblock(aSuperblock())
    for (const length of [0, 15, 16, bytes.length - 1]) {
      expect(() => decodeSuperblock(bytes.slice(0, length))).toThrow(CorruptionError)
    }
  })
})

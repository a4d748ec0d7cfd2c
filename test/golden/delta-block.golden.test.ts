import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import {
  decodeBlockCells,
  decodeDeltaBlock,
  encodeDeltaBlock,
} from '../../src/tablet/delta/delta-block.ts'
import { fromHex, toHex, utf8Encode } from '../../src/util/bytes.ts'
import { deltaRecordsOf, type PlainDelta, plainDeltas } from '../support/plain-delta-records.ts'

const AT = 1_764_547_200_000_001
const DELTAS: readonly PlainDelta[] = [
  { ordinal: 3, at: AT, kind: 'UPDATE', cells: { 12: 7, 14: utf8Encode('old') } },
  { ordinal: 3, at: AT + 1, kind: 'DELETE', cells: {} },
  { ordinal: 9, at: AT, kind: 'UPDATE', cells: { 12: null } },
]

// Version 1. These bytes are in storages out there: none of them may ever change.
const GOLDEN: readonly (readonly [offset: number, hex: string, meaning: string])[] = [
  [0, '4e444231', 'magic NDB1'],
  [4, 'c8712286', 'crc of bytes 8 to 240'],
  [8, '40010000', 'blockBytes 320'],
  [12, 'f0000000', 'cellsStart 240'],
  [16, '03000000', 'recordCount 3'],
  [20, '03000000', 'firstOrdinal 3'],
  [24, '00000000', 'flags: gaps, several times, several shapes'],
  [28, '29000000', 'textBytes 41'],
  [32, '02', 'two columns'],
  [33, '0c020228', 'column 12, int32, two cells, page of 40 bytes'],
  [37, '0801', 'zone with ends, one null'],
  [39, '0407000000', 'min 7'],
  [44, '0407000000', 'max 7'],
  [49, '0e070128', 'column 14, binary, one cell, page of 40 bytes'],
  [53, '0800', 'zone with ends, no null'],
  [55, '036f6c64', 'min "old"'],
  [59, '036f6c64', 'max "old"'],
  [63, '03', 'three shapes'],
  [64, '01020001', 'UPDATE of the first and the second column'],
  [68, '0200', 'DELETE'],
  [70, '010100', 'UPDATE of the first column'],
  [73, '00000000000000', 'padding'],
  [80, 'c10201010c0000000c0000000300000000000000ec302ce8', 'page: ordinals'],
  [104, '03000000030000000900000000000000', '3 3 9'],
  [120, 'c103010110000000100000000200000000000000800c7b62', 'page: times'],
  [144, '01a00ba9d844060002a00ba9d8440600', 'the earlier, the later'],
  [160, 'c10201010c0000000c000000030000000000000082813092', 'page: time of each record'],
  [184, '00000000010000000000000000000000', '0 1 0'],
  [200, 'c10201010c0000000c0000000300000000000000cc7b4800', 'page: shape of each record'],
  [224, '00000000010000000200000000000000', '0 1 2'],
  [240, 'c10201010c0000000c00000002000000010000007b681826', 'page: cells of column 12'],
  [264, '01000000000000000700000000000000', 'the first is not null; 7'],
  [280, 'c10701010f0000000f0000000100000000000000e140ecd7', 'page: cells of column 14'],
  [304, '0000000000000000030000006f6c6400', 'offsets, "old"'],
]

describe('block of a delta file, version 1', () => {
  const hex = GOLDEN.map(([, text]) => text).join('')

  test('is drawn without gaps', () => {
    let offset = 0
    for (const [start, text] of GOLDEN) {
      expect(start).toBe(offset)
      offset += text.length / 2
    }
  })

  test('is written byte for byte', () => {
    const records = deltaRecordsOf(DELTAS, (id) => (id === 12 ? PHYSICAL.int32 : PHYSICAL.binary))
    const bytes = encodeDeltaBlock(records)

    for (const [offset, text, meaning] of GOLDEN) {
      const actual = toHex(bytes.subarray(offset, offset + text.length / 2))
      expect(actual, `${meaning} at ${offset}`).toBe(text)
    }
    expect(toHex(bytes)).toBe(hex)
  })

  test('is read', () => {
    const bytes = fromHex(hex)
    const { records, columns } = decodeDeltaBlock(bytes, 'a block')
    const withCells = columns.map((text) => {
      const page = bytes.subarray(text.pageStart, text.pageStart + text.pageBytes)
      return { ...text, cells: decodeBlockCells(page, text, 'a block') }
    })

    expect(plainDeltas({ ...records, columns: withCells })).toEqual(DELTAS)
    expect(columns[0].zone).toMatchObject({ min: 7, max: 7, nullCount: 1, rowCount: 2 })
  })
})

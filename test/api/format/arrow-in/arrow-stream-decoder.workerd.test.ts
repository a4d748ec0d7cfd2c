import { describe, expect, test } from 'vitest'
import { concatBytes } from '../../../../src/util/bytes.ts'
import { Prng } from '../../../../src/util/prng.ts'
import { aSchema } from '../../../support/a-schema.ts'
import { decodeArrow, shownRow } from '../../../support/decode-rows.ts'
import { plainMessage, plainSchema } from '../../../support/plain-arrow.ts'
import { integer, type PlainFlat, table } from '../../../support/plain-flatbuffer.ts'
import { randomArrow } from '../../../support/random-arrow.ts'

const ROW_COUNT = 100_000
/** 0, 1 … 6, 0, 1 … as 100,000 integers of 64 bits, packed by another library. */
const WEEKLY_FRAME =
  'KLUv/aAANQwAJAEAcAAAAQACAAMABAAFAAYACAC9/1vlAEgMMAYDg4HBwGDgAWABTAAACAQBAPz/ORACTAAACAEBAPz/' +
  'ORACTAAACAUBAPz/ORACTAAACAIBAPz/ORACTAAACAYBAPz/ORACRQAACAMBAPyUB0I='

/** A ZSTD frame that holds bytes as they are, in blocks of 128 KiB. */
function rawFrame(bytes: Uint8Array): Uint8Array {
  const header = new Uint8Array(9)
  const view = new DataView(header.buffer)
  view.setUint32(0, 0xfd2fb528, true)
  // One segment, its size in four bytes.
  header[4] = 0xa0
  view.setUint32(5, bytes.length, true)
  const parts: Uint8Array[] = [header]
  for (let start = 0; start < bytes.length; start += 128 * 1024) {
    const block = bytes.subarray(start, start + 128 * 1024)
    const isLast = start + block.length === bytes.length
    const head = new Uint8Array(4)
    new DataView(head.buffer).setUint32(0, block.length * 8 + (isLast ? 1 : 0), true)
    parts.push(head.subarray(0, 3), block)
  }
  return concatBytes(...parts)
}

function packedBatch(values: BigInt64Array, frame: Uint8Array): Uint8Array {
  const prefix = new Uint8Array(8)
  new DataView(prefix.buffer).setBigInt64(0, BigInt(values.byteLength), true)
  const body = concatBytes(prefix, frame)
  const header = [
    integer(8, values.length),
    { kind: 'longs', perElement: 2, values: [BigInt(values.length), 0n] } as PlainFlat,
    { kind: 'longs', perElement: 2, values: [0n, 0n, 0n, BigInt(body.length)] } as PlainFlat,
    table(integer(1, 1), integer(1, 0)),
  ]
  return plainMessage(3, header, body)
}

describe('ArrowStreamDecoder', () => {
  test('reads in workerd every kind of stream', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { schema, bytes, rows: want } = randomArrow(new Prng(seed))
      const { rows, problems, failure } = decodeArrow(schema, bytes)
      const got: string[] = []
      for (const { index, cells } of rows) got[index] = shownRow(cells)
      for (const [index] of problems) got[index] = 'refused'

      expect(failure, `seed ${seed}`).toBeNull()
      expect(got, `seed ${seed}`).toEqual(
        want.map((cells) => (cells === undefined ? 'refused' : shownRow(cells))),
      )
    }
  })

  test('unpacks in workerd buffers of many blocks, whatever they hold', () => {
    const schema = aSchema('k INT64 KEY')
    const fields = [{ name: 'k', type: { name: 'Int', bits: 64, isSigned: true } }] as const
    const prng = new Prng(1)
    const orderly = BigInt64Array.from({ length: ROW_COUNT }, (_, i) => BigInt(i))
    const weekly = BigInt64Array.from({ length: ROW_COUNT }, (_, i) => BigInt(i % 7))
    const random = BigInt64Array.from({ length: ROW_COUNT }, () => {
      return (BigInt(prng.uint32()) << 31n) | BigInt(prng.uint32())
    })
    const bytesOf = (values: BigInt64Array) => new Uint8Array(values.buffer)
    const streams = [
      { values: weekly, frame: Uint8Array.from(atob(WEEKLY_FRAME), (c) => c.charCodeAt(0)) },
      { values: orderly, frame: rawFrame(bytesOf(orderly)) },
      { values: random, frame: rawFrame(bytesOf(random)) },
    ]
    for (const { values, frame } of streams) {
      const body = concatBytes(plainSchema(fields), packedBatch(values, frame))
      const { rows, failure } = decodeArrow(schema, body)

      expect(failure).toBeNull()
      expect(rows).toHaveLength(ROW_COUNT)
      expect(rows.every(({ index, cells }) => cells[0][1] === values[index])).toBe(true)
    }
  })
})

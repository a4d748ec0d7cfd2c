import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  ARROW_DICTIONARY_BYTES_MAX,
  ARROW_MESSAGE_BYTES_MAX,
  ARROW_METADATA_BYTES_MAX,
  CELL_BYTES_MAX,
} from '../../../../src/common/limits.ts'
import { concatBytes, utf8Encode } from '../../../../src/util/bytes.ts'
import { aSchema } from '../../../support/a-schema.ts'
import { decodeArrow } from '../../../support/decode-rows.ts'
import {
  ARROW_EOS,
  type PlainArrowCell,
  type PlainArrowField,
  type PlainArrowType,
  plainBatch,
  plainDictionary,
  plainMessage,
  plainSchema,
} from '../../../support/plain-arrow.ts'
import { integer, type PlainFlat, table } from '../../../support/plain-flatbuffer.ts'

const INT32 = { name: 'Int', bits: 32, isSigned: true } as const
const KEY: PlainArrowField = { name: 'k', type: INT32 }
const K = [KEY]
const KS: PlainArrowField[] = [KEY, { name: 's', type: { name: 'Utf8' } }]
const TEXTS = ['a', 'bc'].map(utf8Encode)

function failureOf(...messages: readonly Uint8Array[]): string | null {
  return decodeArrow(aSchema('k INT32 KEY', 's STRING NULL'), concatBytes(...messages)).failure
}

describe('ArrowStreamDecoder refuses a stream', () => {
  test('that has no schema, or ends inside a message, or goes on behind its end', () => {
    const where = (n: number) => `message ${n} of the stream: `
    expect(failureOf()).toBe(`${where(0)}the stream has no schema`)
    expect(failureOf(ARROW_EOS)).toBe(`${where(0)}the stream has no schema`)
    expect(failureOf(plainBatch(K, [[1n]]))).toBe(
      `${where(1)}the stream does not begin with a schema`,
    )
    expect(failureOf(plainSchema(K), plainSchema(K))).toBe(
      `${where(2)}the stream has a schema already`,
    )
    for (const cut of [1, 4, 6, 8, 20, -1]) {
      const batch = plainBatch(K, [[1n]])
      expect(failureOf(plainSchema(K), batch.subarray(0, cut < 0 ? batch.length - 1 : cut))).toBe(
        `${where(2)}the stream is cut off inside a message`,
      )
    }
    expect(failureOf(plainSchema(K), ARROW_EOS, Uint8Array.of(0))).toBe(
      `${where(2)}bytes follow the end of the stream`,
    )
  })

  test('that is something else', () => {
    const refused = (text: string) => failureOf(utf8Encode(text.padEnd(40)))
    expect(refused('ARROW1')).toContain('body is the Arrow file format, which is not read')
    expect(refused('PAR1')).toContain('body is Parquet, which is not read')
    expect(refused('{"k":1}')).toContain('body does not begin as an Arrow IPC stream does')
  })

  test('whose columns the table does not have, or which lacks its key', () => {
    const of = (...fields: PlainArrowField[]) => failureOf(plainSchema(fields))
    const where = 'message 1 of the stream: '
    expect(of(KEY, { name: 'x', type: INT32 })).toBe(`${where}unknown column "x"`)
    expect(of(KEY, KEY)).toBe(`${where}column "k" is twice in the schema`)
    expect(of(KS[1])).toBe(`${where}the schema has no key column "k"`)
    expect(of({ name: 'k', type: { name: 'Null' } })).toBe(
      `${where}column "k": Null does not go into a key column`,
    )
  })

  test('whose types do not go into the columns', () => {
    const of = (column: string, type: PlainArrowType) => {
      const schema = aSchema('k INT32 KEY', `v ${column} NULL`)
      return decodeArrow(schema, plainSchema([KEY, { name: 'v', type }])).failure
    }
    const where = 'message 1 of the stream: column "v": '
    expect(of('STRING', { name: 'List' })).toBe(
      `${where}List does not go into STRING, which takes Utf8, LargeUtf8 and Utf8View`,
    )
    expect(of('STRING', { name: 'Binary' })).toContain('Binary does not go into STRING')
    expect(of('DECIMAL(5,2)', { name: 'Float', bits: 64 })).toBe(
      `${where}Float64 does not go into DECIMAL(5,2), which takes decimals and integers`,
    )
    expect(of('INT8', { name: 'Timestamp', unit: 3 })).toContain('Timestamp(ns) does not go')
    expect(of('BOOL', { name: 'Int', bits: 8 })).toContain('UInt8 does not go into BOOL')
    expect(of('DATE', { name: 'Struct' })).toContain('Struct does not go into DATE')
    expect(of('INT8', { name: 'Time' })).toContain('Time does not go into INT8')
    expect(of('INT8', { name: 'Int', bits: 24 })).toContain('a type that Arrow does not have')
  })

  test('whose batches are not what the schema says', () => {
    const sentBatch = (fields: PlainArrowField[], cells: PlainArrowCell[][]) => {
      return failureOf(plainSchema(KS), plainBatch(fields, cells))
    }
    expect(sentBatch(K, [[1n]])).toContain('batch has 1 columns, the schema 2')
    expect(sentBatch(KS, [[1n, 2n], TEXTS.slice(0, 1)])).toContain('column "s" has 1 of 2 rows')
    expect(sentBatch([KEY, KEY], [[], []])).toContain('batch has too few buffers')
    expect(sentBatch([KS[1], KS[1]], [[], []])).toContain('batch has too many buffers')
  })

  test('whose numbers are those of no value of a dictionary', () => {
    const index = (isSigned: boolean) => ({ name: 'Int', bits: 64, isSigned }) as const
    const refused = (isSigned: boolean, number: bigint) => {
      const dictionary = { id: 3n, index: index(isSigned) }
      const fields = [KEY, { name: 's', type: { name: 'Utf8' }, dictionary } as const]
      return failureOf(
        plainSchema(fields),
        plainDictionary(3n, { name: 'Utf8' }, TEXTS, false),
        plainBatch(fields, [[1n], [number]]),
      )
    }
    const text = 'column "s": a number is that of no value of its dictionary'
    for (const number of [2n, -1n, 2n ** 32n]) expect(refused(true, number)).toContain(text)
    expect(refused(false, 2n ** 63n)).toContain(text)
    expect(refused(true, 1n)).toBeNull()
    expect(failureOf(plainSchema(K), plainDictionary(3n, INT32, [], false))).toContain(
      'dictionary 3 is that of no column',
    )
  })

  test('that is of versions, kinds and byte orders that are not read', () => {
    const none = new Uint8Array(0)
    expect(failureOf(plainMessage(1, [], none, 2))).toContain('metadata is of version 3')
    expect(failureOf(plainMessage(4, [], none))).toContain('message is none of a schema')
    expect(failureOf(plainSchema(K, 1))).toContain('big-endian Arrow streams are not read')
    const lz4 = [integer(8, 0), null, null, table(integer(1, 0))]
    expect(failureOf(plainSchema(K), plainMessage(3, lz4, none))).toContain(
      'LZ4 in Arrow streams is not read; write it with ZSTD or without compression',
    )
  })
})

/** A batch of one column of integers whose buffers are as told. */
function batchMessage(
  rowCount: bigint,
  nullCount: bigint,
  places: readonly bigint[],
  body: Uint8Array,
  isCompressed = false,
): Uint8Array {
  const header = [
    integer(8, rowCount),
    { kind: 'longs', perElement: 2, values: [rowCount, nullCount] } as PlainFlat,
    { kind: 'longs', perElement: 2, values: places } as PlainFlat,
    isCompressed ? table(integer(1, 1), integer(1, 0)) : null,
  ]
  return plainMessage(3, header, body)
}

describe('ArrowStreamDecoder refuses lengths that lie', () => {
  test('of buffers, rows and nulls', () => {
    const refused = (rowCount: bigint, nullCount: bigint, ...places: bigint[]) => {
      const body = new Uint8Array(16)
      return failureOf(plainSchema(K), batchMessage(rowCount, nullCount, places, body))
    }
    expect(refused(4n, 0n, 0n, 0n, 0n, 16n)).toBeNull()
    expect(refused(5n, 0n, 0n, 0n, 0n, 16n)).toContain('column "k": it has fewer values than rows')
    expect(refused(4n, 1n, 0n, 0n, 0n, 16n)).toContain('nulls, and no bits that say which')
    expect(refused(9n, 0n, 0n, 1n, 8n, 8n)).toContain('it has fewer bits for nulls than rows')
    expect(refused(4n, 0n, 0n, 0n, 1n, 16n)).toContain('buffer 1 does not lie in the body')
    expect(refused(4n, 0n, 0n, 0n, -8n, 16n)).toContain('buffer 1 does not lie in the body')
    expect(refused(4n, 0n, 0n, 0n, 0n, 2n ** 62n)).toContain('buffer 1 does not lie in the body')
    expect(refused(1n, 0n, 0n, 12n, 4n, 12n)).toContain('buffers overlap')
    expect(refused(-1n, 0n, 0n, 0n, 0n, 16n)).toContain('metadata has a length that is none')
    expect(refused(2n ** 40n + 1n, 0n, 0n, 1n, 8n, 8n)).toContain('batch has 1099511627777 rows')
  })

  test('of offsets and views', () => {
    const refused = (name: 'Utf8' | 'LargeUtf8' | 'Utf8View', change: (body: DataView) => void) => {
      const fields: PlainArrowField[] = [KEY, { name: 's', type: { name } }]
      const long = utf8Encode('longer than a view')
      const batch = plainBatch(fields, [
        [1n, 2n],
        [TEXTS[1], long],
      ])
      // The body ends with the column's offsets, or views, and its bytes.
      const bodyBytes = { Utf8: 16 + 24, LargeUtf8: 24 + 24, Utf8View: 32 + 24 }[name]
      change(new DataView(batch.buffer, batch.byteOffset + batch.length - bodyBytes))
      return failureOf(plainSchema(fields), batch)
    }
    const offsets = 'column "s": its offsets do not ascend within its bytes'
    expect(refused('Utf8', () => undefined)).toBeNull()
    expect(refused('Utf8', (body) => body.setInt32(0, -1, true))).toContain(offsets)
    expect(refused('Utf8', (body) => body.setInt32(4, 21, true))).toContain(offsets)
    expect(refused('Utf8', (body) => body.setInt32(8, 25, true))).toContain(offsets)
    expect(refused('LargeUtf8', () => undefined)).toBeNull()
    expect(refused('LargeUtf8', (body) => body.setInt32(4, 1, true))).toContain(offsets)
    expect(refused('LargeUtf8', (body) => body.setInt32(8, 21, true))).toContain(offsets)
    expect(refused('LargeUtf8', (body) => body.setInt32(16, -1, true))).toContain(offsets)
    const views = 'column "s": a view leads outside of its bytes'
    expect(refused('Utf8View', () => undefined)).toBeNull()
    expect(refused('Utf8View', (body) => body.setInt32(0, -1, true))).toContain(views)
    expect(refused('Utf8View', (body) => body.setInt32(16, 19, true))).toContain(views)
    expect(refused('Utf8View', (body) => body.setInt32(24, 1, true))).toContain(views)
    expect(refused('Utf8View', (body) => body.setInt32(24, -1, true))).toContain(views)
    expect(refused('Utf8View', (body) => body.setInt32(28, -1, true))).toContain(views)
    expect(refused('Utf8View', (body) => body.setInt32(28, 1, true))).toContain(views)
  })

  test('of what is packed', () => {
    const refused = (size: bigint, frame: Uint8Array) => {
      const prefix = new Uint8Array(8)
      new DataView(prefix.buffer).setBigInt64(0, size, true)
      const body = concatBytes(prefix, frame)
      const places = [0n, 0n, 0n, BigInt(body.length)]
      return failureOf(plainSchema(K), batchMessage(4n, 0n, places, body, true))
    }
    const frame = zstdCompressSync(new Uint8Array(16))
    const text = (bytes: number) => `buffer 1 does not unpack to its ${bytes} bytes`
    expect(refused(16n, frame)).toBeNull()
    expect(refused(-1n, new Uint8Array(16))).toBeNull()
    expect(refused(17n, frame)).toContain(text(17))
    expect(refused(15n, frame)).toContain(text(15))
    expect(refused(16n, frame.subarray(0, frame.length - 1))).toContain(text(16))
    expect(refused(16n, new Uint8Array(30))).toContain(text(16))
    expect(refused(-2n, frame)).toContain('buffer 1 has a size that is none')
    expect(refused(2n ** 60n, frame)).toContain(`limit is ${ARROW_MESSAGE_BYTES_MAX}`)
    // A bomb: a great many zeros for the price of few bytes.
    const bomb = zstdCompressSync(new Uint8Array(ARROW_MESSAGE_BYTES_MAX * 2))
    expect(refused(16n, bomb)).toContain(text(16))
  })

  test('of messages, before anything is taken for them', () => {
    const held: number[] = []
    const of = (bodyBytes: number) => {
      const header = [integer(8, 0)]
      const whole = plainMessage(3, header, new Uint8Array(0))
      // The length of the body is the last field of the metadata.
      const view = new DataView(whole.buffer)
      for (let at = whole.length - 8; at >= 8; at -= 8) {
        const isField = view.getBigInt64(at, true) === 0n && at === bodyField(whole)
        if (isField) view.setBigInt64(at, BigInt(bodyBytes), true)
      }
      return decodeArrow(
        aSchema('k INT32 KEY'),
        concatBytes(plainSchema(K), whole),
        {},
        (bytes) => {
          held.push(bytes)
        },
      ).failure
    }
    expect(of(ARROW_MESSAGE_BYTES_MAX + 1)).toContain(
      `message has ${ARROW_MESSAGE_BYTES_MAX + 1} bytes, limit is ${ARROW_MESSAGE_BYTES_MAX};`,
    )
    expect(of(ARROW_MESSAGE_BYTES_MAX)).toContain('cut off')
    expect(Math.max(0, ...held)).toBeLessThan(10_000)
    const metadata = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0x20, 0)
    expect(failureOf(plainSchema(K), metadata)).toContain(`limit is ${ARROW_METADATA_BYTES_MAX}`)
  })

  test('of dictionaries that are too large together', () => {
    const fields: PlainArrowField[] = [
      KEY,
      { name: 's', type: { name: 'Utf8' }, dictionary: { id: 1n, index: INT32 } },
    ]
    const values = Array.from({ length: 100 }, () => new Uint8Array(CELL_BYTES_MAX))
    const part = plainDictionary(1n, { name: 'Utf8' }, values, true)
    expect(failureOf(plainSchema(fields), part)).toBeNull()
    expect(failureOf(plainSchema(fields), part, part)).toContain(
      `column "s": dictionaries are larger than the limit of ${ARROW_DICTIONARY_BYTES_MAX} bytes`,
    )
  })
})

/** Where `plainMessage` puts the length of the body. */
function bodyField(message: Uint8Array): number {
  const view = new DataView(message.buffer)
  const start = 8 + view.getUint32(8, true)
  return start + view.getUint16(start - view.getInt32(start, true) + 4 + 3 * 2, true)
}

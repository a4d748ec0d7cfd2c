import { describe, expect, test } from 'vitest'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { hashSchemaOf } from '../../src/common/partition-schema.ts'
import {
  cellsText,
  cellText,
  keyText,
  partitionKeyText,
  partitionSchemaText,
  partitionText,
} from '../../src/common/partition-text.ts'
import { fromHex } from '../../src/util/bytes.ts'
import { aColumn, aSchema } from '../support/a-schema.ts'
import {
  boundOf,
  type PlainBound,
  type PlainDimension,
  partitioned,
} from '../support/partition-input.ts'
import { cellOf, columnsOf, typeOf } from '../support/vector-columns.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface KeyVectors {
  readonly key_encode_simple: {
    readonly cases: readonly { type: string; value: string; encodedHex: string; debug: string }[]
  }
  readonly key_debug_compound: {
    readonly cases: readonly { types: string[]; values: string[]; debug: string }[]
  }
  readonly key_decode: {
    readonly cases: readonly {
      types: string[]
      names?: string[]
      encodedHex: string
      debug?: string
      as?: string
    }[]
  }
}
interface PartitionVectors {
  readonly partition_key_encode: {
    readonly hash: readonly PlainDimension[]
    readonly range: readonly string[]
    readonly schemaDebug: string
    readonly cases: readonly { hashKeyHex: string; rangeKeyHex: string; debug: string }[]
    readonly debugErrors: readonly { hashKeyHex: string; rangeKeyHex: string; debug: string }[]
  }
  readonly create_range_partitions_compound: {
    readonly bounds: readonly (readonly [PlainBound, PlainBound])[]
    readonly splits: readonly PlainBound[]
    readonly expectDebug: readonly string[]
  }
  readonly create_hash_partitions: {
    readonly hash: readonly PlainDimension[]
    readonly expectDebug: readonly string[]
  }
}

const keys = readVectors<KeyVectors>('keys')
const vectors = readVectors<PartitionVectors>('partitions')

/**
 * A text of the vectors in our types: they have unsigned integers, which read as the signed ones of
 * the same key, and 128-bit integers, which are decimals here.
 */
function inOurTypes(debug: string): string {
  return debug.replace(/(u?int\d+) (\w+)=(-?\d+)/g, (_, name: string, column: string, value) => {
    const type = name.toUpperCase()
    const ours = typeOf(type).replace(/\(.*/, '').toLowerCase()
    return `${ours} ${column}=${String(cellOf(type, value))}`
  })
}

function textsOf(schema: ReturnType<typeof aSchema>, input: Parameters<typeof partitioned>[1]) {
  const { partitionSchema, partitions } = partitioned(schema, input)
  return partitions.map((partition) => {
    const range = partitionSchema.ranges.find((it) => it.lowerKey === partition.rangeKeyStart)!
    return partitionText(schema, partitionSchema, hashSchemaOf(partitionSchema, range), partition)
  })
}

describe('keyText', () => {
  test('reads like the vectors for one column', () => {
    for (const { type, encodedHex, debug } of keys.key_encode_simple.cases) {
      const [column] = columnsOf([type], ['key'])

      expect(keyText([column], fromHex(encodedHex))).toBe(inOurTypes(debug))
    }
    reportVectors('key_encode_simple (debug)', keys.key_encode_simple.cases.length)
  })

  test('reads like the vectors for several columns', () => {
    for (const { types, values, debug } of keys.key_debug_compound.cases) {
      const columns = columnsOf(types)
      const key = encodeKeyCells(
        columns,
        values.map((value, i) => cellOf(types[i], value)),
      )

      expect(keyText(columns, key)).toBe(inOurTypes(debug))
    }
    reportVectors('key_debug_compound', keys.key_debug_compound.cases.length)
  })

  // Kudu prints an empty key as <start of table>. Here an empty key is no key but the lack of a
  // bound.
  test('reads like the vectors for encoded keys', () => {
    let count = 0
    for (const { types, names, encodedHex, debug, as } of keys.key_decode.cases) {
      if (debug === undefined || as !== undefined) continue

      expect(keyText(columnsOf(types, names), fromHex(encodedHex))).toBe(inOurTypes(debug))
      count++
    }
    reportVectors('key_decode (texts)', count)
  })
})

describe('cellText', () => {
  test('escapes what is not printable, quotes and backslashes', () => {
    const column = aColumn('c BINARY')

    expect(cellText(column, fromHex('006122205c7f80ff'))).toBe('"\\000a\\" \\\\\\177\\200\\377"')
  })

  test('cuts a long text', () => {
    const text = cellText(aColumn('c STRING'), new Uint8Array(1000).fill(97))

    expect(text).toBe(`"${'a'.repeat(128)}"…`)
  })

  test('shows dates, times and decimals as clients write them', () => {
    const { columns } = aSchema('d DATE KEY', 't UNIXTIME_MICROS KEY', 'm DECIMAL(5,2) KEY')

    const text = cellsText(columns, [0, 1n, -12_345])

    expect(text).toBe('(1970-01-01, 1970-01-01T00:00:00.000001Z, -123.45)')
  })
})

describe('partitionSchemaText and partitionKeyText', () => {
  const schema = aSchema('a INT32 KEY', 'b STRING KEY', 'c STRING KEY')
  const { hash, range, schemaDebug, cases, debugErrors } = vectors.partition_key_encode
  const { partitionSchema } = partitioned(schema, { hash, range })
  const textOf = (hex: string) => {
    return partitionKeyText(schema, partitionSchema, partitionSchema.hashSchema, fromHex(hex))
  }

  test('read like the vectors', () => {
    expect(partitionSchemaText(schema, partitionSchema)).toBe(schemaDebug)
    for (const { hashKeyHex, rangeKeyHex, debug } of cases) {
      expect(textOf(hashKeyHex + rangeKeyHex)).toBe(debug)
    }
    reportVectors('partition_key_encode (debug)', cases.length + 1)
  })

  // Kudu's message wraps ours and redacts the bytes. Ours never holds them.
  test('say which part of a partition key cannot be read', () => {
    const [short, bad] = debugErrors

    expect(textOf(short.hashKeyHex + short.rangeKeyHex)).toBe(short.debug)
    expect(textOf(bad.hashKeyHex + bad.rangeKeyHex)).toBe(
      'HASH (a, b): 0, HASH (c): 0, RANGE (a, b, c): <range-key-decode-error: key too short (a)>',
    )
    reportVectors('partition_key_encode (debug errors)', debugErrors.length)
  })
})

describe('partitionText', () => {
  test('reads like the vectors for ranges of several columns', () => {
    const { bounds, splits, expectDebug } = vectors.create_range_partitions_compound
    const schema = aSchema('c1 STRING KEY', 'c2 STRING KEY', 'c3 STRING KEY')
    const ranges = bounds.map(([lower, upper]) => ({ lower, upper }))

    const texts = textsOf(schema, { range: ['c1', 'c2', 'c3'], ranges, splits })

    expect(texts).toEqual(expectDebug)
    reportVectors('create_range_partitions_compound', expectDebug.length)
  })

  test('reads like the vectors for hash buckets', () => {
    const { hash, expectDebug } = vectors.create_hash_partitions

    const texts = textsOf(aSchema('a STRING KEY', 'b STRING KEY'), { hash })

    expect(texts).toEqual(expectDebug)
    reportVectors('create_hash_partitions (debug)', expectDebug.length)
  })

  test('joins hash buckets and range', () => {
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const hash = [{ columns: ['b'], buckets: 2 }]

    const texts = textsOf(schema, { hash, range: ['a'], splits: [boundOf(['a'], [5])] })

    expect(texts).toEqual([
      'HASH (b) PARTITION 0, RANGE (a) PARTITION VALUES < 5',
      'HASH (b) PARTITION 0, RANGE (a) PARTITION 5 <= VALUES',
      'HASH (b) PARTITION 1, RANGE (a) PARTITION VALUES < 5',
      'HASH (b) PARTITION 1, RANGE (a) PARTITION 5 <= VALUES',
    ])
  })

  test('calls a range without bounds unbounded, and says nothing of no range part', () => {
    const schema = aSchema('a INT8 KEY')

    expect(textsOf(schema, { range: null })).toEqual(['RANGE (a) PARTITION UNBOUNDED'])
    expect(textsOf(schema, {})).toEqual([''])
  })
})

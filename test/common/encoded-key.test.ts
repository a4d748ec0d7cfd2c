import { describe, expect, test } from 'vitest'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import {
  decodeKeyCells,
  decodeKeyPrefix,
  encodeKeyCells,
  encodeKeys,
  successorKey,
} from '../../src/common/encoded-key.ts'
import { KEY_BYTES_MAX } from '../../src/common/limits.ts'
import type { Column } from '../../src/common/schema.ts'
import { outcomeOf, StatusError } from '../../src/common/status.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { compareWhole, fromHex, toHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import {
  aRandomKeySchema,
  blockOf,
  comparePlainTuples,
  randomCells,
} from '../support/key-columns.ts'
import { cellOf, columnsOf } from '../support/vector-columns.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface Vectors {
  readonly key_encode_simple: {
    readonly cases: readonly { type: string; value: string; encodedHex: string }[]
  }
  readonly key_encode_all_types: {
    readonly types: readonly string[]
    readonly cases: readonly { row: string; values: readonly string[]; encodedHex: string }[]
  }
  readonly key_decode: {
    readonly cases: readonly {
      types: readonly string[]
      names?: readonly string[]
      encodedHex: string
      error?: string
    }[]
  }
  readonly key_in_range: {
    readonly cases: readonly {
      lower: number | null
      upper: number | null
      key: number
      inRange: boolean
    }[]
  }
}

const vectors = readVectors<Vectors>('keys')

function keysOf(columns: readonly Column[], rows: Parameters<typeof blockOf>[1]): KeyArena {
  const keys = new KeyArena(1, 1)
  encodeKeys(blockOf(columns, rows).columns, rows.length, keys)
  return keys
}

function hexOf(keys: KeyArena): string[] {
  return Array.from({ length: keys.count }, (_, index) => toHex(keys.key(index)))
}

describe('encodeKeyCells', () => {
  test('gives the bytes of the vectors for one column', () => {
    for (const { type, value, encodedHex } of vectors.key_encode_simple.cases) {
      const key = encodeKeyCells(columnsOf([type]), [cellOf(type, value)])

      expect(toHex(key), `${type} ${value}`).toBe(encodedHex)
    }
    reportVectors('key_encode_simple', vectors.key_encode_simple.cases.length)
  })

  // Kudu cuts a VARCHAR that is too long; here such a value never becomes a cell, so the test cuts
  // it.
  test('gives the bytes of the vectors for every type at once', () => {
    const { types, cases } = vectors.key_encode_all_types
    for (const { row, values, encodedHex } of cases) {
      const cells = values.map((text, index) => {
        return cellOf(types[index], types[index] === 'VARCHAR' ? text.slice(0, 10) : text)
      })

      expect(toHex(encodeKeyCells(columnsOf(types), cells)), `row ${row}`).toBe(encodedHex)
    }
    reportVectors('key_encode_all_types', cases.length)
  })

  test('orders keys within the bounds of the vectors', () => {
    const columns = columnsOf(['UINT32'])
    const encode = (value: number) => encodeKeyCells(columns, [cellOf('UINT32', String(value))])
    for (const { lower, upper, key, inRange } of vectors.key_in_range.cases) {
      const isAbove = lower === null || compareWhole(encode(lower), encode(key)) <= 0
      const isBelow = upper === null || compareWhole(encode(key), encode(upper)) < 0

      expect(isAbove && isBelow, `${lower} ${key} ${upper}`).toBe(inRange)
    }
    reportVectors('key_in_range', vectors.key_in_range.cases.length)
  })

  test('sorts composite keys by bytes exactly as by columns', () => {
    const prng = new Prng(11)
    for (let round = 0; round < 120; round++) {
      const { keyColumns } = aRandomKeySchema(prng, 4)
      for (let pair = 0; pair < 30; pair++) {
        const [a, b] = [randomCells(prng, keyColumns), randomCells(prng, keyColumns)]
        // Ties in front show what comes behind.
        const shared = prng.below(keyColumns.length + 1)
        for (let index = 0; index < shared; index++) b[index] = a[index]

        const order = compareWhole(encodeKeyCells(keyColumns, a), encodeKeyCells(keyColumns, b))

        const message = `round ${round} pair ${pair} of seed 11`
        expect(Math.sign(order), message).toBe(comparePlainTuples(a, b))
      }
    }
  })
})

describe('encodeKeys', () => {
  test('encodes every row of any block as its cells are encoded one by one', () => {
    const prng = new Prng(12)
    for (let round = 0; round < 200; round++) {
      const { keyColumns } = aRandomKeySchema(prng, 5)
      const rows = Array.from({ length: prng.below(20) }, () => randomCells(prng, keyColumns))

      const keys = keysOf(keyColumns, rows)

      const expected = rows.map((cells) => toHex(encodeKeyCells(keyColumns, cells)))
      expect(hexOf(keys), `round ${round} of seed 12`).toEqual(expected)
    }
  })

  test('appends behind the keys that are there', () => {
    const columns = columnsOf(['STRING', 'INT8'])
    const keys = new KeyArena(1, 1)
    const first = blockOf(columns, [[utf8Encode('a'), 1]])
    const second = blockOf(columns, [
      [utf8Encode('b\0'), 2],
      [utf8Encode(''), -1],
    ])

    encodeKeys(first.columns, 1, keys)
    encodeKeys(second.columns, 2, keys)

    expect(hexOf(keys)).toEqual(['61000081', '62000100' + '0082', '00007f'])
  })

  test('encodes the first rows only when asked for fewer', () => {
    const columns = columnsOf(['STRING'])
    const keys = new KeyArena()

    encodeKeys(blockOf(columns, [[utf8Encode('a')], [utf8Encode('bc')]]).columns, 1, keys)

    expect(hexOf(keys)).toEqual(['61'])
  })

  test('reads binary cells whose first offset is not zero', () => {
    const bytes = utf8Encode('xxab\0c')
    const column = new ColumnVector(PHYSICAL.binary, 2, bytes, Uint32Array.of(2, 3, 6), null, null)
    const [raw, mixed] = [new KeyArena(), new KeyArena()]

    encodeKeys([column], 2, raw)
    encodeKeys([column, column], 2, mixed)

    expect(hexOf(raw)).toEqual(['61', '620063'])
    expect(hexOf(mixed)).toEqual(['61000061', '620001630000620063'])
  })

  test('copies long values whole', () => {
    const columns = columnsOf(['STRING', 'STRING'])
    const long = utf8Encode('long '.repeat(1000))
    const rows = [[long, long]]

    const keys = keysOf(columns, rows)

    expect(keys.key(0)).toEqual(encodeKeyCells(columns, rows[0]))
  })

  test('lets a key become longer than the limit, for the caller to refuse', () => {
    const columns = columnsOf(['BINARY', 'BINARY'])
    const zeros = new Uint8Array(KEY_BYTES_MAX)

    const keys = keysOf(columns, [[zeros, zeros]])

    expect(keys.ends[0]).toBe(KEY_BYTES_MAX * 3 + 2)
  })

  test('refuses floats and blocks with too few rows', () => {
    const { columns } = aSchema('k INT8 KEY', 'f DOUBLE', 'g FLOAT')
    const block = blockOf(columns, [[1, 1.5, 2.5]])

    expect(() => encodeKeys([block.columns[1]], 1, new KeyArena())).toThrow('floats are no keys')
    expect(() => encodeKeys([block.columns[2]], 1, new KeyArena())).toThrow('floats are no keys')
    expect(() => encodeKeys([block.columns[0]], 2, new KeyArena())).toThrow('has fewer rows')
  })
})

describe('decodeKeyCells', () => {
  // The text forms of these vectors are in partition-text.test.ts.
  test('refuses the keys of the vectors with their messages', () => {
    let count = 0
    for (const { types, names, encodedHex, error } of vectors.key_decode.cases) {
      if (error === undefined) continue
      const decode = () => decodeKeyCells(columnsOf(types, names), fromHex(encodedHex))

      expect(decode, encodedHex).toThrow(error.replace('InvalidArgument: ', ''))
      expect(decode, encodedHex).toThrow(StatusError)
      count++
    }
    reportVectors('key_decode (errors)', count)
  })

  test('gives back what was encoded', () => {
    const prng = new Prng(13)
    for (let round = 0; round < 800; round++) {
      const { keyColumns } = aRandomKeySchema(prng, 5)
      const cells = randomCells(prng, keyColumns)

      const decoded = decodeKeyCells(keyColumns, encodeKeyCells(keyColumns, cells))

      expect(decoded, `round ${round} of seed 13`).toEqual(cells)
    }
  })

  test('refuses bytes behind a last column of fixed width', () => {
    const columns = columnsOf(['STRING', 'INT16'], ['a', 'b'])

    expect(() => decodeKeyCells(columns, fromHex('61000080010'.concat('0')))).toThrow(
      'key too long (b)',
    )
  })

  test('refuses a zero byte that is neither escaped nor a separator', () => {
    const columns = columnsOf(['STRING', 'STRING'], ['a', 'b'])

    for (const hex of ['610002', '6100', '00', '000100', '6100016100']) {
      expect(() => decodeKeyCells(columns, fromHex(hex)), hex).toThrow(
        'missing separator after composite key string component (a)',
      )
    }
  })

  test('reads any bytes to cells that encode to them, or refuses them', () => {
    const prng = new Prng(14)
    let readCount = 0
    for (let round = 0; round < 1500; round++) {
      const { keyColumns } = aRandomKeySchema(prng, 3)
      const bytes = Uint8Array.from({ length: prng.below(24) }, () => prng.pick([0, 0, 0, 1, 97]))

      const outcome = outcomeOf(() => decodeKeyCells(keyColumns, bytes))

      if (!outcome.ok) continue
      readCount++
      const encoded = encodeKeyCells(keyColumns, outcome.value)
      expect(toHex(encoded), `round ${round} of seed 14`).toBe(toHex(bytes))
    }
    expect(readCount).toBeGreaterThan(100)
  })
})

describe('decodeKeyPrefix', () => {
  test('reads the first columns and says where they end, whatever follows', () => {
    const columns = columnsOf(['INT8', 'STRING', 'INT32'])
    const bytes = fromHex(`81${'6100010000'}77`)

    const prefix = decodeKeyPrefix(columns, bytes, 2)

    expect(prefix).toEqual({ cells: [1, utf8Encode('a\0')], end: 6 })
    expect(decodeKeyPrefix(columns, bytes, 0)).toEqual({ cells: [], end: 0 })
    expect(() => decodeKeyPrefix(columns, bytes, 3)).toThrow('key too short (key2)')
  })
})

describe('successorKey', () => {
  test('lies above a key and at or below all that lie above it', () => {
    const keys = ['', '00', '0000', '61', '6100', '6101', '62'].map(fromHex)

    for (const [index, key] of keys.slice(0, -1).entries()) {
      const successor = successorKey(key)
      expect(compareWhole(successor, key)).toBeGreaterThan(0)
      expect(compareWhole(successor, keys[index + 1])).toBeLessThanOrEqual(0)
    }
  })
})

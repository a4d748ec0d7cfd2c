import { describe, expect, test } from 'vitest'
import {
  decodePage,
  describePage,
  encodePage,
  PAGE_HEADER_BYTES,
  pageBytesAt,
} from '../../src/cfile/page.ts'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, LANE_BYTES, PHYSICAL, type Physical } from '../../src/common/data-type.ts'
import { COMPRESSIONS, ENCODINGS, type Encoding } from '../../src/common/schema.ts'
import { concatBytes } from '../../src/util/bytes.ts'
import { crc32c } from '../../src/util/crc32c.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import {
  cellsOf,
  FLOAT_SHAPES,
  INTEGER_BITS,
  INTEGER_SHAPES,
  integerCell,
  plainCells,
  TEXT_SHAPES,
} from '../support/page-cells.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'

const AUTO = { encoding: 'AUTO_ENCODING', compression: 'DEFAULT_COMPRESSION' } as const

function pageOf(cells: ColumnVector, encoding: Encoding = 'AUTO_ENCODING'): Uint8Array {
  return encodePage(cells, { encoding, compression: 'DEFAULT_COMPRESSION' })
}

function drawCount(prng: Prng): number {
  return prng.pick([1, 2, 31, 33, 128, 129, 600, 4096])
}

/** Encodes and decodes values of one shape with some nulls, in every encoding. */
function keepsShape(
  physical: Physical,
  prng: Prng,
  next: (i: number) => Cell | string,
  label: string,
): void {
  const nulls = prng.pick([0, 0, 0.05, 0.95])
  const values = Array.from({ length: drawCount(prng) }, (_, i) =>
    prng.chance(nulls) ? null : next(i),
  )
  const cells = cellsOf(physical, values)
  const expected = plainCells(cells)
  for (const encoding of ENCODINGS) {
    const decoded = decodePage(pageOf(cells, encoding), physical, 'page')
    expect(plainCells(decoded), `${label} ${encoding}`).toEqual(expected)
  }
}

/** Puts the right checksum on a page that was changed. */
function sealed(page: Uint8Array): Uint8Array {
  const crc = crc32c(page, PAGE_HEADER_BYTES, page.length, crc32c(page, 0, 20))
  new DataView(page.buffer, page.byteOffset).setUint32(20, crc, true)
  return page
}

describe('encodePage', () => {
  test('keeps random cells of every type, in every encoding and compression', () => {
    for (let seed = 1; seed <= 4; seed++) {
      const prng = new Prng(seed)
      for (const text of COLUMN_TEXTS) {
        const column = aColumn(text)
        const nulls = prng.pick([0, 0, 0.1, 0.9, 1])
        const values = Array.from({ length: prng.pick([0, 1, 7, 100]) }, () =>
          prng.chance(nulls) ? null : randomCell(prng, column),
        )
        const cells = cellsOf(column.physical, values)
        const expected = plainCells(cells)
        for (const encoding of ENCODINGS) {
          for (const compression of COMPRESSIONS) {
            const page = encodePage(cells, { encoding, compression })
            const decoded = decodePage(page, column.physical, 'page')
            expect(plainCells(decoded), `seed ${seed} ${text} ${encoding} ${compression}`).toEqual(
              expected,
            )
          }
        }
      }
    }
  })

  test.each(Object.keys(INTEGER_SHAPES))('keeps integers of every width: %s', (shape) => {
    for (let seed = 1; seed <= 6; seed++) {
      const prng = new Prng(seed)
      for (const [physical, bits] of INTEGER_BITS) {
        const next = INTEGER_SHAPES[shape](prng, bits)
        keepsShape(physical, prng, (i) => integerCell(physical, next(i)), `seed ${seed}`)
      }
    }
  })

  test.each(Object.keys(FLOAT_SHAPES))('keeps floating point numbers: %s', (shape) => {
    for (let seed = 1; seed <= 6; seed++) {
      const prng = new Prng(seed)
      for (const physical of [PHYSICAL.float32, PHYSICAL.float64]) {
        const next = FLOAT_SHAPES[shape](prng)
        keepsShape(physical, prng, (i) => next(i), `seed ${seed}`)
      }
    }
  })

  test.each(Object.keys(TEXT_SHAPES))('keeps texts: %s', (shape) => {
    for (let seed = 1; seed <= 6; seed++) {
      const prng = new Prng(seed)
      keepsShape(PHYSICAL.binary, prng, TEXT_SHAPES[shape](prng), `seed ${seed}`)
    }
  })

  test('keeps the bits of NaN with a payload', () => {
    const bits = BigUint64Array.of(0x7ff8_0000_0000_1234n, 0xfff0_0000_0000_0001n, 0n)
    const cells = cellsOf(PHYSICAL.float64, [0, 0, 0])
    cells.bytes.set(new Uint8Array(bits.buffer))

    for (const encoding of ENCODINGS) {
      const decoded = decodePage(pageOf(cells, encoding), PHYSICAL.float64, 'page')
      expect([...new BigUint64Array(decoded.bytes.slice().buffer)]).toEqual([...bits])
    }
  })

  test('keeps values of a vector that begins within its bytes', () => {
    const whole = cellsOf(PHYSICAL.binary, ['skipped', 'kept', '', 'kept too'])
    const offsets = whole.offsets.subarray(1)
    const cut = new ColumnVector(PHYSICAL.binary, 3, whole.bytes, offsets, null, null)

    for (const encoding of ENCODINGS) {
      const decoded = decodePage(pageOf(cut, encoding), PHYSICAL.binary, 'page')
      expect(plainCells(decoded).map(String)).toEqual(
        ['kept', '', 'kept too'].map((text) => String(new TextEncoder().encode(text))),
      )
    }
  })

  test('leaves zeros in the lanes of null cells', () => {
    const cells = cellsOf(PHYSICAL.int64, [5, null, 7, null])

    const decoded = decodePage(pageOf(cells), PHYSICAL.int64, 'page')

    expect([...decoded.lanes]).toEqual([5, 0, 0, 0, 7, 0, 0, 0])
  })

  test('takes a bit a row for nulls, and nothing else for a page of nothing but nulls', () => {
    const nulls = new Array<null>(4096).fill(null)

    expect(pageOf(cellsOf(PHYSICAL.int64, nulls)).length).toBe(PAGE_HEADER_BYTES)
    expect(pageOf(cellsOf(PHYSICAL.int64, [...nulls.slice(1), 5])).length).toBeLessThan(
      PAGE_HEADER_BYTES + 512 + 64,
    )
  })

  test.each<[string, Physical, (i: number) => Cell | string, string, string, number]>([
    ['ascending integers', PHYSICAL.int64, (i) => BigInt(i) * 3n, 'BIT_SHUFFLE', 'NONE', 0.02],
    ['long runs', PHYSICAL.int32, (i) => (i >>> 9) * 77, 'RLE', 'NONE', 0.05],
    ['small integers', PHYSICAL.int32, (i) => (i * 7919) % 61, 'BIT_SHUFFLE', 'NONE', 0.8],
    ['whole days', PHYSICAL.int64, daysAsMicros, 'BIT_SHUFFLE', 'NONE', 1.6],
    ['prices', PHYSICAL.float64, (i) => ((i * 7919) % 100_000) / 100, 'BIT_SHUFFLE', 'NONE', 2.2],
    ['few fractions', PHYSICAL.float64, (i) => Math.sqrt(i % 7), 'DICT', 'NONE', 0.5],
    ['few words', PHYSICAL.binary, (i) => `word ${i % 5}`, 'DICT', 'NONE', 0.5],
    ['sorted texts', PHYSICAL.binary, (i) => `user-${100_000 + i}`, 'PREFIX', 'ZSTD', 1],
    ['texts', PHYSICAL.binary, (i) => `${i * 7919} of ${i * 104_729}`, 'PLAIN', 'ZSTD', 12],
  ])('chooses by itself: %s', (_, physical, next, encoding, compression, bytesMax) => {
    const count = 4096
    const page = pageOf(
      cellsOf(
        physical,
        Array.from({ length: count }, (_, i) => next(i)),
      ),
    )

    expect(describePage(page)).toEqual({ encoding, compression, rowCount: count, nullCount: 0 })
    expect(page.length / count).toBeLessThan(bytesMax)
  })

  test('falls back to plain where an encoding finds nothing', () => {
    const prng = new Prng(1)
    const random = cellsOf(
      PHYSICAL.int32,
      Array.from({ length: 1000 }, () => prng.uint32() | 0),
    )
    const different = cellsOf(
      PHYSICAL.binary,
      Array.from({ length: 1000 }, (_, i) => `value ${i}`),
    )

    expect(describePage(pageOf(random)).encoding).toBe('PLAIN')
    expect(describePage(pageOf(different, 'DICT_ENCODING')).encoding).toBe('PLAIN')
  })

  test('obeys the encoding and the compression that a column asks for', () => {
    const texts = cellsOf(
      PHYSICAL.binary,
      Array.from({ length: 500 }, (_, i) => `text ${i % 3}`),
    )
    const compressions = COMPRESSIONS.map((compression) =>
      describePage(encodePage(texts, { encoding: 'PLAIN_ENCODING', compression })),
    )

    expect(describePage(pageOf(texts, 'PREFIX_ENCODING')).encoding).toBe('PREFIX')
    expect(compressions.map(({ compression }) => compression)).toEqual([
      'ZSTD',
      'NONE',
      'SNAPPY',
      'LZ4',
      'ZLIB',
      'ZSTD',
    ])
  })

  test('takes no more than plain lanes and a header for cells without any order', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const prng = new Prng(seed)
      for (const [physical, bits] of INTEGER_BITS) {
        const next = INTEGER_SHAPES['any bits'](prng, bits)
        const count = drawCount(prng)
        const values = Array.from({ length: count }, () => integerCell(physical, next(0)))
        const bytes = pageOf(cellsOf(physical, values)).length
        const bound = PAGE_HEADER_BYTES + count * LANE_BYTES[physical] + 7
        expect(bytes, `seed ${seed}`).toBeLessThanOrEqual(bound)
      }
    }
  })
})

function daysAsMicros(i: number): bigint {
  return BigInt((i * 7919) % 2500) * 86_400_000_000n
}

describe('decodePage', () => {
  test('tells a flipped bit wherever it is', () => {
    const cells = cellsOf(PHYSICAL.binary, ['one', null, 'three', 'three'])
    const page = pageOf(cells)
    for (let bit = 0; bit < page.length * 8; bit++) {
      const flipped = page.slice()
      flipped[bit >>> 3] ^= 1 << (bit & 7)
      expect(() => decodePage(flipped, PHYSICAL.binary, 'file 7, block 1'), `bit ${bit}`).toThrow(
        /^file 7, block 1: /,
      )
    }
  })

  test('reads a page that others follow, at any alignment', () => {
    const cells = cellsOf(PHYSICAL.int32, [1, 2, 3])
    const page = pageOf(cells)
    const shifted = concatBytes(Uint8Array.of(0), page, page)

    const decoded = decodePage(shifted.subarray(1), PHYSICAL.int32, 'page')

    expect([...decoded.lanes]).toEqual([1, 2, 3])
  })

  test('refuses a page of another type, and bytes that are none', () => {
    const page = pageOf(cellsOf(PHYSICAL.int32, [1]))

    expect(() => decodePage(page, PHYSICAL.int64, 'page')).toThrow(
      'page: the page is of another type',
    )
    expect(() => decodePage(page.subarray(0, 20), PHYSICAL.int32, 'page')).toThrow(
      'page: no page begins there',
    )
  })

  // The checksum is right: what a broken writer might leave must still read nothing beyond it.
  test('reads random bodies as cells or as corruption, and never otherwise', () => {
    let corruptCount = 0
    for (let seed = 1; seed <= 800; seed++) {
      const prng = new Prng(seed)
      const isText = prng.chance(0.4)
      const physical = isText
        ? PHYSICAL.binary
        : prng.pick([PHYSICAL.int8, PHYSICAL.int64, PHYSICAL.int128, PHYSICAL.float64])
      const shape = prng.pick(Object.keys(isText ? TEXT_SHAPES : INTEGER_SHAPES))
      const next = INTEGER_SHAPES[shape]?.(prng, 64)
      const values = Array.from({ length: prng.between(1, 200) }, (_, i) => {
        if (isText) return TEXT_SHAPES['few of them'](prng)(i)
        return physical === PHYSICAL.float64
          ? prng.between(0, 99) / 10
          : integerCell(physical, next(i))
      })
      const encoding = prng.pick(ENCODINGS)
      const page = encodePage(cellsOf(physical, values), {
        encoding,
        compression: prng.pick(COMPRESSIONS),
      })
      for (let change = prng.between(1, 3); change > 0; change--) {
        page[prng.between(2, page.length - 1)] = prng.pick([0, 1, 0x7f, 0xff, prng.below(256)])
      }
      try {
        decodePage(sealed(page), physical, 'page')
      } catch (error) {
        corruptCount++
        expect(error, `seed ${seed}`).toMatchObject({ code: 'CORRUPTION' })
      }
    }
    expect(corruptCount).toBeGreaterThan(100)
  })
})

describe('pageBytesAt', () => {
  test('walks the pages of a block', () => {
    const pages = [
      pageOf(cellsOf(PHYSICAL.int32, [1, 2, 3])),
      pageOf(cellsOf(PHYSICAL.binary, ['a', 'bc'])),
      pageOf(cellsOf(PHYSICAL.int8, [])),
    ]
    const block = concatBytes(...pages)
    const found: number[] = []
    for (let offset = 0; offset < block.length; offset += found[found.length - 1]) {
      found.push(pageBytesAt(block, offset))
    }

    expect(found).toEqual(pages.map((page) => page.length))
  })

  test('is 0 where no whole page begins', () => {
    const page = pageOf(cellsOf(PHYSICAL.int32, [1, 2, 3]))

    expect(pageBytesAt(page, 8)).toBe(0)
    expect(pageBytesAt(page, page.length)).toBe(0)
    expect(pageBytesAt(page.subarray(0, page.length - 1), 0)).toBe(0)
  })
})

describe('describePage', () => {
  test('counts rows and nulls', () => {
    const page = encodePage(cellsOf(PHYSICAL.int32, [1, null, null]), AUTO)

    expect(describePage(page)).toMatchObject({ rowCount: 3, nullCount: 2 })
  })
})

import { describe, expect, test } from 'vitest'
import { encodeKeyPage, KeyPage } from '../../src/cfile/key-page.ts'
import { decodePage, encodePage } from '../../src/cfile/page.ts'
import { KeyArena } from '../../src/util/arena.ts'
import { fromHex, toHex } from '../../src/util/bytes.ts'
import { type GoldenPage, goldenCells, readGoldenPages } from '../support/golden-pages.ts'
import { plainCells } from '../support/page-cells.ts'

// These bytes are in storages out there: none of them may ever change. What a library compresses
// may differ from version to version, and is only read.
const MADE_BY_LIBRARIES = ['ZLIB', 'ZSTD']

describe.each(['integers', 'floats', 'texts'])('golden pages of %s', (name) => {
  test.each(readGoldenPages(name).map((page) => [page.title, page] as const))('%s', (_, page) => {
    const { cells, encoding, compression } = goldenCells(page)

    const decoded = decodePage(page.bytes, cells.physical, 'golden')

    expect(plainCells(decoded)).toEqual(plainCells(cells))
    if (MADE_BY_LIBRARIES.includes(compression)) return
    expect(toHex(encodePage(cells, { encoding, compression }))).toBe(toHex(page.bytes))
  })
})

describe('golden pages of keys', () => {
  test.each(readGoldenPages('keys').map((page) => [page.title, page] as const))('%s', (_, page) => {
    const keys = keysOf(page)
    const opened = KeyPage.open(page.bytes, 'golden')
    const read = new KeyArena()
    opened.appendTo(read, 0, opened.rowCount)

    expect(Array.from({ length: read.count }, (__, i) => toHex(read.key(i)))).toEqual(page.cells)
    expect(toHex(encodeKeyPage(keys, 0, keys.count))).toBe(toHex(page.bytes))
  })
})

function keysOf(page: GoldenPage): KeyArena {
  const keys = new KeyArena()
  for (const hex of page.cells) {
    const key = fromHex(String(hex))
    keys.append(key, 0, key.length)
    keys.endKey()
  }
  return keys
}

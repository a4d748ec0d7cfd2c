/**
 * Golden pages, as text files with comments (test/golden/pages):
 *
 *   # why this case
 *   page int32 BIT_SHUFFLE NO_COMPRESSION      or: keys
 *   cells [1, null, "-5"]                      JSON; integers may be texts, keys are hexadecimal
 *   ----
 *   c1020601 …                                 hexadecimal up to a semicolon; what it means
 *   (an empty line ends a case)
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, PHYSICAL, type Physical } from '../../src/common/data-type.ts'
import type { Compression, Encoding } from '../../src/common/schema.ts'
import { assert } from '../../src/util/assert.ts'
import { fromHex } from '../../src/util/bytes.ts'
import { cellsOf } from './page-cells.ts'

type JsonCell = number | string | null

/** One case of a golden file. */
export interface GoldenPage {
  readonly title: string
  /** Words of the case's first line. */
  readonly words: readonly string[]
  readonly cells: readonly JsonCell[]
  readonly bytes: Uint8Array
}

/** The cases of `test/golden/pages/<name>.txt`. */
export function readGoldenPages(name: string): GoldenPage[] {
  const path = join(import.meta.dirname, '..', 'golden', 'pages', `${name}.txt`)
  return readFileSync(path, 'utf8')
    .split('\n\n')
    .filter((text) => text.trim() !== '')
    .map(parseCase)
}

function parseCase(text: string): GoldenPage {
  const [head, body] = text.split('\n----\n')
  assert(body !== undefined, 'a golden case has four dashes between cells and bytes')
  const lines = head.split('\n').filter((line) => line !== '')
  const comments = lines.filter((line) => line.startsWith('#')).map((line) => line.slice(2))
  const [words, cells] = lines.filter((line) => !line.startsWith('#'))
  const hex = body.replaceAll(/;.*|\s/g, '')
  return {
    title: comments.join(' '),
    words: words.split(' '),
    cells: JSON.parse(cells.replace(/^cells /, '')) as JsonCell[],
    bytes: fromHex(hex),
  }
}

/** The cells of a case and how they are stored. */
export function goldenCells(page: GoldenPage): {
  cells: ColumnVector
  encoding: Encoding
  compression: Compression
} {
  const [, typeName, encoding, compression] = page.words
  const physical = PHYSICAL[typeName as keyof typeof PHYSICAL]
  return {
    cells: cellsOf(
      physical,
      page.cells.map((cell) => goldenCell(physical, cell)),
    ),
    encoding: encoding as Encoding,
    compression: compression as Compression,
  }
}

function goldenCell(physical: Physical, cell: JsonCell): Cell | string | null {
  if (cell === null || physical === PHYSICAL.binary) return cell
  if (physical === PHYSICAL.int64 || physical === PHYSICAL.int128) return BigInt(cell)
  return Number(cell)
}

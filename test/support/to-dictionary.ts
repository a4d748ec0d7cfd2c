import { ColumnBuilder } from '../../src/common/column-builder.ts'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import type { Prng } from '../../src/util/prng.ts'

/** Among texts of hexadecimal digits: the value that no cell has, and the codes of null cells. */
const UNUSED = 'unused'

/**
 * The same binary cells with a dictionary, whose values come in any order, some of them unused.
 * Vectors of other types as they are.
 */
export function toDictionary(prng: Prng, cells: ColumnVector): ColumnVector {
  if (cells.physical !== PHYSICAL.binary) return cells
  const different = new Map<string, Cell>([[UNUSED, new TextEncoder().encode('unused')]])
  const texts: (string | null)[] = []
  for (let row = 0; row < cells.rowCount; row++) {
    const cell = cells.cell(row) as Uint8Array | null
    const text = cell === null ? null : Buffer.from(cell).toString('hex')
    texts.push(text)
    if (cell !== null && text !== null) different.set(text, cell)
  }
  const order = [...different.keys()]
  for (let i = order.length - 1; i > 0; i--) {
    const other = prng.below(i + 1)
    const swapped = order[i]
    order[i] = order[other]
    order[other] = swapped
  }
  const values = new ColumnBuilder(PHYSICAL.binary)
  for (const text of order) values.appendCell(different.get(text) as Cell)
  const places = new Map(order.map((text, code) => [text, code]))
  const codes = Uint16Array.from(texts, (text) => places.get(text ?? UNUSED) as number)
  return ColumnVector.ofDictionary({ codes, values: values.view() }, cells.validity)
}

import { describe, expect, test } from 'vitest'
import { CELL_ERRORS } from '../../src/common/cell-error.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../src/common/cell-json.ts'
import { planCell } from '../../src/common/cell-plan.ts'
import {
  CELL_FORMS,
  type CellForm,
  countCodePoints,
  readCell,
} from '../../src/common/cell-reader.ts'
import { appendJsonCell, appendTextCell } from '../../src/common/cell-writer.ts'
import { ColumnBuilder } from '../../src/common/column-builder.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import type { Column } from '../../src/common/schema.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { plainCell } from '../support/plain-value.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'
import { framed, printed } from '../support/scalars.ts'

const ALL_OPTIONS: readonly ValueOptions[] = [
  DEFAULT_VALUE_OPTIONS,
  { int64: 'string', timestamps: 'micros' },
]

/** Reads one value into a block between two others. Returns the cell, or the error's number. */
function readIntoBlock(column: Column, form: CellForm, text: string, options: ValueOptions) {
  const builder = new RowBlockBuilder([{ id: 1, physical: column.physical }], false)
  builder.setNull(0)
  builder.endRow()
  const { bytes, start, end } = framed(text)
  const error = readCell(planCell(column, options), form, bytes, start, end, builder, 0)
  if (error !== CELL_ERRORS.NONE) {
    expect(builder.hasPending(0)).toBe(false)
    return { error }
  }
  builder.endRow()
  builder.setNull(0)
  builder.endRow()
  return { cell: builder.view().columns[0].cell(1) }
}

/** How a reader is to take a JSON text. */
function formOf(json: string): { form: CellForm; text: string } {
  if (json === 'true') return { form: CELL_FORMS.jsonTrue, text: '' }
  if (json === 'false') return { form: CELL_FORMS.jsonFalse, text: '' }
  if (json.startsWith('"')) return { form: CELL_FORMS.jsonString, text: JSON.parse(json) }
  return { form: CELL_FORMS.jsonNumber, text: json }
}

function vectorOf(column: Column, cell: Cell) {
  const builder = new ColumnBuilder(column.physical)
  builder.appendCell(null)
  builder.appendCell(cell)
  return builder.view()
}

describe('readCell', () => {
  test('reads back what is written, as JSON and as text, for every type', () => {
    const prng = new Prng(81)
    for (let round = 0; round < 1800; round++) {
      const column = aColumn(COLUMN_TEXTS[round % COLUMN_TEXTS.length])
      const cell = randomCell(prng, column)
      const options = prng.pick(ALL_OPTIONS)
      const vector = vectorOf(column, cell)
      const plan = planCell(column, options)
      const json = printed((arena) => appendJsonCell(arena, plan, vector, 1))
      const text = printed((arena) => appendTextCell(arena, plan, vector, 1))
      const written = formOf(json)
      const message = `seed 81 round ${round}: ${column.type} ${json}`

      expect(JSON.parse(json), message).not.toBeUndefined()
      expect(readIntoBlock(column, written.form, written.text, options), message).toEqual({ cell })
      expect(readIntoBlock(column, CELL_FORMS.text, text, options), message).toEqual({ cell })
    }
  })

  test('accepts and reads what the plain rules do, on texts that are nearly right', () => {
    const prng = new Prng(82)
    const wrong: string[] = []
    let accepted = 0
    let refused = 0
    for (let round = 0; round < 7200; round++) {
      const column = aColumn(COLUMN_TEXTS[round % COLUMN_TEXTS.length])
      const text = nearlyRight(prng, column)
      const [plainForm, form] = prng.pick(FORMS)
      const expected = plainCell(column, plainForm, text)
      const { cell } = readIntoBlock(column, form, text, DEFAULT_VALUE_OPTIONS)
      if (cell === undefined) refused++
      else accepted++
      if (!isSameCell(cell, expected)) {
        wrong.push(
          `seed 82 round ${round}: ${column.type} ${plainForm} ${text}: ${cell}, ${expected}`,
        )
      }
    }

    expect(wrong).toEqual([])
    expect(Math.min(accepted, refused)).toBeGreaterThan(1500)
  })

  test('leaves the pending row as it was when a value is refused', () => {
    const column = aColumn('value DECIMAL(38,2)')
    const builder = new RowBlockBuilder([{ id: 1, physical: column.physical }], false)
    const plan = planCell(column, DEFAULT_VALUE_OPTIONS)
    const good = utf8Encode('-1.25')
    const bad = utf8Encode('1.255')

    expect(readCell(plan, CELL_FORMS.text, good, 0, good.length, builder, 0)).toBe(CELL_ERRORS.NONE)
    expect(readCell(plan, CELL_FORMS.text, bad, 0, bad.length, builder, 0)).toBe(
      CELL_ERRORS.TOO_PRECISE,
    )
    builder.endRow()

    expect(builder.view().columns[0].cell(0)).toBe(-125n)
  })
})

const FORMS = [
  ['number', CELL_FORMS.jsonNumber],
  ['string', CELL_FORMS.jsonString],
  ['text', CELL_FORMS.text],
] as const
const ALPHABET = [...'0019.eE+-:TtZz "=_/aNfiy水']

/** A text of a cell, most often with one character changed, added or taken away. */
function nearlyRight(prng: Prng, column: Column): string {
  const plan = planCell(column, prng.pick(ALL_OPTIONS))
  const vector = vectorOf(column, yearsOfFourDigits(randomCell(prng, column), column))
  const text = printed((arena) => appendTextCell(arena, plan, vector, 1))
  if (prng.chance(0.4)) return text
  const at = prng.below(text.length + 1)
  return (text.slice(0, at) + prng.pick(ALPHABET) + text.slice(at + prng.below(2))).toWellFormed()
}

/** The plain rules know no other years. */
function yearsOfFourDigits(cell: Cell, column: Column): Cell {
  if (column.type !== 'UNIXTIME_MICROS' || typeof cell !== 'bigint') return cell
  return cell % 60_000_000_000_000_000n
}

function isSameCell(a: Cell | null | undefined, b: Cell | undefined): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  return Object.is(a, b)
}

describe('countCodePoints', () => {
  test('counts characters, however many bytes they take', () => {
    const bytes = utf8Encode('aé水😀')

    expect(countCodePoints(bytes, 0, bytes.length)).toBe(4)
    expect(countCodePoints(bytes, 0, 0)).toBe(0)
  })
})

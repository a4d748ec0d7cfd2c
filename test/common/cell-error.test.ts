import { describe, expect, test } from 'vitest'
import {
  CELL_ERRORS,
  cellError,
  describeCellError,
  shownValue,
} from '../../src/common/cell-error.ts'
import { aColumn } from '../support/a-schema.ts'

describe('describeCellError', () => {
  test('has a sentence for every finding', () => {
    const column = aColumn('value DECIMAL(5,2)')
    const sentences = Object.values(CELL_ERRORS).map((error) =>
      describeCellError(error, column, '7'),
    )

    expect(new Set(sentences).size).toBe(sentences.length - 1)
    for (const sentence of sentences) expect(sentence).toMatch(/^column "value": [^.]+$/)
  })
})

describe('cellError', () => {
  test('carries the column, and the limit where one was passed', () => {
    const column = aColumn('value VARCHAR(3)')

    expect(cellError(CELL_ERRORS.TOO_LONG, column, '').details).toEqual({
      column: 'value',
      limit: 3,
    })
    expect(cellError(CELL_ERRORS.TOO_LARGE, column, '').details).toEqual({
      column: 'value',
      limit: 65_536,
    })
    expect(cellError(CELL_ERRORS.MALFORMED, column, '').details).toEqual({ column: 'value' })
  })
})

describe('shownValue', () => {
  test('cuts long values without leaving half a character', () => {
    expect(shownValue('x'.repeat(64))).toBe('x'.repeat(64))
    expect(shownValue(`${'x'.repeat(63)}😀😀`)).toBe(`${'x'.repeat(63)}\ufffd…`)
  })
})

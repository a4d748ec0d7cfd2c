import { describe, expect, test } from 'vitest'
import { CELL_ERRORS } from '../../src/common/cell-error.ts'
import { checkCell } from '../../src/common/check-cell.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { COLUMN_TEXTS, randomCell } from '../support/random-cell.ts'

function check(type: string, cell: Cell): string | undefined {
  const error = checkCell(aColumn(`value ${type}`), cell)
  return Object.entries(CELL_ERRORS).find(([, code]) => code === error)?.[0]
}

describe('checkCell', () => {
  test('passes every cell that a column can hold', () => {
    const prng = new Prng(93)
    for (let round = 0; round < 1800; round++) {
      const column = aColumn(COLUMN_TEXTS[round % COLUMN_TEXTS.length])
      const cell = randomCell(prng, column)

      expect(checkCell(column, cell), `seed 93 round ${round}: ${column.type} ${cell}`).toBe(
        CELL_ERRORS.NONE,
      )
    }
  })

  test('finds what lies just outside a range', () => {
    expect(check('BOOL', 2)).toBe('OUT_OF_RANGE')
    expect(check('INT8', 128)).toBe('OUT_OF_RANGE')
    expect(check('INT8', -129)).toBe('OUT_OF_RANGE')
    expect(check('INT16', 32_768)).toBe('OUT_OF_RANGE')
    expect(check('INT32', 2 ** 31)).toBe('OUT_OF_RANGE')
    expect(check('INT64', 2n ** 63n)).toBe('OUT_OF_RANGE')
    expect(check('UNIXTIME_MICROS', -(2n ** 63n) - 1n)).toBe('OUT_OF_RANGE')
    expect(check('DATE', -719_163)).toBe('OUT_OF_RANGE')
    expect(check('DATE', 2_932_897)).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(2)', 100)).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(2)', -100)).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(18)', 10n ** 18n)).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(18)', -(10n ** 18n))).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(38)', 10n ** 38n)).toBe('OUT_OF_RANGE')
    expect(check('DECIMAL(38)', -(10n ** 38n))).toBe('OUT_OF_RANGE')
    expect(check('FLOAT', 0.1)).toBe('OUT_OF_RANGE')
  })

  test('finds values of another kind', () => {
    expect(check('INT8', 5n)).toBe('WRONG_KIND')
    expect(check('INT8', 1.5)).toBe('NOT_INTEGER')
    expect(check('INT8', -0)).toBe('NOT_INTEGER')
    expect(check('INT8', Number.NaN)).toBe('NOT_INTEGER')
    expect(check('INT64', 5)).toBe('WRONG_KIND')
    expect(check('DOUBLE', 5n)).toBe('WRONG_KIND')
    expect(check('FLOAT', 5n)).toBe('WRONG_KIND')
    expect(check('DECIMAL(9)', 5n)).toBe('WRONG_KIND')
    expect(check('DECIMAL(10)', 5)).toBe('WRONG_KIND')
    expect(check('STRING', 5)).toBe('WRONG_KIND')
  })

  test('finds bytes that are too many or no text', () => {
    expect(check('STRING', new Uint8Array(65_537))).toBe('TOO_LARGE')
    expect(check('BINARY', new Uint8Array(65_537))).toBe('TOO_LARGE')
    expect(check('BINARY', Uint8Array.of(0xff))).toBe('NONE')
    expect(check('STRING', Uint8Array.of(0xff))).toBe('MALFORMED')
    expect(check('STRING', Uint8Array.of(0xed, 0xa0, 0x80))).toBe('MALFORMED')
    expect(check('VARCHAR(2)', utf8Encode('abc'))).toBe('TOO_LONG')
    expect(check('VARCHAR(2)', utf8Encode('😀😀'))).toBe('NONE')
  })
})

import { describe, expect, test } from 'vitest'
import { CELL_ERRORS } from '../../src/common/cell-error.ts'
import {
  appendDate,
  civilOfDays,
  DATE_DAYS_MAX,
  DATE_DAYS_MIN,
  daysOfCivil,
  daysOfMonth,
  readDate,
  readYear,
  scratchCivil,
  writeYear,
} from '../../src/common/date.ts'
import { scratchNumber } from '../../src/common/scalar-scratch.ts'
import { utf8Decode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { framed, printed } from '../support/scalars.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface DateVectors {
  readonly date_print: {
    readonly min: number
    readonly max: number
    readonly cases: readonly { days: number; both?: string; java?: string; cpp?: string }[]
  }
}

const DAY_MS = 86_400_000

function dateText(days: number): string {
  return printed((arena) => appendDate(arena, days))
}

/** Days since the epoch, or the finding. */
function readText(text: string): number | string {
  const { bytes, start, end } = framed(text)
  const error = readDate(bytes, start, end)
  return error === CELL_ERRORS.NONE ? scratchNumber[0] : `error ${error}`
}

describe('appendDate', () => {
  test('prints the dates of the vectors, padded as the Java client pads', () => {
    const { date_print } = readVectors<DateVectors>('values')
    expect([date_print.min, date_print.max]).toEqual([DATE_DAYS_MIN, DATE_DAYS_MAX])
    for (const { days, both, java, cpp } of date_print.cases) {
      if (cpp === undefined) expect(dateText(days)).toBe(both ?? java)
      else expect(days < DATE_DAYS_MIN || days > DATE_DAYS_MAX, cpp).toBe(true)
    }
    reportVectors('date_print', date_print.cases.length)
  })

  test('agrees with the calendar of the platform on days of every year', () => {
    const prng = new Prng(31)
    const wrong: string[] = []
    const check = (days: number) => {
      const expected = new Date(days * DAY_MS).toISOString().slice(0, 10)
      if (dateText(days) !== expected || readText(expected) !== days) {
        wrong.push(`seed 31: day ${days}, ${expected}`)
      }
    }
    for (let year = 1; year <= 9999; year++) {
      check(daysOfCivil(year, 2, 28))
      check(daysOfCivil(year, 2, 28) + 1)
      check(prng.between(DATE_DAYS_MIN, DATE_DAYS_MAX))
    }
    check(DATE_DAYS_MIN)
    check(DATE_DAYS_MAX)

    expect(wrong).toEqual([])
  })
})

describe('civilOfDays', () => {
  test('undoes daysOfCivil over all years that a timestamp can have', () => {
    const prng = new Prng(32)
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const days = prng.between(-106_751_993, 106_751_993)
      civilOfDays(days)
      const { year, month, day } = scratchCivil
      if (daysOfCivil(year, month, day) !== days || day < 1 || day > daysOfMonth(year, month)) {
        wrong.push(`seed 32 round ${round}: day ${days}`)
      }
    }

    expect(wrong).toEqual([])
  })
})

describe('readDate', () => {
  test('knows which days exist', () => {
    expect(readText('2024-02-29')).toBe(19_782)
    expect(readText('2000-02-29')).toBe(11_016)
    expect(readText('1970-01-01')).toBe(0)
    for (const text of ['2023-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-01']) {
      expect(readText(text), text).toBe(`error ${CELL_ERRORS.MALFORMED}`)
    }
    expect(readText('2026-01-00')).toBe(`error ${CELL_ERRORS.MALFORMED}`)
    expect(readText('2026-01-32')).toBe(`error ${CELL_ERRORS.MALFORMED}`)
  })

  test('takes ten characters in their places only', () => {
    const texts = ['', '2026-1-01', '2026-01-1', '26-01-01', '20260101', '2026/01/01', '+026-01-01']
    const more = [' 2026-01-01', '2026-01-01 ', '2026-01-01T', '10000-01-01', '-001-01-01']
    for (const text of [...texts, ...more, '2026-0x-01', '2026-01:01', '٢٠٢٦-01']) {
      expect(readText(text), text).toBe(`error ${CELL_ERRORS.MALFORMED}`)
    }
  })

  test('says that the year 0000 lies before all dates', () => {
    expect(readText('0000-12-31')).toBe(`error ${CELL_ERRORS.OUT_OF_RANGE}`)
    expect(readText('0000-02-30')).toBe(`error ${CELL_ERRORS.MALFORMED}`)
    expect(readText('0001-01-01')).toBe(DATE_DAYS_MIN)
    expect(readText('9999-12-31')).toBe(DATE_DAYS_MAX)
  })
})

describe('readYear', () => {
  const yearText = (year: number) => {
    const bytes = new Uint8Array(8)
    return utf8Decode(bytes.subarray(0, writeYear(bytes, 0, year)))
  }
  const yearOf = (text: string) => {
    const { bytes, start, end } = framed(text)
    const offset = readYear(bytes, start, end)
    return offset === end ? scratchCivil.year : undefined
  }

  test('reads what writeYear writes', () => {
    for (const year of [0, 1, 99, 1000, 9999, 10_000, 99_999, 100_000, 294_247]) {
      expect(yearOf(yearText(year))).toBe(year)
      if (year > 0) expect(yearOf(yearText(-year))).toBe(-year)
    }
    expect(yearText(7)).toBe('0007')
    expect(yearText(-7)).toBe('-0007')
    expect(yearText(10_203)).toBe('10203')
    expect(yearText(-290_308)).toBe('-290308')
  })

  test('takes no other spelling of a year', () => {
    for (const text of ['', '1', '999', '02026', '-02026', '-0000', '+2026', '-999', '1234567']) {
      expect(yearOf(text), text).toBeUndefined()
    }
  })
})

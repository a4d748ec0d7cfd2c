import { describe, expect, test } from 'vitest'
import { CELL_ERRORS, type CellError } from '../../src/common/cell-error.ts'
import { scratchNumber } from '../../src/common/scalar-scratch.ts'
import {
  appendMillis,
  appendTimestamp,
  readTimestamp,
  readTimestampInteger,
} from '../../src/common/unixtime-micros.ts'
import { Prng } from '../../src/util/prng.ts'
import { framed, printed, randomInteger, scratchInt64, wordsOf } from '../support/scalars.ts'
import { readVectors, reportVectors } from '../support/vectors.ts'

interface TimestampVectors {
  readonly timestamp_print: { readonly cases: readonly { micros: string; text: string }[] }
  readonly timestamp_conversion_java: { readonly cases: readonly { micros: string; utc: string }[] }
}

const vectors = readVectors<TimestampVectors>('values')
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const NAMES = new Map(Object.entries(CELL_ERRORS).map(([name, code]) => [code as CellError, name]))

function timestampText(micros: bigint): string {
  const [low, high] = wordsOf(micros, 2)
  return printed((arena) => appendTimestamp(arena, low, high))
}

/** Microseconds, or the name of the finding. */
function read(text: string, isText = false): bigint | string | undefined {
  const { bytes, start, end } = framed(text)
  const error = readTimestamp(bytes, start, end, isText)
  return error === CELL_ERRORS.NONE ? scratchInt64() : NAMES.get(error)
}

function readInteger(text: string, isMillis: boolean): bigint | string | undefined {
  const { bytes, start, end } = framed(text)
  const error = readTimestampInteger(bytes, start, end, isMillis)
  return error === CELL_ERRORS.NONE ? scratchInt64() : NAMES.get(error)
}

/** A timestamp of the platform's years, by the platform's calendar. */
function platformText(micros: bigint): string {
  const millis = micros >= 0n ? micros / 1000n : (micros - 999n) / 1000n
  const rest = String(micros - millis * 1000n).padStart(3, '0')
  return new Date(Number(millis)).toISOString().replace('Z', `${rest}Z`)
}

describe('appendTimestamp', () => {
  test('prints the timestamps of the vectors, which are read back', () => {
    for (const { micros, text } of vectors.timestamp_print.cases) {
      expect(timestampText(BigInt(micros))).toBe(text)
      expect(read(text)).toBe(BigInt(micros))
    }
    reportVectors('timestamp_print', vectors.timestamp_print.cases.length)
  })

  test('agrees with the platform in the years that both write with four digits', () => {
    const prng = new Prng(41)
    const first = -62_135_596_800_000_000n
    const span = 253_402_300_800_000_000n - first
    const wrong: string[] = []
    for (let round = 0; round < 8000; round++) {
      const offset = BigInt.asUintN(64, randomInteger(prng, 64)) % span
      const micros = first + offset
      const expected = platformText(micros)
      if (timestampText(micros) !== expected || read(expected) !== micros) {
        wrong.push(`seed 41 round ${round}: ${micros} ${expected}`)
      }
    }

    expect(wrong).toEqual([])
  })

  test('prints any int64 so that it is read back', () => {
    const prng = new Prng(42)
    const edges = [INT64_MIN, INT64_MIN + 1n, INT64_MAX, INT64_MAX - 1n, 0n, -1n, 1n, -1_000_000n]
    const random = Array.from({ length: 5000 }, () => randomInteger(prng, 64))
    const wrong = [...edges, ...random].filter((micros) => read(timestampText(micros)) !== micros)

    expect(wrong, 'seed 42').toEqual([])
  })

  test('has at least four digits in every year', () => {
    expect(timestampText(-62_135_596_800_000_001n)).toBe('0000-12-31T23:59:59.999999Z')
    expect(timestampText(-62_167_219_200_000_001n)).toBe('-0001-12-31T23:59:59.999999Z')
    expect(timestampText(253_402_300_800_000_000n)).toBe('10000-01-01T00:00:00.000000Z')
  })
})

describe('readTimestamp', () => {
  test('reads the conversions of the vectors, given an offset, which we require', () => {
    for (const { utc, micros } of vectors.timestamp_conversion_java.cases) {
      expect(read(`${utc}Z`)).toBe(BigInt(micros))
      expect(read(utc)).toBe('MALFORMED')
    }
    reportVectors('timestamp_conversion_java', vectors.timestamp_conversion_java.cases.length)
  })

  test('counts offsets from UTC', () => {
    expect(read('1970-01-01T01:30:00+01:30')).toBe(0n)
    expect(read('1969-12-31T22:30:00-01:30')).toBe(0n)
    expect(read('1970-01-01T00:00:00-00:00')).toBe(0n)
    expect(read('1970-01-01T23:59:00+23:59')).toBe(0n)
    expect(read('2026-01-01T00:00:00.5+14:00')).toBe(read('2025-12-31T10:00:00.5Z'))
  })

  test('takes lower-case letters', () => {
    expect(read('1970-01-01t00:00:01z')).toBe(1_000_000n)
  })

  test('takes a space and short offsets in text form only', () => {
    for (const text of [
      '1970-01-01 00:00:00Z',
      '1970-01-01T02:00:00+02',
      '1970-01-01T02:30:00+0230',
    ]) {
      expect(read(text, true), text).toBe(0n)
      expect(read(text, false), text).toBe('MALFORMED')
    }
    expect(read('1970-01-01 02:30:00 +02:30', true)).toBe('MALFORMED')
    expect(read('1970-01-01_00:00:00Z', true)).toBe('MALFORMED')
  })

  test('takes a fraction of any length that a microsecond holds', () => {
    expect(read('1970-01-01T00:00:00.1Z')).toBe(100_000n)
    expect(read('1970-01-01T00:00:00.000001Z')).toBe(1n)
    expect(read(`1970-01-01T00:00:00.000001${'0'.repeat(1000)}Z`)).toBe(1n)
    expect(read('1970-01-01T00:00:00.Z')).toBe('MALFORMED')
    expect(read('1970-01-01T00:00:00,5Z')).toBe('MALFORMED')
  })

  test('refuses what is finer and leaves the microsecond before it', () => {
    expect(read('1970-01-01T00:00:00.0000019Z')).toBe('TOO_PRECISE')
    expect(scratchInt64()).toBe(1n)
    expect(read('1969-12-31T23:59:59.9999991Z')).toBe('TOO_PRECISE')
    expect(scratchInt64()).toBe(-1n)
    expect(read(`1970-01-01T00:00:00.${'0'.repeat(1000)}1Z`)).toBe('TOO_PRECISE')
    expect(scratchInt64()).toBe(0n)
  })

  test('refuses leap seconds by name', () => {
    expect(read('2016-12-31T23:59:60Z')).toBe('LEAP_SECOND')
    expect(read('2016-12-31T23:59:61Z')).toBe('MALFORMED')
    expect(read('2016-12-31T23:59:60')).toBe('MALFORMED')
  })

  test('refuses times and days that do not exist, and anything before or after', () => {
    const times = ['24:00:00', '23:60:00', '1:00:00', '00:00', '00-00-00', '0x:00:00', '-1:00:00']
    const texts = times.map((time) => `2026-01-01T${time}Z`)
    const offsets = [
      '',
      '+',
      '+1',
      '+24:00',
      '+01:60',
      '+1:00',
      '+01:0',
      '+01:00:00',
      '*01:00',
      'ZZ',
      'U',
    ]
    const more = offsets.map((offset) => `2026-01-01T00:00:00${offset}`)
    const days = [
      '2026-02-29',
      '2026-00-10',
      '2026-1-10',
      '202-01-01',
      '02026-01-01',
      '+2026-01-01',
    ]
    const others = days.map((day) => `${day}T00:00:00Z`)
    for (const text of ['', 'Z', '2026', '2026-01-01', ...texts, ...more, ...others]) {
      expect(read(text, false), text).toBe('MALFORMED')
    }
    expect(read(' 2026-01-01T00:00:00Z', true)).toBe('MALFORMED')
    expect(read('2026-01-01T00:00:00Z ', true)).toBe('MALFORMED')
  })

  test('reaches both ends of the range through an offset and not beyond', () => {
    expect(read('294247-01-10T05:00:54.775807+01:00')).toBe(INT64_MAX)
    expect(read('294247-01-10T04:00:54.775808Z')).toBe('OUT_OF_RANGE')
    expect(scratchNumber[0]).toBeGreaterThan(0)
    expect(read('-290308-12-21T19:59:05.224191Z')).toBe('OUT_OF_RANGE')
    expect(scratchNumber[0]).toBeLessThan(0)
    expect(read('999999-12-31T23:59:59Z')).toBe('OUT_OF_RANGE')
    expect(read('-999999-01-01T00:00:00Z')).toBe('OUT_OF_RANGE')
  })
})

describe('readTimestampInteger', () => {
  test('reads microseconds over the whole range', () => {
    for (const micros of [0n, 1_764_547_200_000_000n, -1n, INT64_MIN, INT64_MAX]) {
      expect(readInteger(String(micros), false)).toBe(micros)
    }
    expect(readInteger('1e6', false)).toBe(1_000_000n)
    expect(readInteger(String(INT64_MAX + 1n), false)).toBe('OUT_OF_RANGE')
    expect(readInteger('1.5', false)).toBe('NOT_INTEGER')
    expect(readInteger('2026-01-01', false)).toBe('MALFORMED')
  })

  test('multiplies milliseconds without losing one, and checks that they fit', () => {
    const last = INT64_MAX / 1000n
    const plain = 9_000_000_000_000n
    for (const millis of [0n, -1n, plain, plain + 1n, -plain - 1n, 10n ** 15n + 1n, last, -last]) {
      expect(readInteger(String(millis), true), String(millis)).toBe(millis * 1000n)
      expect(readInteger(`${millis}.00`, true), String(millis)).toBe(millis * 1000n)
    }
    expect(readInteger('1e3', true)).toBe(1_000_000n)
    expect(readInteger(String(last + 1n), true)).toBe('OUT_OF_RANGE')
    expect(readInteger(String(-last - 1n), true)).toBe('OUT_OF_RANGE')
    expect(readInteger('1e400', true)).toBe('OUT_OF_RANGE')
    expect(readInteger('1.5', true)).toBe('NOT_INTEGER')
    expect(readInteger('1.0005', true)).toBe('NOT_INTEGER')
    expect(readInteger('', true)).toBe('MALFORMED')
  })
})

describe('appendMillis', () => {
  test('rounds down, over the whole range', () => {
    const prng = new Prng(43)
    const edges = [
      0n,
      999n,
      1000n,
      -1n,
      -1000n,
      -1001n,
      INT64_MIN,
      INT64_MAX,
      9_000_000_000_000_000_999n,
    ]
    const random = Array.from({ length: 5000 }, () => randomInteger(prng, 64))
    for (const micros of [...edges, ...random]) {
      const [low, high] = wordsOf(micros, 2)
      const millis = micros / 1000n - (micros < 0n && micros % 1000n !== 0n ? 1n : 0n)

      expect(
        printed((arena) => appendMillis(arena, low, high)),
        `seed 43: ${micros}`,
      ).toBe(String(millis))
    }
  })
})

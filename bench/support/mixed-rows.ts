/** A table of ten columns of many types, and rows for it. */

import { Prng } from '../../src/util/prng.ts'

/** The columns, as `POST /tables` takes them. */
export const MIXED_COLUMNS = [
  { name: 'id', type: 'INT64', is_key: true },
  { name: 'time', type: 'UNIXTIME_MICROS' },
  { name: 'host', type: 'STRING' },
  { name: 'value', type: 'DOUBLE', is_nullable: true },
  { name: 'count', type: 'INT32' },
  { name: 'is_ok', type: 'BOOL' },
  { name: 'price', type: 'DECIMAL', type_attributes: { precision: 9, scale: 2 } },
  { name: 'note', type: 'STRING', is_nullable: true },
  { name: 'day', type: 'DATE' },
  { name: 'level', type: 'INT16' },
] as const

const DAYS = Array.from({ length: 365 }, (_, day) =>
  new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
)
const LETTERS = 'abcdefghijklmnopqrstuvwxyz '
const TIME_START_MICROS = Date.UTC(2026, 0, 1) * 1000

/** The row with a number: always the same one for a seed. */
export function mixedRow(seed: number, number: number): Record<string, unknown> {
  const prng = new Prng(seed + number * 7919)
  return {
    id: number,
    time: TIME_START_MICROS + number * 1000 + prng.below(1000),
    host: `web-${prng.below(200)}.example.com`,
    value: prng.chance(0.1) ? null : prng.below(100_000) / 100,
    count: prng.below(10_000),
    is_ok: prng.chance(0.9),
    price: `${prng.below(10_000)}.${String(prng.below(100)).padStart(2, '0')}`,
    note: prng.chance(0.3) ? null : note(prng),
    day: DAYS[prng.below(DAYS.length)],
    level: prng.below(8),
  }
}

function note(prng: Prng): string {
  let text = ''
  for (let left = 8 + prng.below(20); left > 0; left--) text += LETTERS[prng.below(LETTERS.length)]
  return text
}

/** Numbers `[0, count)` in an order drawn from a seed. */
export function shuffled(seed: number, count: number): Uint32Array {
  const prng = new Prng(seed)
  const numbers = new Uint32Array(count)
  for (let i = 0; i < count; i++) numbers[i] = i
  for (let i = count - 1; i > 0; i--) {
    const other = prng.below(i + 1)
    const kept = numbers[i]
    numbers[i] = numbers[other]
    numbers[other] = kept
  }
  return numbers
}

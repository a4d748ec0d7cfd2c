/** Records of YCSB: a key and ten fields of a hundred characters. */

import type { Prng } from '../../src/util/prng.ts'
import { scramble } from './zipf.ts'

const FIELD_COUNT = 10
const FIELD_LENGTH = 100
const DIGITS = 10
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '
/** Fields are cut out of a long text at random places: cheaper than to draw each letter. */
const TEXT_LENGTH = 1 << 16

const FIELDS_BYTES = FIELD_COUNT * FIELD_LENGTH
const FIELDS = Array.from({ length: FIELD_COUNT }, (_, i) => `field${i}`)

/** The columns, as `POST /tables` takes them. */
export const YCSB_COLUMNS = [
  { name: 'key', type: 'STRING', is_key: true },
  ...FIELDS.map((name) => ({ name, type: 'STRING' })),
]

/** The key of the record with a number: in no order. */
export function ycsbKey(number: number): string {
  return `user${String(scramble(number)).padStart(DIGITS, '0')}`
}

/** Draws what is written. */
export class YcsbRecords {
  readonly #prng: Prng
  readonly #text: string

  constructor(prng: Prng) {
    this.#prng = prng
    const letters = Array.from({ length: TEXT_LENGTH }, () => LETTERS[prng.below(LETTERS.length)])
    this.#text = letters.join('')
  }

  /** A whole record as JSON. */
  record(number: number): string {
    const fields = FIELDS.map((name) => `"${name}":"${this.#value()}"`)
    return `{"key":"${ycsbKey(number)}",${fields.join(',')}}`
  }

  /** A change of one field as JSON. */
  change(): string {
    return `{"${FIELDS[this.#prng.below(FIELD_COUNT)]}":"${this.#value()}"}`
  }

  #value(): string {
    const start = this.#prng.below(TEXT_LENGTH - FIELD_LENGTH)
    return this.#text.slice(start, start + FIELD_LENGTH)
  }
}

/** Bytes of a record as JSON: all have the same. */
export const RECORD_BYTES =
  `{"key":"${ycsbKey(0)}"}`.length + FIELDS.length * ',"field0":""'.length + FIELDS_BYTES

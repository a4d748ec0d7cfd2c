/**
 * Rows of TPC-H's LINEITEM as its specification draws them (clause 4.2.3), in the order of their
 * primary key (l_orderkey, l_linenumber). About 6,000,000 rows make scale factor 1.
 */

import { Prng } from '../../src/util/prng.ts'
import { cutText, textPool } from './tpch-text.ts'

/** One row; dates are days since 1970-01-01. */
export interface LineItem {
  readonly l_orderkey: number
  readonly l_linenumber: number
  readonly l_partkey: number
  readonly l_suppkey: number
  readonly l_quantity: number
  readonly l_extendedprice: number
  readonly l_discount: number
  readonly l_tax: number
  readonly l_returnflag: string
  readonly l_linestatus: string
  readonly l_shipdate: number
  readonly l_commitdate: number
  readonly l_receiptdate: number
  readonly l_shipinstruct: string
  readonly l_shipmode: string
  readonly l_comment: string
}

const SHIP_INSTRUCTIONS = ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN']
const SHIP_MODES = ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB']

const daysOf = (text: string): number => Date.parse(text) / 86_400_000
const START_DATE = daysOf('1992-01-01')
const END_DATE = daysOf('1998-12-31')
const CURRENT_DATE = daysOf('1995-06-17')
const POOL_BYTES = 4 << 20

/** Draws rows from a seed. */
export class LineItemGenerator {
  readonly #prng: Prng
  readonly #pool: string
  readonly #partCount: number
  readonly #supplierCount: number
  #order = 0
  #orderKey = 0
  #orderDate = 0
  #lineNumber = 0
  #lineCount = 0

  /** `scale`: TPC-H's scale factor, which sets how many parts and suppliers there are. */
  constructor(seed: number, scale: number) {
    this.#prng = new Prng(seed)
    this.#pool = textPool(this.#prng, POOL_BYTES)
    this.#partCount = Math.max(1, Math.round(200_000 * scale))
    this.#supplierCount = Math.max(4, Math.round(10_000 * scale))
  }

  /** The next row. */
  next(): LineItem {
    const prng = this.#prng
    if (this.#lineNumber === this.#lineCount) this.#beginOrder()
    this.#lineNumber++
    const partKey = 1 + prng.below(this.#partCount)
    const quantity = 1 + prng.below(50)
    const shipDate = this.#orderDate + 1 + prng.below(121)
    const receiptDate = shipDate + 1 + prng.below(30)
    return {
      l_orderkey: this.#orderKey,
      l_linenumber: this.#lineNumber,
      l_partkey: partKey,
      l_suppkey: supplierOf(partKey, prng.below(4), this.#supplierCount),
      l_quantity: quantity,
      l_extendedprice: (quantity * retailCents(partKey)) / 100,
      l_discount: prng.below(11) / 100,
      l_tax: prng.below(9) / 100,
      l_returnflag: receiptDate <= CURRENT_DATE ? 'RA'[prng.below(2)] : 'N',
      l_linestatus: shipDate > CURRENT_DATE ? 'O' : 'F',
      l_shipdate: shipDate,
      l_commitdate: this.#orderDate + 30 + prng.below(61),
      l_receiptdate: receiptDate,
      l_shipinstruct: SHIP_INSTRUCTIONS[prng.below(SHIP_INSTRUCTIONS.length)],
      l_shipmode: SHIP_MODES[prng.below(SHIP_MODES.length)],
      l_comment: cutText(prng, this.#pool, 10, 43),
    }
  }

  #beginOrder(): void {
    // Of each 32 keys the first 8 are used.
    this.#orderKey = Math.floor(this.#order / 8) * 32 + (this.#order % 8) + 1
    this.#order++
    this.#orderDate = START_DATE + this.#prng.below(END_DATE - 151 - START_DATE + 1)
    this.#lineNumber = 0
    this.#lineCount = 1 + this.#prng.below(7)
  }
}

function retailCents(partKey: number): number {
  return 90_000 + (Math.floor(partKey / 10) % 20_001) + 100 * (partKey % 1000)
}

function supplierOf(partKey: number, index: number, count: number): number {
  const step = Math.floor(count / 4) + Math.floor((partKey - 1) / count)
  return ((partKey + index * step) % count) + 1
}

/** A date as the text that databases without dates keep. */
export function dateText(days: number): string {
  return new Date(days * 86_400_000).toISOString().slice(0, 10)
}

/** Results of an aggregation out of what was kept of its groups. */

import { assert } from '../../util/assert.ts'
import { setBit } from '../../util/bitmap.ts'
import type { AggregatePlan, OutputPlan } from '../aggregate-plan.ts'
import { ColumnVector, joinQuad } from '../column-vector.ts'
import { PHYSICAL } from '../data-type.ts'
import { ratioToDouble } from '../ratio-to-double.ts'
import { RowBlock } from '../row-block.ts'
import { invalidArgument, type StatusError } from '../status.ts'
import type { AggregateTable, Extremes } from './aggregate-table.ts'
import { DistinctCounts } from './distinct-counts.ts'
import { DoubleSums } from './double-sums.ts'
import { ExactSums, type SumReader } from './exact-sums.ts'
import { RowCounts } from './row-counts.ts'

/** The greatest DECIMAL's digits. */
const DECIMAL_END = 10n ** 38n

/**
 * The results of all groups: group keys, then aggregates; ids of columns are their indexes.
 *
 * Throws: INVALID_ARGUMENT when a result does not fit its type. Borrowed until rows are added.
 */
export function aggregateResults(plan: AggregatePlan, table: AggregateTable): RowBlock {
  const { count } = table.groups
  const columns = table.groups.keys(count)
  plan.outputs.forEach((output, index) => {
    columns.push(new ResultColumn(table, output, `aggregates[${index}]`).column(count))
  })
  return new RowBlock(
    count,
    columns.map((_, index) => index),
    columns,
    null,
  )
}

class ResultColumn {
  readonly #table: AggregateTable
  readonly #output: OutputPlan
  readonly #where: string

  constructor(table: AggregateTable, output: OutputPlan, where: string) {
    this.#table = table
    this.#output = output
    this.#where = where
  }

  column(groupCount: number): ColumnVector {
    const { op, physical } = this.#output
    const state = this.#table.states[this.#output.state]
    if (state instanceof RowCounts) return state.partial(groupCount)[0]
    if (state instanceof DistinctCounts) {
      const counts = new RowCounts()
      counts.reserve(groupCount)
      for (let group = 0; group < groupCount; group++) counts.addCount(group, state.counts[group])
      return counts.partial(groupCount)[0]
    }
    if (state instanceof ExactSums) {
      const sums = state.totals(groupCount)
      return op === 'AVG' ? this.#averages(sums, groupCount) : this.#sums(sums, groupCount)
    }
    if (state instanceof DoubleSums) {
      const isAverage = op === 'AVG'
      return this.#doubles(groupCount, (group, count) =>
        isAverage ? state.total(group) / count : state.total(group),
      )
    }
    const cells = (state as Extremes).column(groupCount)
    return cells.physical === physical ? cells : this.#narrowed(cells)
  }

  #countOf(group: number): number {
    const counts = this.#table.states[this.#output.count]
    assert(counts instanceof RowCounts, 'what is summed is counted')
    return counts.counts[group]
  }

  #sums(sums: SumReader, groupCount: number): ColumnVector {
    const { physical } = this.#output
    const wordCount = physical === PHYSICAL.int64 ? 2 : 4
    const words = new Uint32Array(groupCount * wordCount)
    const validity = new Uint8Array((groupCount + 7) >>> 3)
    let validCount = 0
    for (let group = 0; group < groupCount; group++) {
      if (this.#countOf(group) === 0) continue
      sums.read(group)
      if (!sums.fits(wordCount)) throw this.#tooLarge('sum')
      // 38 digits take 127 bits: only a sum that uses the highest word can have more.
      if (wordCount === 4) {
        const magnitude = (sums.words[3] | 0) < 0 ? ~sums.words[3] >>> 0 : sums.words[3]
        if (magnitude >= 0x4b3b4ca8 && isTooLong(sums.value)) throw this.#tooLarge('sum')
      }
      for (let word = 0; word < wordCount; word++) {
        words[group * wordCount + word] = sums.words[word]
      }
      setBit(validity, group)
      validCount++
    }
    const bits = validCount === groupCount ? null : validity
    return new ColumnVector(physical, groupCount, new Uint8Array(words.buffer), null, bits, null)
  }

  #averages(sums: SumReader, groupCount: number): ColumnVector {
    const unit = 10 ** this.#output.scale
    return this.#doubles(groupCount, (group, count) => {
      sums.read(group)
      const divisor = count * unit
      const isExact = this.#output.scale <= 15 && divisor <= Number.MAX_SAFE_INTEGER
      const sum = sums.fits(2) ? (sums.words[1] | 0) * 2 ** 32 + sums.words[0] : Infinity
      // Of two whole numbers that doubles hold the quotient is rounded once.
      if (isExact && Math.abs(sum) <= Number.MAX_SAFE_INTEGER) return sum / divisor
      return ratioToDouble(sums.value, BigInt(count) * 10n ** BigInt(this.#output.scale))
    })
  }

  #doubles(groupCount: number, of: (group: number, count: number) => number): ColumnVector {
    const lanes = new Float64Array(groupCount)
    const validity = new Uint8Array((groupCount + 7) >>> 3)
    let validCount = 0
    for (let group = 0; group < groupCount; group++) {
      const count = this.#countOf(group)
      if (count === 0) continue
      const value = of(group, count)
      lanes[group] = Number.isNaN(value) ? Number.NaN : value
      setBit(validity, group)
      validCount++
    }
    const bits = validCount === groupCount ? null : validity
    const bytes = new Uint8Array(lanes.buffer)
    return new ColumnVector(PHYSICAL.float64, groupCount, bytes, null, bits, null)
  }

  /** Extremes of computed integers, as INT64. */
  #narrowed({ rowCount, lanes, validity }: ColumnVector): ColumnVector {
    const words = new Uint32Array(rowCount * 2)
    for (let group = 0; group < rowCount; group++) {
      const value = joinQuad(lanes as Uint32Array, group * 4)
      if (BigInt.asIntN(64, value) !== value) throw this.#tooLarge('value')
      words[group * 2] = lanes[group * 4]
      words[group * 2 + 1] = lanes[group * 4 + 1]
    }
    const bytes = new Uint8Array(words.buffer)
    return new ColumnVector(PHYSICAL.int64, rowCount, bytes, null, validity, null)
  }

  #tooLarge(what: string): StatusError {
    const type = this.#output.physical === PHYSICAL.int64 ? 'INT64' : 'DECIMAL of 38 digits'
    return invalidArgument(`${this.#where}: ${what} is out of range for ${type}`)
  }
}

function isTooLong(value: bigint): boolean {
  return value >= DECIMAL_END || value <= -DECIMAL_END
}

/**
 * Groups of rows and what an aggregation keeps of each: filled from rows in tablets, from what
 * tablets sent in the front.
 *
 *   partial result    block 0   group keys, then the partial columns of each state; a row a group
 *                     then, of each state that counts different values, in order:
 *                       a block of one column, the values
 *                       a block of groups and of indexes of values, a row a pair; not without keys
 *
 * Bounded: more groups than AGGREGATE_GROUP_COUNT_MAX, or more bytes than it was made for, are
 * errors, found out a batch too late at most.
 */

import { assert, unreachable } from '../../util/assert.ts'
import type { AggregatePlan, StatePlan } from '../aggregate-plan.ts'
import { ColumnVector } from '../column-vector.ts'
import { PHYSICAL, type Physical } from '../data-type.ts'
import { AGGREGATE_GROUP_COUNT_MAX } from '../limits.ts'
import { RowBlock } from '../row-block.ts'
import { CorruptionError, invalidArgument } from '../status.ts'
import { BinaryExtremes } from './binary-extremes.ts'
import { DistinctCounts } from './distinct-counts.ts'
import { DoubleSums } from './double-sums.ts'
import { ExactExtremes } from './exact-extremes.ts'
import { ExactSums } from './exact-sums.ts'
import { FIRST_ROWS } from './first-rows.ts'
import { GroupTable } from './group-table.ts'
import { NumberExtremes } from './number-extremes.ts'
import { RowCounts } from './row-counts.ts'

/** What is kept of the least or greatest cells. */
export type Extremes = NumberExtremes | ExactExtremes | BinaryExtremes
/** What is kept of groups, of any kind. */
export type StateOfPlan = RowCounts | ExactSums | DoubleSums | Extremes | DistinctCounts

/** See the file's header. */
export class AggregateTable {
  readonly groups: GroupTable
  /** Those of the plan, in its order. */
  readonly states: readonly StateOfPlan[]
  readonly #bytesMax: number

  constructor(plan: AggregatePlan, bytesMax: number) {
    const hasGroups = plan.groups.length > 0
    this.groups = new GroupTable(plan.groups)
    this.states = plan.states.map((state) => openState(state, hasGroups))
    this.#bytesMax = bytesMax
    for (const state of this.states) state.reserve(this.groups.count)
  }

  /** Bytes that it holds in memory. */
  get heldBytes(): number {
    let bytes = this.groups.heldBytes
    for (const state of this.states) bytes += state.heldBytes
    return bytes
  }

  /**
   * Makes room in the states for all groups met. Throws: INVALID_ARGUMENT when there are too many.
   */
  reserve(): void {
    const { count } = this.groups
    if (count > AGGREGATE_GROUP_COUNT_MAX) {
      throw invalidArgument(
        `aggregation has more than ${AGGREGATE_GROUP_COUNT_MAX} groups, which is the limit`,
        { limit: AGGREGATE_GROUP_COUNT_MAX },
      )
    }
    for (const state of this.states) state.reserve(count)
  }

  /** Throws: INVALID_ARGUMENT when it holds too many bytes. */
  checkBytes(): void {
    if (this.heldBytes <= this.#bytesMax) return
    const what = 'groups and different values of the aggregation take more memory than the limit'
    throw invalidArgument(`${what} of ${this.#bytesMax} bytes`, { limit: this.#bytesMax })
  }

  /** What was added so far, for `merge`. Borrowed until more is added. */
  partial(): RowBlock[] {
    const { count } = this.groups
    const columns = [...this.groups.keys(count)]
    for (const state of this.states) columns.push(...state.partial(count))
    const blocks = [blockOf(count, columns)]
    for (const state of this.states) {
      if (!(state instanceof DistinctCounts)) continue
      const values = state.values.view()
      blocks.push(blockOf(values.rowCount, [values]))
      if (this.groups.values.length > 0) blocks.push(pairsOf(state))
    }
    return blocks
  }

  /**
   * Adds the partial result of another table of the same plan, block by block. Throws: CORRUPTION
   * when it is none, INVALID_ARGUMENT when there is too much.
   */
  merge(blocks: readonly RowBlock[]): void {
    if (blocks.length === 0) throw malformed('no groups')
    const numbers = this.#mergeGroups(blocks[0])
    let next = 1
    for (const state of this.states) {
      if (!(state instanceof DistinctCounts)) continue
      const values = blocks[next++]
      if (values?.columns.length !== 1) throw malformed('no values')
      const pairs = numbers === null ? null : blocks[next++]
      this.#mergeValues(state, values.columns[0], pairs, numbers)
    }
    if (next !== blocks.length) throw malformed('more blocks than states')
    this.checkBytes()
  }

  /** Returns: the number of each group of a block; null without keys. */
  #mergeGroups({ rowCount, columns }: RowBlock): Uint32Array | null {
    const keyCount = this.groups.values.length
    const stateColumns = this.states.map((state) => (state instanceof DoubleSums ? 2 : 1))
    const ids = this.groups.values.map((values, key) => {
      const cells = columns[key]
      if (cells?.physical !== values.physical) throw malformed('its keys are of another type')
      const out = new Uint32Array(rowCount)
      values.assign(cells, FIRST_ROWS.upTo(rowCount), rowCount, out)
      return out
    })
    const numbers = this.groups.number(ids, rowCount)
    if (numbers === null && rowCount !== 1) throw malformed('not one group')
    this.reserve()
    let next = keyCount
    this.states.forEach((state, index) => {
      if (state instanceof DistinctCounts) return
      const end = next + stateColumns[index]
      if (end > columns.length) throw malformed('states are missing')
      state.merge(columns.slice(next, end), numbers ?? FIRST_ROWS.upTo(1), rowCount)
      next = end
    })
    if (next !== columns.length) throw malformed('more columns than states')
    return numbers
  }

  #mergeValues(
    state: DistinctCounts,
    cells: ColumnVector,
    pairs: RowBlock | null | undefined,
    numbers: Uint32Array | null,
  ): void {
    if (cells.physical !== state.values.physical) throw malformed('values are of another type')
    const ids = new Uint32Array(cells.rowCount)
    state.values.assign(cells, FIRST_ROWS.upTo(cells.rowCount), cells.rowCount, ids)
    if (numbers === null) {
      state.addValues(null, ids, ids.length)
      return
    }
    if (pairs?.columns.length !== 2) throw malformed('no pairs')
    const [first, second] = pairs.columns.map(({ lanes }) => lanes)
    const groups = new Uint32Array(pairs.rowCount)
    const values = new Uint32Array(pairs.rowCount)
    for (let pair = 0; pair < pairs.rowCount; pair++) {
      const isIn = first[pair] < numbers.length && second[pair] < ids.length
      if (!isIn) throw malformed('a pair is out of bounds')
      groups[pair] = numbers[first[pair]]
      values[pair] = ids[second[pair]]
    }
    state.addValues(groups, values, groups.length)
  }
}

function openState(plan: StatePlan, hasGroups: boolean): StateOfPlan {
  switch (plan.kind) {
    case 'count':
      return new RowCounts()
    case 'exactSum':
      return new ExactSums()
    case 'doubleSum':
      return new DoubleSums()
    case 'distinct':
      return new DistinctCounts(plan.physical, hasGroups)
    case 'min':
    case 'max':
      return openExtremes(plan.physical, plan.kind === 'max')
    default:
      return unreachable(plan)
  }
}

function openExtremes(physical: Physical, isMax: boolean): Extremes {
  if (physical === PHYSICAL.binary) return new BinaryExtremes(isMax)
  return physical === PHYSICAL.int64 || physical === PHYSICAL.int128
    ? new ExactExtremes(physical, isMax)
    : new NumberExtremes(physical, isMax)
}

function pairsOf({ pairs }: DistinctCounts): RowBlock {
  const { count } = pairs
  const columns = [pairs.first, pairs.second].map((numbers) => {
    const bytes = new Uint8Array(numbers.buffer, 0, count * 4)
    return new ColumnVector(PHYSICAL.int32, count, bytes, null, null, null)
  })
  return blockOf(count, columns)
}

/** A block of columns whose ids are their indexes. */
function blockOf(rowCount: number, columns: readonly ColumnVector[]): RowBlock {
  assert(
    columns.every((column) => column.rowCount === rowCount),
    'columns of a partial result are of one length',
  )
  const ids = columns.map((_, index) => index)
  return new RowBlock(rowCount, ids, columns, null)
}

function malformed(what: string): CorruptionError {
  return new CorruptionError(`aggregation of a tablet is malformed: ${what}`)
}

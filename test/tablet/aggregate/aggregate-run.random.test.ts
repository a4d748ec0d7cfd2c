import { describe, expect, test } from 'vitest'
import { aggregateResults } from '../../../src/common/aggregate/aggregate-results.ts'
import { AggregateTable } from '../../../src/common/aggregate/aggregate-table.ts'
import { aggregateColumnIds, planAggregates } from '../../../src/common/aggregate-plan.ts'
import type { AggregateSpec } from '../../../src/common/aggregate-spec.ts'
import { decodeRowBlock, encodeRowBlock, type RowBlock } from '../../../src/common/row-block.ts'
import type { Schema } from '../../../src/common/schema.ts'
import { StatusError } from '../../../src/common/status.ts'
import { AggregateRun } from '../../../src/tablet/aggregate/aggregate-run.ts'
import { Prng } from '../../../src/util/prng.ts'
import { drawAggregation, drawRows, type Magnitude } from '../../support/draw-aggregation.ts'
import {
  groupText,
  isSameResult,
  type PlainCells,
  PlainOverflow,
  plainAggregate,
} from '../../support/plain-aggregate.ts'
import { schemaWith } from '../../support/row-data.ts'
import { SelectedPages } from '../../support/selected-pages.ts'

const RUN_COUNT = 600
/** Seeds that found something once. */
const KNOWN_SEEDS = [104_416]
const SCHEMA = schemaWith(
  'k INT64 KEY',
  'flag BOOL NULL',
  'tiny INT8',
  'small INT16 NULL',
  'i32 INT32 NULL',
  'i64 INT64 NULL',
  'real FLOAT NULL',
  'double DOUBLE',
  'text STRING NULL',
  'code VARCHAR(2)',
  'raw BINARY NULL',
  'time UNIXTIME_MICROS NULL',
  'day DATE NULL',
  'd9 DECIMAL(9,2) NULL',
  'd18 DECIMAL(18,4)',
  'd38 DECIMAL(38,3) NULL',
  'd30 DECIMAL(30,0)',
)

/** Aggregates rows in some tablets and merges what they come to. */
function aggregate(
  prng: Prng,
  schema: Schema,
  spec: AggregateSpec,
  rows: readonly PlainCells[],
  decoys: readonly PlainCells[],
): RowBlock {
  const plan = planAggregates(schema, spec)
  const merged = new AggregateTable(plan, 2 ** 30)
  let start = 0
  for (let left = prng.between(1, 4); left > 0; left--) {
    const end = left === 1 ? rows.length : prng.between(start, rows.length)
    const ids = aggregateColumnIds(spec)
    const pages = new SelectedPages(prng, schema, ids, rows.slice(start, end), decoys)
    const run = new AggregateRun({ rows: pages, schema, spec })
    while (run.step());
    merged.merge(run.partial().map((block) => decodeRowBlock(encodeRowBlock(block))))
    run.close()
    start = end
  }
  return aggregateResults(plan, merged)
}

function resultsOf(work: () => RowBlock, keyCount: number): Map<string, unknown[]> | 'overflow' {
  try {
    const block = work()
    const groups = Array.from({ length: block.rowCount }, (_, row) => {
      const cells = block.columns.map((column) => column.cell(row))
      return [groupText(cells.slice(0, keyCount)), cells] as const
    })
    return new Map(groups)
  } catch (error) {
    if (error instanceof StatusError && error.code === 'INVALID_ARGUMENT') return 'overflow'
    throw error
  }
}

function expectedOf(spec: AggregateSpec, rows: readonly PlainCells[]) {
  try {
    return plainAggregate(SCHEMA, spec, rows)
  } catch (error) {
    if (error instanceof PlainOverflow) return 'overflow' as const
    throw error
  }
}

function check(seed: number): 'overflow' | 'results' {
  const prng = new Prng(seed)
  const magnitude: Magnitude = prng.pick(['small', 'small', 'plain', 'wide', 'any'])
  const spec = drawAggregation(prng, SCHEMA)
  const rows = drawRows(prng, SCHEMA, prng.pick([0, 1, 5, 60]), magnitude)
  const decoys = drawRows(prng, SCHEMA, 5, 'any')
  const expected = expectedOf(spec, rows)
  const found = resultsOf(() => aggregate(prng, SCHEMA, spec, rows, decoys), spec.groupBy.length)
  const where = () => `seed ${seed}: ${JSON.stringify(spec, bigintText)}`
  if (expected === 'overflow' || found === 'overflow') {
    expect(found, where()).toBe(expected)
    return 'overflow'
  }
  expect([...found.keys()].sort(), where()).toEqual([...expected.keys()].sort())
  for (const [text, group] of expected) {
    const cells = found.get(text) as unknown[]
    group.forEach((result, i) => {
      const shown = () => `${where()} group "${text}" column ${i}: ${cells[i]} not ${result.cell}`
      if (!isSameResult(cells[i], result)) expect.fail(shown())
    })
  }
  return 'results'
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

describe('AggregateRun', () => {
  test('comes to what plain arithmetic comes to, however rows lie and are divided', () => {
    for (const seed of KNOWN_SEEDS) check(seed)
    let overflowCount = 0
    for (let seed = 1; seed <= RUN_COUNT; seed++) {
      if (check(seed) === 'overflow') overflowCount++
    }

    expect(overflowCount).toBeGreaterThan(RUN_COUNT / 100)
    expect(overflowCount).toBeLessThan(RUN_COUNT / 3)
  })
})

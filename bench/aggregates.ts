/**
 * TPC-H's Q1 and Q6 over LINEITEM in the engine alone, warm and in one tablet at rest: the
 * CPU that a million rows take, and a row. Decimals are DECIMAL(15,2), so that sums are exact.
 */

import type { AggregateSpec, Expression, NumberType } from '../src/common/aggregate-spec.ts'
import { type ColumnPredicate, rangePredicate } from '../src/common/column-predicate.ts'
import { encodeRowBlock } from '../src/common/row-block.ts'
import type { Schema } from '../src/common/schema.ts'
import { utf8Encode } from '../src/util/bytes.ts'
import { crc32c } from '../src/util/crc32c.ts'
import { type BenchColumn, benchSchema, InsertBlocks } from './support/bench-schema.ts'
import { BenchTablet } from './support/bench-tablet.ts'
import { median } from './support/in-turns.ts'
import { type LineItem, LineItemGenerator } from './support/lineitem.ts'
import { Report } from './support/report.ts'
import type { Size } from './support/size.ts'
import { openSqliteStore } from './support/sqlite-store.ts'

const SEED = 3
const ROW_COUNTS: Readonly<Record<Size, number>> = { smoke: 20_000, full: 1_000_000 }
const ROUND_COUNT = 9
const BLOCK_ROWS = 4000
const NO_BOUND = new Uint8Array(0)

const MONEY = { type: 'DECIMAL', attributes: { precision: 15, scale: 2 } } as const
const COLUMNS: readonly (BenchColumn & { readonly name: keyof LineItem })[] = [
  { name: 'l_orderkey', type: 'INT64', isKey: true },
  { name: 'l_linenumber', type: 'INT32', isKey: true },
  { name: 'l_quantity', ...MONEY },
  { name: 'l_extendedprice', ...MONEY },
  { name: 'l_discount', ...MONEY },
  { name: 'l_tax', ...MONEY },
  { name: 'l_returnflag', type: 'STRING' },
  { name: 'l_linestatus', type: 'STRING' },
  { name: 'l_shipdate', type: 'DATE' },
  { name: 'l_comment', type: 'STRING' },
]
const daysOf = (text: string): number => Date.parse(text) / 86_400_000

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const rowCount = ROW_COUNTS[size]
  const schema = benchSchema(COLUMNS)
  const { store, database } = openSqliteStore(':memory:')
  const bench = new BenchTablet(store, schema)
  load(bench, schema, rowCount)
  bench.rest()
  const of = (name: string) => schema.mustById(10 + COLUMNS.findIndex((it) => it.name === name))
  const id = (name: string) => of(name).id
  const report = new Report('aggregates', size)
  measure(report, bench, { name: 'Q1', rowCount, bar: 150, spec: q1(id) }, [
    rangePredicate(of('l_shipdate'), null, daysOf('1998-09-03')),
  ])
  measure(report, bench, { name: 'Q6', rowCount, bar: 40, spec: q6(id) }, [
    rangePredicate(of('l_shipdate'), daysOf('1994-01-01'), daysOf('1995-01-01')),
    rangePredicate(of('l_discount'), 5n, 8n),
    rangePredicate(of('l_quantity'), null, 2400n),
  ])
  report.close()
  database.close()
}

function load(bench: BenchTablet, schema: Schema, rowCount: number): void {
  const generator = new LineItemGenerator(SEED, rowCount / 6_000_000)
  const blocks = new InsertBlocks(schema)
  for (let done = 0; done < rowCount; done += BLOCK_ROWS) {
    for (let row = 0; row < BLOCK_ROWS; row++) {
      const item = generator.next()
      COLUMNS.forEach(({ name, type }, index) => {
        const value = item[name]
        const column = blocks.builder.columns[index]
        if (typeof value === 'string') column.appendCell(utf8Encode(value))
        else if (type === 'DECIMAL') column.appendCell(BigInt(Math.round(value * 100)))
        else column.appendCell(type === 'INT64' ? BigInt(value) : value)
      })
    }
    bench.write(blocks.take())
    blocks.clear()
    bench.maintain()
  }
}

interface Question {
  readonly name: string
  readonly rowCount: number
  /** Milliseconds of CPU at most. */
  readonly bar: number
  readonly spec: AggregateSpec
}

function measure(
  report: Report,
  bench: BenchTablet,
  { name, rowCount, bar, spec }: Question,
  predicates: ColumnPredicate[],
): void {
  const times: number[] = []
  const sections: number[] = []
  let hash = 0
  for (let round = -2; round < ROUND_COUNT; round++) {
    const begun = cpuMs()
    const reply = bench.tablet.openAggregate({
      ...bench.request,
      spec,
      predicates,
      lowerKey: NO_BOUND,
      upperKey: NO_BOUND,
      snapshot: null,
    })
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    const { run: aggregation } = reply.value
    for (let isDone = false; !isDone; ) {
      const start = cpuMs()
      isDone = !aggregation.step()
      if (round >= 0) sections.push(cpuMs() - start)
    }
    const bytes = encodeRowBlock(aggregation.partial()[0])
    aggregation.close()
    if (round >= 0) times.push(cpuMs() - begun)
    hash = crc32c(bytes, 0, bytes.length, 0)
  }
  report.add({
    name: `${name} in the engine, CPU, longest section ${Math.max(...sections).toFixed(1)} ms`,
    rows: rowCount,
    milliseconds: times,
    value: { amount: median(times), unit: 'ms of CPU' },
    hash: hash.toString(16),
    bar: { atMost: bar },
  })
}

/** CPU that this thread has used: what else the machine does does not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const DECIMAL: NumberType = { kind: 'decimal', scale: 2 }
const ONE: Expression = { kind: 'literal', type: { kind: 'integer' }, unscaled: 1n, scale: 0 }

function column(columnId: number): Expression {
  return { kind: 'column', type: DECIMAL, columnId }
}

function binary(op: '+' | '-' | '*', left: Expression, right: Expression, scale: number) {
  return { kind: 'binary', type: { kind: 'decimal', scale }, op, left, right } as const
}

function q1(id: (name: string) => number): AggregateSpec {
  const of = (name: string) => ({ kind: 'column', columnId: id(name) }) as const
  const rest = binary('-', ONE, column(id('l_discount')), 2)
  const discounted = binary('*', column(id('l_extendedprice')), rest, 4)
  const charge = binary('*', discounted, binary('+', ONE, column(id('l_tax')), 2), 6)
  return {
    groupBy: ['l_returnflag', 'l_linestatus'].map((name) => ({
      columnId: id(name),
      bucketMicros: null,
    })),
    aggregates: [
      { op: 'SUM', input: of('l_quantity') },
      { op: 'SUM', input: of('l_extendedprice') },
      { op: 'SUM', input: { kind: 'expression', expression: discounted } },
      { op: 'SUM', input: { kind: 'expression', expression: charge } },
      { op: 'AVG', input: of('l_quantity') },
      { op: 'AVG', input: of('l_extendedprice') },
      { op: 'AVG', input: of('l_discount') },
      { op: 'COUNT', input: { kind: 'rows' } },
    ],
  }
}

function q6(id: (name: string) => number): AggregateSpec {
  const revenue = binary('*', column(id('l_extendedprice')), column(id('l_discount')), 4)
  return {
    groupBy: [],
    aggregates: [{ op: 'SUM', input: { kind: 'expression', expression: revenue } }],
  }
}

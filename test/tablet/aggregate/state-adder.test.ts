import { describe, expect, test } from 'vitest'
import { type ZoneMap, zoneMapOf } from '../../../src/cfile/zone-map.ts'
import { aggregateResults } from '../../../src/common/aggregate/aggregate-results.ts'
import { AggregateTable } from '../../../src/common/aggregate/aggregate-table.ts'
import { FIRST_ROWS } from '../../../src/common/aggregate/first-rows.ts'
import { aggregateColumnIds, planAggregates } from '../../../src/common/aggregate-plan.ts'
import type { Aggregate, AggregateOp, AggregateSpec } from '../../../src/common/aggregate-spec.ts'
import { ColumnBuilder } from '../../../src/common/column-builder.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import type { Column, Schema } from '../../../src/common/schema.ts'
import { AggregateRun } from '../../../src/tablet/aggregate/aggregate-run.ts'
import type { RowSetIterator, SelectedColumn, Selection } from '../../../src/tablet/row-set.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'

const SCHEMA = aSchema('k INT64 KEY', 'i INT64 NULL', 'x DOUBLE NULL', 's STRING NULL')
const [, i, x, s] = SCHEMA.columns
const LONG = 'more than thirty-two bytes, all the same '

/** A page, and whether its cells were asked for. */
class Page implements SelectedColumn {
  readonly rows: Uint32Array
  readonly zone: ZoneMap | null
  isRead = false
  readonly #cells

  constructor(column: Column, cells: readonly (Cell | null)[], isWhole: boolean) {
    const builder = new ColumnBuilder(column.physical, cells.length)
    for (const cell of cells) builder.appendCell(cell)
    this.#cells = builder.view()
    this.rows = FIRST_ROWS.upTo(cells.length)
    this.zone = isWhole ? zoneMapOf(this.#cells) : null
  }

  get cells() {
    this.isRead = true
    return this.#cells
  }
}

function scanOf(selections: Selection[]): RowSetIterator {
  return {
    scannedCount: 0,
    next: () => null,
    nextSelection: () => selections.shift() ?? null,
    close: () => undefined,
  }
}

/** Aggregates pages of one column. Returns: the result, and how many pages were read. */
function aggregate(
  column: Column,
  op: AggregateOp,
  pages: readonly Page[],
  groupBy: AggregateSpec['groupBy'] = [],
): readonly [Cell | null, number] {
  const asked: Aggregate = { op, input: { kind: 'column', columnId: column.id } }
  const spec = { groupBy, aggregates: [asked] }
  const selections = pages.map((page) => {
    const count = zoneMapOf(page.cells).rowCount
    page.isRead = false
    return { count, columns: [page], scannedCount: count }
  })
  return [resultOf(SCHEMA, spec, scanOf(selections)), pages.filter((page) => page.isRead).length]
}

function resultOf(schema: Schema, spec: AggregateSpec, rows: RowSetIterator): Cell | null {
  const run = new AggregateRun({ rows, schema, spec })
  while (run.step());
  const plan = planAggregates(schema, spec)
  const table = new AggregateTable(plan, 2 ** 20)
  table.merge(run.partial())
  return aggregateResults(plan, table).columns.at(-1)?.cell(0) ?? null
}

function pagesOf(column: Column, ...pages: (Cell | null)[][]): Page[] {
  return pages.map((cells) => new Page(column, cells, true))
}

describe('openAdder', () => {
  test('counts cells and finds their ends without reading whole pages', () => {
    const pages = () => pagesOf(i, [5n, null, 7n], [-3n, 2n ** 63n - 1n], [null])

    expect(aggregate(i, 'COUNT', pages())).toEqual([4n, 0])
    expect(aggregate(i, 'MIN', pages())).toEqual([-3n, 0])
    expect(aggregate(i, 'MAX', pages())).toEqual([2n ** 63n - 1n, 0])
  })

  test('knows NaN, which ends of pages leave out, and takes −0 for 0', () => {
    const pages = () => pagesOf(x, [1, Number.NaN], [-0, 3], [null])

    expect(aggregate(x, 'MAX', pages())).toEqual([Number.NaN, 0])
    expect(aggregate(x, 'MIN', pages())).toEqual([0, 0])
    expect(Object.is(aggregate(x, 'MIN', pages())[0], 0)).toBe(true)
    expect(aggregate(x, 'MIN', pagesOf(x, [Number.NaN, null]))).toEqual([Number.NaN, 0])
    expect(aggregate(x, 'MIN', pagesOf(x, [null], [null, null]))).toEqual([null, 0])
  })

  test('reads a page whose text ends are cut, unless they cannot be better', () => {
    const text = (...texts: string[]) => texts.map(utf8Encode)
    const pages = () =>
      pagesOf(s, text(`${LONG}b`, `${LONG}c`), text(`${LONG}a`, `${LONG}d`), text('a', 'z'))

    expect(aggregate(s, 'MIN', pages())).toEqual([utf8Encode('a'), 2])
    expect(aggregate(s, 'MAX', pages())).toEqual([utf8Encode('z'), 2])
    expect(aggregate(s, 'MIN', pages().reverse())).toEqual([utf8Encode('a'), 0])
    expect(aggregate(s, 'MAX', pages().reverse())).toEqual([utf8Encode('z'), 0])
    expect(aggregate(s, 'MIN', pages().slice(0, 2))).toEqual([utf8Encode(`${LONG}a`), 2])
    expect(aggregate(s, 'MAX', pages().slice(0, 2))).toEqual([utf8Encode(`${LONG}d`), 2])
  })

  test('reads the cells where they are only a part of a page, and for groups', () => {
    const part = [new Page(i, [5n, null], false)]
    const groupBy = [{ columnId: i.id, bucketMicros: null }]

    expect(aggregate(i, 'MAX', part)).toEqual([5n, 1])
    expect(aggregate(i, 'COUNT', [new Page(i, [5n, null], false)])).toEqual([1n, 1])
    expect(aggregate(i, 'MAX', pagesOf(i, [4n, 4n]), groupBy)).toEqual([4n, 1])
  })

  test('reads the columns that the spec names, each once', () => {
    const column = (columnId: number) => ({ kind: 'column', columnId }) as const
    const double = { kind: 'double' } as const
    const left = { kind: 'column', type: double, columnId: x.id } as const
    const expression = { kind: 'binary', type: double, op: '+', left, right: left } as const
    const spec: AggregateSpec = {
      groupBy: [{ columnId: s.id, bucketMicros: null }],
      aggregates: [
        { op: 'SUM', input: { kind: 'expression', expression } },
        { op: 'MIN', input: column(i.id) },
        { op: 'COUNT', input: { kind: 'rows' } },
        { op: 'COUNT', input: column(s.id) },
      ],
    }

    expect(aggregateColumnIds(spec)).toEqual([s.id, x.id, i.id])
  })
})

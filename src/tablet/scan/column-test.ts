import { compareCells, minCell } from '../../common/cell-order.ts'
import { ColumnBuilder } from '../../common/column-builder.ts'
import type { ColumnPredicate } from '../../common/column-predicate.ts'
import { type Cell, PHYSICAL } from '../../common/data-type.ts'
import type { Column } from '../../common/schema.ts'
import { assert } from '../../util/assert.ts'
import { BinaryEqualityTest, BinaryListTest, BinaryRangeTest } from './binary-test.ts'
import { type CellTest, IsNotNullTest, IsNullTest, NoneTest } from './cell-test.ts'
import { NumberEqualityTest, NumberListTest, NumberRangeTest } from './number-test.ts'
import { PairEqualityTest, PairListTest, PairRangeTest } from './pair-test.ts'
import { QuadListTest, QuadRangeTest } from './quad-test.ts'

/** A predicate made ready for a scan. */
export interface ColumnTest {
  readonly column: Column
  readonly predicate: ColumnPredicate
  readonly test: CellTest
}

/** Makes a predicate on `column` ready for a scan. */
export function compileColumnTest(column: Column, predicate: ColumnPredicate): ColumnTest {
  assert(predicate.columnId === column.id, 'a predicate is tested on its own column')
  return { column, predicate, test: compileCellTest(column, predicate) }
}

/** Whether a cell, or null, passes. For a column that a rowset does not hold. */
export function passesCell({ column, test }: ColumnTest, cell: Cell | null): boolean {
  const builder = new ColumnBuilder(column.physical)
  builder.appendCell(cell)
  return test.keepPassing(builder.view(), new Uint32Array(1), 1) === 1
}

function compileCellTest(column: Column, predicate: ColumnPredicate): CellTest {
  switch (predicate.kind) {
    case 'NONE':
      return new NoneTest()
    case 'IS_NULL':
      return new IsNullTest()
    case 'IS_NOT_NULL':
      return new IsNotNullTest()
    case 'EQUALITY':
      assert(predicate.lower !== null, 'an equality has a value')
      return equalityTest(column, predicate.lower)
    case 'IN_LIST':
      return listTest(column, predicate.values)
    case 'RANGE':
      return rangeTest(column, predicate.lower, predicate.upper)
  }
}

function equalityTest(column: Column, value: Cell): CellTest {
  switch (column.physical) {
    case PHYSICAL.binary:
      return new BinaryEqualityTest(value as Uint8Array)
    case PHYSICAL.int64:
      return new PairEqualityTest(value as bigint)
    case PHYSICAL.int128:
      return new QuadListTest([value as bigint])
    default:
      return new NumberEqualityTest(value as number)
  }
}

function listTest(column: Column, values: readonly Cell[]): CellTest {
  switch (column.physical) {
    case PHYSICAL.binary:
      return new BinaryListTest(values as readonly Uint8Array[])
    case PHYSICAL.int64:
      return new PairListTest(values as readonly bigint[])
    case PHYSICAL.int128:
      return new QuadListTest(values as readonly bigint[])
    default:
      return new NumberListTest(values as readonly number[])
  }
}

function rangeTest(column: Column, lower: Cell | null, upper: Cell | null): CellTest {
  const isEmpty =
    upper !== null && compareCells(column.physical, lower ?? minCell(column), upper) >= 0
  if (isEmpty) return new NoneTest()
  switch (column.physical) {
    case PHYSICAL.binary:
      return new BinaryRangeTest(lower as Uint8Array | null, upper as Uint8Array | null)
    case PHYSICAL.int64:
      return new PairRangeTest(lower as bigint | null, upper as bigint | null)
    case PHYSICAL.int128:
      return new QuadRangeTest(lower as bigint | null, upper as bigint | null)
    default:
      return new NumberRangeTest(lower as number | null, upper as number | null)
  }
}

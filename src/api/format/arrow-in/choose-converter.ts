/** How cells of an Arrow type become cells of a column; not all do. */

import { typeText } from '../../../common/cell-error.ts'
import { CELL_KINDS, type CellPlan } from '../../../common/cell-plan.ts'
import type { DataType } from '../../../common/data-type.ts'
import { invalidArgument } from '../../../common/status.ts'
import { convertFloats, convertFloatsToIntegers } from './arrow-floats.ts'
import {
  convertAlike,
  convertBools,
  convertFixed,
  convertFixedToFloats,
  convertIntegers,
} from './arrow-numbers.ts'
import type { Converter } from './arrow-run.ts'
import { convertCoarseTimes, convertDates, convertNanoseconds } from './arrow-times.ts'
import { ARROW_TYPES, type ArrowType, arrowTypeText, TIME_UNITS } from './arrow-type.ts'
import { convertBytes } from './convert-bytes.ts'

const TAKEN_INTEGERS = 'integers, decimals and floats'
/** What columns of each type take. */
const TAKEN: Readonly<Record<DataType, string>> = {
  BOOL: 'Bool',
  INT8: TAKEN_INTEGERS,
  INT16: TAKEN_INTEGERS,
  INT32: TAKEN_INTEGERS,
  INT64: TAKEN_INTEGERS,
  FLOAT: 'floats, integers and decimals',
  DOUBLE: 'floats, integers and decimals',
  STRING: 'Utf8, LargeUtf8 and Utf8View',
  VARCHAR: 'Utf8, LargeUtf8 and Utf8View',
  BINARY: 'Binary, LargeBinary, BinaryView and FixedSizeBinary',
  UNIXTIME_MICROS: 'timestamps and integers',
  DATE: 'Date32 and Date64',
  DECIMAL: 'decimals and integers',
}

/**
 * The converter for a column; Null becomes null in all of them, and needs none.
 *
 * Throws: INVALID_ARGUMENT naming column and types when there is none.
 */
export function chooseConverter(type: ArrowType, plan: CellPlan): Converter {
  const converter = converterOf(type, plan)
  if (converter !== null) return converter
  const { column } = plan
  const taken = `takes ${TAKEN[column.type]}`
  const message = `${arrowTypeText(type)} does not go into ${typeText(column)}, which ${taken}`
  throw invalidArgument(`column "${column.name}": ${message}`, { column: column.name })
}

function converterOf(type: ArrowType, plan: CellPlan): Converter | null {
  switch (type.id) {
    case ARROW_TYPES.null:
      return () => undefined
    case ARROW_TYPES.bool:
      return plan.kind === CELL_KINDS.bool ? convertBools : null
    case ARROW_TYPES.int:
    case ARROW_TYPES.decimal:
      return fixedConverterOf(type, plan)
    case ARROW_TYPES.float:
      if (plan.kind === CELL_KINDS.float || plan.kind === CELL_KINDS.double) return convertFloats
      if (plan.kind === CELL_KINDS.integer) return convertFloatsToIntegers
      return plan.kind === CELL_KINDS.int64 ? convertFloatsToIntegers : null
    case ARROW_TYPES.timestamp:
      return plan.kind === CELL_KINDS.timestamp ? timeConverterOf(type) : null
    case ARROW_TYPES.date:
      return plan.kind === CELL_KINDS.date ? convertDates : null
    case ARROW_TYPES.utf8:
    case ARROW_TYPES.largeUtf8:
    case ARROW_TYPES.utf8View:
      return plan.kind === CELL_KINDS.string ? convertBytes : null
    case ARROW_TYPES.binary:
    case ARROW_TYPES.largeBinary:
    case ARROW_TYPES.binaryView:
    case ARROW_TYPES.fixedSizeBinary:
      return plan.kind === CELL_KINDS.binary ? convertBytes : null
    default:
      return null
  }
}

function fixedConverterOf(type: ArrowType, plan: CellPlan): Converter | null {
  const isInteger = type.id === ARROW_TYPES.int
  switch (plan.kind) {
    case CELL_KINDS.integer: {
      if (!isInteger || type.bits > 32) return convertFixed(-type.scale)
      const low = type.isSigned ? -(2 ** (type.bits - 1)) : 0
      const high = 2 ** (type.bits - (type.isSigned ? 1 : 0)) - 1
      return low >= plan.low && high <= plan.high ? convertAlike : convertIntegers
    }
    case CELL_KINDS.int64:
      return isInteger && type.bits === 64 && type.isSigned
        ? convertAlike
        : convertFixed(-type.scale)
    case CELL_KINDS.float:
    case CELL_KINDS.double:
      return convertFixedToFloats
    case CELL_KINDS.decimal32:
    case CELL_KINDS.decimal64:
    case CELL_KINDS.decimal128:
      return convertFixed(plan.scale - type.scale)
    case CELL_KINDS.timestamp:
      if (!isInteger) return null
      if (plan.timestamps === 'millis') return convertFixed(3)
      return type.bits === 64 && type.isSigned ? convertAlike : convertFixed(0)
    default:
      return null
  }
}

function timeConverterOf({ unit }: ArrowType): Converter {
  if (unit === TIME_UNITS.microsecond) return convertAlike
  return unit === TIME_UNITS.nanosecond ? convertNanoseconds : convertCoarseTimes
}

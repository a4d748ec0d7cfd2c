/** Scans at random, of a table whose cells are known. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import type { Prng } from '../../../src/util/prng.ts'
import { drawLiteral, drawPrefix } from './draw-literal.ts'
import { shuffled } from './draw-table.ts'
import { drawValue } from './draw-value.ts'
import type { ModelPredicate } from './model-literal.ts'
import type { ModelColumn, Value } from './model-value.ts'
import type { ModelMoment, ModelSelection, ReadFormat, ScanQuery } from './scan-script.ts'

const COMPARISONS = ['=', '=', '<', '<=', '>', '>=']
const READ_MODES = ['READ_LATEST', 'READ_AT_SNAPSHOT', 'READ_YOUR_WRITES'] as const

/** What is known of the table that is asked. */
export interface QueryGround {
  readonly columns: readonly ModelColumn[]
  /** Cells that were drawn for a column, none of them null. */
  readonly seen: (column: ModelColumn) => readonly Value[]
}

/** A scan. */
export function drawScan(prng: Prng, ground: QueryGround): ScanQuery {
  const options: ValueOptions = {
    int64: prng.pick(['number', 'number', 'string']),
    timestamps: prng.pick(['rfc3339', 'rfc3339', 'micros', 'millis']),
  }
  const via = prng.chance(0.25) ? 'get' : 'post'
  const format = drawFormat(prng)
  const isNarrow = prng.chance(0.3)
  const hasPages = format === 'json' && prng.chance(0.5)
  return {
    kind: 'scan',
    columns: prng.chance(0.4) ? null : drawColumns(prng, ground.columns),
    ...drawSelection(prng, ground, options, via === 'post'),
    order: prng.pick([null, 'UNORDERED', 'ORDERED', 'DESCENDING']),
    limit: drawLimit(prng, hasPages && isNarrow),
    at: drawMoment(prng, via === 'post'),
    isTimeText: prng.chance(0.3),
    format,
    via,
    options,
    nullText: format === 'csv' && prng.chance(0.3) ? prng.pick(['\\N', 'NULL', '0', 'a']) : '',
    isAnalyzed: prng.chance(0.1),
    diff: null,
    tokens: null,
    pageSize: hasPages ? prng.pick(isNarrow ? [1, 2, 3] : [5, 16, 100, 1000]) : null,
    between: [],
  }
}

/** A scan, or diff scan, that is shared out by tokens. */
export function drawTokenScan(prng: Prng, ground: QueryGround): ScanQuery {
  const query = prng.chance(0.2) ? drawDiff(prng, ground) : drawScan(prng, ground)
  return {
    ...query,
    // What the request for tokens says, and a query string could not.
    ...drawSelection(prng, ground, query.options, true),
    via: prng.chance(0.3) ? 'get' : 'post',
    limit: prng.chance(0.9) ? null : query.limit,
    tokens: {
      targetBytes: prng.pick([null, 1, 100, 1000, 10_000]),
      seed: prng.uint32(),
    },
  }
}

/** A scan of what changed. */
export function drawDiff(prng: Prng, ground: QueryGround): ScanQuery {
  const names = ground.columns.map(({ name }) => name)
  const isTaken = names.includes('is_deleted') && !prng.chance(0.05)
  const at = drawMoment(prng, true)
  return {
    ...drawScan(prng, ground),
    via: 'post',
    order: prng.pick([null, 'ORDERED']),
    at: at.kind === 'now' ? { ...at, mode: prng.pick([null, 'READ_AT_SNAPSHOT']) } : at,
    diff: {
      dice: prng.unit(),
      offset: prng.pick([0, 0, 0, -1, 1]),
      as: isTaken || prng.chance(0.2) ? 'was deleted' : null,
    },
  }
}

/** A format; files of Parquet, which take longest to be read, seldom. */
export function drawFormat(prng: Prng): ReadFormat {
  if (prng.chance(0.03)) return 'parquet'
  return prng.pick(['json', 'json', 'ndjson', 'csv', 'arrow'])
}

/** A limit or none; pages of few rows are not walked for ever. */
function drawLimit(prng: Prng, isNarrow: boolean): number | null {
  if (isNarrow) return prng.pick([1, 2, 7, 40, 110])
  return prng.chance(0.25) ? prng.pick([0, 1, 2, 7, 40, 1000]) : null
}

function drawColumns(prng: Prng, columns: readonly ModelColumn[]): string[] {
  const count = prng.pick([0, 1, 1, 2, 3, columns.length])
  const drawn = shuffled(prng, columns).map(({ name }) => name)
  return drawn.slice(0, count)
}

/** Which rows: up to four predicates, and bounds of the key where they can be said. */
export function drawSelection(
  prng: Prng,
  ground: QueryGround,
  options: ValueOptions,
  hasBounds: boolean,
): ModelSelection {
  const count = prng.pick([0, 0, 1, 1, 1, 2, 3, 4])
  return {
    predicates: Array.from({ length: count }, () => drawPredicate(prng, ground, options)),
    lower: hasBounds && prng.chance(0.15) ? drawKey(prng, ground) : null,
    upper: hasBounds && prng.chance(0.15) ? drawKey(prng, ground) : null,
  }
}

function drawKey(prng: Prng, { columns, seen }: QueryGround): Value[] {
  return columns
    .filter(({ isKey }) => isKey)
    .map((column) => {
      const cells = seen(column)
      return cells.length > 0 && prng.chance(0.9) ? prng.pick(cells) : drawValue(prng, column)
    })
}

function drawPredicate(prng: Prng, ground: QueryGround, options: ValueOptions): ModelPredicate {
  const keys = ground.columns.filter(({ isKey }) => isKey)
  const column = prng.pick(prng.chance(0.4) ? keys : ground.columns)
  const seen = ground.seen(column)
  const literal = () => drawLiteral(prng, column, seen, options)
  const hasPrefixes = ['STRING', 'VARCHAR', 'BINARY'].includes(column.type)
  if (hasPrefixes && prng.chance(0.25)) {
    return { column: column.name, op: 'STARTS WITH', values: [drawPrefix(prng, column, seen)] }
  }
  switch (prng.below(8)) {
    case 0:
      return { column: column.name, op: 'IS NULL', values: [] }
    case 1:
      return { column: column.name, op: 'IS NOT NULL', values: [] }
    case 2:
    case 3: {
      const count = prng.pick([0, 1, 2, 3, 8, 30])
      return { column: column.name, op: 'IN', values: Array.from({ length: count }, literal) }
    }
    default:
      return { column: column.name, op: prng.pick(COMPARISONS), values: [literal()] }
  }
}

/** When to read. A query string names no mode. */
export function drawMoment(prng: Prng, hasModes: boolean): ModelMoment {
  switch (prng.below(8)) {
    case 0:
    case 1:
      return { kind: 'now', mode: hasModes ? prng.pick(READ_MODES) : null, hears: prng.chance(0.3) }
    case 2:
      return { kind: 'now', mode: null }
    case 3:
      if (prng.chance(0.3)) return { kind: 'ahead', micros: prng.pick([100, 200_000, 900_000]) }
      return prng.chance(0.1) ? { kind: 'forgotten' } : { kind: 'now', mode: null }
    default:
      return { kind: 'op', dice: prng.unit(), offset: prng.pick([0, 0, 0, -1, 1]) }
  }
}

/** Tables at random. */

import type { DataType } from '../../../src/common/data-type.ts'
import type { Prng } from '../../../src/util/prng.ts'
import { drawLayout } from '../draw-script.ts'
import { drawValue } from './draw-value.ts'
import type { ModelBound, ModelDimension, ModelRange, ModelTable } from './model-table.ts'
import { compareTuples, integerEnds, isIntegral, type ModelColumn } from './model-value.ts'

const KEY_TYPES: readonly DataType[] = [
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'STRING',
  'BINARY',
  'UNIXTIME_MICROS',
  'DATE',
  'VARCHAR',
  'DECIMAL',
]
// Those of which most can go wrong come more often.
const MORE_TYPES: readonly DataType[] = [
  'STRING',
  'VARCHAR',
  'BINARY',
  'FLOAT',
  'DOUBLE',
  'DECIMAL',
]
const TYPES: readonly DataType[] = [...KEY_TYPES, 'BOOL', 'FLOAT', 'DOUBLE', ...MORE_TYPES]
const COMPRESSIONS = ['DEFAULT_COMPRESSION', 'NO_COMPRESSION', 'SNAPPY', 'LZ4', 'ZLIB', 'ZSTD']
const DECIMALS = [
  [1, 0],
  [4, 2],
  [9, 9],
  [10, 3],
  [18, 0],
  [18, 18],
  [19, 4],
  [38, 0],
  [38, 38],
] as const
const HISTORY_SECONDS = [604_800, 604_800, 300, 90]
/** Names that mean something to JSON, JavaScript or CSV. */
const ODD_NAMES = ['__proto__', 'constructor', 'naïve', 'quo"te', 'a,b', ' space', 'is_deleted']

/** A table of one to about six tablets. */
export function drawTable(prng: Prng): ModelTable {
  const keyCount = prng.pick([1, 1, 2, 2, 3])
  const names = drawNames(prng, keyCount + prng.between(0, 9))
  const columns = names.map((name, i) => drawColumn(prng, name, i < keyCount))
  const keys = columns.slice(0, keyCount)
  const rangeColumns = prng.chance(0.5) ? [] : shuffled(prng, keys).slice(0, prng.between(1, 2))
  return {
    columns,
    hash: prng.chance(0.5) ? [] : drawDimensions(prng, keys),
    rangeColumns: rangeColumns.map(({ name }) => name),
    ranges: rangeColumns.length === 0 ? [] : drawRanges(prng, keys, rangeColumns),
    historySec: prng.pick(HISTORY_SECONDS),
    layout: prng.chance(0.1) ? null : drawLayout(prng),
  }
}

function drawNames(prng: Prng, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    return prng.chance(0.05) ? `${prng.pick(ODD_NAMES)}${i === 0 ? '' : i}` : `c${i}`
  })
}

function drawColumn(prng: Prng, name: string, isKey: boolean): ModelColumn {
  const type = prng.pick(isKey ? KEY_TYPES : TYPES)
  const [precision, scale] = type === 'DECIMAL' ? prng.pick(DECIMALS) : [0, 0]
  const isNullable = !isKey && prng.chance(0.6)
  const column: ModelColumn = {
    name,
    type,
    precision,
    scale,
    length: type === 'VARCHAR' ? prng.pick([1, 4, 10]) : 0,
    isKey,
    isNullable,
    defaultValue: null,
    encoding: drawEncoding(prng, type, precision),
    compression: prng.pick(COMPRESSIONS),
  }
  if (isKey || !prng.chance(0.3)) return column
  return { ...column, defaultValue: drawValue(prng, column) }
}

function drawEncoding(prng: Prng, type: DataType, precision: number): string {
  if (prng.chance(0.5)) return 'AUTO_ENCODING'
  if (type === 'BOOL') return prng.pick(['RLE', 'PLAIN_ENCODING'])
  if (['STRING', 'VARCHAR', 'BINARY'].includes(type)) {
    return prng.pick(['DICT_ENCODING', 'DICT_ENCODING', 'PLAIN_ENCODING', 'PREFIX_ENCODING'])
  }
  const hasRuns = isIntegral(type) && precision <= 18
  return prng.pick(['BIT_SHUFFLE', 'PLAIN_ENCODING', ...(hasRuns ? ['RLE'] : [])])
}

function drawDimensions(prng: Prng, keys: readonly ModelColumn[]): ModelDimension[] {
  const names = shuffled(prng, keys).map(({ name }) => name)
  const first = names.splice(0, prng.between(1, names.length))
  const dimensions = [{ columns: first, buckets: prng.between(2, 4), seed: prng.below(3) }]
  if (names.length > 0 && prng.chance(0.3)) {
    dimensions.push({ columns: names, buckets: 2, seed: 0 })
  }
  return dimensions
}

function drawRanges(
  prng: Prng,
  keys: readonly ModelColumn[],
  columns: readonly ModelColumn[],
): ModelRange[] {
  const drawn = Array.from({ length: prng.between(1, 3) }, () =>
    columns.map((column) => drawValue(prng, column)),
  )
  const cuts = drawn
    .sort((a, b) => compareTuples(columns, a, b))
    .filter((cells, i) => i === 0 || compareTuples(columns, cells, drawn[i - 1]) !== 0)
    // Below the least and above the greatest there is nothing that a range could hold.
    .filter((cells) => !cells.every((cell, i) => cell === leastOf(columns[i])))
    .filter((cells) => !cells.every((cell, i) => cell === greatestOf(columns[i])))
  const hasGap = prng.chance(0.3)
  const ranges: ModelRange[] = []
  // Each cut is a bound of the range below it and of the one above it; one of them holds it.
  let lower: ModelBound | null = null
  for (const cells of cuts) {
    const isInclusive = prng.chance(0.2)
    const isGap = hasGap && prng.chance(0.4)
    const upper = { cells, isInclusive }
    if (!isGap) ranges.push({ lower, upper, hash: drawOwnHash(prng, keys) })
    lower = { cells, isInclusive: !isInclusive }
  }
  ranges.push({ lower, upper: null, hash: drawOwnHash(prng, keys) })
  return ranges
}

function drawOwnHash(prng: Prng, keys: readonly ModelColumn[]): ModelDimension[] | null {
  if (prng.chance(0.8)) return null
  return prng.chance(0.3) ? [] : drawDimensions(prng, keys)
}

function leastOf(column: ModelColumn): bigint | string {
  return isIntegral(column.type) ? integerEnds(column)[0] : ''
}

function greatestOf(column: ModelColumn): bigint | null {
  return isIntegral(column.type) ? integerEnds(column)[1] : null
}

/** The elements in another order. */
export function shuffled<T>(prng: Prng, list: readonly T[]): T[] {
  const left = [...list]
  const drawn: T[] = []
  while (left.length > 0) drawn.push(...left.splice(prng.below(left.length), 1))
  return drawn
}

import { describe, expect, test } from 'vitest'
import { predicateMatchesCell } from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeyCells, successorKey } from '../../src/common/encoded-key.ts'
import { optimizeScanSpec, type ScanSpec } from '../../src/common/scan-spec.ts'
import type { Schema } from '../../src/common/schema.ts'
import { EMPTY_BYTES, toHex } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { type Accepts, drawPredicate } from '../support/draw-predicate.ts'

const SCHEMAS = [
  ['x INT8 KEY', 'v DOUBLE'],
  ['x STRING KEY', 'v BOOL NULL'],
  ['x INT8 KEY', 'y INT8 KEY', 'z INT8 KEY', 'v FLOAT NULL'],
  ['x INT8 KEY', 'y STRING KEY', 'z STRING KEY'],
  ['x VARCHAR(2) KEY', 'y BINARY KEY', 'v DECIMAL(9) NULL'],
  ['x DATE KEY', 'y DECIMAL(2) KEY', 'z UNIXTIME_MICROS KEY', 'v INT64'],
  ['x DECIMAL(38) KEY', 'y BINARY KEY', 'z INT16 KEY'],
]
const ROUNDS = 300
const POOL_SIZE = 4

type Row = readonly (Cell | null)[]

/** Rows of every key that the pools make, so that rows lie on and beside every bound. */
function everyKey(schema: Schema, pools: readonly Cell[][], prng: Prng): Row[] {
  let rows: Row[] = [[]]
  for (const [i, pool] of pools.entries()) {
    const isKey = i < schema.keyColumnCount
    rows = rows.flatMap((row): Row[] => {
      if (isKey) return pool.map((cell) => [...row, cell])
      const isNull = schema.columns[i].isNullable && prng.chance(0.2)
      return [[...row, isNull ? null : prng.pick(pool)]]
    })
  }
  return rows
}

function keyOf(schema: Schema, row: Row): Uint8Array {
  const cells = row.slice(0, schema.keyColumnCount).filter((cell) => cell !== null)
  return encodeKeyCells(schema.keyColumns, cells)
}

/** A bound: none, a key, what follows a key, or bytes that are no key at all. */
function drawBound(schema: Schema, rows: readonly Row[], prng: Prng): Uint8Array {
  const key = keyOf(schema, prng.pick(rows))
  switch (prng.below(12)) {
    case 0:
    case 1:
    case 5:
    case 6:
    case 7:
    case 8:
      return EMPTY_BYTES
    case 2:
      return successorKey(key)
    case 3:
      return key.subarray(0, prng.below(key.length + 1))
    case 4:
      return Uint8Array.from({ length: prng.below(6) }, () => prng.pick([0, 1, 2, 0x80, 0xff]))
    default:
      return key
  }
}

function isBetween(key: string, lower: Uint8Array, upper: Uint8Array): boolean {
  return key >= toHex(lower) && (upper.length === 0 || key < toHex(upper))
}

function matches(schema: Schema, spec: ScanSpec, row: Row, key: string): boolean {
  return (
    isBetween(key, spec.lowerKey, spec.upperKey) &&
    spec.predicates.every((it) => {
      const column = schema.mustById(it.columnId)
      return predicateMatchesCell(column, it, row[column.index])
    })
  )
}

describe.each(SCHEMAS.map((columns) => [columns.join(', '), columns] as const))(
  'optimizeScanSpec over %s',
  (_, columns) => {
    const schema = aSchema(...columns)

    test('never changes which rows match, with and without erasing, once and twice', () => {
      const wrong: string[] = []
      let foundCount = 0
      let erasedCount = 0
      let emptyCount = 0

      for (let seed = 1; seed <= ROUNDS; seed++) {
        const prng = new Prng(seed)
        const pools = schema.columns.map((column) => {
          const cells = boundaryCells(column)
          return Array.from({ length: POOL_SIZE }, () => prng.pick(cells))
        })
        const rows = everyKey(schema, pools, prng)
        const asked: { readonly index: number; readonly accepts: Accepts }[] = []
        const predicates = schema.columns.flatMap((column) => {
          const count = prng.pick([0, 1, 1, 2])
          return Array.from({ length: count }, () => {
            const sample = drawPredicate(column, pools[column.index], prng)
            asked.push({ index: column.index, accepts: sample.accepts })
            return sample.predicate
          })
        })
        const lowerKey = drawBound(schema, rows, prng)
        const upperKey = drawBound(schema, rows, prng)
        const spec = { predicates, lowerKey, upperKey }
        const optimized = optimizeScanSpec(schema, spec)
        const again = optimizeScanSpec(schema, optimized)
        const kept = optimizeScanSpec(schema, spec, { erasePushed: false })

        for (const row of rows) {
          const key = toHex(keyOf(schema, row))
          const isWanted =
            isBetween(key, lowerKey, upperKey) &&
            asked.every(({ index, accepts }) => accepts(row[index]))
          const isRight =
            matches(schema, optimized, row, key) === isWanted &&
            matches(schema, kept, row, key) === isWanted &&
            matches(schema, again, row, key) === isWanted &&
            !(optimized.isEmpty && isWanted) &&
            !(kept.isEmpty && isWanted)
          if (!isRight) wrong.push(`seed ${seed}: ${row.join(' | ')}`)
          if (isWanted) foundCount++
        }
        if (optimized.isEmpty) emptyCount++
        if (optimized.predicates.length < kept.predicates.length) erasedCount++
      }

      expect(wrong).toEqual([])
      expect([foundCount, erasedCount, emptyCount].map((count) => count > ROUNDS / 20)).toEqual([
        true,
        true,
        true,
      ])
    })
  },
)

import { describe, expect, test } from 'vitest'
import {
  type ColumnPredicate,
  equalityPredicate,
  inListPredicate,
  predicateMatchesCell,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { encodeKeyCells, successorKey } from '../../src/common/encoded-key.ts'
import { prunePartitions } from '../../src/common/partition-pruner.ts'
import type { ScanSpec } from '../../src/common/scan-spec.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { compareWhole, EMPTY_BYTES } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { aRandomKeySchema, randomCells } from '../support/key-columns.ts'
import { type Partitioned, partitioned } from '../support/partition-input.ts'
import { plainPartitionsOf, randomPartitions, rowsOf } from '../support/random-partitions.ts'

const SEED = 41
const ROUNDS = 40

function randomPredicate(prng: Prng, column: Column): ColumnPredicate {
  const cells = boundaryCells(column)
  const side = () => (prng.chance(0.3) ? null : prng.pick(cells))
  if (prng.chance(0.4)) return equalityPredicate(column, prng.pick(cells))
  if (prng.chance(0.5)) return rangePredicate(column, side(), side())
  return inListPredicate(
    column,
    Array.from({ length: prng.between(1, 4) }, () => prng.pick(cells)),
  )
}

/** A bound that is a key, the place behind one, or none. */
function randomBound(prng: Prng, columns: readonly Column[]): Uint8Array {
  if (prng.chance(0.6)) return EMPTY_BYTES
  const key = encodeKeyCells(columns, randomCells(prng, columns))
  return prng.chance(0.3) ? successorKey(key) : key
}

function randomScan(prng: Prng, { keyColumns }: Schema): ScanSpec {
  const predicates = keyColumns
    .filter(() => prng.chance(0.5))
    .map((column) => randomPredicate(prng, column))
  return {
    predicates,
    lowerKey: randomBound(prng, keyColumns),
    upperKey: randomBound(prng, keyColumns),
  }
}

function matches(
  schema: Schema,
  { predicates, lowerKey, upperKey }: ScanSpec,
  row: readonly Cell[],
) {
  const key = encodeKeyCells(schema.keyColumns, row)
  if (compareWhole(key, lowerKey) < 0) return false
  if (upperKey.length > 0 && compareWhole(key, upperKey) >= 0) return false
  return predicates.every((predicate) => {
    const column = schema.mustById(predicate.columnId)
    return predicateMatchesCell(column, predicate, row[column.index])
  })
}

function pruned({ schema, partitionSchema, partitions }: Partitioned, scan: ScanSpec): number[] {
  return prunePartitions(schema, partitionSchema, partitions, scan)
}

describe('prunePartitions', () => {
  test('never leaves out a partition that holds a matching row', () => {
    const prng = new Prng(SEED)
    let [matched, leftOut] = [0, 0]
    for (let round = 0; round < ROUNDS; round++) {
      const schema = aRandomKeySchema(prng, 3)
      const table = randomPartitions(prng, schema)
      const rows = rowsOf(prng, schema, 80)
      const holders = rows.map((row) => plainPartitionsOf(table, row))
      for (let scanned = 0; scanned < 12; scanned++) {
        const scan = randomScan(prng, schema)

        const left = pruned(table, scan)

        leftOut += table.partitions.length - left.length
        const message = `round ${round} scan ${scanned} of seed ${SEED}`
        expect(left, message).toEqual(left.toSorted((a, b) => a - b))
        const needed = rows.flatMap((row, i) => (matches(schema, scan, row) ? holders[i] : []))
        matched += needed.length
        const missed = needed.filter((index) => !left.includes(index))
        expect(missed, message).toEqual([])
      }
    }
    expect(matched).toBeGreaterThan(500)
    expect(leftOut).toBeGreaterThan(500)
  })

  // With every row there is at hand, what is left can be told exactly.
  test('leaves exactly the partitions with a matching row where columns are in lists', () => {
    const prng = new Prng(SEED + 1)
    const schema = aSchema('a INT8 KEY', 'b INT8 KEY')
    const [a, b] = schema.keyColumns
    const values = Array.from({ length: 256 }, (_, i) => i - 128)
    for (let round = 0; round < 60; round++) {
      const table = randomPartitions(prng, schema)
      const drawn = () => Array.from({ length: prng.between(1, 4) }, () => prng.pick(values))
      const [as, bs] = [drawn(), drawn()]
      const scan = {
        predicates: [inListPredicate(a, as), inListPredicate(b, bs)],
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
      }

      const left = pruned(table, scan)

      const rows = as.flatMap((x) => bs.map((y) => [x, y]))
      const needed = new Set(rows.flatMap((row) => plainPartitionsOf(table, row)))
      const message = `round ${round} of seed ${SEED + 1}`
      for (const index of needed) expect(left, message).toContain(index)
      // Hash and range are looked at one by one, so a bucket and a range may be left that no row
      // combines.
      const hashOnly = table.partitionSchema.rangeColumnIds.length === 0
      const isIndependent = table.partitionSchema.hashSchema.length <= 1
      if (hashOnly && isIndependent) expect(new Set(left), message).toEqual(needed)
    }
  })

  test('needs at most one partition for one key', () => {
    const prng = new Prng(SEED + 2)
    for (let round = 0; round < 150; round++) {
      const schema = aRandomKeySchema(prng, 3)
      const table = randomPartitions(prng, schema)
      const row = randomCells(prng, schema.keyColumns)
      const key = encodeKeyCells(schema.keyColumns, row)
      const byBounds = { predicates: [], lowerKey: key, upperKey: successorKey(key) }
      const byCells = {
        predicates: schema.keyColumns.map((column, i) => equalityPredicate(column, row[i])),
        lowerKey: EMPTY_BYTES,
        upperKey: EMPTY_BYTES,
      }
      const message = `round ${round} of seed ${SEED + 2}`

      expect(pruned(table, byCells), message).toEqual(plainPartitionsOf(table, row))
      expect(pruned(table, byBounds).length, message).toBeLessThanOrEqual(1)
    }
  })

  test('leaves every partition where nothing is asked', () => {
    const prng = new Prng(SEED + 3)
    const nothing = { predicates: [], lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }
    for (let round = 0; round < 50; round++) {
      const table = randomPartitions(prng, aRandomKeySchema(prng, 3))

      expect(pruned(table, nothing)).toEqual([...table.partitions.keys()])
    }
    const { schema } = partitioned(aSchema('a INT8 KEY'), {})
    expect(pruned(partitioned(schema, {}), nothing)).toEqual([0])
  })
})

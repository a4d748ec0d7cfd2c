/**
 * Hash dimensions: the rules for them, and how many buckets they make together (K§3.1).
 */

import { TABLET_COUNT_MAX } from './limits.ts'
import type { HashDimensionInput } from './partition-input.ts'
import type { HashDimension } from './partition-schema.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument } from './status.ts'

const SEED_MAX = 0xffff_ffff

/**
 * Hash dimensions as a table keeps them, columns by ascending id: the order in which they are
 * hashed.
 *
 * Throws: INVALID_ARGUMENT unless each has key columns that no other has, 2 … `TABLET_COUNT_MAX`
 * buckets, and an unsigned 32-bit seed.
 */
export function buildHashSchema(
  schema: Schema,
  dimensions: readonly HashDimensionInput[],
): HashDimension[] {
  const used = new Set<number>()
  return dimensions.map(({ columns, bucketCount, seed }) => {
    if (columns.length === 0) throw invalidArgument('hash dimension has no columns')
    const columnIds = columns.map((name) => {
      const column = mustKeyColumn(schema, name, 'hash')
      if (used.has(column.id)) {
        throw invalidArgument(`hash column "${name}" is named twice`, { column: name })
      }
      used.add(column.id)
      return column.id
    })
    checkBuckets(bucketCount, seed)
    columnIds.sort((a, b) => a - b)
    return { columnIds, bucketCount, seed }
  })
}

/** Throws: INVALID_ARGUMENT unless a dimension may have this many buckets and this seed. */
export function checkBuckets(bucketCount: number, seed: number): void {
  if (!Number.isInteger(bucketCount) || bucketCount < 2) {
    throw invalidArgument(`num_buckets is ${bucketCount}, must be an integer of at least 2`)
  }
  if (bucketCount > TABLET_COUNT_MAX) {
    throw invalidArgument(`num_buckets is ${bucketCount}, limit is ${TABLET_COUNT_MAX}`, {
      limit: TABLET_COUNT_MAX,
    })
  }
  if (!Number.isInteger(seed) || seed < 0 || seed > SEED_MAX) {
    throw invalidArgument(`hash seed is ${seed}, must be an integer in 0 … ${SEED_MAX}`)
  }
}

/**
 * The key column with a name. `role` says in the error what it was to be.
 *
 * Throws: INVALID_ARGUMENT when there is none.
 */
export function mustKeyColumn(schema: Schema, name: string, role: 'hash' | 'range'): Column {
  const column = schema.byName(name)
  if (column === undefined) {
    throw invalidArgument(`${role} column "${name}" does not exist`, { column: name })
  }
  if (!column.isKey) {
    throw invalidArgument(`${role} column "${name}" is not a key column`, { column: name })
  }
  return column
}

/** Combinations of buckets; 1 without dimensions. */
export function bucketProduct(hashSchema: readonly HashDimension[]): number {
  return hashSchema.reduce((product, dimension) => product * dimension.bucketCount, 1)
}

/**
 * Whether two hash schemas put every row into the same buckets: same columns, counts and seeds, in
 * order.
 */
export function equalHashSchemas(
  a: readonly HashDimension[],
  b: readonly HashDimension[],
): boolean {
  return (
    a.length === b.length &&
    a.every((dimension, index) => {
      const other = b[index]
      return (
        dimension.bucketCount === other.bucketCount &&
        dimension.seed === other.seed &&
        dimension.columnIds.length === other.columnIds.length &&
        dimension.columnIds.every((id, i) => id === other.columnIds[i])
      )
    })
  )
}

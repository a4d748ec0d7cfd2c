/** Ids of the cells that rows are grouped by, and of those that are counted once each. Hot. */

import { FIRST_ROWS } from '../../common/aggregate/first-rows.ts'
import type { ValueIds } from '../../common/aggregate/value-ids.ts'
import { ColumnVector, joinPair } from '../../common/column-vector.ts'
import { PHYSICAL } from '../../common/data-type.ts'
import { invalidArgument } from '../../common/status.ts'
import { clearBit, setBits } from '../../util/bitmap.ts'
import type { SelectedColumn } from '../row-set.ts'
import type { NumberVector } from './number-vector.ts'

const WORD = 2 ** 32
/** Times and widths nearer to 0 are cut down in doubles, exactly. */
const PLAIN_END = 2 ** 52
const PLAIN_HIGH_END = PLAIN_END / WORD
const INT64_MIN = -(2n ** 63n)

/** Buckets of one width. */
export interface Buckets {
  readonly micros: number
  /** Names the column in errors. */
  readonly columnName: string
}

/**
 * Writes to `out` the ids of the beginnings of the buckets that times lie in. Buckets are counted
 * from the epoch, so that times before it are cut down too.
 *
 * Throws: INVALID_ARGUMENT when a bucket begins before the first time that there is.
 */
export function assignBuckets(
  values: ValueIds,
  { cells, rows }: SelectedColumn,
  count: number,
  buckets: Buckets,
  out: Uint32Array,
): void {
  const { micros: bucketMicros } = buckets
  const lanes = cells.lanes as Uint32Array
  const starts = new Uint32Array(count * 2)
  // The bucket of the row before: neighbours are often in the same.
  let start = 0
  let end = 0
  for (let i = 0; i < count; i++) {
    const lane = rows[i] * 2
    const low = lanes[lane]
    const high = lanes[lane + 1] | 0
    const isPlain = high >= -PLAIN_HIGH_END && high < PLAIN_HIGH_END && bucketMicros <= PLAIN_END
    if (!isPlain) {
      writeStart(joinPair(low, high), buckets, starts, i * 2)
      continue
    }
    const time = high * WORD + low
    if (time < start || time >= end) {
      start = floorTo(time, bucketMicros)
      end = start + bucketMicros
    }
    const startHigh = Math.floor(start / WORD)
    starts[i * 2] = start - startHigh * WORD
    starts[i * 2 + 1] = startHigh
  }
  const validity = selectedBits(cells.validity, rows, count)
  const bytes = new Uint8Array(starts.buffer)
  const column = new ColumnVector(PHYSICAL.int64, count, bytes, null, validity, null)
  values.assign(column, FIRST_ROWS.upTo(count), count, out)
}

/**
 * The greatest multiple of `width` that is not above `time`. Exact: a quotient that is not whole is
 * at least 1 / width from one that is, and would be rounded to it only if that one times the width
 * were 2^53 or more.
 */
function floorTo(time: number, width: number): number {
  return Math.floor(time / width) * width
}

function writeStart(
  time: bigint,
  { micros, columnName }: Buckets,
  starts: Uint32Array,
  offset: number,
): void {
  const width = BigInt(micros)
  const rest = time % width
  const start = time - (rest < 0n ? rest + width : rest)
  if (start < INT64_MIN) {
    const what = `a bucket of column "${columnName}" begins before the first time there is`
    throw invalidArgument(what, { column: columnName })
  }
  starts[offset] = Number(BigInt.asUintN(32, start))
  starts[offset + 1] = Number(BigInt.asUintN(32, start >> 32n))
}

function selectedBits(
  validity: Uint8Array | null,
  rows: Uint32Array,
  count: number,
): Uint8Array | null {
  if (validity === null) return null
  const bits = new Uint8Array((count + 7) >>> 3)
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    bits[i >>> 3] |= ((validity[row >>> 3] >>> (row & 7)) & 1) << (i & 7)
  }
  return bits
}

/** Writes to `out` the ids of computed numbers. Requires: a number for each row. */
export function assignNumbers(
  values: ValueIds,
  vector: NumberVector,
  count: number,
  out: Uint32Array,
): void {
  const { isNull } = vector
  let validity: Uint8Array | null = null
  if (isNull !== null) {
    validity = new Uint8Array((count + 7) >>> 3)
    setBits(validity, 0, count)
    for (let i = 0; i < count; i++) if (isNull[i] !== 0) clearBit(validity, i)
  }
  const isExact = values.physical === PHYSICAL.int128
  const bytes = isExact
    ? new Uint8Array(exactLanes(vector, count).buffer)
    : new Uint8Array(vector.values.buffer, 0, count * 8)
  const column = new ColumnVector(values.physical, count, bytes, null, validity, null)
  values.assign(column, FIRST_ROWS.upTo(count), count, out)
}

function exactLanes(vector: NumberVector, count: number): Uint32Array {
  const lanes = new Uint32Array(count * 4)
  for (let i = 0; i < count; i++) {
    const lane = i * 4
    if (vector.isWide) {
      for (let word = 0; word < 4; word++) {
        lanes[lane + word] = Number(BigInt.asUintN(32, vector.wide[i] >> BigInt(word * 32)))
      }
      continue
    }
    const high = Math.floor(vector.values[i] / WORD)
    lanes[lane] = vector.values[i] - high * WORD
    lanes[lane + 1] = high
    lanes[lane + 2] = high < 0 ? -1 : 0
    lanes[lane + 3] = high < 0 ? -1 : 0
  }
  return lanes
}

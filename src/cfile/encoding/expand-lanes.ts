/** Moving lanes to the rows they belong to. Hot. */

import { lanesOf } from '../../common/column-vector.ts'
import { PHYSICAL, type Physical } from '../../common/data-type.ts'

/**
 * Moves the first `presentCount` lanes of `bytes` to the rows whose validity bit is 1, in place,
 * and zeroes the others.
 *
 * One loop for each kind of lane, as in `gatherLanes`.
 * Requires: `validity` has `presentCount` ones in its first `rowCount` bits; room for all rows.
 */
export function expandLanes(
  physical: Physical,
  bytes: Uint8Array,
  validity: Uint8Array,
  rowCount: number,
  presentCount: number,
): void {
  const lanes = lanesOf(physical, bytes, rowCount)
  switch (physical) {
    case PHYSICAL.int8:
      expandInt8(lanes as Int8Array, validity, rowCount, presentCount)
      return
    case PHYSICAL.int16:
      expandInt16(lanes as Int16Array, validity, rowCount, presentCount)
      return
    case PHYSICAL.int64:
    case PHYSICAL.float64:
      expandWords(wordsOf(bytes, rowCount * 2), validity, rowCount, presentCount, 2)
      return
    case PHYSICAL.int128:
      expandWords(wordsOf(bytes, rowCount * 4), validity, rowCount, presentCount, 4)
      return
    default:
      expandWords(wordsOf(bytes, rowCount), validity, rowCount, presentCount, 1)
  }
}

function wordsOf(bytes: Uint8Array, count: number): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, count)
}

// From the last row on: a lane never moves to a lower row.
function expandInt8(
  lanes: Int8Array,
  validity: Uint8Array,
  rowCount: number,
  presentCount: number,
): void {
  for (let row = rowCount - 1, from = presentCount; row >= 0; row--) {
    lanes[row] = ((validity[row >>> 3] >>> (row & 7)) & 1) === 0 ? 0 : lanes[--from]
  }
}

function expandInt16(
  lanes: Int16Array,
  validity: Uint8Array,
  rowCount: number,
  presentCount: number,
): void {
  for (let row = rowCount - 1, from = presentCount; row >= 0; row--) {
    lanes[row] = ((validity[row >>> 3] >>> (row & 7)) & 1) === 0 ? 0 : lanes[--from]
  }
}

function expandWords(
  words: Uint32Array,
  validity: Uint8Array,
  rowCount: number,
  presentCount: number,
  perLane: number,
): void {
  let from = presentCount * perLane
  for (let row = rowCount - 1; row >= 0; row--) {
    const to = row * perLane
    if (((validity[row >>> 3] >>> (row & 7)) & 1) === 0) {
      for (let i = perLane - 1; i >= 0; i--) words[to + i] = 0
    } else {
      for (let i = perLane - 1; i >= 0; i--) words[to + i] = words[--from]
    }
  }
}

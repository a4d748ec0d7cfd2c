/**
 * Lanes of 4, 8 or 16 bytes as numbers of the different ones. Hot. In words, from a multiple of 8
 * on.
 *
 *   word  field
 *      0  lane count, d
 *      …  the different lanes, in the order in which they first appear
 *      …  a stream of which lane each cell is
 */

import type { ColumnVector } from '../../common/column-vector.ts'
import { LANE_BYTES, type Physical } from '../../common/data-type.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import { appendNumbers, readNumbers } from './number-stream.ts'
import { scratchCodes } from './scratch.ts'

/** Different lanes at most. */
const LANE_COUNT_MAX = 2048
const SLOT_COUNT = 8192
const SLOT_MASK = SLOT_COUNT - 1
/** Cells looked at to tell whether a dictionary may pay, and how many different ones are few. */
const SAMPLE_COUNT = 128
const SAMPLE_LANES_MAX = 48

const slots = new Int32Array(SLOT_COUNT)
const firstRows = new Int32Array(LANE_COUNT_MAX)

/** Whether cells look as if few of them were different. */
export function hasFewLanes(cells: ColumnVector): boolean {
  const words = laneWords(cells)
  const perLane = LANE_BYTES[cells.physical] >>> 2
  const count = cells.rowCount
  if (count < SAMPLE_COUNT) return false
  return assignCodes(words, perLane, count, count / SAMPLE_COUNT, SAMPLE_LANES_MAX) > 0
}

/**
 * Appends cells by a dictionary of their lanes.
 *
 * Returns: false, and nothing is appended, when too many of them are different.
 */
export function appendLaneDictionary(cells: ColumnVector, body: BodyWriter): boolean {
  const words = laneWords(cells)
  const perLane = LANE_BYTES[cells.physical] >>> 2
  const count = cells.rowCount
  const laneCount = assignCodes(words, perLane, count, 1, Math.min(LANE_COUNT_MAX, count >>> 1))
  if (laneCount === 0) return false
  body.appendWord(laneCount)
  for (let code = 0; code < laneCount; code++) {
    for (let word = 0; word < perLane; word++) {
      body.appendWord(words[firstRows[code] * perLane + word])
    }
  }
  appendNumbers(scratchCodes, count, 'may', body)
  return true
}

function laneWords(cells: ColumnVector): Int32Array {
  const { bytes, rowCount, physical } = cells
  return new Int32Array(bytes.buffer, bytes.byteOffset, (rowCount * LANE_BYTES[physical]) >>> 2)
}

/**
 * Numbers the different lanes of every `stride`-th cell. Returns: how many there are, 0 when there
 * are more than `lanesMax`.
 */
function assignCodes(
  words: Int32Array,
  perLane: number,
  count: number,
  stride: number,
  lanesMax: number,
): number {
  slots.fill(-1)
  let laneCount = 0
  for (let place = 0, out = 0; place < count; place += stride) {
    const row = Math.floor(place)
    const at = row * perLane
    let hash = 0
    for (let word = 0; word < perLane; word++) {
      hash = Math.imul(hash ^ words[at + word], 0x9e3779b1)
      hash ^= hash >>> 15
    }
    let slot = hash & SLOT_MASK
    let code = slots[slot]
    while (code >= 0 && !areSame(words, perLane, firstRows[code] * perLane, at)) {
      slot = (slot + 1) & SLOT_MASK
      code = slots[slot]
    }
    if (code < 0) {
      if (laneCount >= lanesMax) return 0
      code = laneCount++
      slots[slot] = code
      firstRows[code] = row
    }
    scratchCodes[out++] = code
  }
  return laneCount
}

function areSame(words: Int32Array, perLane: number, a: number, b: number): boolean {
  for (let word = 0; word < perLane; word++) if (words[a + word] !== words[b + word]) return false
  return true
}

/**
 * Reads `count` cells into the first lanes of `bytes`.
 *
 * Requires: room for them, from a multiple of 8 on. Throws: CORRUPTION when they are not what
 * `appendLaneDictionary` writes. Cost: 2 to 4 ns a cell.
 */
export function readLaneDictionary(
  physical: Physical,
  count: number,
  reader: BodyReader,
  bytes: Uint8Array,
): void {
  const perLane = LANE_BYTES[physical] >>> 2
  const laneCount = reader.word()
  const lanes = reader.words(laneCount * perLane)
  readNumbers(reader, count, scratchCodes)
  const codes = scratchCodes
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, count * perLane)
  let isWithin = true
  for (let i = 0; i < count; i++) isWithin = isWithin && codes[i] >= 0 && codes[i] < laneCount
  if (!isWithin) throw reader.corrupt('a code of no lane')
  if (perLane === 1) {
    for (let i = 0; i < count; i++) words[i] = lanes[codes[i]]
  } else if (perLane === 2) {
    for (let i = 0; i < count; i++) {
      words[i * 2] = lanes[codes[i] * 2]
      words[i * 2 + 1] = lanes[codes[i] * 2 + 1]
    }
  } else {
    for (let i = 0; i < count; i++) {
      for (let word = 0; word < perLane; word++) {
        words[i * perLane + word] = lanes[codes[i] * perLane + word]
      }
    }
  }
}

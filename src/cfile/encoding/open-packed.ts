/** Pages of integers that are read where they lie packed, one by one or all at once. Hot. */

import type { PackedIntegers } from '../../common/column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../../common/data-type.ts'
import type { LaneRoom } from '../lane-room.ts'
import { findBits, pickBits, unpackBits } from './bit-packing.ts'
import { BodyReader } from './body-reader.ts'
import { type PackedStream, readIntegers, readPackedIntegers } from './integers.ts'
import { STORED_ENCODINGS } from './stored-encodings.ts'

/** Distances of more bits could not be told from negative numbers. */
const WIDTH_MAX = 31
/** Of more than this share of a page all are unpacked, which costs less for each. */
const PICKED_SHARE_MAX = 1 / 4

/**
 * Opens the values of a page, of which none is null, for reading them where they lie: good as long
 * as the body, and until the room is taken for the next page.
 *
 * Returns: null, and `reader` is where it was, when they are not one stream of packed integers.
 * Throws: CORRUPTION.
 */
export function openPacked(
  physical: Physical,
  encoding: number,
  rowCount: number,
  reader: BodyReader,
  room: LaneRoom,
): PackedIntegers | null {
  const areIntegers = physical <= PHYSICAL.int64 || physical === PHYSICAL.int128
  if (!areIntegers || encoding !== STORED_ENCODINGS.BIT_SHUFFLE) return null
  const { offset } = reader
  const stream = readPackedIntegers(physical, rowCount, reader)
  reader.offset = offset
  if (stream === null || stream.width > WIDTH_MAX) return null
  return new PackedPage(physical, rowCount, stream, reader, room)
}

class PackedPage implements PackedIntegers {
  readonly rowCount: number
  readonly base: number
  readonly unit: number
  readonly distanceMax: number
  readonly #physical: Physical
  readonly #stream: PackedStream
  readonly #reader: BodyReader
  readonly #room: LaneRoom
  /** Distances of all rows, once they were unpacked. */
  #all: Int32Array | null = null

  constructor(
    physical: Physical,
    rowCount: number,
    stream: PackedStream,
    reader: BodyReader,
    room: LaneRoom,
  ) {
    this.base = stream.base
    this.unit = stream.unit
    this.distanceMax = 2 ** stream.width - 1
    this.#physical = physical
    this.rowCount = rowCount
    this.#stream = stream
    this.#reader = reader
    this.#room = room
  }

  allDistances(count: number): Int32Array | null {
    if (this.#all !== null || count <= this.rowCount * PICKED_SHARE_MAX) return this.#all
    const { words, width } = this.#stream
    this.#all = this.#room.takeNumbers(this.rowCount)
    unpackBits(words, this.rowCount, 0, width, this.#all)
    return this.#all
  }

  pickDistances(rows: Uint32Array, count: number, out: Int32Array): void {
    const { words, width } = this.#stream
    pickBits(words, this.rowCount, width, rows, count, out)
  }

  findDistances(from: number, to: number, out: Uint32Array): number {
    const { words, width } = this.#stream
    return findBits(words, this.rowCount, width, from, to, out)
  }

  readLanes(): Uint8Array {
    const bytes = this.#room.take(this.rowCount * LANE_BYTES[this.#physical])
    const { bytes: body, where, offset } = this.#reader
    const reader = new BodyReader(body, where)
    reader.offset = offset
    readIntegers(this.#physical, this.rowCount, reader, bytes)
    return bytes
  }
}

/**
 * Numbers the different cells of a column, from 0, about in the order in which they are met. Hot.
 *
 *   cells    b   a   b   null   a   c
 *   ids      0   1   0    2     1   3
 *
 * Null is a value like others here; −0 is 0, and all NaN are one. Cells are kept as words (one,
 * two or four of 32 bits) or, of binary columns, as bytes in an arena; an open-addressed table of
 * ids finds them.
 */

import { KeyArena } from '../../util/arena.ts'
import { setBits } from '../../util/bitmap.ts'
import { equalBytes } from '../../util/bytes.ts'
import { ColumnVector, type Lanes, lanesOf } from '../column-vector.ts'
import { LANE_BYTES, PHYSICAL, type Physical } from '../data-type.ts'

const CAPACITY_MIN = 64
/** No id is one of these: of a value that was not met, and of one that is numbered next. */
const NONE = -1
const MET = -2

// The bits of a float, that equal floats may get the same.
const scratchFloat = new Float64Array(1)
const scratchBits = new Uint32Array(scratchFloat.buffer)

/** See the file's header. */
export class ValueIds {
  readonly physical: Physical
  /** Values met, null among them. */
  count = 0
  /** The id of null; −1: it was not met. */
  nullId = NONE
  readonly #wordCount: number
  #words: Uint32Array
  /** Of bytes only: those of words are worked out again. */
  #hashes: Uint32Array
  #capacity: number
  /** Ids plus one; 0 where there is none. */
  #slots: Uint32Array
  readonly #bytes: KeyArena | null
  /** The dictionary that was looked at last, and the ids of its values, −1 of those not met. */
  #dictionary: ColumnVector | null = null
  #dictionaryIds = new Int32Array(0)

  constructor(physical: Physical) {
    this.physical = physical
    this.#wordCount = wordCountOf(physical)
    this.#words = new Uint32Array(CAPACITY_MIN * this.#wordCount)
    this.#hashes = new Uint32Array(this.#wordCount === 0 ? CAPACITY_MIN : 0)
    this.#capacity = CAPACITY_MIN
    this.#slots = new Uint32Array(CAPACITY_MIN * 2)
    this.#bytes = physical === PHYSICAL.binary ? new KeyArena(CAPACITY_MIN, 0) : null
  }

  /** Bytes that it holds in memory. */
  get heldBytes(): number {
    const bytes = this.#bytes === null ? 0 : this.#bytes.bytes.length + this.#bytes.ends.length * 4
    return bytes + (this.#words.length + this.#hashes.length + this.#slots.length) * 4
  }

  /**
   * Writes to `out[i]` the id of the cell `rows[i]` of `cells`, for `count` rows; new values get
   * new ids. Requires: cells of `physical`.
   */
  assign(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    switch (this.#wordCount) {
      case 0:
        if (cells.dictionary !== null) this.#assignCodes(cells, rows, count, out)
        else this.#assignBytes(cells, rows, count, out)
        break
      case 1:
        this.#assignNumbers(cells, rows, count, out)
        break
      case 2:
        if (this.physical === PHYSICAL.int64) this.#assignPairs(cells, rows, count, out)
        else this.#assignFloats(cells, rows, count, out)
        break
      default:
        this.#assignQuads(cells, rows, count, out)
    }
  }

  #assignNumbers(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { lanes, validity } = cells
    let last = 0
    let lastId = NONE
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      const word = lanes[row] | 0
      // Neighbours are often the same.
      if (word !== last || lastId === NONE) {
        last = word
        lastId = this.#idOfWord(word)
      }
      out[i] = lastId
    }
  }

  #assignPairs(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { lanes, validity } = cells
    let lastLow = 0
    let lastHigh = 0
    let lastId = NONE
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      const low = lanes[row * 2]
      const high = lanes[row * 2 + 1]
      if (low !== lastLow || high !== lastHigh || lastId === NONE) {
        lastLow = low
        lastHigh = high
        lastId = this.#idOfPair(low, high)
      }
      out[i] = lastId
    }
  }

  #assignFloats(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { lanes, validity } = cells
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      const value = lanes[row]
      // Adding zero makes 0 of −0; NaN is whatever the platform writes, but always the same here.
      scratchFloat[0] = Number.isNaN(value) ? Number.NaN : value + 0
      out[i] = this.#idOfPair(scratchBits[0], scratchBits[1])
    }
  }

  #assignQuads(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { validity } = cells
    const lanes = cells.lanes as Uint32Array
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      out[i] = this.#idOfQuad(lanes, row * 4)
    }
  }

  #assignBytes(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { bytes, offsets, validity } = cells
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (validity !== null && (validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      out[i] = this.#idOfBytes(bytes, offsets[row], offsets[row + 1])
    }
  }

  /**
   * In passes that call nothing: first the values are numbered that were not met, if the dictionary
   * is another than the last one.
   */
  #assignCodes(cells: ColumnVector, rows: Uint32Array, count: number, out: Uint32Array): void {
    const { dictionary, validity } = cells
    if (dictionary === null) return
    const { codes, values } = dictionary
    if (!this.#isOpen(values)) this.#openDictionary(values)
    const ids = this.#dictionaryIds
    if (validity !== null) {
      this.#assignSomeCodes(codes, validity, rows, count, out)
      return
    }
    let signs = 0
    for (let i = 0; i < count; i++) {
      const id = ids[codes[rows[i]]]
      signs |= id
      out[i] = id
    }
    if (signs >= 0) return
    this.#meetCodes(codes, rows, count, values)
    for (let i = 0; i < count; i++) out[i] = ids[codes[rows[i]]]
  }

  /** Numbers the values of rows that have none. */
  #meetCodes(codes: Uint16Array, rows: Uint32Array, count: number, values: ColumnVector): void {
    const ids = this.#dictionaryIds
    for (let i = 0; i < count; i++) if (ids[codes[rows[i]]] === NONE) ids[codes[rows[i]]] = MET
    for (let code = 0; code < values.rowCount; code++) {
      if (ids[code] === MET) ids[code] = this.#idOfValue(values, code)
    }
  }

  #assignSomeCodes(
    codes: Uint16Array,
    validity: Uint8Array,
    rows: Uint32Array,
    count: number,
    out: Uint32Array,
  ): void {
    const ids = this.#dictionaryIds
    const values = this.#dictionary as ColumnVector
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if ((validity[row >>> 3] & (1 << (row & 7))) === 0) {
        out[i] = this.#idOfNull()
        continue
      }
      const code = codes[row]
      if (ids[code] === NONE) ids[code] = this.#idOfValue(values, code)
      out[i] = ids[code]
    }
  }

  #idOfValue({ bytes, offsets }: ColumnVector, code: number): number {
    return this.#idOfBytes(bytes, offsets[code], offsets[code + 1])
  }

  /** Whether a dictionary has the values of the last one: pages of a column often do. */
  #isOpen(values: ColumnVector): boolean {
    const last = this.#dictionary
    if (last === null || last.rowCount !== values.rowCount) return false
    if (last === values) return true
    for (let code = 0; code <= values.rowCount; code++) {
      if (last.offsets[code] !== values.offsets[code]) return false
    }
    const end = values.offsets[values.rowCount]
    return equalBytes(last.bytes, 0, end, values.bytes, 0, end)
  }

  #openDictionary(values: ColumnVector): void {
    if (this.#dictionaryIds.length < values.rowCount) {
      this.#dictionaryIds = new Int32Array(values.rowCount * 2)
    }
    this.#dictionaryIds.fill(NONE, 0, values.rowCount)
    this.#dictionary = values
  }

  #idOfNull(): number {
    if (this.nullId === NONE) {
      this.nullId = this.#take(0)
      this.#bytes?.endKey()
    }
    return this.nullId
  }

  #idOfWord(word: number): number {
    const hash = mixed(word)
    const words = this.#words
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] - 1
      if (id < 0) break
      if (words[id] === word >>> 0) return id
    }
    const id = this.#add(hash)
    this.#words[id] = word
    return id
  }

  #idOfPair(low: number, high: number): number {
    const hash = hashOfPair(low, high)
    const words = this.#words
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] - 1
      if (id < 0) break
      if (words[id * 2] === low && words[id * 2 + 1] === high) return id
    }
    const id = this.#add(hash)
    this.#words[id * 2] = low
    this.#words[id * 2 + 1] = high
    return id
  }

  #idOfQuad(lanes: Uint32Array, offset: number): number {
    const hash = hashOfQuad(lanes, offset)
    const words = this.#words
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] - 1
      if (id < 0) break
      const at = id * 4
      if (
        words[at] === lanes[offset] &&
        words[at + 1] === lanes[offset + 1] &&
        words[at + 2] === lanes[offset + 2] &&
        words[at + 3] === lanes[offset + 3]
      ) {
        return id
      }
    }
    const id = this.#add(hash)
    for (let word = 0; word < 4; word++) this.#words[id * 4 + word] = lanes[offset + word]
    return id
  }

  #idOfBytes(bytes: Uint8Array, start: number, end: number): number {
    const arena = this.#bytes as KeyArena
    let hash = end - start
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193)
    hash = mixed(hash)
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] - 1
      if (id < 0) break
      if (this.#hashes[id] !== hash) continue
      if (equalBytes(arena.bytes, arena.start(id), arena.ends[id], bytes, start, end)) return id
    }
    const id = this.#add(hash)
    arena.append(bytes, start, end)
    arena.endKey()
    return id
  }

  /** A new id that the table finds by a hash. */
  #add(hash: number): number {
    if ((this.count + 1) * 4 > this.#slots.length * 3) this.#growSlots()
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = this.count + 1
    return this.#take(hash)
  }

  #take(hash: number): number {
    const id = this.count
    if (id === this.#capacity) this.#growValues()
    if (this.#wordCount === 0) this.#hashes[id] = hash
    this.count = id + 1
    return id
  }

  #growValues(): void {
    this.#capacity *= 2
    if (this.#wordCount === 0) {
      const hashes = new Uint32Array(this.#capacity)
      hashes.set(this.#hashes)
      this.#hashes = hashes
      return
    }
    const words = new Uint32Array(this.#capacity * this.#wordCount)
    words.set(this.#words)
    this.#words = words
  }

  #growSlots(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let id = 0; id < this.count; id++) {
      if (id === this.nullId) continue
      let slot = this.#hashOf(id) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = id + 1
    }
    this.#slots = slots
  }

  #hashOf(id: number): number {
    const words = this.#words
    switch (this.#wordCount) {
      case 0:
        return this.#hashes[id]
      case 1:
        return mixed(words[id])
      case 2:
        return hashOfPair(words[id * 2], words[id * 2 + 1])
      default:
        return hashOfQuad(words, id * 4)
    }
  }

  /** The values by their ids. Borrowed until the next `assign`. */
  view(): ColumnVector {
    const { physical, count } = this
    const validity = this.#validity()
    if (this.#bytes !== null) {
      const { bytes, length, ends } = this.#bytes
      const offsets = new Uint32Array(count + 1)
      offsets.set(ends.subarray(0, count), 1)
      return new ColumnVector(physical, count, bytes.subarray(0, length), offsets, validity, null)
    }
    const width = LANE_BYTES[physical]
    const bytes = new Uint8Array(Math.max(8, count * width))
    fillLanes(physical, this.#words, count, lanesOf(physical, bytes, count))
    const lanes = bytes.subarray(0, count * width)
    return new ColumnVector(physical, count, lanes, null, validity, null)
  }

  #validity(): Uint8Array | null {
    if (this.nullId === NONE) return null
    const validity = new Uint8Array((this.count + 7) >>> 3)
    setBits(validity, 0, this.nullId)
    setBits(validity, this.nullId + 1, this.count)
    return validity
  }
}

function wordCountOf(physical: Physical): number {
  switch (physical) {
    case PHYSICAL.int8:
    case PHYSICAL.int16:
    case PHYSICAL.int32:
      return 1
    // Floats of either width are kept as doubles.
    case PHYSICAL.float32:
    case PHYSICAL.float64:
    case PHYSICAL.int64:
      return 2
    case PHYSICAL.int128:
      return 4
    case PHYSICAL.binary:
      return 0
  }
}

function fillLanes(physical: Physical, words: Uint32Array, count: number, lanes: Lanes): void {
  if (physical === PHYSICAL.int64 || physical === PHYSICAL.int128) {
    lanes.set(words.subarray(0, lanes.length))
  } else if (physical === PHYSICAL.float32 || physical === PHYSICAL.float64) {
    const doubles = new Float64Array(words.buffer, words.byteOffset, count)
    for (let id = 0; id < count; id++) lanes[id] = doubles[id]
  } else {
    for (let id = 0; id < count; id++) lanes[id] = words[id] | 0
  }
}

function hashOfPair(low: number, high: number): number {
  return mixed(low ^ Math.imul(high, 0x9e3779b1))
}

function hashOfQuad(words: Uint32Array, offset: number): number {
  const low = words[offset] ^ Math.imul(words[offset + 1], 0x9e3779b1)
  const high = words[offset + 2] ^ Math.imul(words[offset + 3], 0x85ebca77)
  return mixed(low ^ Math.imul(high, 0xc2b2ae3d))
}

/** Spreads the bits of a word (the finalizer of MurmurHash3). */
function mixed(word: number): number {
  let hash = word ^ (word >>> 16)
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

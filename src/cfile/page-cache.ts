/**
 * What was read and decoded of files, by the place where it lies. One cache serves all tablets of
 * an isolate.
 *
 *   put ──► probation ──── asked for again by a point ────► protected (at most ⅘)
 *               ▲ ◄───────────── least recently used ───────────┘
 *               └─ least recently used is let go
 *
 * A scan reads much once: what it puts passes through probation, and its asking promotes nothing,
 * so it never pushes out what points use again and again.
 */

import { assert } from '../util/assert.ts'

/** What a reader is about: a few rows, which may be asked for again, or a stretch of them. */
export type ReadIntent = 'scan' | 'point'

/** Bytes an entry costs beside its value, about. */
const ENTRY_BYTES = 160
/** A value above this share of the cache is not kept. */
const VALUE_SHARE_MAX = 1 / 4
const PROTECTED_SHARE = 4 / 5
/** Blocks are shorter than this, so that block and offset make one number. */
const OFFSET_COUNT = 2 ** 21
const BLOCK_COUNT_MAX = 2 ** 31

class Entry {
  readonly place: number
  readonly file: Map<number, Entry>
  readonly value: object
  readonly bytes: number
  isProtected = false
  before: Entry | null = null
  after: Entry | null = null

  constructor(place: number, file: Map<number, Entry>, value: object, bytes: number) {
    this.place = place
    this.file = file
    this.value = value
    this.bytes = bytes
  }
}

/** Entries from the one used last to the one used longest ago. */
class Segment {
  first: Entry | null = null
  last: Entry | null = null
  bytes = 0

  add(entry: Entry): void {
    entry.before = null
    entry.after = this.first
    if (this.first === null) this.last = entry
    else this.first.before = entry
    this.first = entry
    this.bytes += entry.bytes
  }

  remove(entry: Entry): void {
    if (entry.before === null) this.first = entry.after
    else entry.before.after = entry.after
    if (entry.after === null) this.last = entry.before
    else entry.after.before = entry.before
    entry.before = null
    entry.after = null
    this.bytes -= entry.bytes
  }
}

/**
 * See the file's header. Values are immutable objects: decoded pages, directories.
 *
 *  I1  `heldBytes` is the sum of the entries' bytes and at most `bytesMax`;
 *  I2  an entry is in exactly one segment, and in the map of its file.
 */
export class PageCache {
  readonly bytesMax: number
  readonly #owners = new Map<number, Map<number, Map<number, Entry>>>()
  readonly #probation = new Segment()
  readonly #protected = new Segment()
  #lastOwner = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** A number that no other owner of files has. */
  nextOwner(): number {
    return ++this.#lastOwner
  }

  /** Bytes of all that is kept. */
  get heldBytes(): number {
    return this.#probation.bytes + this.#protected.bytes
  }

  /** What lies at a place, or undefined. Cost: three look-ups. */
  get(
    owner: number,
    file: number,
    block: number,
    offset: number,
    intent: ReadIntent = 'point',
  ): object | undefined {
    const entry = this.#owners.get(owner)?.get(file)?.get(placeOf(block, offset))
    if (entry === undefined) return undefined
    if (intent === 'point') this.#touch(entry)
    return entry.value
  }

  /**
   * Keeps a value that takes `bytes`, in place of what was there. One that is large beside the
   * whole cache is not kept.
   */
  put(
    owner: number,
    file: number,
    block: number,
    offset: number,
    value: object,
    bytes: number,
  ): void {
    const place = placeOf(block, offset)
    const entries = this.#fileOf(owner, file)
    const former = entries.get(place)
    if (former !== undefined) this.#remove(former)
    if (bytes + ENTRY_BYTES > this.bytesMax * VALUE_SHARE_MAX) return
    const entry = new Entry(place, entries, value, bytes + ENTRY_BYTES)
    this.#shrink(this.bytesMax - entry.bytes)
    entries.set(place, entry)
    this.#probation.add(entry)
  }

  /** Forgets all of a file. */
  dropFile(owner: number, file: number): void {
    const files = this.#owners.get(owner)
    const entries = files?.get(file)
    if (files === undefined || entries === undefined) return
    for (const entry of [...entries.values()]) this.#remove(entry)
    files.delete(file)
    if (files.size === 0) this.#owners.delete(owner)
  }

  /** Forgets all of an owner. */
  dropOwner(owner: number): void {
    for (const file of [...(this.#owners.get(owner)?.keys() ?? [])]) this.dropFile(owner, file)
  }

  /** Walks everything. Throws an AssertionError when an invariant is broken. */
  checkInvariants(): void {
    let bytes = 0
    let protectedBytes = 0
    for (const files of this.#owners.values()) {
      for (const entries of files.values()) {
        for (const [place, entry] of entries) {
          assert(entry.place === place, 'an entry is where its file has it')
          bytes += entry.bytes
          if (entry.isProtected) protectedBytes += entry.bytes
        }
      }
    }
    assert(bytes === this.heldBytes, 'held bytes are those of the entries')
    assert(protectedBytes === this.#protected.bytes, 'protected bytes are those of its entries')
    assert(bytes <= this.bytesMax, 'the cache is within its bound')
  }

  #fileOf(owner: number, file: number): Map<number, Entry> {
    let files = this.#owners.get(owner)
    if (files === undefined) {
      files = new Map()
      this.#owners.set(owner, files)
    }
    let entries = files.get(file)
    if (entries === undefined) {
      entries = new Map()
      files.set(file, entries)
    }
    return entries
  }

  #touch(entry: Entry): void {
    if (this.#protected.first === entry) return
    const segment = entry.isProtected ? this.#protected : this.#probation
    segment.remove(entry)
    entry.isProtected = true
    this.#protected.add(entry)
    while (this.#protected.bytes > this.bytesMax * PROTECTED_SHARE) {
      const last = this.#protected.last
      if (last === null || last === entry) return
      this.#protected.remove(last)
      last.isProtected = false
      this.#probation.add(last)
    }
  }

  #shrink(bytesMax: number): void {
    while (this.heldBytes > bytesMax) {
      const last = this.#probation.last ?? this.#protected.last
      assert(last !== null, 'what is held is in a segment')
      this.#remove(last)
    }
  }

  #remove(entry: Entry): void {
    const segment = entry.isProtected ? this.#protected : this.#probation
    segment.remove(entry)
    entry.file.delete(entry.place)
  }
}

function placeOf(block: number, offset: number): number {
  assert(block < BLOCK_COUNT_MAX, 'a block number is below 2^31')
  assert(offset < OFFSET_COUNT, 'an offset is within a block')
  return block * OFFSET_COUNT + offset
}

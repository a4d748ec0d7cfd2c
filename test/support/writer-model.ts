import { createHash } from 'node:crypto'
import { murmur2Bucket } from '../../src/common/murmur2.ts'
import type { Prng } from '../../src/util/prng.ts'
import {
  type ModelOutcome,
  type ModelRow,
  OPERATIONS,
  type Operation,
  TableModel,
} from './table-model.ts'

/** The columns of the table, as `POST /tables` takes them. */
export const WRITER_COLUMNS = [
  { name: 'id', type: 'INT32', is_key: true },
  { name: 'number', type: 'INT64', is_nullable: true },
  { name: 'text', type: 'STRING', default: 'none' },
  { name: 'flag', type: 'BOOL', is_nullable: true },
]

const SHAPE = { keyColumns: ['id'], defaults: { number: null, text: 'none', flag: null } }

/** One write of a batch. */
export interface ModelWrite {
  readonly operation: Operation
  readonly row: ModelRow
}

/** A batch, and what every row of it must come to if it is applied. */
export interface ModelBatch {
  /** From 1, by writer. */
  readonly number: number
  readonly writes: readonly ModelWrite[]
  readonly outcomes: readonly ModelOutcome[]
}

interface Version {
  readonly batch: number
  /** null: not there. */
  readonly text: string | null
}

/**
 * What one writer has made of its own keys, batch by batch: a batch is applied in each bucket as a
 * whole or not at all, and whether it was can be said later.
 *
 * Keys: the ids that leave `writer` when divided by `writerCount`.
 */
export class WriterModel {
  readonly writer: number
  readonly #writerCount: number
  readonly #keyCount: number
  readonly #bucketCount: number
  readonly #rows = new Map<string, ModelRow>()
  readonly #model = new TableModel(SHAPE, this.#rows)
  readonly #versions = new Map<number, Version[]>()
  #before = new Map<number, ModelRow | undefined>()
  #number = 0

  constructor(writer: number, writerCount: number, keyCount: number, bucketCount: number) {
    this.writer = writer
    this.#writerCount = writerCount
    this.#keyCount = keyCount
    this.#bucketCount = bucketCount
  }

  /** Batches begun. */
  get batchCount(): number {
    return this.#number
  }

  /** Rows that are there after all batches. */
  get rowCount(): number {
    return this.#rows.size
  }

  /** Draws the next batch, and takes it for applied everywhere until `undo` says otherwise. */
  next(prng: Prng, rowCount: number): ModelBatch {
    this.#number++
    this.#before = new Map()
    const writes = Array.from({ length: rowCount }, () => this.#draw(prng))
    const outcomes = writes.map(({ operation, row }) => {
      const id = Number(row.id)
      if (!this.#before.has(id)) this.#before.set(id, this.#rows.get(keyOf(id)))
      return this.#model.apply(operation, row)
    })
    for (const id of this.#before.keys()) this.#keep(id)
    return { number: this.#number, writes, outcomes }
  }

  /** Takes the newest batch for not applied in a bucket. */
  undo(bucket: number): void {
    for (const [id, row] of this.#before) {
      if (this.bucketOf(id) !== bucket) continue
      if (row === undefined) this.#rows.delete(keyOf(id))
      else this.#rows.set(keyOf(id), row)
      this.#versions.set(
        id,
        this.#versionsOf(id).filter(({ batch }) => batch !== this.#number),
      )
    }
  }

  /** The bucket, and so the tablet, of an INT32 key: as Kudu computes it. */
  bucketOf(id: number): number {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, (id ^ 0x8000_0000) >>> 0)
    return murmur2Bucket(bytes, 0, 4, 0, this.#bucketCount)
  }

  /**
   * After which batch of `[first, last]`, the latest that fits, a bucket looks as the rows found:
   * texts by id. Returns: −1 for none.
   */
  batchOf(bucket: number, found: ReadonlyMap<number, string>, first: number, last: number): number {
    for (let batch = last; batch >= first; batch--) {
      if (this.difference(bucket, found, batch) === null) return batch
    }
    return -1
  }

  /** The first row that is not as it was after a batch; null when all are. */
  difference(bucket: number, found: ReadonlyMap<number, string>, batch: number): string | null {
    for (let id = this.writer; id < this.#idEnd; id += this.#writerCount) {
      if (this.bucketOf(id) !== bucket) continue
      const expected = this.textAt(id, batch)
      const text = found.get(id) ?? null
      if (text !== expected) return `row ${id} is ${text}, was ${expected} after batch ${batch}`
    }
    return null
  }

  /** A row after a batch, as a text; null when it is not there. */
  textAt(id: number, batch: number): string | null {
    const found = this.#versionsOf(id).findLast((version) => version.batch <= batch)
    return found?.text ?? null
  }

  get #idEnd(): number {
    return this.#keyCount * this.#writerCount
  }

  #draw(prng: Prng): ModelWrite {
    const operation = prng.pick(OPERATIONS)
    const id = this.writer + this.#writerCount * prng.below(this.#keyCount)
    if (operation.startsWith('DELETE')) return { operation, row: { id } }
    const row: Record<string, ModelRow[string]> = { id }
    if (prng.chance(0.6)) row.number = prng.chance(0.1) ? null : prng.between(-1e6, 1e6)
    if (prng.chance(0.6)) row.text = `text ${prng.below(1000)} “ü” ${'x'.repeat(prng.below(40))}`
    if (prng.chance(0.3)) row.flag = prng.chance(0.5)
    return { operation, row }
  }

  #keep(id: number): void {
    const row = this.#rows.get(keyOf(id))
    const version = { batch: this.#number, text: row === undefined ? null : rowText(row) }
    this.#versions.set(id, [...this.#versionsOf(id), version])
  }

  #versionsOf(id: number): Version[] {
    return this.#versions.get(id) ?? []
  }
}

/** A row as a text that is the same for equal rows. */
export function rowText(row: ModelRow): string {
  return JSON.stringify(WRITER_COLUMNS.map(({ name }) => row[name]))
}

/** What must come of a batch, as the answer to it counts. */
export function tallyOf(outcomes: readonly ModelOutcome[]): Record<string, number> {
  const counts = { inserted: 0, upserted: 0, updated: 0, deleted: 0, ignored: 0, failed: 0 }
  for (const outcome of outcomes) {
    if (outcome in counts) counts[outcome as keyof typeof counts]++
    else counts.failed++
  }
  return counts
}

/** Texts of rows by id; a row that comes twice is refused. */
export function rowTexts(rows: readonly ModelRow[]): Map<number, string> {
  const texts = new Map<number, string>()
  for (const row of rows) {
    const id = Number(row.id)
    if (texts.has(id)) throw new Error(`row ${id} comes twice`)
    texts.set(id, rowText(row))
  }
  return texts
}

/** A digest that is the same for equal rows in whatever order. */
export function digestOf(texts: ReadonlyMap<number, string>): string {
  const hash = createHash('sha256')
  for (const id of [...texts.keys()].sort((a, b) => a - b)) hash.update(`${texts.get(id)}\n`)
  return hash.digest('hex')
}

function keyOf(id: number): string {
  return JSON.stringify([id])
}

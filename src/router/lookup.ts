/**
 * Rows by their primary keys, from whichever tablets hold them, at one snapshot.
 */

import type { Cell } from '../common/data-type.ts'
import { encodeKeyCells } from '../common/encoded-key.ts'
import type { Timestamp } from '../common/hybrid-clock.ts'
import { LOOKUP_BYTES_MAX } from '../common/limits.ts'
import { decodeRowBlock, type RowBlock } from '../common/row-block.ts'
import { StatusError } from '../common/status.ts'
import { KeyArena } from '../util/arena.ts'
import type { ReadSession } from './read-session.ts'

/** What is asked for. */
export interface LookupRequest {
  readonly columnIds: readonly number[]
  /** The cells of each key, in key order. */
  readonly keys: readonly (readonly Cell[])[]
  /** null: a snapshot that holds every write acknowledged before now. */
  readonly snapshot: Timestamp | null
  /** Told how many bytes of rows are held so far. May throw. */
  readonly onBytes?: (bytes: number) => void
}

/** A row found: row `row` of a block whose columns are those asked for, in that order. */
export interface FoundRow {
  readonly block: RowBlock
  readonly row: number
}

/** What was found. */
export interface LookupResult {
  readonly snapshot: Timestamp
  /** By index of the key: its row, or null. */
  readonly rows: readonly (FoundRow | null)[]
}

/**
 * Looks rows up.
 *
 * Throws: what reads of tablets throw; PAYLOAD_TOO_LARGE when the rows are more than
 * LOOKUP_BYTES_MAX.
 */
export async function lookupRows(
  session: ReadSession,
  request: LookupRequest,
): Promise<LookupResult> {
  const byTablet = groupByTablet(session, request.keys)
  const tablets = [...byTablet.keys()]
  const { clock } = session.context.ports
  const rows: (FoundRow | null)[] = request.keys.map(() => null)
  let { snapshot } = request
  if (snapshot === null && tablets.length > 1) snapshot = await session.pickSnapshot(tablets)
  if (snapshot === null && tablets.length === 0) snapshot = clock.now()
  const gathering = { bytes: 0, rows }
  const times = await Promise.all(
    tablets.map((index) => {
      const wanted = byTablet.get(index) ?? []
      return new TabletLookup(session, request, index, wanted, gathering).run(snapshot)
    }),
  )
  await session.confirm()
  return { snapshot: snapshot ?? times[0], rows }
}

/** Indexes of keys by index of their tablet; keys in no range are left out. */
function groupByTablet(
  session: ReadSession,
  keys: readonly (readonly Cell[])[],
): Map<number, number[]> {
  const { partitioner } = session.table
  const byTablet = new Map<number, number[]>()
  for (let i = 0; i < keys.length; i++) {
    const { index } = partitioner.partitionKey(keys[i])
    if (index < 0) continue
    const wanted = byTablet.get(index)
    if (wanted === undefined) byTablet.set(index, [i])
    else wanted.push(i)
  }
  return byTablet
}

/** What all tablets' lookups of a request fill. */
interface Gathering {
  bytes: number
  readonly rows: (FoundRow | null)[]
}

/**
 * The keys of one tablet: as many calls as it takes, since rows may be too large for one answer.
 */
class TabletLookup {
  readonly #session: ReadSession
  readonly #request: LookupRequest
  readonly #tablet: number
  readonly #wanted: readonly number[]
  readonly #gathering: Gathering

  constructor(
    session: ReadSession,
    request: LookupRequest,
    tablet: number,
    wanted: readonly number[],
    gathering: Gathering,
  ) {
    this.#session = session
    this.#request = request
    this.#tablet = tablet
    this.#wanted = wanted
    this.#gathering = gathering
  }

  /** Fetches all rows. Returns: the time that they were read at. */
  async run(snapshot: Timestamp | null): Promise<Timestamp> {
    let at = snapshot
    let done = 0
    do {
      const keys = this.#keysFrom(done)
      const { columnIds } = this.#request
      const { value, clock } = await this.#session.call(this.#tablet, (stub, call) =>
        stub.lookup({ ...call, columnIds, ...keys, snapshot: at }),
      )
      if (value === null) return at ?? clock
      at = value.snapshot
      this.#note(value.block, value.keyIndexes, done)
      done += value.keyCount
      if (value.keyCount === 0) throw new StatusError('INTERNAL', 'tablet looked up no key')
    } while (done < this.#wanted.length)
    return at
  }

  #keysFrom(start: number): { readonly keyBytes: Uint8Array; readonly keyEnds: Uint32Array } {
    const { keyColumns } = this.#session.table.schema
    const arena = new KeyArena()
    for (let i = start; i < this.#wanted.length; i++) {
      const key = encodeKeyCells(keyColumns, this.#request.keys[this.#wanted[i]])
      arena.append(key, 0, key.length)
      arena.endKey()
    }
    return {
      keyBytes: arena.bytes.slice(0, arena.length),
      keyEnds: arena.ends.slice(0, arena.count),
    }
  }

  #note(encoded: Uint8Array, keyIndexes: Uint32Array, start: number): void {
    const gathering = this.#gathering
    gathering.bytes += encoded.length
    if (gathering.bytes > LOOKUP_BYTES_MAX) {
      throw new StatusError(
        'PAYLOAD_TOO_LARGE',
        `rows are larger than the limit of ${LOOKUP_BYTES_MAX} bytes; ask for fewer`,
        { limit: LOOKUP_BYTES_MAX },
      )
    }
    this.#request.onBytes?.(gathering.bytes)
    const block = decodeRowBlock(encoded)
    for (let row = 0; row < block.rowCount; row++) {
      gathering.rows[this.#wanted[start + keyIndexes[row]]] = { block, row }
    }
  }
}

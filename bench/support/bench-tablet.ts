/** One tablet without a service around it: what the engine costs by itself. */

import type { Clock, Timestamp } from '../../src/common/hybrid-clock.ts'
import { STORE_MEMORY_BYTES_MAX } from '../../src/common/limits.ts'
import { encodeRowBlock, type RowBlock } from '../../src/common/row-block.ts'
import type { Schema } from '../../src/common/schema.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { MemoryAccountant } from '../../src/tablet/memory-accountant.ts'
import type { TabletStore } from '../../src/tablet/ports.ts'
import { Tablet } from '../../src/tablet/tablet.ts'
import { DEFAULT_TABLET_LAYOUT, type TabletLayout } from '../../src/tablet/tablet-layout.ts'
import { Prng } from '../../src/util/prng.ts'

const TABLE_ID = '0000000000000000000000000000000a'
const TABLET_ID = '0000000000000000000000000000000b'

/** Time as the machine tells it. */
class MachineClock implements Clock {
  nowMicros(): Timestamp {
    return Date.now() * 1000
  }
}

/** What a tablet has other than usual. */
export interface BenchTabletOptions {
  readonly clock?: Clock
  readonly layout?: TabletLayout
  readonly extraConfigs?: Readonly<Record<string, string>>
}

/** See the file's header. */
export class BenchTablet {
  readonly clock: Clock
  readonly accountant = new MemoryAccountant(STORE_MEMORY_BYTES_MAX)
  readonly #store: TabletStore
  #restCount = 0
  tablet: Tablet

  readonly #layout: TabletLayout

  /** With `canHelp` false writes never make room: nothing but `maintain` and `rest` does. */
  constructor(
    store: TabletStore,
    schema: Schema,
    canHelp = true,
    { clock, layout = DEFAULT_TABLET_LAYOUT, extraConfigs = {} }: BenchTabletOptions = {},
  ) {
    this.#store = store
    this.clock = clock ?? new MachineClock()
    const stepBytes = canHelp ? layout.stepBytes : Number.MAX_SAFE_INTEGER
    this.#layout = { ...layout, stepBytes }
    this.tablet = this.#open()
    this.tablet.initialize(tableOf(schema, extraConfigs), TABLET_ID)
  }

  #open(): Tablet {
    const { clock, accountant } = this
    const layout = this.#layout
    return Tablet.open({ store: this.#store, clock, accountant, layout, prng: new Prng(1) })
  }

  /** Loses all memory and opens the tablet again. */
  reopen(): void {
    this.tablet = this.#open()
  }

  /** What every request carries. */
  get request() {
    return { tableId: TABLE_ID, tabletId: TABLET_ID, tableVersion: 1, clock: 0 }
  }

  /** Applies a block. Throws when a row fails. */
  write(block: RowBlock): void {
    this.writeBytes(encodeRowBlock(block))
  }

  /** Applies a block in its byte form. Throws when a row fails. */
  writeBytes(block: Uint8Array): void {
    const reply = this.tablet.write({ ...this.request, block, resultKey: null })
    if (reply.kind !== 'ok') throw new Error(`the tablet answers ${reply.kind}`)
    if (reply.value.failed > 0) throw new Error(`${reply.value.failed} rows failed`)
  }

  /** Freezes what is in memory, as a flush does first. */
  beginFlush(): void {
    this.tablet.maintain((parts) => parts.transact(() => parts.swapMemRowSet()))
  }

  /** Runs what maintenance is due. */
  maintain(): void {
    while (this.tablet.stepMaintenance());
  }

  /** Flushes and merges everything, as maintenance does when a tablet is left alone. */
  rest(): void {
    const { maintenance } = this.tablet
    for (const op of ['FLUSH_MRS', 'FLUSH_DMS', 'COMPACT'] as const) {
      const id = `rest ${this.#restCount++}`
      while (!maintenance.request(op, id).isDone) this.tablet.stepMaintenance()
    }
    this.maintain()
  }
}

function tableOf(schema: Schema, extraConfigs: Readonly<Record<string, string>>): TableEntry {
  return {
    id: TABLE_ID,
    name: 'bench',
    version: 1,
    state: 'RUNNING',
    columns: schema.columns.map(({ index: _index, physical: _physical, ...column }) => column),
    nextColumnId: 1000,
    partitionSchema: {
      hashSchema: [],
      rangeColumnIds: [],
      ranges: [{ lowerKey: '', upperKey: '', hashSchema: null }],
    },
    tablets: [
      {
        tabletId: TABLET_ID,
        partition: {
          hashBuckets: [],
          rangeKeyStart: '',
          rangeKeyEnd: '',
          partitionKeyStart: '',
          partitionKeyEnd: '',
        },
      },
    ],
    owner: '',
    comment: '',
    extraConfigs,
    createdAt: 0,
    tokenSecret: '00000000000000000000000000000000',
  }
}

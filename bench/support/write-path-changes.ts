/** Changes of the write path: how to make a tablet as it is, and one as it was before. */

import { TIMESTAMP_MIN } from '../../src/common/hybrid-clock.ts'
import { TabletClock } from '../../src/tablet/tablet-clock.ts'
import { ClockedMvcc, MvccClock } from '../before/clocked-mvcc.ts'
import { HeapKeyOp } from '../before/heap-key-op.ts'
import { RowLocks } from '../before/row-locks.ts'
import { tellAbsent } from '../before/status-lookup.ts'
import { WalkedSizes } from '../before/walked-sizes.ts'
import { BenchTablet } from './bench-tablet.ts'
import { LOADGEN_SCHEMA } from './loadgen.ts'
import { MemoryStore } from './memory-store.ts'
import { partsOf, replaceParts } from './parts.ts'
import { SectionTablet } from './section-tablet.ts'

const OP_ROWS = 1000

/** A change, and what it is measured by. */
export interface Change {
  readonly name: string
  readonly opRows: number
  /** What Kudu took before and after; null: a line that only tells more. */
  readonly kudu: { readonly took: string; readonly percent: number } | null
  readonly openBefore: () => BenchTablet
  /** Left out: `openUsual`. */
  readonly openAfter?: () => BenchTablet
}

const heapKeys = new HeapKeyOp()

const LOCKS = { took: '177.8 → 146.0 s', percent: 17 }

/** In the order in which they are measured. */
export const CHANGES: readonly Change[] = [
  {
    name: 'keys in an arena, before: an object each',
    opRows: OP_ROWS,
    kudu: { took: '269.9 → 227.7 s', percent: 15 },
    openBefore: () => replaced((bench) => replaceParts(bench, { op: heapKeys })),
  },
  {
    name: 'locks by batches, before: a call each',
    opRows: 1,
    kudu: LOCKS,
    openBefore: () => replaced((bench) => replaceParts(bench, { locks: new RowLocks() })),
  },
  {
    name: 'locks by batches, before: a call each',
    opRows: OP_ROWS,
    kudu: null,
    openBefore: () => replaced((bench) => replaceParts(bench, { locks: new RowLocks() })),
  },
  {
    name: 'absent keys by a slot, before: a status each',
    opRows: OP_ROWS,
    kudu: { took: '72,873 → 61,879 s', percent: 15 },
    openBefore: () => replaced((bench) => tellAbsent(partsOf(bench).memRowSet, 'status')),
  },
  {
    name: 'absent keys by a slot, before: an exception each',
    opRows: OP_ROWS,
    kudu: null,
    openBefore: () => replaced((bench) => tellAbsent(partsOf(bench).memRowSet, 'exception')),
  },
  {
    name: 'sizes of log entries kept, before: walked',
    opRows: 1,
    kudu: { took: '65.7 → 59.9 s', percent: 8 },
    openBefore: () => replaced((bench) => new WalkedSizes(partsOf(bench))),
  },
  {
    name: 'times told to MVCC, before: taken by it',
    opRows: 1,
    kudu: { took: '60.8 → 55.4 s', percent: 8 },
    openBefore: openClocked,
    openAfter: openTold,
  },
]

/** A tablet as it is. */
export function openUsual(): BenchTablet {
  return new BenchTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
}

function replaced(replace: (bench: BenchTablet) => unknown): BenchTablet {
  const bench = openUsual()
  replace(bench)
  return bench
}

function openTold(): BenchTablet {
  const bench = new SectionTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
  bench.sectionClock = new TabletClock(bench.clock, TIMESTAMP_MIN, TIMESTAMP_MIN)
  return bench
}

function openClocked(): BenchTablet {
  const bench = new SectionTablet(new MemoryStore(), LOADGEN_SCHEMA, false)
  const mvcc = new ClockedMvcc(bench.clock, TIMESTAMP_MIN)
  replaceParts(bench, { mvcc })
  bench.sectionClock = new MvccClock(bench.clock, mvcc, TIMESTAMP_MIN, TIMESTAMP_MIN)
  return bench
}

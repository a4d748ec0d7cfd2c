import { describe, expect, test } from 'vitest'
import { AggregateTable } from '../../src/common/aggregate/aggregate-table.ts'
import { planAggregates } from '../../src/common/aggregate-plan.ts'
import type { Aggregate, AggregateSpec } from '../../src/common/aggregate-spec.ts'
import { equalityPredicate } from '../../src/common/column-predicate.ts'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { type Cell, PHYSICAL } from '../../src/common/data-type.ts'
import { AGGREGATE_FAN_OUT_MAX } from '../../src/common/limits.ts'
import type { ReadMode } from '../../src/common/read-mode.ts'
import { RowBlock } from '../../src/common/row-block.ts'
import { Schema } from '../../src/common/schema.ts'
import { StatusError } from '../../src/common/status.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import { ReadSession } from '../../src/router/read-session.ts'
import { runAggregate } from '../../src/router/run-aggregate.ts'
import { planScan } from '../../src/router/scan-plan.ts'
import { callContext } from '../../src/router/tablet-caller.ts'
import { framesOf } from '../../src/server/aggregate-sections.ts'
import { EMPTY_BYTES, utf8Decode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { ScanFrameWriter } from '../../src/wire/scan-frame.ts'
import type { TabletStub } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { type PlainRow, RouterClient } from '../support/router-client.ts'

const COLUMNS = ['id INT32 KEY', 'kind STRING NULL', 'value INT32 NULL']
const ID = 0
const KIND = 1
const VALUE = 2

const ofColumn = (op: Aggregate['op'], columnId: number): Aggregate => {
  return { op, input: { kind: 'column', columnId } }
}
const SPEC: AggregateSpec = {
  groupBy: [{ columnId: KIND, bucketMicros: null }],
  aggregates: [
    { op: 'COUNT', input: { kind: 'rows' } },
    ofColumn('SUM', VALUE),
    ofColumn('COUNT_DISTINCT', VALUE),
    ofColumn('MAX', ID),
  ],
}
const TOTAL: AggregateSpec = { groupBy: [], aggregates: SPEC.aggregates }

interface Asked {
  readonly spec?: AggregateSpec
  readonly snapshot?: number
  readonly mode?: ReadMode
  readonly id?: number
}

async function aggregate(client: RouterClient, asked: Asked = {}) {
  const session = await client.reader()
  return aggregateIn(session, asked)
}

async function aggregateIn(session: ReadSession, asked: Asked) {
  const { schema } = session.table
  const predicates = asked.id === undefined ? [] : [equalityPredicate(schema.columns[ID], asked.id)]
  const plan = planScan(session.table, {
    columnIds: [],
    spec: { predicates, lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES },
    order: 'UNORDERED',
    limit: Number.POSITIVE_INFINITY,
  })
  const { mode = 'READ_LATEST', snapshot = null } = asked
  const result = await runAggregate(session, plan, asked.spec ?? SPEC, { mode, snapshot })
  const { block } = result
  const rows = Array.from({ length: block.rowCount }, (_, row) =>
    block.columns.map((column) => plain(column.cell(row))),
  )
  return { rows: rows.sort((a, b) => String(a[0]).localeCompare(String(b[0]))), ...result }
}

function plain(cell: Cell | null): unknown {
  return cell instanceof Uint8Array ? utf8Decode(cell) : cell
}

/** What the rows come to, by the book. */
function expectedOf(rows: readonly PlainRow[]): unknown[][] {
  const kinds = [...new Set(rows.map(({ kind }) => kind))]
  return kinds
    .sort((a, b) => String(a).localeCompare(String(b)))
    .map((kind) => {
      const group = rows.filter((row) => row.kind === kind)
      const values = group.map(({ value }) => value).filter((value) => value !== null)
      const sum = values.reduce<bigint>((total, value) => total + BigInt(value as number), 0n)
      return [
        kind,
        BigInt(group.length),
        values.length === 0 ? null : sum,
        BigInt(new Set(values).size),
        Math.max(...group.map(({ id }) => Number(id))),
      ]
    })
}

describe('runAggregate', () => {
  test('comes to what the rows of all tablets come to, whatever memory vanishes', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const prng = new Prng(seed)
      const options = { seed, skewMicrosMax: 50_000, evictChance: prng.pick([0, 0.05]) }
      const service = new LocalService(options)
      service.createTable(aNewTable('t', COLUMNS, prng.pick([1, 3, 17])))
      const client = new RouterClient(service.front(), 't')
      const rows = new Map<number, PlainRow>()
      const past: { at: number; rows: PlainRow[] }[] = []
      for (let round = 0; round < 4; round++) {
        const written = Array.from({ length: prng.between(0, 40) }, () => ({
          id: prng.below(60),
          kind: prng.pick(['a', 'b', '', null]),
          value: prng.pick([null, -1, 0, 2 ** 31 - 1, prng.below(5)]),
        }))
        await client.write('UPSERT', written)
        for (const row of written) rows.set(row.id, row)
        const now = await untilDone(() => aggregate(client))
        expect(now.rows, `seed ${seed}`).toEqual(expectedOf([...rows.values()]))
        past.push({ at: now.snapshot, rows: [...rows.values()] })
      }
      for (const { at, rows: then } of past) {
        const found = await untilDone(() => aggregate(client, { snapshot: at }))
        expect(found.rows, `seed ${seed} at ${at}`).toEqual(expectedOf(then))
        expect(found.snapshot).toBe(at)
      }
    }
  })

  test('has one row without keys, and none with them, for a table not written to', async () => {
    const service = new LocalService({ seed: 1 })
    service.createTable(aNewTable('t', COLUMNS, 3))
    const client = new RouterClient(service.front(), 't')

    expect((await aggregate(client, { spec: TOTAL })).rows).toEqual([[0n, null, 0n, null]])
    expect((await aggregate(client)).rows).toEqual([])
    expect((await aggregate(client)).snapshot).toBeGreaterThan(0)
  })

  test('asks no tablet when nothing can pass', async () => {
    const service = new LocalService({ seed: 1 })
    service.createTable(aNewTable('t', COLUMNS, 1))
    const client = new RouterClient(service.front(), 't')
    const session = await client.reader()
    const spec = { predicates: [], lowerKey: Uint8Array.of(9), upperKey: Uint8Array.of(8) }
    const order = 'UNORDERED' as const
    const plan = planScan(session.table, { columnIds: [], spec, order, limit: 9 })

    const options = { mode: 'READ_LATEST', snapshot: null } as const
    const { block } = await runAggregate(session, plan, TOTAL, options)

    expect(plan.tablets).toEqual([])
    expect(block.columns.map((column) => column.cell(0))).toEqual([0n, null, 0n, null])
    expect(service.tablets.size).toBe(0)
  })

  test('reads one tablet at its own time, if that is all it needs', async () => {
    const service = new LocalService({ seed: 1, skewMicrosMax: 50_000 })
    service.createTable(aNewTable('t', COLUMNS, 16))
    const client = new RouterClient(service.front(), 't')
    const { timestamp } = await client.write('INSERT', [{ id: 7, kind: 'a', value: 3 }])

    const found = await aggregate(client, { id: 7 })

    expect(found.rows).toEqual([['a', 1n, 3n, 1n, 7]])
    expect(found.snapshot).toBeGreaterThanOrEqual(timestamp ?? 0)
    expect(service.tablets.size).toBe(1)
  })

  test('asks a few tablets at once, and none after a failure', async () => {
    const { session, calls } = await counting(40, (call) => {
      if (call === 20) throw new StatusError('CORRUPTION', 'block is damaged')
      return null
    })
    const failed = aggregateIn(session, { snapshot: 1_800_000_000_000_000 })

    await expect(failed).rejects.toThrow('block is damaged')
    expect(Math.max(...calls)).toBe(AGGREGATE_FAN_OUT_MAX)
    expect(calls.length).toBeLessThan(20 + AGGREGATE_FAN_OUT_MAX)
  })

  test('asks fewer at once when answers are large', async () => {
    const spec = { groupBy: [], aggregates: [ofColumn('COUNT_DISTINCT', ID)] }
    const frames = manyValues(spec, 1_050_000)
    const { session, calls } = await counting(16, () => frames)

    const { rows } = await aggregateIn(session, { spec, snapshot: 1_800_000_000_000_000 })

    expect(rows).toEqual([[1_050_000n]])
    expect(calls.slice(0, AGGREGATE_FAN_OUT_MAX).at(-1)).toBe(AGGREGATE_FAN_OUT_MAX)
    expect(Math.max(...calls.slice(-6))).toBeLessThanOrEqual(2)
  })

  test('names the tablet whose answer is malformed', async () => {
    const { session } = await counting(2, () => new ScanFrameWriter().encodeEnd())
    const failed = aggregateIn(session, { snapshot: 1_800_000_000_000_000 })

    await expect(failed).rejects.toMatchObject({
      code: 'CORRUPTION',
      details: { tablet_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
  })
})

/** Repeats a read that an object which lost its memory broke off, as a client may. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.code !== 'SERVICE_UNAVAILABLE' && error.code !== 'INTERNAL') throw error
    }
  }
  throw new Error('it never succeeded')
}

/** What a tablet answers that has so many different ids. */
function manyValues(spec: AggregateSpec, count: number): Uint8Array {
  const schema = new Schema(aNewTable('t', COLUMNS).columns)
  const table = new AggregateTable(planAggregates(schema, spec), 2 ** 30)
  const ids = new Uint8Array(Int32Array.from({ length: count }, (_, id) => id).buffer)
  const values = new ColumnVector(PHYSICAL.int32, count, ids, null, null, null)
  const [groups] = table.partial()
  return framesOf([groups, new RowBlock(count, [0], [values], null)])
}

/**
 * A session whose tablets answer with frames, or that they were never written to. `calls`: how many
 * were open when each began.
 */
async function counting(
  tabletCount: number,
  answer: (call: number) => Uint8Array | null,
): Promise<{ session: ReadSession; calls: number[] }> {
  const service = new LocalService({ seed: 1 })
  service.createTable(aNewTable('t', COLUMNS, tabletCount))
  const ports = service.front()
  const client = new RouterClient(ports, 't')
  const calls: number[] = []
  let open = 0
  const stub = {
    aggregate: async () => {
      const call = calls.push(++open) - 1
      await service.wander()
      open--
      const frames = answer(call)
      if (frames === null) return { kind: 'uninitialized', clock: 1 }
      return { kind: 'ok', clock: 1, value: { snapshot: 1, frames } }
    },
  }
  const ref = { name: 't' }
  const { table } = await client.cache.open(ref)
  const context = callContext(
    { ...ports, tablet: () => stub as unknown as TabletStub },
    new CallBudget(),
  )
  return { session: new ReadSession(context, client.cache, ref, table, true), calls }
}

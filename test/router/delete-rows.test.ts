import { describe, expect, test } from 'vitest'
import { successorKey } from '../../src/common/encoded-key.ts'
import { StatusError } from '../../src/common/status.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import { type DeletionSummary, deleteRows } from '../../src/router/delete-rows.ts'
import { OpenTable } from '../../src/router/open-table.ts'
import { ReadSession, TableReplaced } from '../../src/router/read-session.ts'
import { planScan } from '../../src/router/scan-plan.ts'
import { TableCache } from '../../src/router/table-cache.ts'
import { callContext } from '../../src/router/tablet-caller.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import type {
  DeleteRowsAnswer,
  DeleteRowsCall,
  TabletAnswer,
  TabletStub,
} from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'

const CLOCK = 1_800_000_000_000_000

type Answer = TabletAnswer<DeleteRowsAnswer>

/** A deletion in a table of some tablets that answer as they are told. */
class Deleting {
  readonly table: TableEntry
  readonly session: ReadSession
  readonly calls: DeleteRowsCall[] = []
  readonly #answers: Map<number, Answer[]>
  catalogSays: TableEntry

  constructor(...answers: Answer[][]) {
    const service = new LocalService({ seed: 3 })
    this.table = service.createTable(aNewTable('t', ['id INT64 KEY'], answers.length))
    this.catalogSays = this.table
    this.#answers = new Map(answers.entries())
    service.catalogStub.getTable = async () => {
      return { ok: true, value: { table: this.catalogSays, initializedTabletIds: [] } }
    }
    const ports = { ...service.front(), tablet: (tabletId: string) => this.#stub(tabletId) }
    const table = new OpenTable(this.table)
    const context = callContext(ports, new CallBudget())
    this.session = new ReadSession(context, new TableCache(ports), { name: 't' }, table, false)
  }

  #stub(tabletId: string): TabletStub {
    const index = this.table.tablets.findIndex((tablet) => tablet.tabletId === tabletId)
    const stub: Partial<TabletStub> = {
      offer: async () => ({ kind: 'ok', clock: CLOCK, value: { lastApplied: CLOCK + 7 } }),
      deleteRows: async (call) => {
        this.calls.push(call)
        return this.#answers.get(index)?.shift() ?? answer({ progress: progress(0, 0, null) })
      },
    }
    return stub as TabletStub
  }

  run(clientKey: string | null = null): Promise<DeletionSummary> {
    const spec = { predicates: [], lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }
    const limit = Number.POSITIVE_INFINITY
    const plan = planScan(this.session.table, { columnIds: [], spec, order: 'UNORDERED', limit })
    return deleteRows(this.session, plan, { clientKey, digest: 'digest' })
  }
}

function progress(shareCount: number, deletedCount: number, timestamp: number | null) {
  return { shareCount, deletedCount, timestamp }
}

function answer(members: Partial<DeleteRowsAnswer>): Answer {
  const value = {
    progress: progress(1, 10, CLOCK + 20),
    snapshot: CLOCK + 7,
    carried: EMPTY_BYTES,
    lastKey: EMPTY_BYTES,
    hasMore: false,
    isReplayed: false,
    failure: null,
    ...members,
  }
  return { kind: 'ok', clock: CLOCK, value }
}

describe('deleteRows', () => {
  test('adds up what the tablets did, and tells the newest op', async () => {
    const deleting = new Deleting(
      [answer({})],
      [answer({ progress: progress(2, 5, CLOCK + 90) })],
      [answer({ progress: progress(0, 0, null) })],
      [{ kind: 'uninitialized', clock: CLOCK }],
    )

    expect(await deleting.run()).toEqual({
      deletedCount: 15,
      timestamp: CLOCK + 90,
      isReplayed: false,
      failure: null,
    })
    expect(new Set(deleting.calls.map(({ snapshot }) => snapshot)).size).toBe(1)
    expect(deleting.calls[0].snapshot).toBeGreaterThanOrEqual(CLOCK + 7)
  })

  test('goes on with what a tablet answered, where it stopped', async () => {
    const carried = Uint8Array.of(1, 2, 3)
    const lastKey = Uint8Array.of(9, 0)
    const first = answer({ carried, lastKey, hasMore: true, progress: progress(3, 30, CLOCK + 30) })
    const deleting = new Deleting([first, answer({ progress: progress(4, 35, CLOCK + 40) })])
    const { deletedCount, timestamp } = await deleting.run('scope and key')
    const [one, two] = deleting.calls

    expect(deletedCount).toBe(35)
    expect(timestamp).toBe(CLOCK + 40)
    expect(one).toMatchObject({ progress: progress(0, 0, null), carried: EMPTY_BYTES })
    expect(two).toMatchObject({ carried, lowerKey: successorKey(lastKey), snapshot: one.snapshot })
    expect(two.progress).toEqual(progress(3, 30, CLOCK + 30))
    const resultKey = { key: 'scope and key', digest: 'digest', isInternal: false }
    expect([one.resultKey, two.resultKey]).toEqual([resultKey, resultKey])
  })

  test('is replayed when every tablet that knows of it says so, at the first time', async () => {
    const replayed = answer({
      isReplayed: true,
      snapshot: CLOCK - 50,
      progress: progress(1, 0, null),
    })
    const fresh = answer({ progress: progress(1, 0, null) })
    const unknown: Answer = { kind: 'uninitialized', clock: CLOCK }

    const all = await new Deleting([replayed], [unknown], [replayed]).run('k')
    expect(all).toMatchObject({ isReplayed: true, timestamp: CLOCK - 50, deletedCount: 0 })
    expect(await new Deleting([replayed], [fresh]).run('k')).toMatchObject({ isReplayed: false })
    expect(await new Deleting([unknown]).run('k')).toMatchObject({ isReplayed: false })
  })

  test('that fails in one tablet tells what was deleted in all, and calls no more', async () => {
    const failure = { code: 'THROTTLED', message: 'too many keys', details: { limit: 9 } } as const
    const more = answer({ hasMore: true, lastKey: Uint8Array.of(1) })
    const failed = answer({ failure, progress: progress(1, 3, CLOCK + 1) })
    const deleting = new Deleting([failed], [more, more, more, more, more, more, more])
    const summary = await deleting.run()

    expect(summary.failure).toMatchObject({
      code: 'THROTTLED',
      details: {
        limit: 9,
        tablet_id: deleting.table.tablets[0].tabletId,
        extra: { rows_applied: 13 },
      },
    })
    expect(deleting.calls.length).toBeLessThan(6)
  })

  test('that fails before anything was deleted throws', async () => {
    const error: Answer = {
      kind: 'error',
      clock: CLOCK,
      code: 'INVALID_ARGUMENT',
      message: 'another request',
      details: {},
    }
    const attempt = new Deleting([error], [answer({ progress: progress(0, 0, null) })]).run()

    await expect(attempt).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { extra: { rows_applied: 0 } },
    })
  })

  test('of a table that was made again begins anew only if nothing was deleted', async () => {
    const stale: Answer = { kind: 'stale', clock: CLOCK, tableVersion: 9 }
    const nothing = new Deleting([stale])
    nothing.catalogSays = { ...nothing.table, id: 'f'.repeat(32) }
    const something = new Deleting([stale], [answer({})])
    something.catalogSays = { ...something.table, id: 'f'.repeat(32) }

    await expect(nothing.run()).rejects.toBeInstanceOf(TableReplaced)
    const { failure } = await something.run()
    expect(failure).toBeInstanceOf(StatusError)
    expect(failure).toMatchObject({ code: 'ABORTED', details: { extra: { rows_applied: 10 } } })
  })
})

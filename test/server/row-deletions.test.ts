import { beforeEach, describe, expect, test } from 'vitest'
import { successorKey } from '../../src/common/encoded-key.ts'
import {
  DELETION_CALL_MS_MAX,
  DELETION_COUNT_MAX,
  SHARE_BYTES_MAX,
} from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { RowDeletions } from '../../src/server/row-deletions.ts'
import { answerOf } from '../../src/server/tablet-answer.ts'
import type { Tablet } from '../../src/tablet/tablet.ts'
import type { TabletReply } from '../../src/tablet/tablet-request.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import type {
  DeleteRowsAnswer,
  DeleteRowsCall,
  TabletAnswer,
} from '../../src/wire/tablet-protocol.ts'
import { aSchema } from '../support/a-schema.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const NOTHING_DONE = { shareCount: 0, deletedCount: 0, timestamp: null }

/** One tablet and its deletions, with a hand on everything that comes in between. */
class DeletionWorld {
  readonly harness: TabletHarness
  elapsedMs = 0
  /** Sections that were run. */
  sectionCount = 0
  /** Done before a section; it may throw what ends the object. */
  beforeSection: (number: number) => void = () => undefined
  /** Done while others run. */
  onPause: () => void = () => undefined
  /** Writes that are refused for want of memory. */
  refusedCount = 0
  sliceRowCount = 131_072

  constructor(...columns: string[]) {
    this.harness = new TabletHarness(aSchema(...columns))
  }

  write(operations: readonly PlainOperation[]): void {
    for (let start = 0; start < operations.length; start += 8000) {
      this.harness.write(operations.slice(start, start + 8000))
    }
  }

  /** Deletions as an object that wakes has them. */
  deletions(): RowDeletions {
    return new RowDeletions({
      section: async (_, work) => this.#section(work),
      during: (_tabletId, _bytes, write) => {
        if (this.refusedCount-- <= 0) return write()
        const error = new StatusError('SERVICE_UNAVAILABLE', 'memory is full')
        return Promise.resolve(answerOf({ ok: false, ...errorFields(error) }, 0))
      },
      pause: async () => this.onPause(),
      elapsedMs: () => this.elapsedMs,
      sliceRowCount: this.sliceRowCount,
    })
  }

  #section<T>(work: (tablet: Tablet) => TabletReply<T>): TabletAnswer<T> {
    this.beforeSection(this.sectionCount++)
    try {
      return answerOf({ ok: true, value: work(this.harness.tablet) }, 0)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return answerOf({ ok: false, ...errorFields(error) }, 0)
    }
  }

  call(members: Partial<DeleteRowsCall> = {}): DeleteRowsCall {
    return {
      wire: 1,
      ...this.harness.request(),
      predicates: [],
      lowerKey: EMPTY_BYTES,
      upperKey: EMPTY_BYTES,
      snapshot: this.harness.tablet.newestTime,
      resultKey: { key: 'k', digest: 'request', isInternal: false },
      progress: NOTHING_DONE,
      carried: EMPTY_BYTES,
      ...members,
    }
  }

  /** Calls until it is done. Returns: the answers. */
  async finish(first: DeleteRowsCall): Promise<DeleteRowsAnswer[]> {
    const answers: DeleteRowsAnswer[] = []
    let call = first
    for (;;) {
      const answer = ok(await this.deletions().work(call))
      answers.push(answer)
      if (!answer.hasMore) return answers
      const { progress, carried, lastKey } = answer
      call = { ...call, progress, carried, lowerKey: successorKey(lastKey) }
    }
  }
}

function errorFields({ code, message, details }: StatusError) {
  return { code, message, details }
}

function ok(answer: TabletAnswer<DeleteRowsAnswer>): DeleteRowsAnswer {
  if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer))
  return answer.value
}

function inserts(start: number, end: number): PlainOperation[] {
  return Array.from({ length: end - start }, (_, i) => ['INSERT', { k: start + i, v: i % 7 }])
}

let world: DeletionWorld

beforeEach(() => {
  world = new DeletionWorld('k INT32 KEY', 'v INT32')
})

describe('RowDeletions', () => {
  test('deletes in ops of at most 8,192 rows, others run in between', async () => {
    world.write(inserts(0, 20_000))
    let pauseCount = 0
    world.onPause = () => pauseCount++
    const [answer] = await world.finish(world.call())

    expect(answer).toMatchObject({
      progress: { shareCount: 3, deletedCount: 20_000 },
      hasMore: false,
      isReplayed: false,
      failure: null,
    })
    expect(pauseCount).toBeGreaterThanOrEqual(3)
    expect(world.harness.rows()).toEqual([])
    expect(world.harness.parts.liveRowCount).toBe(0)
  })

  test('refuses more than so many at once, however they come', async () => {
    world.write(inserts(0, 100))
    const deletions = world.deletions()
    const calls = Array.from({ length: DELETION_COUNT_MAX + 3 }, (_, i) =>
      world.call({ resultKey: { key: `k${i}`, digest: 'request', isInternal: false } }),
    )
    const answers = await Promise.all(calls.map((call) => deletions.work(call)))

    expect(answers.filter(({ kind }) => kind === 'ok').length).toBe(DELETION_COUNT_MAX)
    const refused = answers.filter(({ kind }) => kind === 'error')
    expect(refused).toHaveLength(3)
    expect(refused[0]).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(ok(await deletions.work(world.call())).hasMore).toBe(false)
  })

  test('keeps what was written after the snapshot, and what came back since', async () => {
    world.write(inserts(0, 10_000))
    const call = world.call()
    const schemaWrite = (operations: PlainOperation[]) => world.write(operations)
    let isFirst = true
    world.onPause = () => {
      if (isFirst)
        schemaWrite([
          ['INSERT', { k: 20_000, v: 0 }],
          ['UPSERT', { k: 3, v: 9 }],
        ])
      isFirst = false
    }
    const [answer] = await world.finish(call)

    expect(answer.progress.deletedCount).toBe(10_000)
    expect(world.harness.rows()).toEqual([
      { k: 3, v: 9 },
      { k: 20_000, v: 0 },
    ])
  })

  test('a call that takes long is answered, and the next one goes on where it was', async () => {
    world.write(inserts(0, 80_000))
    const column = world.harness.schema.columns[1]
    const predicates = [
      { columnId: column.id, kind: 'EQUALITY', lower: 3, upper: null, values: [] } as const,
    ]
    world.beforeSection = () => (world.elapsedMs += DELETION_CALL_MS_MAX)
    world.sliceRowCount = 1000
    const call = world.call({ predicates })
    const answers = await world.finish(call)

    expect(answers.length).toBeGreaterThan(1)
    expect(answers[0].carried.length).toBeGreaterThan(0)
    expect(answers.at(-1)?.progress.deletedCount).toBe(Math.ceil((80_000 - 3) / 7))
    expect(world.harness.rows()).toHaveLength(80_000 - Math.ceil((80_000 - 3) / 7))
  })

  test('keys of many bytes are deleted in ops that fit a stored row', async () => {
    world = new DeletionWorld('a STRING KEY', 'b STRING KEY')
    const long = 'x'.repeat(3000)
    const rows = Array.from({ length: 700 }, (_, i): PlainOperation => {
      return ['INSERT', { a: `${i % 10}${long}`, b: `${i}${long}` }]
    })
    for (let start = 0; start < rows.length; start += 250)
      world.harness.write(rows.slice(start, start + 250))
    const sizes: number[] = []
    const { tablet } = world.harness
    const write = tablet.write.bind(tablet)
    tablet.write = (request) => {
      sizes.push(request.block.length)
      return write(request)
    }
    const [answer] = await world.finish(world.call())

    expect(answer.progress.deletedCount).toBe(700)
    expect(sizes.length).toBeGreaterThan(2)
    for (const size of sizes) expect(size).toBeLessThan(SHARE_BYTES_MAX + 20_000)
  })

  test.each([true, false])(
    'repeated after any section, counts each row once (front key: %s)',
    async (isInternal) => {
      const resultKey = { key: 'k', digest: 'request', isInternal }
      let stop = 0
      for (let isOver = false; !isOver; stop++) {
        world = new DeletionWorld('k INT32 KEY', 'v INT32')
        world.write(inserts(0, 9_000))
        const call = world.call({ resultKey })
        world.beforeSection = (number) => {
          if (number === stop) throw new Error('reset')
        }
        isOver = await world
          .deletions()
          .work(call)
          .then(
            () => true,
            () => false,
          )
        world.beforeSection = () => undefined
        world.harness.store.release()
        world.harness.crash()
        // Somebody brings a row back that is gone already, if it is.
        world.write([['INSERT_IGNORE', { k: 5, v: 100 }]])
        const cameBack = world.harness.rows()[0]?.v === 100
        const [answer] = await world.finish(call)

        expect(answer.progress.deletedCount).toBe(9_000)
        expect(answer.isReplayed).toBe(false)
        expect(world.harness.rows()).toEqual(cameBack ? [{ k: 5, v: 100 }] : [])
      }
      expect(stop).toBeGreaterThan(5)
    },
  )

  test('a later request with the key goes on with the rest, and adds up', async () => {
    world.write(inserts(0, 20_000))
    world.beforeSection = (number) => {
      if (number === 4) throw new Error('reset')
    }
    await expect(world.deletions().work(world.call())).rejects.toThrow('reset')
    world.beforeSection = () => undefined
    world.harness.store.release()
    world.harness.crash()
    const left = world.harness.rows().length
    world.write(inserts(50_000, 50_010))
    const second = world.call()
    const [answer] = await world.finish(second)

    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(20_000)
    expect(answer.progress.deletedCount).toBe(20_010)
    const [third] = await world.finish({ ...second, snapshot: second.snapshot + 10 })
    expect(third).toMatchObject({
      progress: answer.progress,
      snapshot: second.snapshot,
      isReplayed: true,
    })
  })

  test('of two at the same time with one key, one gives up', async () => {
    world.write(inserts(0, 30_000))
    const first = world.call()
    const second = world.call({ snapshot: first.snapshot + 1000 })
    const answers = await Promise.all([
      world.deletions().work(first),
      world.deletions().work(second),
    ])
    const failures = answers.map((answer) => ok(answer).failure?.code ?? 'none').sort()

    expect(failures).toEqual(['ABORTED', 'none'])
    const done = answers.map(ok).find(({ failure }) => failure === null)
    expect(done?.progress.deletedCount).toBe(30_000)
    expect(world.harness.rows()).toEqual([])
  })

  test('a call that goes on when another request took its key over is ABORTED', async () => {
    world.write(inserts(0, 70_000))
    world.onPause = () => (world.elapsedMs += DELETION_CALL_MS_MAX / 2)
    const call = world.call()
    const { progress, lastKey, carried, hasMore } = ok(await world.deletions().work(call))
    expect(hasMore).toBe(true)
    ok(await world.deletions().work({ ...call, snapshot: call.snapshot + 1 }))
    const next = { ...call, progress, carried, lowerKey: successorKey(lastKey) }

    expect(await world.deletions().work(next)).toMatchObject({ kind: 'error', code: 'ABORTED' })
  })

  test('another request with the key is INVALID_ARGUMENT', async () => {
    await world.finish(world.call())
    const other = { key: 'k', digest: 'other', isInternal: false }

    expect(await world.deletions().work(world.call({ resultKey: other }))).toMatchObject({
      kind: 'error',
      code: 'INVALID_ARGUMENT',
    })
  })

  test('without memory for it ends with what was done, and why', async () => {
    world.write(inserts(0, 20_000))
    world.beforeSection = (number) => {
      if (number === 4) world.refusedCount = 1
    }
    const [answer] = await world.finish(world.call())

    expect(answer.failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(answer.hasMore).toBe(false)
    expect(answer.progress.deletedCount).toBe(20_000 - world.harness.rows().length)
    expect(answer.progress.deletedCount).toBeGreaterThan(0)
  })

  test('a tablet that was never written stays so, unless a client has it remember', async () => {
    world = new DeletionWorld('k INT32 KEY')
    const harness = new TabletHarness(world.harness.schema, { isNew: true })
    const fresh = Object.assign(world, { harness })
    const internal = fresh.call({ resultKey: { key: 'k', digest: '', isInternal: true } })

    expect((await fresh.deletions().work(internal)).kind).toBe('uninitialized')
    expect(harness.tablet.remembered(fresh.call(), fresh.call().resultKey)).toMatchObject({
      kind: 'uninitialized',
      mustInitialize: true,
    })
  })

  test('lets go of the scan, whatever happens', async () => {
    world.write(inserts(0, 20_000))
    const { harness } = world
    world.beforeSection = (number) => {
      if (number === 3) throw new Error('reset')
    }
    await expect(world.deletions().work(world.call())).rejects.toThrow()
    world.beforeSection = () => undefined
    await world.finish(world.call({ resultKey: { key: 'l', digest: '', isInternal: true } }))

    expect(harness.parts.memRowSet.isPinned).toBe(false)
  })
})

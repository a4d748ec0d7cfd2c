import { beforeEach, describe, expect, test } from 'vitest'
import type { AggregateSpec } from '../../src/common/aggregate-spec.ts'
import { equalityPredicate } from '../../src/common/column-predicate.ts'
import { ColumnVector } from '../../src/common/column-vector.ts'
import { PHYSICAL } from '../../src/common/data-type.ts'
import {
  AGGREGATE_OPEN_COUNT_MAX,
  AGGREGATE_STEP_ROW_COUNT,
  MESSAGE_BYTES_MAX,
} from '../../src/common/limits.ts'
import { RowBlock } from '../../src/common/row-block.ts'
import { StatusError } from '../../src/common/status.ts'
import { AggregateSections, framesOf } from '../../src/server/aggregate-sections.ts'
import { answerOf } from '../../src/server/tablet-answer.ts'
import type { Tablet } from '../../src/tablet/tablet.ts'
import type { TabletReply } from '../../src/tablet/tablet-request.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { ScanFrameReader } from '../../src/wire/scan-frame.ts'
import type {
  AggregateAnswer,
  AggregateCall,
  TabletAnswer,
} from '../../src/wire/tablet-protocol.ts'
import { aSchema } from '../support/a-schema.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const ROW_COUNT = 120_000
const SCHEMA = aSchema('k INT32 KEY', 'v INT32 NULL')
const [k, v] = SCHEMA.columns
const harness = new TabletHarness(SCHEMA)
for (let start = 0; start < ROW_COUNT; start += 6000) {
  harness.write(
    Array.from({ length: 6000 }, (_, i) => ['INSERT', { k: start + i, v: (start + i) % 10 }]),
  )
}

/** Many parts a row, so that some rows make a section. */
const SUMS: AggregateSpec = {
  groupBy: [],
  aggregates: Array.from({ length: 20 }, (_, i) => ({
    op: 'SUM',
    input: {
      kind: 'expression',
      expression: {
        kind: 'binary',
        type: { kind: 'integer' },
        op: '+',
        left: { kind: 'column', type: { kind: 'integer' }, columnId: v.id },
        right: { kind: 'literal', type: { kind: 'integer' }, unscaled: BigInt(i), scale: 0 },
      },
    },
  })),
}
const TOTAL = (ROW_COUNT / 10) * 45

let sectionCount = 0
let onPause: () => void = () => undefined

function section<T>(_: AggregateCall, work: (tablet: Tablet) => TabletReply<T>): TabletAnswer<T> {
  sectionCount++
  try {
    return answerOf({ ok: true, value: work(harness.tablet) }, 0)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { code, message, details } = error
    return answerOf({ ok: false, code, message, details }, 0)
  }
}

function sectionsOf(pause: () => Promise<void> = async () => onPause()): AggregateSections {
  return new AggregateSections({ section: async (call, work) => section(call, work), pause })
}

function callFor(members: Partial<AggregateCall> = {}): AggregateCall {
  return {
    wire: 1,
    ...harness.request(),
    spec: SUMS,
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    snapshot: null,
    ...members,
  }
}

/** The cells of the only group. */
function cellsOf(answer: TabletAnswer<AggregateAnswer>): unknown[] {
  if (answer.kind !== 'ok') throw new Error(`answered ${answer.kind}`)
  const reader = new ScanFrameReader()
  reader.push(answer.value.frames)
  const block = reader.next()?.block
  reader.next()
  reader.finish()
  return block?.columns.map((column) => column.cell(0)) ?? []
}

const isPinned = () => harness.tablet.parts?.memRowSet.isPinned

beforeEach(() => {
  sectionCount = 0
  onPause = () => undefined
})

describe('AggregateSections', () => {
  test('looks at a part of the rows in a section, and lets others run between them', async () => {
    let pauseCount = 0
    onPause = () => {
      pauseCount++
    }
    const [first, , second] = cellsOf(await sectionsOf().run(callFor()))

    expect([first, second]).toEqual([BigInt(TOTAL), BigInt(TOTAL + ROW_COUNT)])
    expect(ROW_COUNT).toBeLessThan(AGGREGATE_STEP_ROW_COUNT)
    expect(sectionCount).toBeGreaterThanOrEqual(3)
    expect(pauseCount).toBe(sectionCount - 1)
  })

  test('shows the snapshot at which it began', async () => {
    let written = 0
    onPause = () => {
      if (written++ === 0) harness.write([['INSERT', { k: -1, v: 1000 }]])
    }
    const answer = await sectionsOf().run(callFor())

    expect(cellsOf(answer)[0]).toBe(BigInt(TOTAL))
    const snapshot = answer.kind === 'ok' ? answer.value.snapshot : 0
    expect(cellsOf(await sectionsOf().run(callFor({ snapshot })))[0]).toBe(BigInt(TOTAL))
    expect(cellsOf(await sectionsOf().run(callFor()))[0]).toBe(BigInt(TOTAL + 1000))
    harness.write([['DELETE', { k: -1 }]])
  })

  test('aggregates what predicates and bounds of keys leave', async () => {
    const predicates = [equalityPredicate(v, 3)]
    const upperKey = Uint8Array.of(0x80, 0, 0, 100)

    expect(cellsOf(await sectionsOf().run(callFor({ predicates, upperKey })))[0]).toBe(30n)
  })

  test('answers what a tablet refuses', async () => {
    const columnId = 999
    const aggregates = [{ op: 'MAX', input: { kind: 'column', columnId } }] as const
    const answer = await sectionsOf().run(callFor({ spec: { groupBy: [], aggregates } }))

    expect(answer).toMatchObject({ kind: 'error', code: 'INVALID_ARGUMENT' })
    const old = await sectionsOf().run(callFor({ snapshot: 1 }))
    expect(old).toMatchObject({ kind: 'error', code: 'INVALID_SNAPSHOT' })
    const stale = await sectionsOf().run(callFor({ tableVersion: 9 }))
    expect(stale.kind).toBe('stale')
  })

  test('names the limit of groups and lets go of the rowsets', async () => {
    const spec = { groupBy: [{ columnId: k.id, bucketMicros: null }], aggregates: [] }
    const answer = await sectionsOf().run(callFor({ spec }))

    expect(answer).toMatchObject({ kind: 'error', code: 'INVALID_ARGUMENT' })
    expect(answer).toMatchObject({ message: expect.stringContaining('more than 100000 groups') })
    expect(isPinned()).toBe(false)
  })

  test('lets go of the rowsets when the object ends', async () => {
    const failing = sectionsOf(async () => {
      throw new Error('object ends')
    })

    await expect(failing.run(callFor())).rejects.toThrow('object ends')
    expect(isPinned()).toBe(false)
  })

  test('are bounded in number', async () => {
    const sections = sectionsOf()
    const answers = await Promise.all(
      Array.from({ length: AGGREGATE_OPEN_COUNT_MAX + 1 }, () => sections.run(callFor())),
    )

    const kinds = answers.map((answer) => (answer.kind === 'error' ? answer.code : answer.kind))
    expect(kinds.filter((kind) => kind === 'SERVICE_UNAVAILABLE').length).toBeGreaterThan(0)
    expect((await sections.run(callFor())).kind).toBe('ok')
  })

  test('do not go on in a tablet that was opened anew', async () => {
    onPause = () => harness.evict()
    const answer = await sectionsOf().run(callFor())

    expect(answer).toMatchObject({ kind: 'error', code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('framesOf', () => {
  test('refuses what does not fit a message', () => {
    const bytes = new Uint8Array(MESSAGE_BYTES_MAX - 64 * 1024)
    const vector = new ColumnVector(PHYSICAL.int8, bytes.length, bytes, null, null, null)
    const block = new RowBlock(bytes.length, [0], [vector], null)

    expect(() => framesOf([block])).toThrow(StatusError)
  })
})

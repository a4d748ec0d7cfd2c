import { beforeEach, describe, expect, test } from 'vitest'
import { SCAN_ANALYSIS_COUNT_MAX } from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'
import { ScanAnalyses } from '../../src/server/scan-analyses.ts'
import { answerOf } from '../../src/server/tablet-answer.ts'
import type { Tablet } from '../../src/tablet/tablet.ts'
import type { TabletReply } from '../../src/tablet/tablet-request.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import type { AnalyzeAnswer, ScanCall, TabletAnswer } from '../../src/wire/tablet-protocol.ts'
import { aSchema } from '../support/a-schema.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const ROW_COUNT = 300_000
const harness = new TabletHarness(aSchema('k INT32 KEY', 'v INT32'))
for (let start = 0; start < ROW_COUNT; start += 6000) {
  harness.write(
    Array.from({ length: 6000 }, (_, i) => ['INSERT', { k: start + i, v: (start + i) % 10 }]),
  )
}

let sectionCount = 0
let pauseCount = 0
let onPause: () => void = () => undefined

function section<T>(_: ScanCall, work: (tablet: Tablet) => TabletReply<T>): TabletAnswer<T> {
  sectionCount++
  try {
    return answerOf({ ok: true, value: work(harness.tablet) }, 0)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { code, message, details } = error
    return answerOf({ ok: false, code, message, details }, 0)
  }
}

function analysesOf(): ScanAnalyses {
  return new ScanAnalyses({
    section: async (call, work) => section(call, work),
    pause: async () => {
      pauseCount++
      onPause()
    },
  })
}

function callFor(members: Partial<ScanCall> = {}): ScanCall {
  return {
    wire: 1,
    ...harness.request(),
    columnIds: [],
    predicates: [],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
    order: 'UNORDERED',
    snapshot: null,
    rowCountMax: Number.POSITIVE_INFINITY,
    bytesMax: Number.MAX_SAFE_INTEGER,
    withKeys: false,
    ...members,
  }
}

function okAnswer(answer: TabletAnswer<AnalyzeAnswer>): AnalyzeAnswer {
  if (answer.kind !== 'ok') throw new Error(`answered ${answer.kind}`)
  return answer.value
}

beforeEach(() => {
  sectionCount = 0
  pauseCount = 0
  onPause = () => undefined
})

describe('ScanAnalyses', () => {
  test('looks at a part of the rows in a section, and lets others run between them', async () => {
    const { stats } = okAnswer(await analysesOf().run(callFor()))

    expect(stats).toMatchObject({ rowsScanned: ROW_COUNT, rowsReturned: ROW_COUNT })
    expect(sectionCount).toBeGreaterThanOrEqual(3)
    expect(pauseCount).toBe(sectionCount - 1)
  })

  test('stops at the limit', async () => {
    for (const rowCountMax of [0, 1, 4096, 5000]) {
      const { stats } = okAnswer(await analysesOf().run(callFor({ rowCountMax })))

      expect(stats.rowsReturned).toBe(rowCountMax)
    }
  })

  test('shows the snapshot at which it began', async () => {
    let written = 0
    onPause = () => {
      if (written++ === 0) harness.write([['INSERT', { k: -1, v: 0 }]])
    }

    const { stats, snapshot } = okAnswer(await analysesOf().run(callFor()))
    const again = okAnswer(await analysesOf().run(callFor({ snapshot })))

    expect([stats.rowsReturned, again.stats.rowsReturned]).toEqual([ROW_COUNT, ROW_COUNT])
    harness.write([['DELETE', { k: -1 }]])
  })

  test('lets go of the rowsets, whatever becomes of it', async () => {
    const isPinned = () => harness.tablet.parts?.memRowSet.isPinned
    await analysesOf().run(callFor())
    await analysesOf().run(callFor({ rowCountMax: 1 }))
    expect(isPinned()).toBe(false)

    let fails = true
    const failing = new ScanAnalyses({
      section: async (call, work) => section(call, work),
      pause: async () => {
        if (fails) throw new Error('object ends')
      },
    })
    await expect(failing.run(callFor())).rejects.toThrow('object ends')
    expect(isPinned()).toBe(false)
    fails = false
    expect(okAnswer(await failing.run(callFor())).stats.rowsReturned).toBe(ROW_COUNT)
  })

  test('are bounded in number', async () => {
    const analyses = analysesOf()
    const answers = await Promise.all(
      Array.from({ length: SCAN_ANALYSIS_COUNT_MAX + 1 }, () =>
        analyses.run(callFor({ rowCountMax: 9 })),
      ),
    )

    const kinds = answers.map((answer) => (answer.kind === 'error' ? answer.code : answer.kind))
    expect(kinds.filter((kind) => kind === 'ok').length).toBe(SCAN_ANALYSIS_COUNT_MAX)
    expect(kinds.at(-1)).toBe('SERVICE_UNAVAILABLE')
    expect((await analyses.run(callFor({ rowCountMax: 9 }))).kind).toBe('ok')
  })

  test('do not go on in a tablet that was opened anew', async () => {
    onPause = () => harness.evict()

    const answer = await analysesOf().run(callFor())

    expect(answer).toMatchObject({ kind: 'error', code: 'SERVICE_UNAVAILABLE' })
  })
})

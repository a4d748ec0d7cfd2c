import { describe, expect, test } from 'vitest'
import { Schema } from '../../src/common/schema.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable } from '../support/a-table-entry.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletStory } from '../support/tablet-story.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 11),
  aColumnDefinition('s STRING NULL', 12),
  asImmutable(aColumnDefinition('i INT32 NULL', 13)),
])
const OPERATIONS = [
  'INSERT',
  'INSERT_IGNORE',
  'UPSERT',
  'UPSERT_IGNORE',
  'UPDATE',
  'UPDATE_IGNORE',
  'DELETE',
  'DELETE_IGNORE',
  'DELETE',
] as const
const SEEDS = Array.from({ length: 8 }, (_, i) => i + 1)

function anOperation(prng: Prng): PlainOperation {
  const operation = OPERATIONS[prng.below(OPERATIONS.length)]
  // Five hot keys and a few cold ones.
  const k = prng.below(4) > 0 ? prng.below(5) : prng.below(40)
  if (operation === 'DELETE' || operation === 'DELETE_IGNORE') return [operation, { k }]
  const row: Record<string, number | string | null> = { k }
  if (prng.below(4) > 0) row.v = prng.below(100)
  if (prng.below(3) === 0) row.s = prng.below(5) === 0 ? null : 'x'.repeat(prng.below(40))
  if (prng.below(6) === 0) row.i = prng.below(100)
  return [operation, row]
}

describe('replayOp', () => {
  test.each(SEEDS)('brings back every snapshot after every crash (seed %i)', (seed) => {
    const prng = new Prng(seed)
    const story = new TabletStory(SCHEMA)
    for (let step = 0; step < 12; step++) {
      const count = 1 + prng.below(seed % 3 === 0 ? 30 : 6)
      story.write(Array.from({ length: count }, () => anOperation(prng)))
      const event = prng.below(8)
      if (event === 0) story.flush()
      else if (event === 1) story.flushDeltas()
      else if (event === 2 && story.canBeginFlush) story.beginFlush()
      else if (event === 3 && story.isFlushing) story.endFlush()
      else if (event === 4) story.restart()
    }

    story.check()
    expect(story.times.length).toBeGreaterThan(0)
  })
})

import { describe, expect, test } from 'vitest'
import { Schema } from '../../src/common/schema.ts'
import { checkTablet } from '../../src/tablet/invariants.ts'
import { FlushMemRowSetTask } from '../../src/tablet/maintenance/flush-mem-row-set-task.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletHarness } from '../support/tablet-harness.ts'

const SEED = 0x6a9
const ROUNDS = 8
const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 12),
])

/** Ascending keys from somewhere on, some left out. */
function ascendingKeys(prng: Prng): number[] {
  const count = prng.between(200, 900)
  const step = prng.pick([1, 1, 2, 50])
  let key = prng.below(40) * 500
  return Array.from({ length: count }, () => {
    key += 1 + prng.below(step)
    return key
  })
}

describe('Loads of ascending keys', () => {
  test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))(
    'fail and apply as in a model, seed %d',
    (seed) => {
      const prng = new Prng(seed)
      const harness = new TabletHarness(SCHEMA)
      const model = new Set<number>()
      for (let i = 0; i < 40; i++) {
        const keys = ascendingKeys(prng)
        const isDelete = prng.below(4) === 0
        const operations = keys.map((k): PlainOperation => [isDelete ? 'DELETE' : 'INSERT', { k }])
        const { errors } = harness.write(operations)
        const failing = keys.flatMap((key, row) => (model.has(key) === isDelete ? [] : [row]))

        expect([...errors.rows]).toEqual(failing)
        for (const key of keys) isDelete ? model.delete(key) : model.add(key)
        if (prng.below(3) === 0 && harness.parts.memRowSet.rowCount > 0) {
          harness.runTask((parts, now) => new FlushMemRowSetTask(parts, now))
        }
      }

      expect(harness.rows().map(({ k }) => k)).toEqual([...model].sort((a, b) => a - b))
      checkTablet(harness.tablet)
    },
  )
})

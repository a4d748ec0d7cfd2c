import { describe, expect, test } from 'vitest'
import { CHUNK_ROW_COUNT } from '../../../src/tablet/memory/chunk.ts'
import { NOT_WANTED, REDO_KINDS, RedoLog, UNCHANGED } from '../../../src/tablet/memory/redo-log.ts'
import { NO_REDO } from '../../../src/tablet/memory/row-chunk.ts'
import { schemaWith } from '../../support/row-data.ts'

const schema = schemaWith('k INT32 KEY', 'a INT32 NULL', 'b STRING NULL')
const { UPDATE, DELETE, REINSERT } = REDO_KINDS

/** Positions of the changed cells of columns a and b as of a redo. */
function resolve(log: RedoLog, redo: number, wanted = [NOT_WANTED, 0, 1]): number[] {
  const places = new Int32Array(2).fill(UNCHANGED)
  const count = wanted.filter((it) => it !== NOT_WANTED).length
  const found = log.resolve(redo, Int16Array.from(wanted), count, places, 0)
  expect(found).toBe([...places].filter((it) => it !== UNCHANGED).length)
  return [...places]
}

describe('RedoLog', () => {
  test('finds the newest change at or below a snapshot', () => {
    const log = new RedoLog(schema)
    const first = log.append(10, UPDATE, NO_REDO)
    const second = log.append(20, UPDATE, first)
    const third = log.append(20, DELETE, second)

    expect([9, 10, 19, 20, 99].map((it) => log.newestAt(third, it))).toEqual([
      NO_REDO,
      first,
      first,
      third,
      third,
    ])
    expect(log.newestAt(NO_REDO, 99)).toBe(NO_REDO)
    expect([log.older(third), log.kind(third), log.at(third)]).toEqual([second, DELETE, 20])
  })

  test('finds of each column the newest changed cell', () => {
    const log = new RedoLog(schema)
    const first = log.append(1, UPDATE, NO_REDO)
    log.addValue(1, 7)
    log.addValue(2, null)
    const second = log.append(2, UPDATE, first)
    log.addValue(1, 8)

    expect(resolve(log, second)).toEqual([1, 0])
    expect(resolve(log, first)).toEqual([0, 0])
    expect(resolve(log, second, [NOT_WANTED, NOT_WANTED, 0])).toEqual([0, UNCHANGED])
    expect(resolve(log, NO_REDO)).toEqual([UNCHANGED, UNCHANGED])
  })

  test('never looks below a row that was inserted again', () => {
    const log = new RedoLog(schema)
    const update = log.append(1, UPDATE, NO_REDO)
    log.addValue(2, null)
    const again = log.append(2, REINSERT, log.append(2, DELETE, update))
    log.addValue(1, 7)

    expect(resolve(log, again)).toEqual([0, UNCHANGED])
  })

  test('keeps chains over the ends of chunks, apart from each other', () => {
    const log = new RedoLog(schema)
    let [even, odd] = [NO_REDO, NO_REDO]
    for (let at = 0; at < CHUNK_ROW_COUNT * 2 + 10; at++) {
      const redo = log.append(at, UPDATE, at % 2 === 0 ? even : odd)
      log.addValue(1, at)
      if (at % 2 === 0) even = redo
      else odd = redo
    }

    for (const at of [0, 1, CHUNK_ROW_COUNT - 1, CHUNK_ROW_COUNT, CHUNK_ROW_COUNT * 2 + 5]) {
      const [position] = resolve(log, log.newestAt(at % 2 === 0 ? even : odd, at))
      expect(position).toBe(at)
    }
    log.checkInvariants()
  })
})

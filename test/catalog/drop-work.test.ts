import { describe, expect, test } from 'vitest'
import {
  afterFreeing,
  afterRefusal,
  type DropWork,
  decodeDropWork,
  encodeDropWork,
  isDone,
} from '../../src/catalog/drop-work.ts'

const WORK: DropWork = { tableId: 't', toRefuse: ['a', 'b', 'c'], toFree: ['z'] }

describe('DropWork', () => {
  test('moves a tablet that refuses to those that are to be freed', () => {
    expect(afterRefusal(WORK, ['b'])).toEqual({
      tableId: 't',
      toRefuse: ['a', 'c'],
      toFree: ['z', 'b'],
    })
  })

  test('is as before when a tablet is reported twice, or after it was freed', () => {
    const once = afterRefusal(WORK, ['b'])

    expect(afterRefusal(once, ['b'])).toEqual(once)
    const freed = afterFreeing(once, ['b'])
    expect(afterRefusal(freed, ['b'])).toEqual(freed)
    expect(afterFreeing(freed, ['b'])).toEqual(freed)
  })

  test('frees no tablet that does not refuse yet', () => {
    expect(afterFreeing(WORK, ['a'])).toEqual(WORK)
  })

  test('is done when every tablet was freed', () => {
    const refused = afterRefusal(WORK, ['a', 'b', 'c'])

    expect(isDone(refused)).toBe(false)
    expect(isDone(afterFreeing(refused, ['a', 'b', 'c', 'z']))).toBe(true)
  })

  test('survives being stored', () => {
    expect(decodeDropWork('t', encodeDropWork(WORK))).toEqual(WORK)
  })
})

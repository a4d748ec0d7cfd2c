import { describe, expect, test } from 'vitest'
import { isRun } from '../../src/util/is-run.ts'

describe('isRun', () => {
  test.each([
    [[7], true],
    [[7, 8, 9], true],
    [[7, 9, 8, 10], false],
    [[7, 8, 8, 10], false],
    [[9, 8, 7], false],
    [[7, 9], false],
  ])('says of %j: %s', (numbers, expected) => {
    expect(isRun(Uint32Array.from(numbers), 0, numbers.length)).toBe(expected)
    expect(isRun(Int32Array.from([3, ...numbers, 0]), 1, numbers.length + 1)).toBe(expected)
  })
})

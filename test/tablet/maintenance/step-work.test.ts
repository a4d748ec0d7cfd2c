import { describe, expect, test } from 'vitest'
import { runStep, type StepWork } from '../../../src/tablet/maintenance/step-work.ts'

describe('runStep', () => {
  test('stops behind the piece that reaches the bound, and goes on there', () => {
    const done: string[] = []
    function* work(): StepWork {
      for (const name of ['a', 'b', 'c', 'd']) {
        done.push(name)
        yield 10
      }
    }
    const running = work()

    expect([runStep(running, 11), done.join('')]).toEqual([false, 'ab'])
    expect([runStep(running, 10), done.join('')]).toEqual([false, 'abc'])
    expect([runStep(running, 100), done.join('')]).toEqual([true, 'abcd'])
  })

  test('is at its end at once when there is nothing to do', () => {
    function* work(): StepWork {}

    expect(runStep(work(), 1)).toBe(true)
  })
})

import { describe, expect, test } from 'vitest'
import { equalityPredicate, inListPredicate } from '../../../src/common/column-predicate.ts'
import {
  costOfTest,
  noteTested,
  type OrderedTest,
  orderTests,
} from '../../../src/tablet/scan/test-order.ts'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { aColumn } from '../../support/a-schema.ts'

interface NamedTest extends OrderedTest {
  readonly name: string
}

function aTest(name: string, cost: number): NamedTest {
  return { name, cost, rowsIn: 0, rowsKept: 0 }
}

function namesOf(tests: readonly NamedTest[]): string {
  return tests.map(({ name }) => name).join('')
}

describe('orderTests', () => {
  test('puts first what leaves out most for what it costs', () => {
    const tests = [aTest('a', 1), aTest('b', 1), aTest('c', 7)]
    noteTested(tests[0], 1000, 900)
    noteTested(tests[1], 900, 300)
    noteTested(tests[2], 300, 0)

    orderTests(tests)

    // What a row left out costs: a 10, b 1.5, c 7.
    expect(namesOf(tests)).toBe('bca')
  })

  test('leaves tests where they are that leave out nothing, or that no row came to', () => {
    const tests = [aTest('a', 9), aTest('b', 1), aTest('c', 1)]
    noteTested(tests[0], 1000, 1000)
    orderTests(tests)
    expect(namesOf(tests)).toBe('abc')

    noteTested(tests[0], 1000, 0)
    orderTests(tests)
    expect(namesOf(tests)).toBe('abc')
  })

  test('forgets what was long ago', () => {
    const tests = [aTest('a', 1), aTest('b', 1)]
    for (let i = 0; i < 20; i++) {
      noteTested(tests[0], 4096, 0)
      noteTested(tests[1], 4096, 2048)
    }
    for (let i = 0; i < 20; i++) {
      noteTested(tests[0], 4096, 4096)
      noteTested(tests[1], 4096, 2048)
    }

    orderTests(tests)

    expect(namesOf(tests)).toBe('ba')
  })
})

describe('costOfTest', () => {
  test('is more of strings and of lists', () => {
    const [number, text] = [aColumn('n INT32'), aColumn('t STRING')]
    const ofNumber = costOfTest(number.physical, equalityPredicate(number, 1))
    const ofText = costOfTest(text.physical, equalityPredicate(text, utf8Encode('a')))
    const ofList = costOfTest(number.physical, inListPredicate(number, [1, 2, 3, 4]))

    expect([ofText > ofNumber, ofList > ofNumber]).toEqual([true, true])
  })
})

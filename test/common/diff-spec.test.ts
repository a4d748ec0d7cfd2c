import { describe, expect, test } from 'vitest'
import { equalityPredicate, nonePredicate } from '../../src/common/column-predicate.ts'
import { keySpecOf, optimizeDiffSpec } from '../../src/common/diff-spec.ts'
import { encodeKeyCells } from '../../src/common/encoded-key.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'

const SCHEMA = aSchema('k INT32 KEY', 'a INT32', 'b INT32 NULL')
const [K, A, B] = SCHEMA.columns
const OPEN = { lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES }

describe('optimizeDiffSpec', () => {
  test('pushes what is asked of the key into the bounds, and keeps the rest', () => {
    const predicates = [equalityPredicate(A, 5), equalityPredicate(K, 7)]
    const spec = optimizeDiffSpec(SCHEMA, { predicates, ...OPEN })

    expect(spec.lowerKey).toEqual(encodeKeyCells([K], [7]))
    expect(spec.predicates.map(({ columnId }) => columnId)).toEqual([A.id])
    expect(spec.isEmpty).toBe(false)
  })

  test('is empty when no key can pass, not when no other cell can', () => {
    const isEmpty = (...predicates: ReturnType<typeof nonePredicate>[]) =>
      optimizeDiffSpec(SCHEMA, { predicates, ...OPEN }).isEmpty

    expect(isEmpty(nonePredicate(K))).toBe(true)
    expect(isEmpty(nonePredicate(A))).toBe(false)
    expect(isEmpty(equalityPredicate(B, 1), equalityPredicate(B, 2))).toBe(false)
  })
})

describe('keySpecOf', () => {
  test('says what is asked of every row, deleted ones too', () => {
    const predicates = [equalityPredicate(A, 5), equalityPredicate(K, 7)]

    expect(keySpecOf(SCHEMA, { predicates, ...OPEN }).predicates).toEqual([predicates[1]])
  })
})

import { describe, expect, test } from 'vitest'
import { readOrder } from '../../src/api/read-order.ts'
import { aSchema } from '../support/a-schema.ts'
import { parseJson } from '../support/parse-json.ts'

describe('readOrder', () => {
  const { columns } = aSchema('n INT32 KEY', 'name STRING', 'x DOUBLE NULL')
  const read = (text: string) => readOrder(columns, parseJson(text))

  test('finds the columns of the result', () => {
    expect(readOrder(columns, undefined)).toEqual([])
    expect(read('[]')).toEqual([])
    expect(read('["x",{"column":"n"},{"column":"name","descending":true}]')).toEqual([
      { index: 2, isDescending: false },
      { index: 0, isDescending: false },
      { index: 1, isDescending: true },
    ])
    expect(read('[{"column":"n","descending":false}]')[0].isDescending).toBe(false)
  })

  test.each([
    ['{"column":"n"}', 'member "order_by" must be an array'],
    ['null', 'member "order_by" must be an array'],
    ['[1]', 'order_by[0] must be an object'],
    ['["n",{}]', 'order_by[1] needs a string in member "column"'],
    ['["none"]', 'order_by[0]: the result has no column "none"'],
    ['[{"column":"toString"}]', 'order_by[0]: the result has no column "toString"'],
    ['["n",{"column":"n","descending":true}]', 'order_by[1]: "n" is listed twice'],
    ['[{"column":"n","desc":true}]', 'order_by[0] has an unknown member "desc"'],
    ['[{"column":"n","descending":"true"}]', 'member "descending" must be true or false'],
    ['[{"column":"n","descending":1}]', 'member "descending" must be true or false'],
    ['[{"column":"n","descending":null}]', 'member "descending" must be true or false'],
  ])('refuses %s', (request, message) => {
    expect(() => read(request)).toThrow(message)
  })
})

import { describe, expect, test } from 'vitest'
import { maxCell, minCell } from '../../src/common/cell-order.ts'
import { mergePredicates, predicateMatchesCell } from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { drawPredicate } from '../support/draw-predicate.ts'

const TYPES = [
  'BOOL',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'UNIXTIME_MICROS',
  'DATE',
  'FLOAT',
  'DOUBLE',
  'DECIMAL(1)',
  'DECIMAL(9)',
  'DECIMAL(18)',
  'DECIMAL(38)',
  'STRING',
  'VARCHAR(2)',
  'BINARY',
]
const ROUNDS = 400

describe.each(TYPES)('predicates on %s', (type) => {
  test.each(['', ' NULL'])(
    'accept exactly what they say and merge to what both accept%s',
    (kind) => {
      const column = aColumn(`x ${type}${kind}`)
      const cells = boundaryCells(column)
      const candidates = column.isNullable ? [null, ...cells] : cells
      const wrong: string[] = []

      for (let seed = 1; seed <= ROUNDS; seed++) {
        const prng = new Prng(seed)
        const a = drawPredicate(column, cells, prng)
        const b = drawPredicate(column, cells, prng)
        const c = drawPredicate(column, cells, prng)
        const ab = mergePredicates(column, a.predicate, b.predicate)
        const ba = mergePredicates(column, b.predicate, a.predicate)
        const abc = mergePredicates(column, c.predicate, ab)
        for (const cell of candidates) {
          const [inA, inB, inC] = [a, b, c].map((it) => it.accepts(cell))
          const isRight =
            predicateMatchesCell(column, a.predicate, cell) === inA &&
            predicateMatchesCell(column, ab, cell) === (inA && inB) &&
            predicateMatchesCell(column, ba, cell) === (inA && inB) &&
            predicateMatchesCell(column, abc, cell) === (inA && inB && inC)
          if (isRight) continue
          wrong.push(`seed ${seed}: ${a.text} & ${b.text} & ${c.text} on ${String(cell)}`)
        }
      }

      expect(wrong).toEqual([])
    },
  )
})

describe.each(['BOOL', 'INT8', 'DECIMAL(1)', 'DECIMAL(2)'])('predicates on all of %s', (type) => {
  test('are of the simplest kind that says the same', () => {
    const column = aColumn(`x ${type} NULL`)
    const last = Number(maxCell(column))
    const cells: Cell[] = []
    for (let cell = Number(minCell(column)); cell <= last; cell++) cells.push(cell)

    for (let seed = 1; seed <= ROUNDS; seed++) {
      const prng = new Prng(seed)
      const a = drawPredicate(column, boundaryCells(column), prng)
      const b = drawPredicate(column, boundaryCells(column), prng)
      const { kind } = mergePredicates(column, a.predicate, b.predicate)
      const both = (cell: Cell | null) => a.accepts(cell) && b.accepts(cell)
      const count = cells.filter(both).length
      let simplest: readonly string[] = ['RANGE', 'IN_LIST']
      if (count === 0) simplest = [both(null) ? 'IS_NULL' : 'NONE']
      if (count === 1) simplest = ['EQUALITY']
      if (count === cells.length) simplest = ['IS_NOT_NULL']
      expect(simplest, `seed ${seed}: ${a.text} & ${b.text}`).toContain(kind)
    }
  })
})

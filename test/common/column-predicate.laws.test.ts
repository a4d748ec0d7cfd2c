import { describe, expect, test } from 'vitest'
import { maxCell, minCell } from '../../src/common/cell-order.ts'
import {
  anyNumberPredicate,
  type ColumnPredicate,
  equalityPredicate,
  exclusiveRangePredicate,
  inclusiveRangePredicate,
  inListPredicate,
  isNotNullPredicate,
  isNullPredicate,
  mergePredicates,
  nonePredicate,
  predicateMatchesCell,
  rangePredicate,
} from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import type { Column } from '../../src/common/schema.ts'
import { Prng } from '../../src/util/prng.ts'
import { aColumn } from '../support/a-schema.ts'
import { boundaryCells } from '../support/boundary-cells.ts'
import { plainCompare, plainIn } from '../support/plain-predicate.ts'

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

type Accepts = (cell: Cell | null) => boolean
/** A predicate, and by plain means what it must accept. */
interface Sample {
  readonly text: string
  readonly predicate: ColumnPredicate
  readonly accepts: Accepts
}

function draw(column: Column, cells: readonly Cell[], prng: Prng): Sample {
  const side = () => (prng.chance(0.25) ? null : prng.pick(cells))
  const [a, b] = [side(), side()]
  const above = (op: '>' | '>=') => (cell: Cell) => a === null || plainCompare(cell, op, a)
  const below = (op: '<' | '<=') => (cell: Cell) => b === null || plainCompare(cell, op, b)
  const isNumber = (cell: Cell) => plainCompare(cell, '=', cell)
  const within = (from: (cell: Cell) => boolean, to: (cell: Cell) => boolean): Accepts => {
    return (cell) => cell !== null && isNumber(cell) && from(cell) && to(cell)
  }
  const sample = (text: string, predicate: ColumnPredicate, accepts: Accepts): Sample => {
    return { text: `${text} ${String(a)} ${String(b)}`, predicate, accepts }
  }
  switch (prng.below(9)) {
    case 0:
      return sample('range', rangePredicate(column, a, b), within(above('>='), below('<')))
    case 1:
      return sample(
        'inclusive',
        inclusiveRangePredicate(column, a, b),
        within(above('>='), below('<=')),
      )
    case 2:
      return sample(
        'exclusive',
        exclusiveRangePredicate(column, a, b),
        within(above('>'), below('<')),
      )
    case 3:
      return sample('null', isNullPredicate(column), (cell) => cell === null)
    case 4:
      return sample('not null', isNotNullPredicate(column), (cell) => cell !== null)
    case 5:
      return sample('none', nonePredicate(column), () => false)
    case 6:
      return sample('number', anyNumberPredicate(column), (cell) => cell !== null && isNumber(cell))
    case 7: {
      const value = prng.pick(cells)
      const accepts: Accepts = (cell) => cell !== null && plainCompare(cell, '=', value)
      return sample(`= ${String(value)}`, equalityPredicate(column, value), accepts)
    }
    default: {
      const values = Array.from({ length: prng.below(7) }, () => prng.pick(cells))
      const accepts: Accepts = (cell) => cell !== null && plainIn(cell, values)
      return sample(`in ${values.join()}`, inListPredicate(column, values), accepts)
    }
  }
}

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
        const a = draw(column, cells, prng)
        const b = draw(column, cells, prng)
        const c = draw(column, cells, prng)
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
      const a = draw(column, boundaryCells(column), prng)
      const b = draw(column, boundaryCells(column), prng)
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

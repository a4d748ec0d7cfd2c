import { describe, expect, test } from 'vitest'
import { nonePredicate } from '../../src/common/column-predicate.ts'
import type { TableEntry } from '../../src/common/table.ts'
import { OpenTable } from '../../src/router/open-table.ts'
import { planScan } from '../../src/router/scan-plan.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'

const ENTRY: TableEntry = new LocalService({ seed: 1 }).createTable(
  aNewTable('t', ['id INT64 KEY', 'n INT8 NULL'], 4),
)
const TABLE = new OpenTable(ENTRY)
const REQUEST = {
  columnIds: [],
  spec: { predicates: [], lowerKey: EMPTY_BYTES, upperKey: EMPTY_BYTES },
  order: 'UNORDERED',
  limit: Number.POSITIVE_INFINITY,
} as const

describe('planScan', () => {
  test('of all tablets leaves those that the request needs', () => {
    expect(planScan(TABLE, REQUEST).tablets).toEqual([0, 1, 2, 3])
    expect(planScan(TABLE, { ...REQUEST, limit: 0 }).tablets).toEqual([])
  })

  test('of one tablet asks that alone, or none when nothing can match', () => {
    const predicates = [nonePredicate(TABLE.schema.columns[0])]
    const nothing = { ...REQUEST, spec: { ...REQUEST.spec, predicates } }

    expect(planScan(TABLE, REQUEST, TABLE.tabletId(2)).tablets).toEqual([2])
    expect(planScan(TABLE, nothing, TABLE.tabletId(2)).tablets).toEqual([])
    expect(planScan(TABLE, { ...REQUEST, limit: 0 }, TABLE.tabletId(2)).tablets).toEqual([])
  })

  test('of a tablet whose range was dropped is ILLEGAL_STATE, though another is there now', () => {
    const gone = TABLE.tabletId(1)
    const left = new OpenTable({
      ...ENTRY,
      tablets: ENTRY.tablets.map((tablet) => {
        return tablet.tabletId === gone ? { ...tablet, tabletId: 'f'.repeat(32) } : tablet
      }),
    })
    const details = expect.objectContaining({ resource: 'range' })

    expect(() => planScan(left, REQUEST, gone)).toThrow(
      expect.objectContaining({ code: 'ILLEGAL_STATE', details }),
    )
    expect(planScan(left, REQUEST, TABLE.tabletId(3)).tablets).toEqual([3])
  })
})

import { describe, expect, test } from 'vitest'
import { queryOfToken, scanQueryOfBody } from '../../src/api/scan-query.ts'
import { equalityPredicate } from '../../src/common/column-predicate.ts'
import { Schema } from '../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/value-options.ts'
import type { ScanToken } from '../../src/router/scan-token.ts'
import { EMPTY_BYTES } from '../../src/util/bytes.ts'
import { aColumnDefinition } from '../support/a-schema.ts'

const BEFORE = new Schema([
  aColumnDefinition('id INT64 KEY', 10),
  aColumnDefinition('name STRING', 11),
  aColumnDefinition('n INT8 NULL', 12),
])
const TOKEN: ScanToken = {
  snapshot: 1_800_000_000_000_000,
  columnIds: [11, 10],
  tabletId: 'tablet 1',
  spec: {
    predicates: [equalityPredicate(BEFORE.mustById(12), 3)],
    lowerKey: EMPTY_BYTES,
    upperKey: EMPTY_BYTES,
  },
  order: 'ORDERED',
  limit: 5,
  diff: null,
}
const ASKED = scanQueryOfBody({ scan_token: 'x' }, { scan_token: 'x' }, DEFAULT_VALUE_OPTIONS)

describe('queryOfToken', () => {
  test('asks what the token says, under the names of today', () => {
    const renamed = new Schema([
      aColumnDefinition('id INT64 KEY', 10),
      aColumnDefinition('title STRING', 11),
      aColumnDefinition('name INT8 NULL', 12),
      aColumnDefinition('late BOOL NULL', 13),
    ])
    const query = queryOfToken(ASKED, TOKEN)

    expect(query.columnsFor(renamed).map(({ name }) => name)).toEqual(['title', 'id'])
    expect(query.specFor(renamed, DEFAULT_VALUE_OPTIONS)).toEqual(TOKEN.spec)
    expect(query).toMatchObject({ order: 'ORDERED', limit: 5, tabletId: 'tablet 1', diff: null })
  })

  test.each([
    ['that it shows', [10, 12]],
    ['that it asks', [10, 11]],
  ])('of a column %s that was dropped is ILLEGAL_STATE', (_, ids) => {
    const columns = BEFORE.columns.filter(({ id }) => ids.includes(id))
    // Another column that has the name now is not the one.
    const names = ['name STRING', 'n INT8 NULL'].filter((text) => {
      return columns.every(({ name }) => name !== text.split(' ')[0])
    })
    const dropped = new Schema([
      ...columns.map(({ name, id }) => {
        const kinds: Record<string, string> = { id: 'INT64 KEY', name: 'STRING', n: 'INT8 NULL' }
        return aColumnDefinition(`${name} ${kinds[name]}`, id)
      }),
      ...names.map((text, i) => aColumnDefinition(text, 20 + i)),
    ])
    const query = queryOfToken(ASKED, TOKEN)
    const work = () => [query.columnsFor(dropped), query.specFor(dropped, DEFAULT_VALUE_OPTIONS)]

    expect(work).toThrow(expect.objectContaining({ code: 'ILLEGAL_STATE' }))
  })
})

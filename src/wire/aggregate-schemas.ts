/** Requests and responses of aggregations. */

import { z } from 'zod'
import { AGGREGATE_OPS } from '../common/aggregate-spec.ts'
import { READ_MODES } from '../common/read-mode.ts'
import {
  anyValue,
  cellsByName,
  integer,
  members,
  shownCells,
  timestamp,
  word,
} from './json-schema.ts'
import { LIMIT_MAX, predicateList } from './scan-schemas.ts'

const NAMED = { as: { type: 'string', description: 'name of the column in the result' } } as const

const groupBy = anyValue('a row for each; none: one row for all').meta({
  type: 'array',
  items: {
    anyOf: [
      { type: 'string', description: "a column's name" },
      {
        type: 'object',
        properties: {
          column: { type: 'string' },
          bucket: {
            type: 'string',
            pattern: '^[1-9][0-9]*[smhd]$',
            description: 'of UNIXTIME_MICROS: the time at which its bucket begins, from the epoch',
          },
          ...NAMED,
        },
        required: ['column'],
      },
    ],
  },
})

const aggregates = anyValue('of each group; COUNT of rows has neither column nor expr').meta({
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { type: 'string', enum: [...AGGREGATE_OPS] },
      column: { type: 'string' },
      expr: {
        description: "a column's name, a number, or an array: one of + - * / and two of these",
      },
      ...NAMED,
    },
    required: ['op'],
  },
})

const orderBy = anyValue('columns of the result; then, and without it, by the group keys').meta({
  type: 'array',
  items: {
    anyOf: [
      { type: 'string', description: 'ascending' },
      {
        type: 'object',
        properties: { column: { type: 'string' }, descending: { type: 'boolean' } },
        required: ['column'],
      },
    ],
  },
})

/** Body of `POST /tables/{table}/aggregate`. */
export const aggregateSchema = members({
  group_by: groupBy.optional(),
  aggregates: aggregates.optional(),
  predicates: predicateList().optional(),
  primary_key_lower: cellsByName('inclusive; every key column').optional(),
  primary_key_upper: cellsByName('exclusive; every key column').optional(),
  read_mode: word(READ_MODES).optional(),
  snapshot_timestamp: anyValue('integer microseconds, or RFC 3339').optional(),
  order_by: orderBy.optional(),
  limit: integer(0, LIMIT_MAX).optional().meta({ description: 'rows of the result' }),
}).meta({ id: 'Aggregate' })
/** Body of `POST /tables/{table}/aggregate`. */
export type AggregateBody = z.output<typeof aggregateSchema>

/** What came out of an aggregation. */
export const aggregateAnswerSchema = z
  .object({
    rows: z.array(shownCells('a group: its keys, then its aggregates')),
    snapshot_timestamp: timestamp(),
  })
  .meta({ id: 'AggregateAnswer' })

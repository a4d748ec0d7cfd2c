/** TPC-H's Q1 and Q6. */

/** A question, as the service and as a database takes it. */
export interface Question {
  readonly name: string
  readonly body: object
  readonly sql: string
  /** Members of the answer in the order of the SQL's columns. */
  readonly members: readonly string[]
}

/** Q1 is about rows shipped until then. */
export const Q1_DATE = '1998-09-02'
const DISC_PRICE = ['*', 'l_extendedprice', ['-', 1, 'l_discount']]
/** What Q6 asks for. */
export const Q6_PREDICATES = [
  { column: 'l_shipdate', op: '>=', value: '1994-01-01' },
  { column: 'l_shipdate', op: '<', value: '1995-01-01' },
  { column: 'l_discount', op: '>=', value: '0.05' },
  { column: 'l_discount', op: '<=', value: '0.07' },
  { column: 'l_quantity', op: '<', value: '24' },
]

/** Sums and averages over nearly all rows, in four groups. */
export const Q1: Question = {
  name: 'Q1',
  body: {
    group_by: ['l_returnflag', 'l_linestatus'],
    aggregates: [
      { op: 'SUM', column: 'l_quantity', as: 'sum_qty' },
      { op: 'SUM', column: 'l_extendedprice', as: 'sum_base_price' },
      { op: 'SUM', expr: DISC_PRICE, as: 'sum_disc_price' },
      { op: 'SUM', expr: ['*', DISC_PRICE, ['+', 1, 'l_tax']], as: 'sum_charge' },
      { op: 'AVG', column: 'l_quantity', as: 'avg_qty' },
      { op: 'AVG', column: 'l_extendedprice', as: 'avg_price' },
      { op: 'AVG', column: 'l_discount', as: 'avg_disc' },
      { op: 'COUNT', as: 'count_order' },
    ],
    predicates: [{ column: 'l_shipdate', op: '<=', value: Q1_DATE }],
    order_by: [{ column: 'l_returnflag' }, { column: 'l_linestatus' }],
  },
  sql:
    'SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), ' +
    'sum(l_extendedprice * (1 - l_discount)), ' +
    'sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), ' +
    'avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*) FROM lineitem ' +
    `WHERE l_shipdate <= '${Q1_DATE}' GROUP BY 1, 2 ORDER BY 1, 2`,
  members: [
    'l_returnflag',
    'l_linestatus',
    'sum_qty',
    'sum_base_price',
    'sum_disc_price',
    'sum_charge',
    'avg_qty',
    'avg_price',
    'avg_disc',
    'count_order',
  ],
}

/** One sum over a year's rows of some discounts. */
export const Q6: Question = {
  name: 'Q6',
  body: {
    aggregates: [{ op: 'SUM', expr: ['*', 'l_extendedprice', 'l_discount'], as: 'revenue' }],
    predicates: Q6_PREDICATES,
  },
  sql:
    'SELECT sum(l_extendedprice * l_discount) FROM lineitem ' +
    "WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' " +
    'AND l_discount >= 0.05 AND l_discount <= 0.07 AND l_quantity < 24',
  members: ['revenue'],
}

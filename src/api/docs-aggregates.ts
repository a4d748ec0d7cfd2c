/** The part of the documentation page that says what aggregations are and what comes of them. */

/** Aggregates, and the types of their results. */
const RESULTS: readonly (readonly [aggregate: string, of: string, result: string])[] = [
  ['COUNT', 'rows; with column or expr, what is not null', 'INT64'],
  ['COUNT_DISTINCT', 'different values that are not null', 'INT64'],
  ['SUM', 'integers', 'INT64'],
  ['SUM', 'DECIMAL(p,s)', 'DECIMAL(38,s)'],
  ['SUM', 'FLOAT, DOUBLE', 'DOUBLE, the error of additions made up for'],
  ['AVG', 'any numbers', 'DOUBLE'],
  ['MIN, MAX', 'a column of any type', 'that type'],
  ['MIN, MAX', 'an expression', 'INT64, DECIMAL(38,s) or DOUBLE'],
]

/** The section, with `table` to show tables. */
export function docsAggregates(
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  return `<section id="aggregates">
<h2>Aggregates</h2>
<p><code>aggregate</code> gives a row for each group of the rows that predicates and key bounds
select at one snapshot. <code>group_by</code> lists columns, or times cut down to the beginning of a
bucket: <code>{ "bucket": "15m", "column": "time", "as": "quarter" }</code>, of <code>s</code>,
<code>m</code>, <code>h</code> or <code>d</code> from the epoch. Without it there is one group, also
of no rows; without <code>aggregates</code> the groups alone are the different values. Null is a
group of its own, NaN is one value, and −0 is 0.</p>
${table(['op', 'of', 'result'], RESULTS)}
<p>Nulls are skipped by all but COUNT of rows; of nothing the count is 0 and all else null. A result
that its type cannot hold is an error and never wraps. <code>expr</code> is a column's name, a
number, or an array of one of <code>+ - * /</code> and two of these. Integers and decimals are
exact, numbers as they are written, but for zeros at their end: <code>+</code> and <code>-</code>
have the larger scale, <code>*</code> the sum of both, 38 at most. <code>/</code>, and whatever
has a float in it, is DOUBLE. A division by zero is null, as is what has a null in it.</p>
<p>A result is named by <code>as</code>, else <code>count</code>, <code>max_value</code>, or
<code>sum</code> of an expression; two of one name are an error. Rows come by
<code>order_by</code>, which lists names of results, then by ascending groups; nulls are last,
descending too, and NaN is above all numbers. There may be 100,000 groups before
<code>limit</code>. To see which tablets are asked, explain a scan with the same predicates.</p>
</section>`
}

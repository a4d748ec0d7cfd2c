/** The part of the documentation page that no document of an interface has: how to begin. */

import { STATUS, type StatusCode } from '../common/status.ts'
import { docsAggregates } from './docs-aggregates.ts'

/** A request to copy. */
export interface DocsExample {
  readonly title: string
  readonly curl: string
}

/** Requests that make a table, write to it and read it, in this order. */
export const DOCS_EXAMPLES: readonly DocsExample[] = [
  {
    title: 'Make a table',
    curl: `curl -X POST "$NYALA/api/v1/tables" \\
  -H "Authorization: Bearer $NYALA_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "name": "metrics",
    "schema": { "columns": [
      { "name": "host",  "type": "STRING", "is_key": true },
      { "name": "time",  "type": "UNIXTIME_MICROS", "is_key": true },
      { "name": "value", "type": "DOUBLE", "is_nullable": true }
    ] },
    "partition_schema": { "hash_schema": [ { "columns": ["host"], "num_buckets": 4 } ] }
  }'`,
  },
  {
    title: 'Write rows',
    curl: `curl -X POST "$NYALA/api/v1/tables/metrics/rows" \\
  -H "Authorization: Bearer $NYALA_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "operation": "UPSERT",
    "rows": [
      { "host": "web-1", "time": "2026-01-31T12:00:00Z", "value": 0.25 },
      { "host": "web-2", "time": "2026-01-31T12:00:00Z", "value": null }
    ]
  }'`,
  },
  {
    title: 'Scan',
    curl: `curl -X POST "$NYALA/api/v1/tables/metrics/scan" \\
  -H "Authorization: Bearer $NYALA_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "columns": ["time", "value"],
    "predicates": [
      { "column": "host", "op": "=", "value": "web-1" },
      { "column": "time", "op": ">=", "value": "2026-01-01T00:00:00Z" }
    ],
    "order": "ORDERED"
  }'`,
  },
  {
    title: 'Aggregate',
    curl: `curl -X POST "$NYALA/api/v1/tables/metrics/aggregate" \\
  -H "Authorization: Bearer $NYALA_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "group_by": ["host", { "bucket": "1h", "column": "time", "as": "hour" }],
    "aggregates": [
      { "op": "COUNT", "as": "samples" },
      { "op": "MAX", "column": "value" },
      { "op": "SUM", "expr": ["*", "value", 100], "as": "percent" }
    ],
    "order_by": [{ "column": "percent", "descending": true }],
    "limit": 10
  }'`,
  },
]

/** Types of columns, what is taken for their values, and how these are given. */
const VALUES: readonly (readonly [type: string, taken: string, given: string])[] = [
  ['BOOL', 'true, false', 'the same'],
  ['INT8, INT16, INT32', 'an integer in range: 1, 1.0, 1e3', 'an integer'],
  [
    'INT64',
    'the same, exact to the last digit, or a string of one',
    'an integer, exact; a string with int64=string',
  ],
  [
    'FLOAT, DOUBLE',
    'a number in range, "NaN", "Infinity", "-Infinity"',
    'the shortest number that reads back as it, or such a string',
  ],
  ['STRING, VARCHAR(n)', 'a string; VARCHAR of at most n code points', 'a string'],
  ['BINARY', 'base64 in a string, either alphabet, padded or not', 'base64, padded'],
  [
    'UNIXTIME_MICROS',
    'RFC 3339 with an offset, or integer microseconds; milliseconds with timestamps=millis',
    '2026-01-31T23:59:59.000001Z; an integer with timestamps=micros or millis',
  ],
  ['DATE', 'YYYY-MM-DD', 'the same'],
  ['DECIMAL(p,s)', 'a number or a string of one that fits exactly', 'a string with s decimals'],
  ['null', 'null where the column is nullable', 'null'],
]

/** Types of columns, and what they are in the formats that have types of their own. */
const COLUMN_FORMATS: readonly (readonly [type: string, arrow: string, parquet: string])[] = [
  ['BOOL', 'Bool', 'BOOLEAN'],
  ['INT8, INT16, INT32', 'Int8, Int16, Int32', 'INT32, of 8 and 16 bits as INT_8 and INT_16'],
  ['INT64', 'Int64', 'INT64'],
  ['FLOAT, DOUBLE', 'Float32, Float64', 'FLOAT, DOUBLE'],
  ['STRING, VARCHAR(n)', 'Utf8', 'BYTE_ARRAY, UTF8'],
  ['BINARY', 'Binary', 'BYTE_ARRAY'],
  ['UNIXTIME_MICROS', 'Timestamp(MICROSECOND, UTC)', 'INT64, TIMESTAMP of microseconds in UTC'],
  ['DATE', 'Date32', 'INT32, DATE'],
  ['DECIMAL(p,s)', 'Decimal128(p,s)', 'DECIMAL(p,s): INT32, INT64 or 16 bytes'],
]

/** Types of columns, and what they take of an Arrow stream. */
const ARROW_TAKEN: readonly (readonly [type: string, taken: string])[] = [
  ['BOOL', 'Bool'],
  ['INT8, INT16, INT32, INT64', 'integers, decimals and floats that are integers in range'],
  ['FLOAT, DOUBLE', 'floats of 16, 32 and 64 bits, integers, decimals; rounded once'],
  ['STRING, VARCHAR(n)', 'Utf8, LargeUtf8, Utf8View'],
  ['BINARY', 'Binary, LargeBinary, BinaryView, FixedSizeBinary'],
  ['UNIXTIME_MICROS', 'timestamps of any unit, in UTC if they have no zone; integers as in JSON'],
  ['DATE', 'Date32, Date64 of whole days'],
  ['DECIMAL(p,s)', 'decimals of 32 to 256 bits, and integers, that fit exactly'],
]

const MEANINGS: Readonly<Record<StatusCode, string>> = {
  INVALID_ARGUMENT: 'the request is not one; the detail names what is wrong with it',
  UNAUTHENTICATED: 'there is no token, or it is not known',
  NOT_AUTHORIZED: 'the caller may not do this',
  NOT_FOUND: 'there is no such table, row, range or path; see resource',
  METHOD_NOT_ALLOWED: 'the path has other methods, which Allow lists',
  NOT_ACCEPTABLE: 'none of the formats asked for is offered',
  ALREADY_PRESENT: 'the name or the key is taken',
  ILLEGAL_STATE: 'not in the state that it is in',
  ABORTED: 'something else got in the way',
  INVALID_SNAPSHOT: 'the time asked for is older than the history that is kept',
  PRECONDITION_FAILED: 'If-Match or If-None-Match does not hold',
  PAYLOAD_TOO_LARGE: 'the body is too large; send it in parts',
  UNSUPPORTED_MEDIA_TYPE: 'the body is in a format that is not read here',
  IMMUTABLE: 'the column may not be changed',
  THROTTLED: 'too much at once; wait as long as Retry-After says',
  CORRUPTION: 'what is stored is not what was written',
  INTERNAL: 'a fault of the service',
  NOT_SUPPORTED: 'not there yet',
  SERVICE_UNAVAILABLE: 'a part of the service cannot be reached; see Retry-After',
  TIMED_OUT: 'no answer in time; the work may have been done',
}

const PARTS_AND_DELETIONS = `<section id="parts">
<h2>A scan in parts</h2>
<p><code>scan_tokens</code> takes the body of a scan and gives tokens, one or more for each tablet;
with <code>target_bytes</code> each is of about so many stored bytes. A token is read by
<code>scan</code> as <code>{ "scan_token": "…" }</code>, or by <code>GET …/rows?scan_token=</code>,
in any format and by whomever: all show the snapshot at which they were made, and together each row
once. A <code>limit</code> is that of each token. Columns keep their names of today; what was
dropped since is ILLEGAL_STATE.</p>
</section>
<section id="deletions">
<h2>Deleting by predicates</h2>
<p><code>rows/delete</code> deletes the rows that predicates and key bounds select at one snapshot,
taken when it begins, also those that were changed since; what came later stays. Rows go a few
thousand at a time, so that others may see a part of them gone before the answer;
whoever reads at its <code>timestamp</code> sees none. One that broke off tells
<code>rows_applied</code>, and is repeated with the same <code>Idempotency-Key</code>: it goes on
with the rest, and <code>deleted</code> counts all. Without predicates and bounds
<code>"all": true</code> is needed.</p>
</section>`

/** The introduction. The script of the page fills in its address. */
export function docsIntroduction(): string {
  return `<section id="start">
<h2>Start</h2>
<p>Set the address and the token for the examples. On a laptop without a token any text will do.</p>
${block('export NYALA=<span class="origin">address-of-this-service</span>\nexport NYALA_TOKEN=…')}
${DOCS_EXAMPLES.map(exampleView).join('\n')}
</section>
<section id="authentication">
<h2>Who is asking</h2>
<p>Everything under <code>/api/v1</code> but <code>version</code> and <code>spec</code> needs the
header <code>Authorization: Bearer …</code> with the administrator's token, the secret
<code>NYALA_ADMIN_TOKEN</code> of the service. Programs that know only passwords send
<code>Basic</code> with the token as the password and any user. A token is never a part of a URL.
Without a secret the service answers no such request; <code>npm run dev</code> without one answers
those of its own machine alone.</p>
</section>
<section id="headers">
<h2>Headers</h2>
<p>Every answer has <code>Nyala-Request-Id</code>: the request's own, if it had one of at most 128
visible ASCII characters. Answers that read or wrote rows have <code>Nyala-Timestamp</code>; who
sends the greatest they have seen as <code>Nyala-Propagated-Timestamp</code> is never shown
anything older.</p>
</section>
<section id="values">
<h2>Values</h2>
${tableView(['type', 'taken', 'given'], VALUES)}
<p>In CSV, in paths and in <code>where=</code> values are written the same, without quotes.</p>
</section>
<section id="columns">
<h2>Arrow and Parquet</h2>
<p>Scans are also answered as an Arrow stream (<code>format=arrow</code>, or
<code>application/vnd.apache.arrow.stream</code> in <code>Accept</code>) and as a Parquet file
(<code>format=parquet</code>, <code>application/vnd.apache.parquet</code>). Columns are nullable
there where they are in the table. With <code>dictionary=true</code> text and bytes are dictionaries
in Arrow where that is shorter, as the first rows show. A scan of no columns
(<code>"columns": []</code>) tells in Arrow how many rows there are; a Parquet file of it there
cannot be. A result that was cut off has no end, in either format, so that no reader takes it for
whole.</p>
${tableView(['type', 'Arrow', 'Parquet'], COLUMN_FORMATS)}
<p>Rows are also taken as an Arrow stream, with <code>operation=</code> for all of them. A column
left out is unset; one that the table does not have, or whose type does not go into it, fails the
request before a row is applied. A cell that does not fit is the error of its row. Dictionaries of
all these, Null and bodies compressed with ZSTD are read; LZ4, nested types and the Arrow file
format are not. A message, and what it unpacks to, may have 32 MiB: write record batches of some
10,000 rows. A stream that breaks off or is not Arrow ends there: all messages before are applied,
nothing of that one.</p>
${tableView(['type', 'taken of Arrow'], ARROW_TAKEN)}
</section>
${docsAggregates(tableView)}
<section id="changes">
<h2>What changed</h2>
<p>A scan with <code>"diff_from": T</code> gives the rows that changed above T and at or below its
snapshot, by key, each with <code>is_deleted</code> behind its columns (named by
<code>is_deleted_as</code> where the table has such a column). Of a deleted row its key is given and
all else is null; a row that came and went in between is not shown, one that was deleted and came
back is shown as it is. Ask again from the <code>snapshot_timestamp</code> of the answer to follow a
table. Predicates on other columns than the key's are asked of rows that are there only: every row
deleted in between that passes those on the key is given, also where it never passed the others.
T may be no older than the history that the table keeps.</p>
</section>
${PARTS_AND_DELETIONS}
<section id="errors">
<h2>Errors</h2>
<p>Errors are <code>application/problem+json</code>, described by
<a href="#schema-Problem">Problem</a>; programs go by <code>code</code>.</p>
${tableView(['code', 'status', 'repeat?', 'when'], errorRows())}
</section>`
}

function exampleView({ title, curl }: DocsExample): string {
  return `<h3>${escapeHtml(title)}</h3>\n${block(escapeHtml(curl))}`
}

function block(html: string): string {
  return `<pre class="copyable"><code>${html}</code></pre>`
}

function errorRows(): string[][] {
  return Object.entries(MEANINGS).map(([code, meaning]) => {
    const { http, retryable } = STATUS[code as StatusCode]
    return [code, String(http), retryable ? 'yes' : 'no', meaning]
  })
}

function tableView(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) => {
    return `<tr>${texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join('')}</tr>`
  }
  const body = rows.map((row) => cells('td', row)).join('\n')
  return `<table><thead>${cells('th', head)}</thead><tbody>\n${body}\n</tbody></table>`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

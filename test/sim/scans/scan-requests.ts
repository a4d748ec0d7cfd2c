/** Scans and writes of a script as HTTP requests. */

import type { ValueOptions } from '../../../src/common/value-options.ts'
import { arrowBody } from './arrow-body.ts'
import { TABLE_NAME } from './model-table.ts'
import { jsonText, type ModelColumn, plainText, timeText, type Value } from './model-value.ts'
import type { ModelSelection, ScanQuery, WriteEvent } from './scan-script.ts'
import type { SetCells } from './version-model.ts'

/** A request to be sent. */
export interface ModelRequest {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** The times that a scan asks for; null for none. */
export interface ScanTimes {
  readonly time: number | null
  readonly diffFrom: number | null
}

const BASE = `/api/v1/tables/${TABLE_NAME}`
const EXACT: ValueOptions = { int64: 'number', timestamps: 'micros' }

/** The request for a page of a scan, or for all of it. */
export function scanRequest(
  columns: readonly ModelColumn[],
  query: ScanQuery,
  { time, diffFrom }: ScanTimes,
  pageToken: string | null,
): ModelRequest {
  if (query.via === 'get') return getRequest(query, time, pageToken)
  return postRequest(columns, query, { time, diffFrom }, pageToken)
}

function postRequest(
  columns: readonly ModelColumn[],
  query: ScanQuery,
  { time, diffFrom }: ScanTimes,
  pageToken: string | null,
): ModelRequest {
  const members = wantedMembers(columns, query, { time, diffFrom })
  if (query.pageSize !== null) members.push(`"page_size":${query.pageSize}`)
  if (pageToken !== null) members.push(`"page_token":${JSON.stringify(pageToken)}`)
  return jsonRequest(`${BASE}/scan?${outputParams(query)}`, `{${members.join(',')}}`)
}

/** The request for what a scan reads and leaves out, at a time. */
export function analyzeRequest(
  columns: readonly ModelColumn[],
  query: ScanQuery,
  times: ScanTimes,
): ModelRequest {
  const members = wantedMembers(columns, query, times)
  members.push('"analyze":true')
  const params = outputParams({ ...query, format: 'json', nullText: '' })
  return jsonRequest(`${BASE}/scan?${params}`, `{${members.join(',')}}`)
}

/** The members of a body that say what is wanted, by scans and by tokens. */
function wantedMembers(
  columns: readonly ModelColumn[],
  query: ScanQuery,
  { time, diffFrom }: ScanTimes,
): string[] {
  const { at, diff } = query
  const members = selectionMembers(columns, query)
  if (query.columns !== null) members.push(`"columns":${JSON.stringify(query.columns)}`)
  if (query.order !== null) members.push(`"order":"${query.order}"`)
  if (query.limit !== null) members.push(`"limit":${query.limit}`)
  if (at.kind === 'now' && at.mode !== null) members.push(`"read_mode":"${at.mode}"`)
  if (time !== null) members.push(timeMember('snapshot_timestamp', time, query))
  if (diffFrom !== null) members.push(timeMember('diff_from', diffFrom, query))
  if (diff !== null && diff.as !== null) {
    members.push(`"is_deleted_as":${JSON.stringify(diff.as)}`)
  }
  return members
}

/** The request for the tokens of a scan. */
export function scanTokensRequest(
  columns: readonly ModelColumn[],
  query: ScanQuery,
  times: ScanTimes,
  targetBytes: number | null,
): ModelRequest {
  const members = wantedMembers(columns, query, times)
  if (targetBytes !== null) members.push(`"target_bytes":${targetBytes}`)
  const params = outputParams({ ...query, format: 'json', nullText: '' })
  return jsonRequest(`${BASE}/scan_tokens?${params}`, `{${members.join(',')}}`)
}

/** The request for a page of a token, or for all of it. */
export function tokenScanRequest(
  query: ScanQuery,
  token: string,
  pageToken: string | null,
): ModelRequest {
  const params = outputParams(query)
  if (query.via === 'get') {
    params.append('scan_token', token)
    if (query.pageSize !== null) params.append('page_size', String(query.pageSize))
    if (pageToken !== null) params.append('page_token', pageToken)
    return { method: 'GET', path: `${BASE}/rows?${params}` }
  }
  const members = [`"scan_token":${JSON.stringify(token)}`]
  if (query.pageSize !== null) members.push(`"page_size":${query.pageSize}`)
  if (pageToken !== null) members.push(`"page_token":${JSON.stringify(pageToken)}`)
  return jsonRequest(`${BASE}/scan?${params}`, `{${members.join(',')}}`)
}

/** A POST of JSON. */
export function jsonRequest(path: string, body: string): ModelRequest {
  return { method: 'POST', path, contentType: 'application/json', body }
}

/** The members of a body that say which rows. */
export function selectionMembers(
  columns: readonly ModelColumn[],
  { predicates, lower, upper }: ModelSelection,
): string[] {
  const members: string[] = []
  if (predicates.length > 0) {
    const texts = predicates.map(({ column, op, values }) => {
      const name = `"column":${JSON.stringify(column)},"op":"${op}"`
      if (op === 'IN') return `{${name},"values":[${values.join(',')}]}`
      return values.length === 0 ? `{${name}}` : `{${name},"value":${values[0]}}`
    })
    members.push(`"predicates":[${texts.join(',')}]`)
  }
  const keys = columns.filter(({ isKey }) => isKey)
  if (lower !== null) members.push(`"primary_key_lower":${objectText(keys, lower)}`)
  if (upper !== null) members.push(`"primary_key_upper":${objectText(keys, upper)}`)
  return members
}

function objectText(columns: readonly ModelColumn[], cells: readonly Value[]): string {
  // Bounds are read as everything is: with milliseconds in the options an integer would be these.
  const texts = columns.map((column, i) => {
    const isTime = column.type === 'UNIXTIME_MICROS'
    const text = isTime
      ? JSON.stringify(timeText(cells[i] as bigint))
      : jsonText(column, cells[i], EXACT)
    return `${JSON.stringify(column.name)}:${text}`
  })
  return `{${texts.join(',')}}`
}

/** A member with a time. */
export function timeMember(name: string, time: number, query: { isTimeText: boolean }): string {
  return `"${name}":${query.isTimeText ? JSON.stringify(timeText(BigInt(time))) : time}`
}

function getRequest(query: ScanQuery, time: number | null, pageToken: string | null): ModelRequest {
  const params = outputParams(query)
  if (query.columns !== null) params.append('columns', csvRecord(query.columns))
  for (const { column, op, values } of query.predicates) {
    params.append('where', csvRecord([column, op, ...values.map(textOf)]))
  }
  if (query.order !== null) params.append('order', query.order)
  if (query.limit !== null) params.append('limit', String(query.limit))
  if (time !== null) {
    params.append('snapshot_timestamp', query.isTimeText ? timeText(BigInt(time)) : String(time))
  }
  if (query.pageSize !== null) params.append('page_size', String(query.pageSize))
  if (pageToken !== null) params.append('page_token', pageToken)
  return { method: 'GET', path: `${BASE}/rows?${params}` }
}

/** A literal without its quotes. */
function textOf(literal: string): string {
  const json: unknown = JSON.parse(literal)
  return typeof json === 'string' ? json : literal
}

function csvRecord(fields: readonly string[]): string {
  return fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')
}

/** Parameters that say how values are written. */
export function outputParams(
  query: Pick<ScanQuery, 'format' | 'options' | 'nullText'>,
): URLSearchParams {
  const params = new URLSearchParams({ format: query.format })
  const { int64, timestamps } = query.options
  if (int64 !== 'number') params.append('int64', int64)
  if (timestamps !== 'rfc3339') params.append('timestamps', timestamps)
  if (query.nullText !== '') params.append('null', query.nullText)
  return params
}

/** The request of a write. */
export function writeRequest(
  columns: readonly ModelColumn[],
  { format, operations }: WriteEvent,
): ModelRequest {
  const operation = operations[0][0]
  const rows = operations.map(([, cells]) => cells)
  const params = new URLSearchParams({ timestamps: 'micros' })
  if (format !== 'json') params.append('operation', operation)
  const path = `${BASE}/rows?${params}`
  if (format === 'ndjson') {
    const body = rows.map((cells) => `${rowText(columns, cells)}\n`).join('')
    return { method: 'POST', path, contentType: 'application/x-ndjson', body }
  }
  if (format === 'csv') {
    return { method: 'POST', path, contentType: 'text/csv', body: csvText(columns, rows) }
  }
  if (format === 'arrow') {
    const contentType = 'application/vnd.apache.arrow.stream'
    const body = arrowBody(columns, rows, rows.length % 2 === 0 ? 7 : rows.length)
    return { method: 'POST', path, contentType, body }
  }
  if (operations.every(([name]) => name === operation)) {
    const body = rows.map((cells) => rowText(columns, cells)).join(',')
    return jsonRequest(path, `{"operation":"${operation}","rows":[${body}]}`)
  }
  const body = operations.map(([name, cells]) => {
    return `{"operation":"${name}","row":${rowText(columns, cells)}}`
  })
  return jsonRequest(path, `{"operations":[${body.join(',')}]}`)
}

function rowText(columns: readonly ModelColumn[], cells: SetCells): string {
  const members = columns
    .filter(({ name }) => Object.hasOwn(cells, name))
    .map((column) => {
      return `${JSON.stringify(column.name)}:${jsonText(column, cells[column.name], EXACT)}`
    })
  return `{${members.join(',')}}`
}

function csvText(columns: readonly ModelColumn[], rows: readonly SetCells[]): string {
  const set = columns.filter(({ name }) => Object.hasOwn(rows[0], name))
  const lines = rows.map((cells) => {
    return set.map((column) => {
      const value = cells[column.name]
      return value === null ? '' : csvRecord([plainText(column, value, EXACT)])
    })
  })
  return [csvRecord(set.map(({ name }) => name)), ...lines].map((line) => `${line}\n`).join('')
}
